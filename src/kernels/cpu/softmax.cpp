// Softmax and log-softmax over rows, and their gradients. Rows are shared out among the threads. Dense rows of float and double go to SIMD
// code as they lie; other rows are packed into a first-cache buffer, in pieces where they are longer than it.
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "kernels/cpu/entries.h"
#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/rows.h"

namespace tandem::kernels::cpu {
namespace {

constexpr int64_t kBuffer = 2048;

/// Calls `f(column, n)` for the pieces of a row.
template <class F>
void for_pieces(int64_t length, F f) {
  for (int64_t c = 0; c < length; c += kBuffer) f(c, std::min(kBuffer, length - c));
}

bool is_dense(const Rows& rows) { return rows.regular() && rows.stride() == 1 && (rows.dtype() == kFloat32 || rows.dtype() == kFloat64); }

template <class T>
void forward_row(bool log, const Rows& out, const Rows& in, int64_t r) {
  alignas(64) T buffer[kBuffer];
  const int64_t n = in.length();
  const RowFunctions& call = row_functions<T>();
  if (n <= kBuffer) {
    const T* x = in.read(r, 0, n, buffer);
    T* y = out.target(r, 0, buffer);
    (log ? call.log_softmax : call.softmax)(y, n, x, n, 1, n);
    return out.written(r, 0, n, y);
  }
  double shift = -std::numeric_limits<double>::infinity(), sum = 0;
  for_pieces(n, [&](int64_t c, int64_t count) { shift = std::max(shift, call.max(in.read(r, c, count, buffer), count)); });
  for_pieces(n, [&](int64_t c, int64_t count) { sum += call.exp_sum(in.read(r, c, count, buffer), count, shift); });
  for_pieces(n, [&](int64_t c, int64_t count) {
    const T* x = in.read(r, c, count, buffer);
    T* y = out.target(r, c, buffer);
    if (log) call.subtract(y, x, count, shift, std::log(sum));
    else call.exp_scaled(y, x, count, shift, 1 / sum);
    out.written(r, c, count, y);
  });
}

template <class T>
void backward_row(bool log, const Rows& out, const Rows& grad, const Rows& y, int64_t r) {
  alignas(64) T grad_buffer[kBuffer], y_buffer[kBuffer];
  const RowFunctions& call = row_functions<T>();
  double sum = 0;
  for_pieces(y.length(), [&](int64_t c, int64_t count) {
    const T* g = grad.read(r, c, count, grad_buffer);
    sum += log ? call.sum(g, count) : call.dot(g, y.read(r, c, count, y_buffer), count);
  });
  for_pieces(y.length(), [&](int64_t c, int64_t count) {
    const T *g = grad.read(r, c, count, grad_buffer), *from = y.read(r, c, count, y_buffer);
    T* to = out.target(r, c, y_buffer);
    (log ? call.log_softmax_gradient : call.softmax_gradient)(to, g, from, count, sum);
    out.written(r, c, count, to);
  });
}

void forward(const Queue& queue, bool log, const Out& out_view, const View& in_view) {
  const Rows out(out_view), in(in_view);
  if (in.length() == 0) return;
  visit_floating_compute(in.dtype(), [&]<class T>(T) {
    const auto dense_rows = log ? row_functions<T>().log_softmax : row_functions<T>().softmax;
    const bool direct = is_dense(out) && is_dense(in);
    parallel_for(in.count(), row_grain(in.length()), queue.threads, [&](int64_t begin, int64_t end) {
      if (direct) return dense_rows(out.address(begin), out.row_stride(), in.address(begin), in.row_stride(), end - begin, in.length());
      for (int64_t r = begin; r < end; ++r) forward_row<T>(log, out, in, r);
    });
  });
}

void backward(const Queue& queue, bool log, const Out& out_view, const View& grad_view, const View& y_view) {
  const Rows out(out_view), grad(grad_view), y(y_view);
  if (y.length() == 0) return;
  visit_floating_compute(y.dtype(), [&]<class T>(T) {
    const auto dense_rows = log ? row_functions<T>().log_softmax_backward : row_functions<T>().softmax_backward;
    const bool direct = is_dense(out) && is_dense(grad) && is_dense(y);
    parallel_for(y.count(), row_grain(y.length()), queue.threads, [&](int64_t begin, int64_t end) {
      if (direct)
        return dense_rows(out.address(begin), out.row_stride(), grad.address(begin), grad.row_stride(), y.address(begin), y.row_stride(),
                          end - begin, y.length());
      for (int64_t r = begin; r < end; ++r) backward_row<T>(log, out, grad, y, r);
    });
  });
}

}  // namespace

void softmax(const Queue& queue, Out out, View in) { forward(queue, false, out, in); }
void log_softmax(const Queue& queue, Out out, View in) { forward(queue, true, out, in); }
void softmax_backward(const Queue& queue, Out out, View grad, View y) { backward(queue, false, out, grad, y); }
void log_softmax_backward(const Queue& queue, Out out, View grad, View y) { backward(queue, true, out, grad, y); }

}  // namespace tandem::kernels::cpu
