// What distributions by probabilities, or by their logits, have in common.
#pragma once

#include "distributions/distribution.h"

namespace tandem::distributions {

/// Probabilities, or their logits: one of the two. {.probs = 0.3}, {.logits = x}.
struct ProbsOrLogits {
  std::optional<TensorOrNumber> probs = {}, logits = {};
  std::optional<bool> validate_args = {};
};

/// A distribution by a probability or by its logit, log(p / (1 - p)).
class ByProbability : public Distribution {
 public:
  /// The probability; of logits, their sigmoid.
  [[nodiscard]] Tensor probs(Site site = Site::here()) const;
  /// The logit; of a probability, that of one which is neither 0 nor 1 to the dtype's precision.
  [[nodiscard]] Tensor logits(Site site = Site::here()) const;

 protected:
  /// The parameters are the probability or the logit, and total_count where there is one. ValueError unless exactly one is given.
  ByProbability(const char* name, const ProbsOrLogits& given, Site site, const Operand* total_count = nullptr);

 private:
  bool has_logits_;
};

/// A distribution of classes, by the probabilities (…, n) of n classes, or by their logits. Neither has to be normalized.
class ByClasses : public Distribution {
 public:
  /// The probabilities, which add up to 1.
  [[nodiscard]] Tensor probs(Site site = Site::here()) const;
  /// Their logarithms.
  [[nodiscard]] Tensor logits(Site site = Site::here()) const;
  /// How many classes there are.
  [[nodiscard]] int64_t num_events() const { return parameter(0).sizes().back(); }

 protected:
  /// `event_is_vector`: whether a sample has an element for each class. ValueError unless exactly one is given, and for one without
  /// dimensions.
  ByClasses(const char* name, const ProbsOrLogits& given, bool event_is_vector, Site site);

  /// Classes (int64), of sizes sample_shape + batch_shape: `shape`.
  [[nodiscard]] Tensor draw_classes(const Shape& shape) const;
  /// The logarithms of the probabilities of classes.
  [[nodiscard]] Tensor log_prob_of(const Tensor& classes) const;
  /// The entropy of one class.
  [[nodiscard]] Tensor class_entropy() const;

 private:
  bool has_logits_;
};

}  // namespace tandem::distributions
