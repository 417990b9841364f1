// Cross-entropy with class indices over rows of logits: the log-softmax, then the loss of each row from it. The gradient is made from the
// log-probabilities in one pass: scale (p sum(q) - q), q being the smoothed and weighted target.
#include "kernels/cuda/entries.h"
#include "kernels/cuda/reduction.cuh"

namespace tandem::kernels::cuda {
namespace {

/// What both directions know of the targets: their classes and the weights of these.
template <class C>
struct Targets {
  const int64_t* labels;
  int64_t label_step, classes, ignore;
  Converted<C> weights;
  int64_t weight_step;
  C smoothing;
  Reporter report;

  Targets(const Queue& queue, const View& target, const View& weight, int64_t count, int64_t ignored, double smooth)
      : labels(target.as<int64_t>()),
        label_step(target.ndim ? target.strides[0] : 0),
        classes(count),
        ignore(ignored),
        weights(weight),
        weight_step(weight.data && weight.ndim ? weight.strides[0] : 0),
        smoothing(static_cast<C>(smooth)),
        report(queue) {}

  /// The class of a row; -1 where it is to be passed over, or does not exist (reported).
  TD_DEVICE int64_t label(int64_t row) const {
    const int64_t label = labels[row * label_step];
    if (label == ignore) return -1;
    if (label >= 0 && label < classes) return label;
    report(Trouble::IndexOutOfRange, label, classes);
    return -1;
  }
  TD_DEVICE C weight(int64_t label) const { return weights.data ? weights[label * weight_step] : C(1); }
};

/// With smoothing, a row's total is that of weight * log-probability.
template <class C>
struct Loss {
  using Total = C;
  static constexpr int kArrays = 1;
  static constexpr int kMost = 512;
  Targets<C> targets;
  Results losses, weights;
  Converted<C> log_probabilities;
  int64_t loss_step, weight_step, row_step, class_step;

  TD_DEVICE Total none() const { return 0; }
  TD_DEVICE void base(int64_t row, int64_t (&at)[1]) const { at[0] = row * row_step; }
  template <int n>
  TD_DEVICE void take(Total& total, const int64_t (&at)[1][n], int64_t number, int step) const {
    C x[n];
    log_probabilities.read(at[0], x);
    for (int k = 0; k < n; ++k) total += x[k] * targets.weight(number + k * step);
  }
  TD_DEVICE Total combine(Total a, Total b) const { return a + b; }
  TD_DEVICE void write(int64_t row, Total total) const {
    C loss = 0, weight = 0;
    if (const int64_t label = targets.label(row); label >= 0) {
      weight = targets.weight(label);
      loss = -weight * log_probabilities[row * row_step + label * class_step];
      if (targets.smoothing != 0) loss = (1 - targets.smoothing) * loss - targets.smoothing / static_cast<C>(targets.classes) * total;
    }
    losses.put(row * loss_step, loss);
    weights.put(row * weight_step, weight);
  }
  /// Without smoothing a thread does a row.
  TD_DEVICE void operator()(int64_t row) const { write(row, 0); }
};

/// A row's total is that of the weights, where smoothing asks for it.
template <class C>
struct LossGradient {
  using Total = C;
  static constexpr int kArrays = 2;  // out, log-probabilities
  static constexpr int kMost = 512;
  Targets<C> targets;
  Floats<C> out, log_probabilities;
  Converted<C> scale;
  Places<2> rows;
  int64_t scale_step;

  struct Settings {
    int64_t label;
    C scale, target_sum, share;  // share: what smoothing gives each class
  };

  TD_DEVICE bool gathers() const { return targets.smoothing != 0 && targets.weights.data; }
  TD_DEVICE Total none() const { return 0; }
  TD_DEVICE void base(int64_t row, int64_t (&at)[2]) const { rows(row, at); }
  template <int n>
  TD_DEVICE void take(Total& total, const int64_t (&)[2][n], int64_t number, int step) const {
    for (int k = 0; k < n; ++k) total += targets.weight(number + k * step);
  }
  TD_DEVICE Total combine(Total a, Total b) const { return a + b; }
  TD_DEVICE void write(int64_t, Total) const {}
  TD_DEVICE Settings settings(int64_t row, Total total) const {
    const int64_t label = targets.label(row);
    if (label < 0) return {label, 0, 0, 0};
    const C all = gathers() ? total : static_cast<C>(targets.classes), share = targets.smoothing / static_cast<C>(targets.classes);
    return {label, scale[row * scale_step], (1 - targets.smoothing) * targets.weight(label) + share * all, share};
  }
  template <int n>
  TD_DEVICE void put(const Settings& row, const int64_t (&at)[2][n], int64_t number, int step) const {
    C x[n];
    log_probabilities.read(at[1], x);
    for (int k = 0; k < n; ++k) {
      C target = 0;
      if (row.share != 0) target = row.share * targets.weight(number + k * step);
      if (number + k * step == row.label) target += (1 - targets.smoothing) * targets.weight(row.label);
      x[k] = row.label < 0 ? C(0) : row.scale * (math::exp(x[k]) * row.target_sum - target);
    }
    out.write(at[0], x);
  }
};

}  // namespace

void cross_entropy(const Queue& queue, Out losses, Out weights, Out log_probabilities, View logits, View target, View weight,
                   int64_t ignore, double smoothing) {
  log_softmax(queue, log_probabilities, logits);
  visit_floating_compute(logits.dtype, [&](auto zero) {
    using C = decltype(zero);
    const Targets<C> targets(queue, target, weight, logits.sizes[1], ignore, smoothing);
    const Loss<C> loss{targets,
                       losses,
                       weights,
                       log_probabilities,
                       losses.ndim ? losses.strides[0] : 0,
                       weights.ndim ? weights.strides[0] : 0,
                       log_probabilities.strides[0],
                       log_probabilities.strides[1]};
    if (smoothing == 0) return for_each(queue, logits.sizes[0], loss);
    reduce_rows(queue, logits.sizes[0], Dims(log_probabilities, 1, 2, false).places(log_probabilities), dense_rows(log_probabilities, 1),
                loss);
  });
}

void cross_entropy_backward(const Queue& queue, Out out, View scale, View log_probabilities, View target, View weight, int64_t ignore,
                            double smoothing) {
  visit_floating_compute(out.dtype, [&](auto zero) {
    using C = decltype(zero);
    const Places<2> rows = Dims(out, 0, 1, false).places(out, log_probabilities),
                    elements = Dims(out, 1, 2, false).places(out, log_probabilities);
    change_rows(queue, rows.count, elements, dense_rows(out, 1),
                LossGradient<C>{Targets<C>(queue, target, weight, out.sizes[1], ignore, smoothing), out, log_probabilities, scale, rows,
                                scale.ndim ? scale.strides[0] : 0});
  });
}

}  // namespace tandem::kernels::cuda
