// Rows brought to mean 0 and variance 1, and their gradients: layer, group, instance, batch and root-mean-square normalization. A row is
// taken in pieces that stay in the first cache; a short row stays there for all its passes, a long one is read twice. Statistics of pieces
// are joined in double, so that large means cost no digits.
#include <cmath>

#include "base/parallel.h"
#include "kernels/cpu/entries.h"
#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/rows.h"

namespace tandem::kernels::cpu {
namespace {

constexpr int64_t kPiece = 2048;

/// A (rows, runs, length) view. Runs of one element each are one run, along which weights vary.
struct Blocks {
  const View* view;
  int64_t rows, runs, length, row_stride, run_stride, stride;
  bool varying;  // weights go with the element, not with the run

  explicit Blocks(const View& v)
      : view(&v),
        rows(v.sizes[0]),
        runs(v.sizes[1]),
        length(v.sizes[2]),
        row_stride(v.strides[0]),
        run_stride(v.strides[1]),
        stride(v.strides[2]),
        varying(v.sizes[2] == 1) {
    if (!varying) return;
    length = runs;
    stride = run_stride;
    runs = 1;
  }
  [[nodiscard]] int64_t row_length() const { return runs * length; }
  [[nodiscard]] char* address(int64_t row, int64_t run, int64_t at) const {
    return view->as<char>() + (row * row_stride + run * run_stride + at * stride) * static_cast<int64_t>(size_of(view->dtype));
  }
  template <class T>
  const T* read(int64_t row, int64_t run, int64_t at, int64_t n, T* buffer) const {
    const char* from = address(row, run, at);
    if (view->dtype == dtype_of<T>() && (stride == 1 || n == 1)) return reinterpret_cast<const T*>(from);
    pack_to<T>(view->dtype)(buffer, from, stride, n);
    return buffer;
  }
  template <class T>
  T* target(int64_t row, int64_t run, int64_t at, T* buffer) const {
    return view->dtype == dtype_of<T>() && stride == 1 ? reinterpret_cast<T*>(address(row, run, at)) : buffer;
  }
  template <class T>
  void written(int64_t row, int64_t run, int64_t at, int64_t n, const T* values) const {
    char* to = address(row, run, at);
    if (reinterpret_cast<const char*>(values) != to) unpack_from<T>(view->dtype)(to, stride, values, n);
  }
  /// Calls f(run, at, n) for the pieces of a row. Inlined: what a lambda captures would go through memory, and wait there behind the stores
  /// of the row before.
  template <class F>
  [[gnu::always_inline]] inline void pieces(F&& f) const {
    for (int64_t run = 0; run < runs; ++run)
      for (int64_t at = 0; at < length; at += kPiece) f(run, at, std::min(kPiece, length - at));
  }
};

/// Weights or biases, (groups, runs); without data they are `neutral`.
struct Parameter {
  const View* view;
  double neutral;

  [[nodiscard]] char* address(int64_t row, int64_t at) const {
    return view->as<char>() +
           (row % view->sizes[0] * view->strides[0] + at * view->strides[1]) * static_cast<int64_t>(size_of(view->dtype));
  }
  /// Those of n elements of a row from `at` on; nullptr without data.
  template <class T>
  const T* read(int64_t row, int64_t at, int64_t n, T* buffer) const {
    if (!view->data) return nullptr;
    const char* from = address(row, at);
    if (view->dtype == dtype_of<T>() && view->strides[1] == 1) return reinterpret_cast<const T*>(from);
    pack_to<T>(view->dtype)(buffer, from, view->strides[1], n);
    return buffer;
  }
  [[nodiscard]] double of_run(int64_t row, int64_t run) const {
    if (!view->data) return neutral;
    double value;
    isa().conversions.pack_to(kComputeDouble, view->dtype)(&value, address(row, run), 1, 1);
    return value;
  }
};

double statistic(const View& v, int64_t row) {
  if (!v.data) return 0;
  return v.dtype == kFloat64 ? v.as<double>()[row * v.strides[0]] : static_cast<double>(v.as<float>()[row * v.strides[0]]);
}
void put_statistic(const Out& out, int64_t row, double value) {
  if (!out.data) return;
  if (out.dtype == kFloat64) out.as<double>()[row * out.strides[0]] = value;
  else out.as<float>()[row * out.strides[0]] = static_cast<float>(value);
}

/// Mean and sum of squared deviations of a row; without a center, the sum of squares.
struct Moments {
  double count = 0, mean = 0, squares = 0;

  template <class T>
  void add(const T* x, int64_t n, bool centered) {
    const auto size = static_cast<double>(n), inverse = 1 / size;
    // Differences from the first element, in one pass: among the others, it makes few digits cancel. Where it lies far from them, a second
    // pass takes the differences from the mean.
    double center = centered ? static_cast<double>(x[0]) : 0, sums[2] = {};
    const auto deviations = isa().reductions.deviations[compute_of(dtype_of<T>())];
    deviations(sums, x, center, n);
    if (!centered) {
      count += size;
      squares += sums[1];
      return;
    }
    double offset = sums[0] * inverse, own = sums[1] - sums[0] * offset;
    if (!(offset * sums[0] <= kMostCancelled * own)) [[unlikely]] {
      center = static_cast<double>(static_cast<T>(row_functions<T>().sum(x, n) * inverse));
      sums[0] = sums[1] = 0;
      deviations(sums, x, center, n);
      offset = sums[0] * inverse;
      own = sums[1] - sums[0] * offset;
    }
    const double here = center + offset;
    if (count == 0) {
      *this = {size, here, own};
      return;
    }
    const double step = here - mean, together = count + size;
    squares += own + step * step * count * size / together;
    mean += step * size / together;
    count = together;
  }

 private:
  static constexpr double kMostCancelled = 8;  // of the squares, in multiples of what is left: sqrt(8) standard deviations
};

}  // namespace

size_t normalize_workspace(const View&) { return 0; }

void normalize(const Queue& queue, Out out_view, Out mean, Out variance, View in_view, View weight_view, View bias_view, double eps,
               void*) {
  const Blocks out(out_view), in(in_view);
  const Parameter weight{&weight_view, 1}, bias{&bias_view, 0};
  const bool centered = mean.data != nullptr;
  visit_floating_compute(in_view.dtype, [&]<class T>(T) {
    const RowFunctions& call = row_functions<T>();
    parallel_for(in.rows, row_grain(in.row_length()), queue.threads, [&](int64_t begin, int64_t end) {
      alignas(64) T buffer[kPiece], weights[kPiece], biases[kPiece];
      for (int64_t r = begin; r < end; ++r) {
        Moments moments;
        in.pieces([&](int64_t run, int64_t at, int64_t n) { moments.add(in.read(r, run, at, n, buffer), n, centered); });
        put_statistic(mean, r, moments.mean);
        put_statistic(variance, r, moments.squares / moments.count);
        const double factor = 1 / std::sqrt(statistic(variance, r) + eps);  // of what is kept: backward finds the same values
        in.pieces([&](int64_t run, int64_t at, int64_t n) {
          const T* x = in.read(r, run, at, n, buffer);
          T* y = out.target(r, run, at, buffer);
          if (in.varying) call.normalize(y, x, n, moments.mean, factor, weight.read(r, at, n, weights), bias.read(r, at, n, biases), 0);
          else call.normalize(y, x, n, moments.mean, factor * weight.of_run(r, run), nullptr, nullptr, bias.of_run(r, run));
          out.written(r, run, at, n, y);
        });
      }
    });
  });
}

void normalize_backward(const Queue& queue, Out out_view, Out weight_grad, Out bias_grad, View grad_view, View in_view, View mean,
                        View variance, View weight_view, View bias_view, double eps, bool relu, void*) {
  const Blocks out(out_view), grad(grad_view), in(in_view);
  const Blocks& masked = relu ? out : grad;  // a first pass leaves it there
  const Parameter weight{&weight_view, 1}, bias{&bias_view, 0};
  const bool centered = mean.data != nullptr;
  const bool varying = in.varying && !weight_grad.data;
  visit_floating_compute(in_view.dtype, [&]<class T>(T) {
    const RowFunctions& call = row_functions<T>();
    parallel_for(in.rows, row_grain(2 * in.row_length()), queue.threads, [&](int64_t begin, int64_t end) {
      alignas(64) T grads[kPiece], buffer[kPiece], weights[kPiece], some[kPiece], others[kPiece], zeros[kPiece];
      if (relu) std::fill_n(zeros, kPiece, T(0));
      for (int64_t r = begin; r < end; ++r) {
        // A centered row of one element is 0 whatever the element: so is its gradient, to the last digit.
        const double factor = centered && in.row_length() == 1 ? 0 : 1 / std::sqrt(statistic(variance, r) + eps);
        const double center = statistic(mean, r);
        double sums[2] = {}, plain[2] = {};  // plain: without the weight
        in.pieces([&](int64_t run, int64_t at, int64_t n) {
          const T *g = grad.read(r, run, at, n, grads), *x = in.read(r, run, at, n, buffer);
          if (relu) {
            if (in.varying) call.normalize(weights, x, n, center, factor, weight.read(r, at, n, some), bias.read(r, at, n, others), 0);
            else call.normalize(weights, x, n, center, factor * weight.of_run(r, run), nullptr, nullptr, bias.of_run(r, run));
            T* to = out.target(r, run, at, grads);
            const void* const operands[] = {g, weights, zeros};
            tile_of<T>(PointwiseOp::threshold_backward)(to, operands, n);
            out.written(r, run, at, n, to);
            g = to;
          }
          if (varying) return call.normalize_sums(sums, g, x, n, center, weight.read(r, at, n, weights));
          double part[2] = {};
          call.normalize_sums(part, g, x, n, center, nullptr);
          const double w = weight.of_run(r, run);
          for (int i = 0; i < 2; ++i) {
            sums[i] += w * part[i];
            plain[i] += part[i];
          }
        });
        put_statistic(weight_grad, r, plain[1] * factor);
        put_statistic(bias_grad, r, plain[0]);
        const auto count = static_cast<double>(in.row_length());
        const double slope = factor * factor * factor * sums[1] / count, shift = centered ? sums[0] / count : 0;
        in.pieces([&](int64_t run, int64_t at, int64_t n) {
          const T *g = masked.read(r, run, at, n, grads), *x = in.read(r, run, at, n, buffer);
          T* to = out.target(r, run, at, buffer);
          if (varying) call.normalize_gradient(to, g, x, n, center, weight.read(r, at, n, weights), 1, shift, factor, slope);
          else call.normalize_gradient(to, g, x, n, center, nullptr, weight.of_run(r, run), shift, factor, slope);
          out.written(r, run, at, n, to);
        });
      }
    });
  });
}

void follow_statistics(const Queue&, Change running_mean, Change running_variance, View mean, View variance, double momentum,
                       double unbiased) {
  visit_floating_compute(mean.dtype, [&]<class T>(T) {
    const T share = static_cast<T>(momentum), rest = static_cast<T>(1 - momentum), factor = static_cast<T>(unbiased);
    const auto element = [](const View& v, int64_t i) -> T& { return v.as<T>()[i * v.strides[0]]; };
    for (int64_t i = 0; i < mean.sizes[0]; ++i) {
      if (running_mean.data) element(running_mean, i) = element(running_mean, i) * rest + element(mean, i) * share;
      if (running_variance.data) element(running_variance, i) = element(running_variance, i) * rest + element(variance, i) * factor * share;
    }
  });
}

void normalize_parameters(const Queue& queue, Out weight, Out bias, View grad_view, View in_view, View mean, View variance, double eps) {
  const Blocks grad(grad_view), in(in_view);
  const int64_t groups = weight.sizes[0], runs = weight.sizes[1];
  const auto put = [](const Out& out, int64_t group, int64_t run, double value) {
    const int64_t at = group * out.strides[0] + run * out.strides[1];
    if (out.dtype == kFloat64) out.as<double>()[at] = value;
    else out.as<float>()[at] = static_cast<float>(value);
  };
  const auto factor_of = [&](int64_t row) { return 1 / std::sqrt(statistic(variance, row) + eps); };
  visit_floating_compute(in_view.dtype, [&]<class T>(T) {
    const RowFunctions& call = row_functions<T>();
    if (!in.varying) {  // a sum over the runs of all rows of a group
      const int64_t each = in.rows / groups * in.length;
      return parallel_for(groups * runs, row_grain(2 * each), queue.threads, [&](int64_t begin, int64_t end) {
        alignas(64) T grads[kPiece], buffer[kPiece];
        for (int64_t i = begin; i < end; ++i) {
          double weights = 0, biases = 0;
          for (int64_t r = i / runs; r < in.rows; r += groups) {
            double sums[2] = {};
            for (int64_t at = 0; at < in.length; at += kPiece) {
              const int64_t n = std::min(kPiece, in.length - at);
              const T *g = grad.read(r, i % runs, at, n, grads), *x = in.read(r, i % runs, at, n, buffer);
              call.normalize_sums(sums, g, x, n, statistic(mean, r), nullptr);
            }
            weights += sums[1] * factor_of(r);
            biases += sums[0];
          }
          put(weight, i / runs, i % runs, weights);
          put(bias, i / runs, i % runs, biases);
        }
      });
    }
    // Columns, in strips of a few cache lines; sums over some rows at a time are added up in double.
    constexpr int64_t kStrip = 128, kRows = 32;
    const int64_t strips = (in.length + kStrip - 1) / kStrip;
    parallel_for(groups * strips, std::max<int64_t>(1, row_grain(2 * in.rows / groups * kStrip)), queue.threads,
                 [&](int64_t begin, int64_t end) {
                   alignas(64) T grads[kStrip], buffer[kStrip], some_weights[kStrip], some_biases[kStrip];
                   double weights[kStrip], biases[kStrip];
                   for (int64_t i = begin; i < end; ++i) {
                     const int64_t at = i % strips * kStrip, n = std::min(kStrip, in.length - at);
                     std::fill_n(weights, n, 0);
                     std::fill_n(biases, n, 0);
                     for (int64_t first = i / strips; first < in.rows; first += groups * kRows) {
                       std::fill_n(some_weights, n, T(0));
                       std::fill_n(some_biases, n, T(0));
                       for (int64_t r = first; r < std::min(in.rows, first + groups * kRows); r += groups) {
                         const T *g = grad.read(r, 0, at, n, grads), *x = in.read(r, 0, at, n, buffer);
                         call.normalize_parameters(some_weights, some_biases, g, x, n, statistic(mean, r), factor_of(r));
                       }
                       for (int64_t k = 0; k < n; ++k) {
                         weights[k] += static_cast<double>(some_weights[k]);
                         biases[k] += static_cast<double>(some_biases[k]);
                       }
                     }
                     for (int64_t k = 0; k < n; ++k) {
                       put(weight, i / strips, at + k, weights[k]);
                       put(bias, i / strips, at + k, biases[k]);
                     }
                   }
                 });
  });
}

}  // namespace tandem::kernels::cpu
