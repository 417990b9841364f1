// Cross-entropy with class indices over rows of logits: the log-softmax, then the loss of each row from it. The gradient is made from the
// log-probabilities in one pass: scale (p sum(q) - q), q being the smoothed and weighted target.
#include "base/parallel.h"
#include "kernels/cpu/entries.h"
#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/rows.h"

namespace tandem::kernels::cpu {
namespace {

constexpr int64_t kBuffer = 2048;

template <class T>
T read_one(const View& view, int64_t i) {
  T x;
  pack_to<T>(view.dtype)(&x, view.as<char>() + (view.ndim ? i * view.strides[0] : 0) * static_cast<int64_t>(size_of(view.dtype)), 1, 1);
  return x;
}
template <class T>
void write_one(const View& view, int64_t i, T x) {
  unpack_from<T>(view.dtype)(view.as<char>() + i * view.strides[0] * static_cast<int64_t>(size_of(view.dtype)), 1, &x, 1);
}

/// A row's class: one to count, one to pass over, or one that does not exist (reported).
bool counts(const Queue& queue, const View& target, int64_t row, int64_t ignore, int64_t classes, int64_t& label) {
  label = target.as<int64_t>()[target.ndim ? row * target.strides[0] : 0];
  if (label == ignore) return false;
  if (label >= 0 && label < classes) return true;
  queue.status->report(Trouble::IndexOutOfRange, label, classes);
  return false;
}

template <class T>
T weight_of(const View& weight, int64_t label) {
  return weight.data ? read_one<T>(weight, label) : T(1);
}

/// The sum over the classes of weight (values), or of weight alone.
template <class T>
double weighted_sum(const View& weight, int64_t classes, const Rows* values, int64_t row) {
  if (!weight.data && !values) return static_cast<double>(classes);
  const Rows weights(weight.data ? weight : View{});
  const RowFunctions& call = row_functions<T>();
  alignas(64) T value_buffer[kBuffer], weight_buffer[kBuffer];
  double sum = 0;
  for (int64_t c = 0; c < classes; c += kBuffer) {
    const int64_t n = std::min(kBuffer, classes - c);
    const T* v = values ? values->read(row, c, n, value_buffer) : nullptr;
    const T* w = weight.data ? weights.read(0, c, n, weight_buffer) : nullptr;
    sum += v && w ? call.dot(v, w, n) : call.sum(v ? v : w, n);
  }
  return sum;
}

template <class T>
void backward_row(const Rows& out, const Rows& log_probabilities, const View& weight, int64_t row, bool counted, int64_t label, T scale,
                  T smoothing, T target_sum) {
  const int64_t classes = out.length();
  const RowFunctions& call = row_functions<T>();
  alignas(64) T buffer[kBuffer], weight_buffer[kBuffer];
  for (int64_t c = 0; c < classes; c += kBuffer) {
    const int64_t n = std::min(kBuffer, classes - c);
    T* y = out.target(row, c, buffer);
    if (!counted) {
      std::fill(y, y + n, T(0));
    } else {
      call.exp_scaled(y, log_probabilities.read(row, c, n, buffer), n, 0, static_cast<double>(scale * target_sum));
      if (smoothing != 0) {
        const T each = scale * smoothing / static_cast<T>(classes);
        const T* w = weight.data ? Rows(weight).read(0, c, n, weight_buffer) : nullptr;
        for (int64_t i = 0; i < n; ++i) y[i] -= w ? each * w[i] : each;
      }
      if (label >= c && label < c + n) y[label - c] -= scale * (1 - smoothing) * weight_of<T>(weight, label);
    }
    out.written(row, c, n, y);
  }
}

}  // namespace

void cross_entropy(const Queue& queue, Out losses, Out weights, Out log_probabilities, View logits, View target, View weight,
                   int64_t ignore, double smoothing) {
  log_softmax(queue, log_probabilities, logits);
  const Rows rows(log_probabilities);
  const int64_t classes = logits.sizes[1];
  visit_floating_compute(logits.dtype, [&]<class T>(T) {
    parallel_for(logits.sizes[0], smoothing != 0 ? row_grain(classes) : 8192, queue.threads, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        int64_t label = 0;
        T loss = 0, w = 0;
        if (counts(queue, target, r, ignore, classes, label)) {
          w = weight_of<T>(weight, label);
          T value;
          loss = -w * *rows.read(r, label, 1, &value);
          if (smoothing != 0)
            loss = static_cast<T>((1 - smoothing) * static_cast<double>(loss) -
                                  smoothing / static_cast<double>(classes) * weighted_sum<T>(weight, classes, &rows, r));
        }
        write_one(losses, r, loss);
        write_one(weights, r, w);
      }
    });
  });
}

void cross_entropy_backward(const Queue& queue, Out out_view, View scale, View log_probabilities, View target, View weight, int64_t ignore,
                            double smoothing) {
  const Rows out(out_view), from(log_probabilities);
  const int64_t classes = out.length();
  if (classes == 0) return;
  visit_floating_compute(out.dtype(), [&]<class T>(T) {
    const auto smooth = static_cast<T>(smoothing);
    const T all = smoothing != 0 ? static_cast<T>(weighted_sum<T>(weight, classes, nullptr, 0)) : T(0);
    parallel_for(out.count(), row_grain(classes), queue.threads, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        int64_t label = 0;
        const bool counted = counts(queue, target, r, ignore, classes, label);
        const T target_sum = counted ? (1 - smooth) * weight_of<T>(weight, label) + smooth / static_cast<T>(classes) * all : T(0);
        backward_row<T>(out, from, weight, r, counted, label, read_one<T>(scale, r), smooth, target_sum);
      }
    });
  });
}

}  // namespace tandem::kernels::cpu
