// Which token a language model writes next.
#pragma once

#include <cstdint>

#include "tensor/tensor.h"

namespace tandem::models {

/// How a token is chosen: by chance among the likeliest ones, or always the likeliest.
struct SamplingOptions {
  double temperature = 0;  // logits are divided by it; 0: always the likeliest token
  int64_t top_k = 0;       // only so many of the likeliest tokens; 0: all
  double top_p = 1;        // of these, the fewest whose probabilities add up to it
  uint64_t seed = 0;       // the same seed draws the same numbers
};

/// Chooses tokens by their logits.
class Sampler {
 public:
  /// Error for a temperature or a top_k below 0, and for a top_p that is not above 0 and up to 1.
  explicit Sampler(const SamplingOptions& options = {}, Site = Site::here());
  /// The token, by its logits (vocab_size); waits for their device. Error for logits that are no numbers.
  [[nodiscard]] int64_t choose(const Tensor& logits, Site site = Site::here());

 private:
  SamplingOptions options_;
  uint64_t state_;
};

}  // namespace tandem::models
