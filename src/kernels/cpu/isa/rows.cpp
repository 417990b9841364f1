// RowKernels of softmax, log-softmax and normalizations, a vector at a time. A row is passed over three times - maximum; exponentials and
// their sum; scaling - while it stays in the first cache. Sums are taken in four vectors of lanes, in a fixed order.
#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/isa/math.h"

namespace tandem::kernels::cpu::TD_ISA {
namespace {

/// Calls `whole(i)` for each full vector and `rest(i, lanes)` for what is left.
template <class T, class Whole, class Rest>
TD_INLINE void over(int64_t n, Whole whole, Rest rest) {
  constexpr int64_t lanes = Vec<T>::kLanes;
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) whole(i);
  if (i < n) rest(i, n - i);
}

/// The sum of f(i, n) over vectors, four at a time.
template <class T, class F>
TD_INLINE T sum_of(int64_t count, F f) {
  constexpr int64_t lanes = Vec<T>::kLanes;
  Vec<T> a(0), b(0), c(0), d(0);
  int64_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    a = a + f(i);
    b = b + f(i + lanes);
    c = c + f(i + 2 * lanes);
    d = d + f(i + 3 * lanes);
  }
  for (; i + lanes <= count; i += lanes) a = a + f(i);
  a = (a + b) + (c + d);
  if (i < count) a = a + f(i, count - i);
  return reduce_add(a);
}

template <class T>
TD_INLINE T max_of(const T* in, int64_t n) {
  using V = Vec<T>;
  V top(-kInf<T>), other(-kInf<T>);
  int64_t i = 0;
  for (; i + 2 * V::kLanes <= n; i += 2 * V::kLanes) {
    top = max(V::load(in + i), top);
    other = max(V::load(in + i + V::kLanes), other);
  }
  for (; i + V::kLanes <= n; i += V::kLanes) top = max(V::load(in + i), top);
  top = max(top, other);
  if (i < n) top = max(keep_first(V::load(in + i, n - i), n - i, -kInf<T>), top);
  return reduce_max(top);
}

template <class T>
TD_INLINE T exp_sum_of(const T* in, int64_t n, T shift) {
  using V = Vec<T>;
  const V by(shift);
  struct Sum {
    const T* in;
    V by;
    TD_INLINE V operator()(int64_t i) const { return exp(V::load(in + i) - by); }
    TD_INLINE V operator()(int64_t i, int64_t n) const { return keep_first(exp(V::load(in + i, n) - by), n, T(0)); }
  };
  return sum_of<T>(n, Sum{in, by});
}

template <class T>
struct Plain {
  const T* in;
  TD_INLINE Vec<T> operator()(int64_t i) const { return Vec<T>::load(in + i); }
  TD_INLINE Vec<T> operator()(int64_t i, int64_t n) const { return Vec<T>::load(in + i, n); }
};
template <class T>
struct Product {
  const T *a, *b;
  TD_INLINE Vec<T> operator()(int64_t i) const { return Vec<T>::load(a + i) * Vec<T>::load(b + i); }
  TD_INLINE Vec<T> operator()(int64_t i, int64_t n) const { return Vec<T>::load(a + i, n) * Vec<T>::load(b + i, n); }
};

template <class T, class F, class... In>
TD_INLINE void map(T* out, int64_t n, F f, const In*... in) {
  over<T>(
      n, [&](int64_t i) __attribute__((always_inline)) { f(Vec<T>::load(in + i)...).store(out + i); },
      [&](int64_t i, int64_t left) __attribute__((always_inline)) { f(Vec<T>::load(in + i, left)...).store(out + i, left); });
}

template <class T>
struct RowKernels {
  static const T* in(const void* p) { return static_cast<const T*>(p); }
  static T* out(void* p) { return static_cast<T*>(p); }
  using V = Vec<T>;

  /// to = exp(from - shift), as what is summed.
  struct Exponentials {
    const T* from;
    T* to;
    V shift;
    TD_INLINE V operator()(int64_t i) const {
      const V e = exp(V::load(from + i) - shift);
      e.store(to + i);
      return e;
    }
    TD_INLINE V operator()(int64_t i, int64_t left) const {
      const V e = exp(V::load(from + i, left) - shift);
      e.store(to + i, left);
      return keep_first(e, left, T(0));
    }
  };

  /// RowKernels that one vector holds: everything stays in registers.
  template <bool log_softmax>
  static void short_rows(T* to, int64_t y_stride, const T* from, int64_t x_stride, int64_t rows, int64_t n) {
    for (int64_t r = 0; r < rows; ++r, from += x_stride, to += y_stride) {
      const V x = n == V::kLanes ? V::load(from) : keep_first(V::load(from, n), n, -kInf<T>);
      const V shifted = x - V(reduce_max(x));
      const V e = exp(shifted);
      const V sum(reduce_add(n == V::kLanes ? e : keep_first(e, n, T(0))));
      const V result = log_softmax ? shifted - log(sum) : e * (V(1) / sum);
      if (n == V::kLanes) result.store(to);
      else result.store(to, n);
    }
  }

  static void softmax(void* y, int64_t y_stride, const void* x, int64_t x_stride, int64_t rows, int64_t n) {
    if (n <= V::kLanes) return short_rows<false>(out(y), y_stride, in(x), x_stride, rows, n);
    for (int64_t r = 0; r < rows; ++r) {
      const T* from = in(x) + r * x_stride;
      T* to = out(y) + r * y_stride;
      const V factor(T(1) / sum_of<T>(n, Exponentials{from, to, V(max_of(from, n))}));
      map(
          to, n, [&](V e) __attribute__((always_inline)) { return e * factor; }, to);
    }
  }
  static void log_softmax(void* y, int64_t y_stride, const void* x, int64_t x_stride, int64_t rows, int64_t n) {
    if (n <= V::kLanes) return short_rows<true>(out(y), y_stride, in(x), x_stride, rows, n);
    for (int64_t r = 0; r < rows; ++r) {
      const T* from = in(x) + r * x_stride;
      const T top = max_of(from, n);
      const V shift(top), log_sum(log(V(exp_sum_of(from, n, top))).v[0]);
      map(
          out(y) + r * y_stride, n, [&](V v) __attribute__((always_inline)) { return (v - shift) - log_sum; }, from);
    }
  }
  static void softmax_backward(void* dx, int64_t dx_stride, const void* g, int64_t g_stride, const void* y, int64_t y_stride, int64_t rows,
                               int64_t n) {
    for (int64_t r = 0; r < rows; ++r) {
      const T *grad = in(g) + r * g_stride, *from = in(y) + r * y_stride;
      softmax_gradient(out(dx) + r * dx_stride, grad, from, n, static_cast<double>(sum_of<T>(n, Product<T>{grad, from})));
    }
  }
  static void log_softmax_backward(void* dx, int64_t dx_stride, const void* g, int64_t g_stride, const void* y, int64_t y_stride,
                                   int64_t rows, int64_t n) {
    for (int64_t r = 0; r < rows; ++r) {
      const T *grad = in(g) + r * g_stride, *from = in(y) + r * y_stride;
      log_softmax_gradient(out(dx) + r * dx_stride, grad, from, n, static_cast<double>(sum_of<T>(n, Plain<T>{grad})));
    }
  }

  static double max(const void* x, int64_t n) { return static_cast<double>(max_of(in(x), n)); }
  static double exp_sum(const void* x, int64_t n, double shift) { return static_cast<double>(exp_sum_of(in(x), n, static_cast<T>(shift))); }
  static double exp_with_sum(void* y, const void* x, int64_t n, double shift) {
    return static_cast<double>(sum_of<T>(n, Exponentials{in(x), out(y), V(shift)}));
  }
  static double sum(const void* x, int64_t n) { return static_cast<double>(sum_of<T>(n, Plain<T>{in(x)})); }
  static double dot(const void* a, const void* b, int64_t n) { return static_cast<double>(sum_of<T>(n, Product<T>{in(a), in(b)})); }
  static void exp_scaled(void* y, const void* x, int64_t n, double shift, double factor) {
    const V by(shift), times(factor);
    map(
        out(y), n, [&](V v) __attribute__((always_inline)) { return exp(v - by) * times; }, in(x));
  }
  static void subtract(void* y, const void* x, int64_t n, double shift, double more) {
    const V by(shift), then_by(more);
    map(
        out(y), n, [&](V v) __attribute__((always_inline)) { return (v - by) - then_by; }, in(x));
  }
  static void softmax_gradient(void* dx, const void* g, const void* y, int64_t n, double dot) {
    const V by(dot);
    map(
        out(dx), n, [&](V grad, V v) __attribute__((always_inline)) { return v * (grad - by); }, in(g), in(y));
  }
  static void log_softmax_gradient(void* dx, const void* g, const void* y, int64_t n, double sum) {
    const V by(sum);
    map(
        out(dx), n, [&](V grad, V v) __attribute__((always_inline)) { return grad - exp(v) * by; }, in(g), in(y));
  }

  static void normalize(void* y, const void* x, int64_t n, double mean, double factor, const void* weight, const void* bias, double shift) {
    const V center(mean), by(factor), more(shift);
    if (weight && bias)
      map(
          out(y), n, [&](V v, V w, V b) __attribute__((always_inline)) { return (v - center) * by * w + b; }, in(x), in(weight), in(bias));
    else if (weight)
      map(
          out(y), n, [&](V v, V w) __attribute__((always_inline)) { return (v - center) * by * w + more; }, in(x), in(weight));
    else if (bias)
      map(
          out(y), n, [&](V v, V b) __attribute__((always_inline)) { return (v - center) * by + b; }, in(x), in(bias));
    else
      map(
          out(y), n, [&](V v) __attribute__((always_inline)) { return (v - center) * by + more; }, in(x));
  }
  static void normalize_sums(double* sums, const void* g, const void* x, int64_t n, double mean, const void* weight) {
    const V center(mean);
    V plain(0), product(0);
    const auto add = [&](V grad, V v) __attribute__((always_inline)) {
      plain = plain + grad;
      product = product + grad * (v - center);
    };
    const T *grad = in(g), *from = in(x), *w = in(weight);
    if (weight)
      over<T>(
          n, [&](int64_t i) __attribute__((always_inline)) { add(V::load(grad + i) * V::load(w + i), V::load(from + i)); },
          [&](int64_t i, int64_t left)
              __attribute__((always_inline)) { add(V::load(grad + i, left) * V::load(w + i, left), V::load(from + i, left)); });
    else
      over<T>(
          n, [&](int64_t i) __attribute__((always_inline)) { add(V::load(grad + i), V::load(from + i)); },
          [&](int64_t i, int64_t left) __attribute__((always_inline)) { add(V::load(grad + i, left), V::load(from + i, left)); });
    sums[0] += static_cast<double>(reduce_add(plain));
    sums[1] += static_cast<double>(reduce_add(product));
  }
  static void normalize_gradient(void* dx, const void* g, const void* x, int64_t n, double mean, const void* weight, double scale,
                                 double shift, double factor, double slope) {
    const V center(mean), times(scale), less(shift), by(factor), along(slope);
    if (weight)
      map(
          out(dx), n, [&](V grad, V v, V w) __attribute__((always_inline)) { return (grad * w - less) * by - (v - center) * along; }, in(g),
          in(x), in(weight));
    else
      map(
          out(dx), n, [&](V grad, V v) __attribute__((always_inline)) { return (grad * times - less) * by - (v - center) * along; }, in(g),
          in(x));
  }
  static void normalize_parameters(void* weights, void* biases, const void* g, const void* x, int64_t n, double mean, double factor) {
    const V center(mean), by(factor);
    map(
        out(weights), n, [&](V sum, V grad, V v) __attribute__((always_inline)) { return sum + grad * ((v - center) * by); }, in(weights),
        in(g), in(x));
    map(
        out(biases), n, [&](V sum, V grad) __attribute__((always_inline)) { return sum + grad; }, in(biases), in(g));
  }

  static constexpr RowFunctions functions() {
    return {softmax,
            log_softmax,
            softmax_backward,
            log_softmax_backward,
            max,
            exp_sum,
            exp_with_sum,
            sum,
            dot,
            exp_scaled,
            subtract,
            softmax_gradient,
            log_softmax_gradient,
            normalize,
            normalize_sums,
            normalize_gradient,
            normalize_parameters};
  }
};

}  // namespace

void fill_rows(RowFunctions (&rows)[2]) {
  rows[0] = RowKernels<float>::functions();
  rows[1] = RowKernels<double>::functions();
}

}  // namespace tandem::kernels::cpu::TD_ISA
