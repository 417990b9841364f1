// Rows brought to mean 0 and variance 1, and their gradients: layer, group, instance, batch and root-mean-square normalization. A group of
// threads reads its rows for their totals, and once more, mostly from a cache, for the result. Statistics are joined in double, so that
// large means cost no digits.
#include <algorithm>

#include "kernels/cuda/entries.h"
#include "kernels/cuda/moments.cuh"

namespace tandem::kernels::cuda {
namespace {

/// Where the elements of a row (runs, length) lie, in arrays of the sizes of `in`.
template <class... Views>
auto elements_of(const View& in, const Views&... more) {
  return Dims(in, 1, 3, false).places(in, more...);
}

/// Weights (groups, runs) as an array of the sizes of `in`, leaving the row apart. Without data, of strides 0.
View spread(const View& weight, const View& in) {
  View v = in;
  v.strides[0] = v.strides[2] = 0;
  v.strides[1] = weight.data ? weight.strides[1] : 0;
  return v;
}

/// Weights that go with the row's group and the run, or `neutral` where there are none.
template <class C>
struct Parameter {
  Converted<C> values;
  Divide groups;
  int64_t group_stride;
  C neutral;

  Parameter(const View& v, C otherwise)
      : values(v), groups(v.data ? v.sizes[0] : 1), group_stride(v.data ? v.strides[0] : 0), neutral(otherwise) {}
  TD_DEVICE int64_t base(int64_t row) const { return (row - groups(row) * groups.divisor) * group_stride; }
  template <int n>
  TD_DEVICE void read(const int64_t (&at)[n], C (&x)[n]) const {
    if (values.data) return values.read(at, x);
    for (int k = 0; k < n; ++k) x[k] = neutral;
  }
};

/// One statistic of each row; without data it is 0.
template <class C>
struct Statistic {
  C* data;
  int64_t stride;

  Statistic(const View& v) : data(v.as<C>()), stride(v.data && v.ndim ? v.strides[0] : 0) {}
  TD_DEVICE C operator[](int64_t row) const { return data ? data[row * stride] : C(0); }
  TD_DEVICE void put(int64_t row, double value) const {
    if (data) data[row * stride] = static_cast<C>(value);
  }
};

/// 1 / the deviation of a row.
template <class C>
TD_DEVICE double inverse_deviation(C variance, double eps) {
  return 1 / math::sqrt(static_cast<double>(variance) + eps);
}

/// C: what elements are computed in, and the dtype of the statistics.
template <class C>
struct Normalize {
  using Total = Moments;             // not centered: around 0, `squares` being the sum of squares
  static constexpr int kArrays = 4;  // in, out, weight, bias
  static constexpr int kMost = 512;
  Floats<C> in, out;
  Parameter<C> weight, bias;
  Statistic<C> mean, variance;
  int64_t in_step, out_step;
  double eps;

  struct Settings {
    C center, factor;
  };

  TD_DEVICE bool gathers() const { return true; }
  TD_DEVICE Total none() const { return {0, 0, 0}; }
  TD_DEVICE void base(int64_t row, int64_t (&at)[kArrays]) const {
    at[0] = row * in_step;
    at[1] = row * out_step;
    at[2] = weight.base(row);
    at[3] = bias.base(row);
  }
  template <int n>
  TD_DEVICE void take(Total& total, const int64_t (&at)[kArrays][n], int64_t, int) const {
    C x[n];
    in.read(at[0], x);
    if (mean.data) return total.add(x);
    C squares = 0;
    for (int k = 0; k < n; ++k) squares += x[k] * x[k];
    total.count += n;
    total.squares += static_cast<double>(squares);
  }
  TD_DEVICE Total combine(Total a, const Total& b) const {
    if (mean.data) a.join(b);
    else a = {a.count + b.count, 0, a.squares + b.squares};
    return a;
  }
  TD_DEVICE void write(int64_t row, const Total& total) const {
    mean.put(row, total.mean);
    variance.put(row, total.squares / total.count);
  }
  TD_DEVICE Settings settings(int64_t, const Total& total) const {
    return {static_cast<C>(total.mean), static_cast<C>(inverse_deviation(total.squares / total.count, eps))};
  }
  template <int n>
  TD_DEVICE void put(const Settings& row, const int64_t (&at)[kArrays][n], int64_t, int) const {
    C x[n], w[n], b[n];
    in.read(at[0], x);
    weight.read(at[2], w);
    bias.read(at[3], b);
    for (int k = 0; k < n; ++k) x[k] = (x[k] - row.center) * row.factor * w[k] + b[k];
    out.write(at[1], x);
  }
};

/// A row's sums of weighted gradients, and of these times the distance of the element to the mean.
struct GradientSums {
  double plain, along;
};

template <class C>
struct NormalizeGradient {
  using Total = GradientSums;
  static constexpr int kArrays = 5;  // in, grad, out, weight, and the statistics: the row itself
  static constexpr int kMost = 512;
  Floats<C> in, grad, out;
  Parameter<C> weight;
  Statistic<C> mean, variance;
  int64_t in_step, grad_step, out_step, count;
  double eps;

  struct Settings {
    C factor, shift, slope;
  };

  TD_DEVICE bool gathers() const { return true; }
  TD_DEVICE Total none() const { return {0, 0}; }
  TD_DEVICE void base(int64_t row, int64_t (&at)[kArrays]) const {
    at[0] = row * in_step;
    at[1] = row * grad_step;
    at[2] = row * out_step;
    at[3] = weight.base(row);
    at[4] = row;
  }
  template <int n>
  TD_DEVICE void take(Total& total, const int64_t (&at)[kArrays][n], int64_t, int) const {
    C x[n], g[n], w[n], plain = 0, along = 0;
    in.read(at[0], x);
    grad.read(at[1], g);
    weight.read(at[3], w);
    const C center = mean[at[4][0]];
    for (int k = 0; k < n; ++k) {
      plain += g[k] * w[k];
      along += g[k] * w[k] * (x[k] - center);
    }
    total.plain += static_cast<double>(plain);
    total.along += static_cast<double>(along);
  }
  TD_DEVICE Total combine(const Total& a, const Total& b) const { return {a.plain + b.plain, a.along + b.along}; }
  TD_DEVICE void write(int64_t, const Total&) const {}
  TD_DEVICE Settings settings(int64_t row, const Total& total) const {
    // A centered row of one element is 0 whatever the element: so is its gradient, to the last digit.
    const double factor = mean.data && count == 1 ? 0 : inverse_deviation(variance[row], eps), n = static_cast<double>(count);
    return {static_cast<C>(factor), static_cast<C>(mean.data ? total.plain / n : 0),
            static_cast<C>(factor * factor * factor * total.along / n)};
  }
  template <int n>
  TD_DEVICE void put(const Settings& row, const int64_t (&at)[kArrays][n], int64_t, int) const {
    C x[n], g[n], w[n];
    in.read(at[0], x);
    grad.read(at[1], g);
    weight.read(at[3], w);
    const C center = mean[at[4][0]];
    for (int k = 0; k < n; ++k) x[k] = (g[k] * w[k] - row.shift) * row.factor - (x[k] - center) * row.slope;
    out.write(at[2], x);
  }
};

/// The gradients of weight and bias: rows are (groups, runs) here, their elements (rows of the group, length).
template <class C>
struct ParameterGradients {
  using Total = GradientSums;
  static constexpr int kArrays = 3;  // in, grad, the row of the statistics
  static constexpr int kMost = 512;
  Floats<C> in, grad;
  Statistic<C> mean, variance;
  C *weight, *bias;
  Places<5> places;  // of these arrays, of weight, of bias
  C eps;

  TD_DEVICE Total none() const { return {0, 0}; }
  TD_DEVICE void base(int64_t row, int64_t (&at)[kArrays]) const {
    int64_t all[5];
    places(row, all);
    for (int k = 0; k < kArrays; ++k) at[k] = all[k];
  }
  template <int n>
  TD_DEVICE void take(Total& total, const int64_t (&at)[kArrays][n], int64_t, int) const {
    C x[n], g[n], plain = 0, along = 0;
    in.read(at[0], x);
    grad.read(at[1], g);
    for (int k = 0; k < n; ++k) {
      plain += g[k];
      along += g[k] * (x[k] - mean[at[2][k]]) * math::rsqrt(variance[at[2][k]] + eps);
    }
    total.plain += static_cast<double>(plain);
    total.along += static_cast<double>(along);
  }
  TD_DEVICE Total combine(const Total& a, const Total& b) const { return {a.plain + b.plain, a.along + b.along}; }
  TD_DEVICE void write(int64_t row, const Total& total) const {
    int64_t at[5];
    places(row, at);
    weight[at[3]] = static_cast<C>(total.along);
    bias[at[4]] = static_cast<C>(total.plain);
  }
};

/// A view of four dimensions.
View four(const View& v, const int64_t (&sizes)[4], const int64_t (&strides)[4]) {
  View result = v;
  result.ndim = 4;
  std::copy(sizes, sizes + 4, result.sizes);
  std::copy(strides, strides + 4, result.strides);
  return result;
}

}  // namespace

void normalize(const Queue& queue, Out out, Out mean, Out variance, View in, View weight, View bias, double eps) {
  visit_floating_compute(in.dtype, [&](auto zero) {
    using C = decltype(zero);
    change_rows(queue, in.sizes[0], elements_of(in, out, spread(weight, in), spread(bias, in)), dense_rows(in, 2),
                Normalize<C>{in, out, {weight, 1}, {bias, 0}, mean, variance, in.strides[0], out.strides[0], eps});
  });
}

void normalize_backward(const Queue& queue, Out out, View grad, View in, View mean, View variance, View weight, double eps) {
  visit_floating_compute(in.dtype, [&](auto zero) {
    using C = decltype(zero);
    change_rows(
        queue, in.sizes[0], elements_of(in, grad, out, spread(weight, in), spread({}, in)), dense_rows(in, 2),
        NormalizeGradient<C>{
            in, grad, out, {weight, 1}, mean, variance, in.strides[0], grad.strides[0], out.strides[0], in.sizes[1] * in.sizes[2], eps});
  });
}

void normalize_parameters(const Queue& queue, Out weight, Out bias, View grad, View in, View mean, View variance, double eps) {
  const int64_t groups = weight.sizes[0], sizes[4] = {groups, in.sizes[1], in.sizes[0] / groups, in.sizes[2]};
  const auto data = [&](const View& v) { return four(v, sizes, {v.strides[0], v.strides[1], groups * v.strides[0], v.strides[2]}); };
  const auto parameter = [&](const View& v) { return four(v, sizes, {v.strides[0], v.strides[1], 0, 0}); };
  const View from = data(in), gradient = data(grad), row = four(in, sizes, {1, 0, groups, 0});
  visit_floating_compute(in.dtype, [&](auto zero) {
    using C = decltype(zero);
    const Places<5> places = Dims(from, 0, 2, true).places(from, gradient, row, parameter(weight), parameter(bias));
    reduce_rows(queue, places.count, Dims(from, 2, 4, true).places(from, gradient, row), dense_rows(from, 2),
                ParameterGradients<C>{from, gradient, mean, variance, weight.as<C>(), bias.as<C>(), places, static_cast<C>(eps)});
  });
}

}  // namespace tandem::kernels::cuda
