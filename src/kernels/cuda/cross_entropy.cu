// Cross-entropy with class indices over rows of logits: the log-softmax, then the loss of each row from it. The gradient is made from the
// log-probabilities in one pass: scale (p sum(q) - q), q being the smoothed and weighted target.
#include "kernels/cuda/entries.h"
#include "kernels/cuda/rows.cuh"

namespace tandem::kernels::cuda {
namespace {

/// The classes of the targets and their weights, for the loss and its gradient.
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

/// The loss of each row, from its log-probabilities.
template <class C>
struct Loss {
  Targets<C> targets;
  Results losses, weights;
  Converted<C> log_probabilities;
  int64_t loss_step, weight_step, row_step, class_step;

  /// `weighted`: the sum of weight * log-probability over all classes, which smoothing asks for.
  TD_DEVICE void store(int64_t row, C weighted) const {
    C loss = 0, weight = 0;
    if (const int64_t label = targets.label(row); label >= 0) {
      weight = targets.weight(label);
      loss = -weight * log_probabilities[row * row_step + label * class_step];
      if (targets.smoothing != 0) loss = (1 - targets.smoothing) * loss - targets.smoothing / static_cast<C>(targets.classes) * weighted;
    }
    losses.put(row * loss_step, loss);
    weights.put(row * weight_step, weight);
  }
  /// Without smoothing, by a thread a row.
  TD_DEVICE void operator()(int64_t row) const { store(row, 0); }
};

template <class C, int threads>
struct SmoothedLoss {
  struct Shared {
    C sums[threads];
  };
  Loss<C> loss;
  Rows<1> rows;  // of the log-probabilities

  TD_DEVICE void operator()(Group<threads>& group, int64_t i, Shared& shared) const {
    group.each([&](int t) {
      C sum = 0;
      rows.for_elements(rows.row(i, t), t, [&]<int n>(const int64_t(&at)[1][n], int64_t number) {
        C x[n];
        loss.log_probabilities.read(at[0], x);
        for (int k = 0; k < n; ++k) sum += x[k] * loss.targets.weight(number + k * rows.lanes);
      });
      shared.sums[t] = sum;
    });
    rows.reduce(group, shared.sums, [](C a, C b) { return a + b; });
    group.each([&](int t) {
      if (const int64_t row = rows.row(i, t); rows.leads(t, row)) loss.store(row, shared.sums[t]);
    });
  }
};

template <class C, int threads>
struct LossGradient {
  struct Shared {
    C weights[threads];
  };
  Targets<C> targets;
  Floats<C> out, log_probabilities;
  Converted<C> scale;
  int64_t scale_step;
  Rows<2> rows;  // of out, of the log-probabilities

  TD_DEVICE void operator()(Group<threads>& group, int64_t i, Shared& shared) const {
    const bool weighs = targets.smoothing != 0 && targets.weights.data;
    if (weighs) {
      group.each([&](int t) {
        C sum = 0;
        rows.for_elements(rows.row(i, t), t, [&]<int n>(const int64_t(&)[2][n], int64_t number) {
          for (int k = 0; k < n; ++k) sum += targets.weight(number + k * rows.step());
        });
        shared.weights[t] = sum;
      });
      rows.reduce(group, shared.weights, [](C a, C b) { return a + b; });
    }
    group.each([&](int t) {
      const int64_t row = rows.row(i, t);
      if (row >= rows.starts.count) return;
      const int64_t label = targets.label(row);
      const C share = targets.smoothing / static_cast<C>(targets.classes);  // what smoothing gives each class
      C row_scale = 0, weight = 0, target_sum = 0;
      if (label >= 0) {
        row_scale = scale[row * scale_step];
        weight = targets.weight(label);
        target_sum = (1 - targets.smoothing) * weight + share * (weighs ? shared.weights[rows.first(t)] : static_cast<C>(targets.classes));
      }
      rows.for_elements(row, t, [&]<int n>(const int64_t(&at)[2][n], int64_t number) {
        C x[n];
        log_probabilities.read(at[1], x, rows.together(1));
        for (int k = 0; k < n; ++k) {
          const int64_t c = number + k * rows.step();
          C target = 0;
          if (share != 0) target = share * targets.weight(c);
          if (c == label) target += (1 - targets.smoothing) * weight;
          x[k] = label < 0 ? C(0) : row_scale * (math::exp(x[k]) * target_sum - target);
        }
        out.write(at[0], x, rows.together(0));
      });
    });
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
    const View& in = log_probabilities;
    split_rows<512>(Rows<1>(places_in(in, 0, 1, false, in), places_in(in, 1, 2, false, in), dense_rows(in, 1)),
                    [&](auto threads, const Rows<1>& rows) {
                      for_groups<threads>(queue, rows.groups(), SmoothedLoss<C, threads>{loss, rows});
                    });
  });
}

void cross_entropy_backward(const Queue& queue, Out out, View scale, View log_probabilities, View target, View weight, int64_t ignore,
                            double smoothing) {
  visit_floating_compute(out.dtype, [&](auto zero) {
    using C = decltype(zero);
    const Targets<C> targets(queue, target, weight, out.sizes[1], ignore, smoothing);
    const int64_t scale_step = scale.ndim ? scale.strides[0] : 0;
    const Rows<2> all = Rows<2>(places_in(out, 0, 1, false, out, log_probabilities), places_in(out, 1, 2, false, out, log_probabilities),
                                dense_rows(out, 1))
                            .in_fours(out, log_probabilities);
    split_rows<512>(all, [&](auto threads, const Rows<2>& rows) {
      for_groups<threads>(queue, rows.groups(), LossGradient<C, threads>{targets, out, log_probabilities, scale, scale_step, rows});
    });
  });
}

}  // namespace tandem::kernels::cuda
