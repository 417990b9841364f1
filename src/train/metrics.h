// Metrics: what a model's outputs are worth over any number of batches. `update` only queues work on the device of the batch, so that a
// loop never waits for it; `compute` reads the result.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace tandem::train {

/// One number over all batches since the last reset.
class Metric {
 public:
  virtual ~Metric() = default;
  /// Takes in a batch. Waits for nothing. Error for sizes that do not fit, and on another device than the batches before.
  virtual void update(const Tensor& output, const Tensor& target, Site site = Site::here()) = 0;
  /// The number. Waits for the device. Error before the first batch.
  [[nodiscard]] virtual double compute(Site site = Site::here()) const = 0;
  /// Forgets all batches.
  virtual void reset() = 0;
};

/// Metrics by the names of their figures.
using NamedMetrics = std::vector<std::pair<std::string, std::shared_ptr<Metric>>>;

struct AccuracyOptions {
  int64_t top_k = 1;  // right is also what is among the k largest scores
};

/// The share of samples put into their class. `output` (n, classes, …) has scores, or, with top_k 1, it has the classes themselves, of
/// target's sizes; `target` (n, …) integers. Of equal scores the first counts as the larger one.
class Accuracy : public Metric {
 public:
  explicit Accuracy(AccuracyOptions options = {}, Site = Site::here());
  void update(const Tensor& output, const Tensor& target, Site site = Site::here()) override;
  [[nodiscard]] double compute(Site site = Site::here()) const override;
  void reset() override;

 private:
  AccuracyOptions options_;
  Tensor right_;  // int64, one element
  int64_t samples_ = 0;
};

struct ConfusionMatrixOptions {
  int64_t num_classes = 2;
};

/// How often samples of each class were put into each class.
class ConfusionMatrix {
 public:
  /// Error unless num_classes is positive.
  explicit ConfusionMatrix(ConfusionMatrixOptions options = {}, Site = Site::here()) : ConfusionMatrix("ConfusionMatrix", options) {}
  /// `output` and `target` as for Accuracy, with num_classes scores a sample.
  void update(const Tensor& output, const Tensor& target, Site site = Site::here());
  /// (classes, classes) int64 on the CPU: rows are targets, columns what the output says. Error where a class was outside 0 …
  /// num_classes - 1, and before the first batch.
  [[nodiscard]] Tensor compute(Site site = Site::here()) const;
  /// Forgets all batches.
  void reset();
  [[nodiscard]] int64_t num_classes() const { return num_classes_; }

 private:
  friend class ClassMetric;
  ConfusionMatrix(const char* op, ConfusionMatrixOptions options);

  int64_t num_classes_;
  const char* op_;  // named in errors
  Tensor counts_;   // int64: the matrix row by row, then one cell for classes that do not exist
};

/// Options of Precision, Recall and F1Score, in this order.
struct AverageOptions {
  int64_t num_classes = 2;
  std::string average = "macro";  // the mean over classes, or "micro": all samples in one count
};

/// A number a class, from a confusion matrix, and their average. A class that is neither among the targets nor among the outputs is left
/// out of "macro"; a quotient by zero is 0. As sklearn.metrics.precision_recall_fscore_support.
class ClassMetric : public Metric {
 public:
  void update(const Tensor& output, const Tensor& target, Site site = Site::here()) override { matrix_.update(output, target, site); }
  [[nodiscard]] double compute(Site site = Site::here()) const override;
  /// For each class by itself.
  [[nodiscard]] std::vector<double> per_class(Site site = Site::here()) const;
  void reset() override { matrix_.reset(); }

 protected:
  /// Samples that the output put into a class, that belong to it, and both.
  struct Counts {
    double right = 0, predicted = 0, actual = 0;
  };
  ClassMetric(const char* op, AverageOptions options);
  [[nodiscard]] virtual double score(const Counts& of) const = 0;

 private:
  [[nodiscard]] std::vector<Counts> counts(Site site) const;

  ConfusionMatrix matrix_;
  bool micro_;
};

/// Of those put into a class, the share that belongs there.
class Precision : public ClassMetric {
 public:
  explicit Precision(AverageOptions options = {}, Site = Site::here()) : ClassMetric("Precision", std::move(options)) {}

 protected:
  [[nodiscard]] double score(const Counts& of) const override;
};

/// Of those that belong to a class, the share put there.
class Recall : public ClassMetric {
 public:
  explicit Recall(AverageOptions options = {}, Site = Site::here()) : ClassMetric("Recall", std::move(options)) {}

 protected:
  [[nodiscard]] double score(const Counts& of) const override;
};

/// The harmonic mean of precision and recall, class by class.
class F1Score : public ClassMetric {
 public:
  explicit F1Score(AverageOptions options = {}, Site = Site::here()) : ClassMetric("F1Score", std::move(options)) {}

 protected:
  [[nodiscard]] double score(const Counts& of) const override;
};

/// The area under the receiver operating characteristic: how often a sample of class 1 scores above one of class 0, ties counting half.
/// Exact: keeps all scores. `output` (n) or (n, 1) floating, `target` of the same sizes, 0 or 1. As sklearn.metrics.roc_auc_score.
class AUROC : public Metric {
 public:
  void update(const Tensor& output, const Tensor& target, Site site = Site::here()) override;
  /// Error where a class has no sample, a score is nan, or a target is neither 0 nor 1.
  [[nodiscard]] double compute(Site site = Site::here()) const override;
  void reset() override;

 private:
  std::vector<Tensor> scores_, targets_;
};

/// The mean of (output - target)^2 over all elements, added up in float64. Both of the same sizes.
class MeanSquaredError : public Metric {
 public:
  void update(const Tensor& output, const Tensor& target, Site site = Site::here()) override;
  [[nodiscard]] double compute(Site site = Site::here()) const override;
  void reset() override;

 private:
  Tensor sum_;
  int64_t elements_ = 0;
};

}  // namespace tandem::train
