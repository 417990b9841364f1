// Rows brought to mean 0 and variance 1, and their gradients: layer, group, instance, batch and root-mean-square normalization. Rows are
// read for their totals, and once more, mostly from a cache, for the result: by a group of threads, or, as the channels of a batch, in
// pieces by many groups. Statistics are joined in double, so that large means cost no digits.
#include <utility>

#include "kernels/cuda/entries.h"
#include "kernels/cuda/moments.cuh"
#include "kernels/cuda/row_pieces.cuh"

namespace tandem::kernels::cuda {
namespace {

/// Weights (groups, runs) as an array of the sizes of `in` with its rows in groups: (samples, groups, runs, length). Without data, of
/// strides 0.
View spread(const View& weight, const View& in) {
  View v = in;
  v.strides[0] = v.strides[3] = 0;
  v.strides[1] = weight.data ? weight.strides[0] : 0;
  v.strides[2] = weight.data ? weight.strides[1] : 0;
  return v;
}

/// Rows (rows, runs, length) as (samples, groups, runs, length).
View grouped(const View& rows, int64_t groups) {
  View v = rows;
  v.ndim = 4;
  v.sizes[0] = rows.sizes[0] / groups;
  v.sizes[1] = groups;
  v.strides[0] = rows.strides[0] * groups;
  for (int d = 0; d < 3; ++d) v.strides[d + 1] = rows.strides[d];
  for (int d = 1; d < 3; ++d) v.sizes[d + 1] = rows.sizes[d];
  return v;
}

/// Weights or biases, of any floating dtype, that go with the row's group and the run, or `neutral` where there are none.
template <class C>
struct Parameter {
  const void* data;
  DType dtype;
  C neutral;

  Parameter(const View& view, C without) : data(view.data), dtype(view.dtype), neutral(without) {}

  /// `array`: which of those that go through the rows this is.
  template <int n, int arrays>
  TD_DEVICE void read(const int64_t (&at)[n], C (&x)[n], const Rows<arrays>& rows, int array) const {
    if (!data) {
      for (int k = 0; k < n; ++k) x[k] = neutral;
      return;
    }
    visit_stored_floating(dtype, [&](auto zero) {
      using T = decltype(zero);
      const T* const from = static_cast<const T*>(data);
      if constexpr (n == kFour) {
        if (rows.together(array)) {
          const Four<T> four = *reinterpret_cast<const Four<T>*>(from + at[0]);
          for (int k = 0; k < n; ++k) x[k] = to_element<C>(to_compute(four.element[k]));
          return;
        }
      }
      for (int k = 0; k < n; ++k) x[k] = to_element<C>(to_compute(from[at[k]]));
    });
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

template <class C>
TD_DEVICE C normalized(C x, C center, C factor, C weight, C bias) {
  return (x - center) * factor * weight + bias;
}

/// C: what elements are computed in, and the dtype of the statistics.
template <class C>
struct Normalize {
  using Total = Moments;  // of rows that are not centered those around 0: the sum of squares
  Floats<C> in, out;
  Parameter<C> weight, bias;
  Statistic<C> mean, variance;
  double eps;
  Rows<4> rows;  // of in, out, weight, bias

  TD_DEVICE Total none() const { return {0, 0, 0}; }
  TD_DEVICE Total total(int64_t row, int t, int64_t begin, int64_t end) const {
    Total total = none();
    rows.for_elements(row, t, begin, end, [&]<int n>(const int64_t(&at)[4][n], int64_t) {
      C x[n];
      in.read(at[0], x, rows.together(0));
      if (mean.data) return total.add(x);
      C squares = 0;
      for (int k = 0; k < n; ++k) squares += x[k] * x[k];
      total.count += n;
      total.squares += static_cast<double>(squares);
    });
    return total;
  }
  TD_DEVICE Total combine(Total a, const Total& b) const {
    if (mean.data) a.join(b);
    else a = {a.count + b.count, 0, a.squares + b.squares};
    return a;
  }
  TD_DEVICE void results(int64_t row, int t, int64_t begin, int64_t end, const Total& total, bool leads) const {
    if (leads) {
      mean.put(row, total.mean);
      variance.put(row, total.squares / total.count);
    }
    const C center = static_cast<C>(total.mean), spread = static_cast<C>(total.squares / total.count);  // as they are kept
    const C factor = static_cast<C>(inverse_deviation(spread, eps));
    rows.for_elements(row, t, begin, end, [&]<int n>(const int64_t(&at)[4][n], int64_t) {
      C x[n], w[n], b[n];
      in.read(at[0], x, rows.together(0));
      weight.read(at[2], w, rows, 2);
      bias.read(at[3], b, rows, 3);
      for (int k = 0; k < n; ++k) x[k] = normalized(x[k], center, factor, w[k], b[k]);
      out.write(at[1], x, rows.together(1));
    });
  }
};

/// Sums of gradients, weighted or not, and of these times the distance of the element to the mean.
struct GradientSums {
  double plain, along;

  TD_DEVICE static GradientSums combined(const GradientSums& a, const GradientSums& b) { return {a.plain + b.plain, a.along + b.along}; }
};

template <class C>
struct NormalizeGradient {
  using Total = GradientSums;
  Floats<C> in, grad, out;
  Parameter<C> weight, bias;
  Statistic<C> mean, variance, weight_grad, bias_grad;  // the latter where a row has one weight, which is left out of the sums
  double eps;
  bool relu;     // what follows: its gradient is the first thing
  Rows<5> rows;  // of in, grad, out, weight, bias

  TD_DEVICE Total none() const { return {0, 0}; }
  TD_DEVICE Total combine(const Total& a, const Total& b) const { return GradientSums::combined(a, b); }
  TD_DEVICE Total total(int64_t row, int t, int64_t begin, int64_t end) const {
    const bool one_weight = weight_grad.data != nullptr;
    Total total = none();
    const C center = mean[row], factor = relu ? static_cast<C>(inverse_deviation(variance[row], eps)) : C(0);
    rows.for_elements(row, t, begin, end, [&]<int n>(const int64_t(&at)[5][n], int64_t) {
      C x[n], g[n], w[n], plain = 0, along = 0;
      read(at, x, g, w, center, factor);
      for (int k = 0; k < n; ++k) {
        if (!one_weight) g[k] *= w[k];
        plain += g[k];
        along += g[k] * (x[k] - center);
      }
      total.plain += static_cast<double>(plain);
      total.along += static_cast<double>(along);
    });
    return total;
  }
  TD_DEVICE void results(int64_t row, int t, int64_t begin, int64_t end, const Total& total, bool leads) const {
    const bool one_weight = weight_grad.data != nullptr;
    const int64_t count = rows.length;
    // A centered row of one element is 0 whatever the element: so is its gradient, to the last digit.
    const double exact = mean.data && count == 1 ? 0 : inverse_deviation(variance[row], eps), size = static_cast<double>(count);
    const C center = mean[row], factor = static_cast<C>(exact), shift = static_cast<C>(mean.data ? total.plain / size : 0),
            slope = static_cast<C>(exact * exact * exact * total.along / size);
    if (one_weight && leads) {
      weight_grad.put(row, total.along * exact);
      bias_grad.put(row, total.plain);
    }
    rows.for_elements(row, t, begin, end, [&]<int n>(const int64_t(&at)[5][n], int64_t) {
      C x[n], g[n], w[n];
      read(at, x, g, w, center, factor);
      for (int k = 0; k < n; ++k) {
        const C scale = one_weight ? w[k] : C(1);
        if (!one_weight) g[k] *= w[k];
        x[k] = ((g[k] - shift) * factor - (x[k] - center) * slope) * scale;
      }
      out.write(at[2], x, rows.together(2));
    });
  }

 private:
  /// Elements, their gradients before a ReLU, and weights.
  template <int n>
  TD_DEVICE void read(const int64_t (&at)[5][n], C (&x)[n], C (&g)[n], C (&w)[n], C center, C factor) const {
    in.read(at[0], x, rows.together(0));
    grad.read(at[1], g, rows.together(1));
    weight.read(at[3], w, rows, 3);
    if (!relu) return;
    C b[n];
    bias.read(at[4], b, rows, 4);
    for (int k = 0; k < n; ++k)
      if (normalized(x[k], center, factor, w[k], b[k]) <= 0) g[k] = 0;
  }
};

/// The gradients of weight and bias: rows are (groups, runs) here, their elements (samples, length).
template <class C, int threads>
struct ParameterGradients {
  struct Shared {
    GradientSums totals[threads];
  };
  Floats<C> in, grad;
  Statistic<C> mean, variance;
  C *weight, *bias;
  Places<2> results;  // of weight, of bias
  C eps;
  Rows<3> rows;  // of in, of grad, of the statistics

  TD_DEVICE void operator()(Group<threads>& group, int64_t i, Shared& shared) const {
    group.each([&](int t) {
      GradientSums total{0, 0};
      rows.for_elements(rows.row(i, t), t, [&]<int n>(const int64_t(&at)[3][n], int64_t) {
        C x[n], g[n], plain = 0, along = 0;
        in.read(at[0], x);
        grad.read(at[1], g);
        for (int k = 0; k < n; ++k) {
          plain += g[k];
          along += g[k] * (x[k] - mean[at[2][k]]) * math::rsqrt(variance[at[2][k]] + eps);
        }
        total.plain += static_cast<double>(plain);
        total.along += static_cast<double>(along);
      });
      shared.totals[t] = total;
    });
    rows.reduce(group, shared.totals, GradientSums::combined);
    group.each([&](int t) {
      const int64_t row = rows.row(i, t);
      if (!rows.leads(t, row)) return;
      int64_t at[2];
      results(row, at);
      weight[at[0]] = static_cast<C>(shared.totals[t].along);
      bias[at[1]] = static_cast<C>(shared.totals[t].plain);
    });
  }
};

/// Running figures of a channel go the way of the batch's.
template <class C>
struct Follow {
  Statistic<C> running_mean, running_variance, mean, variance;
  C share, rest, unbiased;

  TD_DEVICE void operator()(int64_t i) const {
    if (running_mean.data) running_mean.put(i, static_cast<double>(running_mean[i] * rest + mean[i] * share));
    if (running_variance.data) running_variance.put(i, static_cast<double>(running_variance[i] * rest + variance[i] * unbiased * share));
  }
};

/// How rows (rows, runs, length) are cut.
Cut cut_of(const View& in) { return {in, 2, 256}; }

}  // namespace

size_t normalize_workspace(const View& in) { return cut_of(in).workspace(); }

void normalize(const Queue& queue, Out out, Out mean, Out variance, View in, View weight, View bias, double eps, void* workspace) {
  const View from = grouped(in, weight.data ? weight.sizes[0] : bias.data ? bias.sizes[0] : 1);
  const auto places = [&](int begin, int end) {
    return places_in(from, begin, end, false, from, grouped(out, from.sizes[1]), spread(weight, from), spread(bias, from));
  };
  visit_floating_compute(in.dtype, [&](auto zero) {
    using C = decltype(zero);
    const Rows<4> rows = Rows<4>(places(0, 2), places(2, 4), dense_rows(in, 2)).in_fours(in, out, weight, bias);
    work_on_rows(queue, cut_of(in), Normalize<C>{in, out, {weight, C(1)}, {bias, C(0)}, mean, variance, eps, rows}, workspace);
  });
}

void normalize_backward(const Queue& queue, Out out, Out weight_grad, Out bias_grad, View grad, View in, View mean, View variance,
                        View weight, View bias, double eps, bool relu, void* workspace) {
  const View from = grouped(in, weight.data ? weight.sizes[0] : bias.data ? bias.sizes[0] : 1);
  const auto places = [&](int begin, int end) {
    return places_in(from, begin, end, false, from, grouped(grad, from.sizes[1]), grouped(out, from.sizes[1]), spread(weight, from),
                     spread(bias, from));
  };
  visit_floating_compute(in.dtype, [&](auto zero) {
    using C = decltype(zero);
    const Rows<5> rows = Rows<5>(places(0, 2), places(2, 4), dense_rows(in, 2)).in_fours(in, grad, out, weight, bias);
    work_on_rows(queue, cut_of(in),
                 NormalizeGradient<C>{in, grad, out, {weight, C(1)}, {bias, C(0)}, mean, variance, weight_grad, bias_grad, eps, relu, rows},
                 workspace);
  });
}

void follow_statistics(const Queue& queue, Change running_mean, Change running_variance, View mean, View variance, double momentum,
                       double unbiased) {
  visit_floating_compute(mean.dtype, [&](auto zero) {
    using C = decltype(zero);
    for_each(queue, mean.sizes[0],
             Follow<C>{running_mean, running_variance, mean, variance, static_cast<C>(momentum), static_cast<C>(1 - momentum),
                       static_cast<C>(unbiased)});
  });
}

void normalize_parameters(const Queue& queue, Out weight, Out bias, View grad, View in, View mean, View variance, double eps) {
  // (samples, groups, runs, length) is gone through as rows (groups, runs) of (samples, length).
  const auto transposed = [](View v) {
    for (int d = 0; d < 2; ++d) {
      std::swap(v.sizes[d], v.sizes[d + 1]);
      std::swap(v.strides[d], v.strides[d + 1]);
    }
    return v;
  };
  const View from = grouped(in, weight.sizes[0]);
  View row = from;  // the statistics' by its number
  row.strides[0] = from.sizes[1];
  row.strides[1] = 1;
  row.strides[2] = row.strides[3] = 0;
  const View data = transposed(from), gradient = transposed(grouped(grad, from.sizes[1])), statistic = transposed(row);
  const Rows<3> all(places_in(data, 0, 2, true, data, gradient, statistic), places_in(data, 2, 4, true, data, gradient, statistic),
                    dense_rows(data, 2));
  const Places<2> results = places_in(data, 0, 2, true, transposed(spread(weight, from)), transposed(spread(bias, from)));
  visit_floating_compute(in.dtype, [&](auto zero) {
    using C = decltype(zero);
    split_rows<512>(all, [&](auto threads, const Rows<3>& rows) {
      for_groups<threads>(
          queue, rows.groups(),
          ParameterGradients<C, threads>{in, grad, mean, variance, weight.as<C>(), bias.as<C>(), results, static_cast<C>(eps), rows});
    });
  });
}

}  // namespace tandem::kernels::cuda
