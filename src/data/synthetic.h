// Data of given shapes without any file: for benchmarks, and to try a model out.
#pragma once

#include "data/dataset.h"

namespace tandem::data {

struct SyntheticOptions {
  int64_t num_samples = 1000;
  Shape input = {3, 32, 32};  // the sizes of one sample's input
  int64_t num_classes = 10;   // 0: regression, the target is one float32 number
  double noise = 1;           // deviation of an input round its class's own picture; of a regression's target round its function
  uint64_t seed = 0;          // of the classes' pictures and of the samples
};

/// Float32 inputs with int64 labels, made from their seed and index when they are read. Classification: each class has a picture of
/// standard normal numbers, an input is its class's picture plus noise, and samples go through the classes in turn. Regression: inputs are
/// standard normal, the target is a fixed linear function of the input, of deviation 1, plus noise. Both can be learned.
class Synthetic : public Dataset {
 public:
  /// Error for negative numbers.
  explicit Synthetic(SyntheticOptions options = {}, Site = Site::here());

  [[nodiscard]] int64_t size() const override { return options_.num_samples; }
  [[nodiscard]] Sample get(int64_t index) const override;
  /// What it was made with.
  [[nodiscard]] const SyntheticOptions& options() const { return options_; }

 private:
  SyntheticOptions options_;
  Tensor pictures_;  // (num_classes, input…); of a regression the weights, (1, input…)
};

}  // namespace tandem::data
