#include "train/metrics.h"

#include <utility>

#include "autograd/autograd.h"
#include "base/error.h"
#include "ops/arithmetic.h"
#include "ops/creation.h"
#include "ops/indexing.h"
#include "ops/join.h"
#include "ops/pointwise.h"
#include "ops/reduce.h"
#include "ops/sort.h"
#include "tensor/host_values.h"

namespace tandem::train {
namespace {

/// A metric's sums live where its first batch did.
void check_device(const char* op, const Tensor& batch, const Tensor& before) {
  if (before.defined() && !(before.device() == batch.device()))
    fail("[", op, "] this batch is on ", batch.device(), ", the batches before were on ", before.device(),
         ": move it there, or use a metric for each device");
}

void check_any(const char* op, bool any) {
  if (!any) fail("[", op, "] there is nothing to compute from: call update first");
}

bool counts_classes(const Tensor& x) { return is_integral(x.dtype()) || x.dtype() == kBool; }

/// The sizes of `output` without its second dimension, the scores of the classes.
Shape sizes_without_scores(const Tensor& output) {
  Shape sizes = {output.size(0)};
  for (int64_t d = 2; d < output.dim(); ++d) sizes.push_back(output.size(d));
  return sizes;
}

bool has_scores(const Tensor& output, const Tensor& target) { return output.dim() == target.dim() + 1 && output.dim() >= 2; }

void check_classes(const char* op, const Tensor& output, const Tensor& target) {
  if (!counts_classes(target)) fail("[", op, "] target must have class numbers, but its dtype is ", target.dtype());
  const bool fits =
      has_scores(output, target) ? sizes_without_scores(output) == target.sizes() : output.sizes() == target.sizes() && target.dim() >= 1;
  if (!fits)
    fail("[", op, "] output must have the sizes (n, classes, …) for a target (n, …), or the target's own, but they are ", output.sizes(),
         " and ", target.sizes());
  if (!has_scores(output, target) && !counts_classes(output))
    fail("[", op, "] an output of the target's sizes must have class numbers, but its dtype is ", output.dtype());
}

Tensor predicted_classes(const Tensor& output, const Tensor& target, Site site) {
  return has_scores(output, target) ? output.argmax(1, false, site) : output;
}

double quotient(double part, double whole) { return whole == 0 ? 0 : part / whole; }

}  // namespace

// --- Accuracy

Accuracy::Accuracy(AccuracyOptions options, Site /*site*/) : options_(options) {
  if (options_.top_k < 1) fail("[Accuracy] top_k must be positive, but is ", options_.top_k);
}

void Accuracy::update(const Tensor& output, const Tensor& target, Site site) {
  const NoGradGuard no_grad;
  check_classes("Accuracy", output, target);
  check_device("Accuracy", output, right_);
  Tensor right;
  if (options_.top_k == 1) {
    right = eq(predicted_classes(output, target, site), target, site);
  } else {
    if (!has_scores(output, target))
      fail("[Accuracy] top_k ", options_.top_k, " needs scores (n, classes, …), but output has the target's sizes ", output.sizes());
    if (options_.top_k > output.size(1))
      fail("[Accuracy] top_k is ", options_.top_k, ", but output has scores for ", output.size(1), " classes: ", output.sizes());
    right = eq(topk(output, options_.top_k, 1, true, true, site).indices, target.unsqueeze(1, site), site);
  }
  const Tensor count = right.sum(site);
  if (right_.defined()) right_.add_(count, 1, site);
  else right_ = count;
  samples_ += target.numel();
}

double Accuracy::compute(Site site) const {
  check_any("Accuracy", samples_ > 0);
  return right_.item<double>(site) / static_cast<double>(samples_);
}

void Accuracy::reset() {
  right_ = Tensor();
  samples_ = 0;
}

// --- ConfusionMatrix and what is computed from it

ConfusionMatrix::ConfusionMatrix(const char* op, ConfusionMatrixOptions options) : num_classes_(options.num_classes), op_(op) {
  if (num_classes_ < 1) fail("[", op_, "] num_classes must be positive, but is ", num_classes_);
}

void ConfusionMatrix::update(const Tensor& output, const Tensor& target, Site site) {
  const NoGradGuard no_grad;
  check_classes(op_, output, target);
  check_device(op_, output, counts_);
  if (has_scores(output, target) && output.size(1) != num_classes_)
    fail("[", op_, "] output has scores for ", output.size(1), " classes (its sizes are ", output.sizes(), "), but num_classes is ",
         num_classes_);
  const Tensor to = predicted_classes(output, target, site).to(kInt64, {}, site).reshape({-1}, site);
  const Tensor from = target.to(kInt64, {}, site).reshape({-1}, site);
  const Tensor lowest = minimum(to, from, site), highest = maximum(to, from, site);
  const Tensor exist = logical_and(ge(lowest, 0, site), lt(highest, num_classes_, site), site);
  const Tensor cell = where(exist, add(mul(from, num_classes_, site), to, site), num_classes_ * num_classes_, site);
  if (!counts_.defined()) counts_ = zeros({num_classes_ * num_classes_ + 1}, {.dtype = kInt64, .device = output.device()}, site);
  counts_.scatter_add_(0, cell, ones(cell.sizes(), {.dtype = kInt64, .device = cell.device()}, site), site);
}

Tensor ConfusionMatrix::compute(Site site) const {
  check_any(op_, counts_.defined());
  const int64_t cells = num_classes_ * num_classes_;
  const Tensor counts = counts_.cpu(site);
  if (const auto outside = counts.slice(0, cells, cells + 1, 1, site).item<int64_t>(site))
    fail("[", op_, "] ", outside, outside == 1 ? " sample has" : " samples have", " a class outside 0 … ", num_classes_ - 1,
         " as target or output: num_classes is ", num_classes_);
  return counts.slice(0, 0, cells, 1, site).reshape({num_classes_, num_classes_}, site);
}

void ConfusionMatrix::reset() { counts_ = Tensor(); }

ClassMetric::ClassMetric(const char* op, AverageOptions options) : matrix_(op, {options.num_classes}), micro_(options.average == "micro") {
  if (!micro_ && options.average != "macro") fail("[", op, "] average must be 'macro' or 'micro', not '", options.average, "'");
}

std::vector<ClassMetric::Counts> ClassMetric::counts(Site site) const {
  const std::vector<int64_t> cells = read_values(matrix_.compute(site), -1, "ConfusionMatrix", site).integers;
  const auto classes = static_cast<size_t>(matrix_.num_classes());
  std::vector<Counts> all(classes);
  for (size_t from = 0; from < classes; ++from) {
    for (size_t to = 0; to < classes; ++to) {
      const auto count = static_cast<double>(cells[from * classes + to]);
      all[from].actual += count;
      all[to].predicted += count;
      if (from == to) all[to].right = count;
    }
  }
  return all;
}

double ClassMetric::compute(Site site) const {
  double sum = 0;
  int64_t classes = 0;
  Counts together;
  for (const Counts& one : counts(site)) {
    together.right += one.right;
    together.predicted += one.predicted;
    together.actual += one.actual;
    if (one.predicted + one.actual == 0) continue;
    sum += score(one);
    ++classes;
  }
  return micro_ ? score(together) : quotient(sum, static_cast<double>(classes));
}

std::vector<double> ClassMetric::per_class(Site site) const {
  std::vector<double> scores;
  for (const Counts& one : counts(site)) scores.push_back(score(one));
  return scores;
}

double Precision::score(const Counts& of) const { return quotient(of.right, of.predicted); }
double Recall::score(const Counts& of) const { return quotient(of.right, of.actual); }
double F1Score::score(const Counts& of) const { return quotient(2 * of.right, of.predicted + of.actual); }

// --- AUROC

void AUROC::update(const Tensor& output, const Tensor& target, Site site) {
  const NoGradGuard no_grad;
  if (!output.is_floating_point()) fail("[AUROC] output must have floating scores, but its dtype is ", output.dtype());
  const bool column = output.dim() == 2 && output.size(1) == 1;
  if (!(output.sizes() == target.sizes()) || !(output.dim() == 1 || column))
    fail("[AUROC] output and target must both have the sizes (n) or (n, 1), but they are ", output.sizes(), " and ", target.sizes());
  check_device("AUROC", output, scores_.empty() ? Tensor() : scores_[0]);
  // Copies, since what the caller does with a batch afterwards must not change it. Half types fit float32 exactly.
  const DType dtype = output.dtype() == kFloat64 ? kFloat64 : kFloat32;
  scores_.push_back(output.detach().reshape({-1}, site).to(dtype, {.copy = true}, site));
  targets_.push_back(target.detach().reshape({-1}, site).to(kFloat32, {.copy = true}, site));
}

double AUROC::compute(Site site) const {
  const NoGradGuard no_grad;
  check_any("AUROC", !scores_.empty());
  const Tensor scores = cat(scores_, 0, site), targets = cat(targets_, 0, site);
  const Tensor is_one = eq(targets, 1, site), is_zero = eq(targets, 0, site);
  if (!all(logical_or(is_one, is_zero, site), site).item<bool>(site)) fail("[AUROC] a target is neither 0 nor 1");
  if (any(isnan(scores, site), site).item<bool>(site)) fail("[AUROC] a score is nan");
  const Tensor ones = masked_select(scores, is_one, site), zeros = masked_select(scores, is_zero, site);
  if (ones.numel() == 0 || zeros.numel() == 0)
    fail("[AUROC] there must be samples of both classes, but there are ", zeros.numel(), " of class 0 and ", ones.numel(), " of class 1");
  // For each one, the zeros below it and half of those beside it: the places before and behind its equals, added up.
  const Tensor sorted = sort(zeros, -1, false, site).values;
  const Tensor before = searchsorted(sorted, ones, {}, site), behind = searchsorted(sorted, ones, {.right = true}, site);
  const auto places = before.sum(site).item<int64_t>(site) + behind.sum(site).item<int64_t>(site);
  return static_cast<double>(places) / 2 / static_cast<double>(ones.numel()) / static_cast<double>(zeros.numel());
}

void AUROC::reset() {
  scores_.clear();
  targets_.clear();
}

// --- MeanSquaredError

void MeanSquaredError::update(const Tensor& output, const Tensor& target, Site site) {
  const NoGradGuard no_grad;
  if (!(output.sizes() == target.sizes()))
    fail("[MeanSquaredError] output and target must have the same sizes, but they are ", output.sizes(), " and ", target.sizes());
  check_device("MeanSquaredError", output, sum_);
  const Tensor sum = square(sub(output.to(kFloat64, {}, site), target.to(kFloat64, {}, site), site), site).sum(site);
  if (sum_.defined()) sum_.add_(sum, 1, site);
  else sum_ = sum;
  elements_ += output.numel();
}

double MeanSquaredError::compute(Site site) const {
  check_any("MeanSquaredError", elements_ > 0);
  return sum_.item<double>(site) / static_cast<double>(elements_);
}

void MeanSquaredError::reset() {
  sum_ = Tensor();
  elements_ = 0;
}

}  // namespace tandem::train
