// Connectionist temporal classification: sums over all alignments by dynamic programming over the target with blanks between its labels
// (Graves et al. 2006, section 4). Everything is computed in logarithms. Each sequence of the batch
// is done by one thread.
#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "kernels/cpu/entries.h"
#include "kernels/cpu/rows.h"
#include "kernels/ctc_sequence.h"

namespace tandem::kernels::cpu {
namespace {

/// Sequence n; without steps where one of its labels is outside the classes, which is reported.
template <class T>
CtcSequence<T> sequence(const Queue& queue, const View& log_probs, const View& targets, const View& rows, int64_t n, int64_t blank) {
  const int64_t* const row = rows.as<int64_t>() + 3 * n;
  CtcSequence<T> s{row[0],
                   row[1],
                   targets.as<int64_t>() + row[2],
                   blank,
                   log_probs.as<T>() + n * log_probs.strides[1],
                   log_probs.strides[0],
                   log_probs.strides[2]};
  for (int64_t i = 0; i < s.length; ++i)
    if (s.labels[i] < 0 || s.labels[i] >= log_probs.sizes[2]) {
      queue.status->report(Trouble::IndexOutOfRange, s.labels[i]);
      s.steps = s.length = 0;
    }
  return s;
}

/// alpha[t][i]: the alignments of the first t + 1 steps that end at place i.
template <class T>
void forward(const CtcSequence<T>& s, T* alpha, int64_t width) {
  if (s.steps == 0) return;
  const int64_t places = s.places();
  std::fill(alpha, alpha + places, kNever<T>);
  for (int64_t i = 0; i < std::min<int64_t>(2, places); ++i) alpha[i] = s.log_prob(0, s.at(i));
  for (int64_t t = 1; t < s.steps; ++t) {
    const T* const before = alpha + (t - 1) * width;
    T* const now = alpha + t * width;
    for (int64_t i = 0; i < places; ++i)
      now[i] = log_sum(before[i], i > 0 ? before[i - 1] : kNever<T>, s.skips(i) ? before[i - 2] : kNever<T>) + s.log_prob(t, s.at(i));
  }
}

/// The gradient by the logits under a log_softmax: the softmax less the share of each class in the alignments. beta: two rows of places,
/// the alignments from here to the end, and one of classes.
template <class T>
void backward(const CtcSequence<T>& s, const Out& grad, int64_t n, T scale, const T* alpha, T* beta, int64_t width) {
  const int64_t places = s.places(), classes = grad.sizes[2];
  const T loss = s.loss(alpha, width);
  T *after = beta, *now = beta + width, *const shares = beta + 2 * width;
  for (int64_t t = s.steps - 1; t >= 0; --t) {
    for (int64_t i = 0; i < places; ++i) {
      if (t == s.steps - 1) now[i] = i >= places - 2 ? T(0) : kNever<T>;
      else
        now[i] = log_sum(after[i], i + 1 < places ? after[i + 1] : kNever<T>, i + 2 < places && s.skips(i + 2) ? after[i + 2] : kNever<T>);
      now[i] += s.log_prob(t, s.at(i));
    }
    std::fill(shares, shares + classes, kNever<T>);
    for (int64_t i = places - 1; i >= 0; --i) {
      T& share = shares[s.at(i)];
      share = log_sum(share, alpha[t * width + i] + now[i]);
    }
    T* const row = grad.as<T>() + n * grad.strides[1] + t * grad.strides[0];
    for (int64_t c = 0; c < classes; ++c) {
      const T log_prob = s.log_prob(t, c);
      row[c] = (std::exp(log_prob) - std::exp(shares[c] + loss - log_prob)) * scale;
    }
    std::swap(after, now);
  }
}

}  // namespace

void ctc_loss(const Queue& queue, Out losses, Out alpha, View log_probs, View targets, View rows, int64_t blank) {
  visit_floating_compute(losses.dtype, [&]<class T>(T) {
    parallel_for(losses.numel(), 1, queue.threads, [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) {
        const CtcSequence<T> s = sequence<T>(queue, log_probs, targets, rows, n, blank);
        T* const states = alpha.as<T>() + n * alpha.strides[0];
        forward(s, states, alpha.sizes[2]);
        losses.as<T>()[n] = s.loss(states, alpha.sizes[2]);
      }
    });
  });
}

void ctc_loss_backward(const Queue& queue, Out grad, Out beta, View scale, View log_probs, View targets, View rows, View alpha,
                       int64_t blank, bool zero_infinity) {
  visit_floating_compute(grad.dtype, [&]<class T>(T) {
    parallel_for(alpha.sizes[0], 1, queue.threads, [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) {
        CtcSequence<T> s = sequence<T>(queue, log_probs, targets, rows, n, blank);
        const T* const states = alpha.as<T>() + n * alpha.strides[0];
        if (zero_infinity && std::isinf(s.loss(states, alpha.sizes[2]))) s.steps = 0;
        for (int64_t t = s.steps; t < grad.sizes[0]; ++t) {
          T* const row = grad.as<T>() + t * grad.strides[0] + n * grad.strides[1];
          std::fill(row, row + grad.sizes[2], T(0));
        }
        backward(s, grad, n, scale.as<T>()[n * scale.strides[0]], states, beta.as<T>() + n * beta.strides[0], alpha.sizes[2]);
      }
    });
  });
}

}  // namespace tandem::kernels::cpu
