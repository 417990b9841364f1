// Connectionist temporal classification: sums over all alignments by dynamic programming over the target with blanks between its labels
// (Graves et al. 2006, section 4). Logarithms throughout. A group of threads takes a sequence: its steps follow each other, the places and
// classes of a step are shared out.
#include "kernels/ctc_sequence.h"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/entries.h"

namespace tandem::kernels::cuda {
namespace {

inline constexpr int kTogether = 256;

/// The sequences of a batch.
template <class T>
struct Batch {
  const T* log_probs;
  int64_t step_stride, sequence_stride, class_stride, classes, blank;
  const int64_t *targets, *rows;
  Reporter report;

  Batch(const Queue& queue, const View& log_probabilities, const View& labels, const View& lengths, int64_t blank_label)
      : log_probs(log_probabilities.as<T>()),
        step_stride(log_probabilities.strides[0]),
        sequence_stride(log_probabilities.strides[1]),
        class_stride(log_probabilities.strides[2]),
        classes(log_probabilities.sizes[2]),
        blank(blank_label),
        targets(labels.as<int64_t>()),
        rows(lengths.as<int64_t>()),
        report(queue) {}

  /// Sequence n; without steps where one of its labels is outside the classes, which is reported.
  TD_DEVICE CtcSequence<T> sequence(Group<kTogether>& group, int64_t n) const {
    const int64_t* const row = rows + 3 * n;
    CtcSequence<T> s{row[0], row[1], targets + row[2], blank, log_probs + n * sequence_stride, step_stride, class_stride};
    Group<kTogether>::Local<int> outside;
    group.each([&](int t) {
      outside[t] = 0;
      for (int64_t i = t; i < s.length; i += kTogether)
        if (s.labels[i] < 0 || s.labels[i] >= classes) {
          report(Trouble::IndexOutOfRange, s.labels[i], classes);
          outside[t] = 1;
        }
    });
    if (group.reduce(outside, [](int a, int b) { return a | b; })) s.steps = s.length = 0;
    return s;
  }
};

/// alpha[t][i]: the alignments of the first t + 1 steps that end at place i.
template <class T>
struct Forward {
  using Shared = NothingShared;
  Batch<T> batch;
  T *losses, *alpha;
  int64_t alpha_stride, width;

  TD_DEVICE void operator()(Group<kTogether>& group, int64_t n, Shared&) const {
    const CtcSequence<T> s = batch.sequence(group, n);
    T* const states = alpha + n * alpha_stride;
    for (int64_t step = 0; step < s.steps; ++step) {
      T* const now = states + step * width;
      const T* const before = now - width;
      group.each([&](int t) {
        for (int64_t i = t; i < s.places(); i += kTogether) {
          T sum = i < 2 ? T(0) : kNever<T>;
          if (step > 0) sum = log_sum(before[i], i > 0 ? before[i - 1] : kNever<T>, s.skips(i) ? before[i - 2] : kNever<T>);
          now[i] = sum + s.log_prob(step, s.at(i));
        }
      });
    }
    group.once([&] { losses[n] = s.loss(states, width); });
  }
};

/// The gradient by the logits under a log_softmax: the softmax less the share of each class in the alignments. beta: two rows of places,
/// the alignments from here to the end, and one of classes.
template <class T>
struct Backward {
  using Shared = NothingShared;
  Batch<T> batch;
  T *grad, *beta;
  const T *alpha, *scale;
  int64_t grad_step, grad_sequence, beta_stride, alpha_stride, scale_stride, width, all_steps;
  bool zero_infinity;

  TD_DEVICE void operator()(Group<kTogether>& group, int64_t n, Shared&) const {
    CtcSequence<T> s = batch.sequence(group, n);
    const T* const states = alpha + n * alpha_stride;
    T* const own_grad = grad + n * grad_sequence;
    T *after = beta + n * beta_stride, *now = after + width, *const shares = now + width;
    const T loss = s.loss(states, width), factor = scale[n * scale_stride];
    if (zero_infinity && math::isinf(loss)) s.steps = 0;
    group.each([&](int t) {
      for (int64_t step = s.steps; step < all_steps; ++step)
        for (int64_t c = t; c < batch.classes; c += kTogether) own_grad[step * grad_step + c] = 0;
    });
    for (int64_t step = s.steps - 1; step >= 0; --step) {
      group.each([&](int t) {
        for (int64_t i = t; i < s.places(); i += kTogether) {
          T sum = i >= s.places() - 2 ? T(0) : kNever<T>;
          if (step < s.steps - 1)
            sum = log_sum(after[i], i + 1 < s.places() ? after[i + 1] : kNever<T>,
                          i + 2 < s.places() && s.skips(i + 2) ? after[i + 2] : kNever<T>);
          now[i] = sum + s.log_prob(step, s.at(i));
        }
        for (int64_t c = t; c < batch.classes; c += kTogether) shares[c] = kNever<T>;
      });
      share(group, s, states + step * width, now, shares);
      group.each([&](int t) {
        for (int64_t c = t; c < batch.classes; c += kTogether) {
          const T log_prob = s.log_prob(step, c);
          own_grad[step * grad_step + c] = (math::exp(log_prob) - math::exp(shares[c] + loss - log_prob)) * factor;
        }
      });
      T* const free = after;
      after = now;
      now = free;
    }
  }

 private:
  /// shares[c]: what the places of class c have of a step. All threads add up the blank, which has every other place; the last place of
  /// each other class does so for it.
  TD_DEVICE void share(Group<kTogether>& group, const CtcSequence<T>& s, const T* from_start, const T* to_end, T* shares) const {
    Group<kTogether>::Local<T> blanks;
    group.each([&](int t) {
      blanks[t] = kNever<T>;
      for (int64_t i = t; i < s.places(); i += kTogether)
        if (s.at(i) == s.blank) blanks[t] = log_sum(blanks[t], from_start[i] + to_end[i]);
      for (int64_t k = t; k < s.length; k += kTogether) {
        const int64_t label = s.labels[k];
        bool last = label != s.blank;
        for (int64_t other = k + 1; other < s.length && last; ++other) last = s.labels[other] != label;
        if (!last) continue;
        T sum = kNever<T>;
        for (int64_t own = k; own >= 0; --own)
          if (s.labels[own] == label) sum = log_sum(sum, from_start[2 * own + 1] + to_end[2 * own + 1]);
        shares[label] = sum;
      }
    });
    const T blank = group.reduce(blanks, [](T a, T b) { return log_sum(a, b); });
    group.once([&] { shares[s.blank] = blank; });
  }
};

}  // namespace

void ctc_loss(const Queue& queue, Out losses, Out alpha, View log_probs, View targets, View rows, int64_t blank) {
  visit_floating_compute(losses.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_groups<kTogether>(
        queue, losses.numel(),
        Forward<T>{Batch<T>(queue, log_probs, targets, rows, blank), losses.as<T>(), alpha.as<T>(), alpha.strides[0], alpha.sizes[2]});
  });
}

void ctc_loss_backward(const Queue& queue, Out grad, Out beta, View scale, View log_probs, View targets, View rows, View alpha,
                       int64_t blank, bool zero_infinity) {
  visit_floating_compute(grad.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_groups<kTogether>(queue, alpha.sizes[0],
                          Backward<T>{Batch<T>(queue, log_probs, targets, rows, blank), grad.as<T>(), beta.as<T>(), alpha.as<T>(),
                                      scale.as<T>(), grad.strides[0], grad.strides[1], beta.strides[0], alpha.strides[0], scale.strides[0],
                                      alpha.sizes[2], grad.sizes[0], zero_infinity});
  });
}

}  // namespace tandem::kernels::cuda
