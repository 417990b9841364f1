// The handwritten digits that ship inside the library: real data for a first training run, without a download.
#pragma once

#include "data/dataset.h"

namespace tandem::data {

/// 1,797 handwritten digits of 8x8 pixels, as (image, label): images (n, 1, 8, 8) float32 from 0 to 1, labels (n) int64 from 0 to 9.
/// From "Optical Recognition of Handwritten Digits" (E. Alpaydin, C. Kaynak, 1998, UCI Machine Learning Repository, doi 10.24432/C50P49),
/// CC BY 4.0. train() and held_out() share no digit and are the same in every run: all samples are shuffled once by a fixed seed, the first
/// 1,437 are to learn from. (The file is ordered by writers, and its last rows come from hands of their own: held out instead, they would
/// measure something else.)
class Digits : public TensorDataset {
 public:
  static constexpr int64_t kSamples = 1797, kTrainSamples = 1437, kHeldOutSamples = 360;

  /// Unpacks the set. Takes a few milliseconds.
  Digits();
  /// All images, (1797, 1, 8, 8) from 0 to 1.
  [[nodiscard]] const Tensor& images() const { return tensors()[0]; }
  /// Their labels, (1797) int64 from 0 to 9.
  [[nodiscard]] const Tensor& labels() const { return tensors()[1]; }
  /// The 1,437 digits to learn from.
  [[nodiscard]] TensorDataset train() const;
  /// The 360 digits to be judged by.
  [[nodiscard]] TensorDataset held_out() const;
};

}  // namespace tandem::data
