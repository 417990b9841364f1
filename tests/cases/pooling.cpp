// Pooling. References look at every element of every window.
#include <cmath>
#include <limits>

#include "cases/case.h"

namespace tandem::cases {
namespace {

template <int N>
Shape image(int64_t batch, int64_t channels) {
  Shape sizes{batch, channels};
  for (const int64_t size : {7, 6, 5})
    if (sizes.size() < 2 + N) sizes.push_back(size);
  return sizes;
}
template <int N>
Shape large_image(int64_t n) {
  if constexpr (N == 2) return {8, 64, 56, 56};
  else return N == 1 ? Shape{64, (n + 63999) / 64000, 1000} : Shape{8, 16, 16, 28, 28};
}

/// The windows of one dimension each: [begin, end) within the input, for each place of the output.
using Range = std::pair<int64_t, int64_t>;
using Window = std::vector<Range>;
using WindowOf = std::function<Range(size_t d, int64_t place)>;

/// Calls f with the positions of x in the window of `to`, and their numbers within the spatial dimensions.
void for_window(const Tensor& x, const Shape& to, const WindowOf& window, const std::function<void(const Shape&, int64_t)>& f) {
  Shape lengths;
  for (size_t d = 2; d < to.size(); ++d) {
    const Range range = window(d - 2, to[d]);
    lengths.push_back(std::max<int64_t>(0, range.second - range.first));
  }
  for_each_position(lengths, [&](const Shape& k) {
    Shape from{to[0], to[1]};
    int64_t number = 0;
    for (size_t d = 0; d < k.size(); ++d) {
      const int64_t place = window(d, to[2 + d]).first + k[d];
      if (place < 0 || place >= x.sizes()[2 + d]) return;
      from.push_back(place);
      number = number * x.sizes()[2 + d] + place;
    }
    f(from, number);
  });
}

Results largest(const Tensor& x, const Shape& sizes, const WindowOf& window) {
  Tensor indices = zeros(sizes, kFloat64);
  double* place = indices.numel() ? indices.data_ptr<double>() : nullptr;
  const Tensor values = generate(sizes, [&](const Shape& to) {
    double best = -std::numeric_limits<double>::infinity();
    *place = -1;
    for_window(x, to, window, [&](const Shape& from, int64_t number) {
      if (const double value = at(x, from); *place < 0 || value > best) best = value, *place = double(number);
    });
    ++place;
    return best;
  });
  return std::vector<Tensor>{values, indices.to(kInt64)};
}

/// Kernel, stride and padding, the same in all dimensions.
struct Sliding {
  int64_t kernel, stride, padding;
  [[nodiscard]] Shape sizes(const Tensor& x) const {
    Shape out = x.sizes();
    for (size_t d = 2; d < out.size(); ++d) out[d] = (out[d] + 2 * padding - kernel) / stride + 1;
    return out;
  }
  [[nodiscard]] WindowOf window() const {
    return [s = *this](size_t, int64_t place) { return Range{place * s.stride - s.padding, place * s.stride - s.padding + s.kernel}; };
  }
};

/// One plane in which about n windows of half its side, at every place, see the element in the middle.
template <int N>
Shape overlapped(int64_t n) {
  const auto half = int64_t{std::lround(std::pow(double(n), 1.0 / N))};
  Shape sizes{1, 1};
  for (int d = 0; d < N; ++d) sizes.push_back(2 * half - 1);
  return sizes;
}

struct Pooling : Case {
  static constexpr double tolerance = 4;
  static constexpr bool zero_dim = false;
};

template <int N>
struct MaxPool : Pooling {
  static constexpr const char* name = pick<N>("max_pool1d", "max_pool2d", "max_pool3d");
  static constexpr const char* torch = pick<N>("nn.functional.max_pool1d", "nn.functional.max_pool2d", "nn.functional.max_pool3d");
  static constexpr DTypes dtypes = kNumbers;
  static constexpr bool expands = false;  // ties have no derivative
  void inputs(Inputs& in) const {
    in.add(randn(image<N>(2, 3)), 2, 2, 0);
    in.add(randn(image<N>(1, 2)), 3, 1, 1);
    in.add(randn(image<N>(0, 2)), 2, 2, 0);
  }
  void many(Inputs& in, int64_t n) const {
    const Shape sizes = overlapped<N>(n);
    const Tensor x = ones(sizes), line = x.flatten();  // all windows but one name the element in the middle
    line.slice(0, line.numel() / 2, line.numel() / 2 + 1).fill_(2);
    in.add(x, (sizes.back() + 1) / 2, 1, 0);
  }
  Results run(const Tensor& x, int64_t kernel, int64_t stride, int64_t padding) const {
    const MaxPoolOptions o{.stride = stride, .padding = padding};
    return N == 1   ? max_pool1d_with_indices(x, kernel, o)
           : N == 2 ? max_pool2d_with_indices(x, kernel, o)
                    : max_pool3d_with_indices(x, kernel, o);
  }
  Results reference(const Tensor& x, int64_t kernel, int64_t stride, int64_t padding) const {
    const Sliding sliding{kernel, stride, padding};
    return largest(x, sliding.sizes(x), sliding.window());
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn(large_image<N>(n)), 2, 2, 0); }
  Tensor timed(const Tensor& x, int64_t kernel, int64_t stride, int64_t padding) const {
    const MaxPoolOptions o{.stride = stride, .padding = padding};
    return N == 1 ? max_pool1d(x, kernel, o) : N == 2 ? max_pool2d(x, kernel, o) : max_pool3d(x, kernel, o);
  }
};

template <int N>
struct AvgPool : Pooling {
  static constexpr const char* name = pick<N>("avg_pool1d", "avg_pool2d", "avg_pool3d");
  static constexpr const char* torch = pick<N>("nn.functional.avg_pool1d", "nn.functional.avg_pool2d", "nn.functional.avg_pool3d");
  static constexpr DTypes dtypes = kFloating | only(kInt64);
  void inputs(Inputs& in) const {
    in.add(randn(image<N>(2, 3)), 2, 2, 0, true);
    in.add(randn(image<N>(1, 2)), 3, 1, 1, true);
    in.add(randn(image<N>(1, 2)), 3, 2, 1, false);
    in.add(randn(image<N>(0, 2)), 2, 2, 0, true);
  }
  void many(Inputs& in, int64_t n) const {
    const Shape sizes = overlapped<N>(n);
    in.add(ones(sizes), (sizes.back() + 1) / 2, 1, 0, true);
    in.add(ones(sizes), sizes.back(), 1, 0, true);
  }
  Tensor run(const Tensor& x, int64_t kernel, int64_t stride, int64_t padding, bool count_pad) const {
    const AvgPoolOptions o{.stride = stride, .padding = padding, .count_include_pad = count_pad};
    return N == 1 ? avg_pool1d(x, kernel, o) : N == 2 ? avg_pool2d(x, kernel, o) : avg_pool3d(x, kernel, o);
  }
  Tensor reference(const Tensor& x, int64_t kernel, int64_t stride, int64_t padding, bool count_pad) const {
    const Sliding sliding{kernel, stride, padding};
    return generate(sliding.sizes(x), [&](const Shape& to) {
      double sum = 0, count = 0;
      for_window(x, to, sliding.window(), [&](const Shape& from, int64_t) {
        sum += at(x, from);
        ++count;
      });
      return sum / (count_pad ? std::pow(double(kernel), N) : count);
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn(large_image<N>(n)), 2, 2, 0, true); }
};

/// The windows that divide each dimension into `parts`.
WindowOf divided(const Tensor& x, int64_t parts) {
  return [sizes = x.sizes(), parts](size_t d, int64_t place) {
    const int64_t size = sizes[2 + d];
    return Range{place * size / parts, ((place + 1) * size + parts - 1) / parts};
  };
}
template <int N>
Shape divided_sizes(const Tensor& x, int64_t parts) {
  Shape sizes{x.size(0), x.size(1)};
  for (int d = 0; d < N; ++d) sizes.push_back(parts);
  return sizes;
}

template <int N>
struct AdaptiveAvgPool : Pooling {
  static constexpr const char* name = pick<N>("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d");
  static constexpr const char* torch =
      pick<N>("nn.functional.adaptive_avg_pool1d", "nn.functional.adaptive_avg_pool2d", "nn.functional.adaptive_avg_pool3d");
  static constexpr DTypes dtypes = kFloating;
  void inputs(Inputs& in) const {
    in.add(randn(image<N>(2, 3)), 3);
    in.add(randn(image<N>(1, 2)), 1);
    in.add(randn(image<N>(0, 2)), 2);
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones(overlapped<N>(n)), 1);
    in.add(ones(overlapped<N>(1)), N == 1 ? n : N == 2 ? 55 : 15);
  }
  Tensor run(const Tensor& x, int64_t parts) const {
    const Shape size = divided_size(parts);
    return N == 1 ? adaptive_avg_pool1d(x, size) : N == 2 ? adaptive_avg_pool2d(x, size) : adaptive_avg_pool3d(x, size);
  }
  static Shape divided_size(int64_t parts) {
    Shape size;
    for (int d = 0; d < N; ++d) size.push_back(parts);
    return size;
  }
  Tensor reference(const Tensor& x, int64_t parts) const {
    return generate(divided_sizes<N>(x, parts), [&](const Shape& to) {
      double sum = 0, count = 0;
      for_window(x, to, divided(x, parts), [&](const Shape& from, int64_t) {
        sum += at(x, from);
        ++count;
      });
      return sum / count;
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn(large_image<N>(n)), 7); }
};

template <int N>
struct AdaptiveMaxPool : Pooling {
  static constexpr const char* name = pick<N>("adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d");
  static constexpr const char* torch =
      pick<N>("nn.functional.adaptive_max_pool1d", "nn.functional.adaptive_max_pool2d", "nn.functional.adaptive_max_pool3d");
  static constexpr DTypes dtypes = kFloating;
  static constexpr bool expands = false;
  void inputs(Inputs& in) const { AdaptiveAvgPool<N>().inputs(in); }
  void many(Inputs& in, int64_t n) const { AdaptiveAvgPool<N>().many(in, n); }
  Results run(const Tensor& x, int64_t parts) const {
    const Shape size = AdaptiveAvgPool<N>::divided_size(parts);
    return N == 1   ? adaptive_max_pool1d_with_indices(x, size)
           : N == 2 ? adaptive_max_pool2d_with_indices(x, size)
                    : adaptive_max_pool3d_with_indices(x, size);
  }
  Results reference(const Tensor& x, int64_t parts) const { return largest(x, divided_sizes<N>(x, parts), divided(x, parts)); }
  void bench(Inputs& in, int64_t n) const { in.add(randn(large_image<N>(n)), 7); }
};

struct LpPool2d : Pooling {
  static constexpr const char* name = "lp_pool2d";
  static constexpr const char* torch = "nn.functional.lp_pool2d";
  static constexpr DTypes dtypes = kAnyType;
  static constexpr Gives gives = Gives::Any;
  static constexpr double tolerance = 8;
  void inputs(Inputs& in) const {
    in.add(rand(image<2>(2, 3)) + 0.5, 2.0, 2);
    in.add(rand(image<2>(1, 2)) + 0.5, 3.0, 3);
    in.add(rand(image<2>(0, 2)) + 0.5, 2.0, 2);
  }
  void many(Inputs& in, int64_t) const { in.add(ones({1, 1, 60, 60}), 2.0, 60); }
  Tensor run(const Tensor& x, double p, int64_t kernel) const { return lp_pool2d(x, p, kernel); }
  Tensor reference(const Tensor& x, double p, int64_t kernel) const {
    const Sliding sliding{kernel, kernel, 0};
    return generate(sliding.sizes(x), [&](const Shape& to) {
      double sum = 0;
      for_window(x, to, sliding.window(), [&](const Shape& from, int64_t) { sum += std::pow(at(x, from), p); });
      return std::pow(sum, 1 / p);
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(rand(large_image<2>(n)) + 0.5, 2.0, 2); }
};

struct MaxUnpool2d : Pooling {
  static constexpr const char* name = "max_unpool2d";
  static constexpr const char* torch = "nn.functional.max_unpool2d";
  static constexpr bool sums = false;
  static constexpr DTypes dtypes = kFloating;
  static constexpr bool expands = false;  // would write one element twice
  void inputs(Inputs& in) const {
    for (const int64_t batch : {2, 0}) {
      const auto pooled = max_pool2d_with_indices(randn({batch, 3, 6, 4}), 2);
      in.add(pooled.values, pooled.indices, 2);
    }
  }
  Tensor run(const Tensor& x, const Tensor& indices, int64_t kernel) const { return max_unpool2d(x, indices, kernel); }
  Tensor reference(const Tensor& x, const Tensor& indices, int64_t kernel) const {
    const int64_t width = x.size(3) * kernel;
    return generate({x.size(0), x.size(1), x.size(2) * kernel, width}, [&](const Shape& to) {
      double value = 0;
      for_each_position({x.size(2), x.size(3)}, [&](const Shape& k) {
        const Shape from{to[0], to[1], k[0], k[1]};
        if (int64_t(at(indices, from)) == to[2] * width + to[3]) value = at(x, from);
      });
      return value;
    });
  }
  void bench(Inputs& in, int64_t n) const {
    const auto pooled = max_pool2d_with_indices(randn(large_image<2>(n)), 2);
    in.add(pooled.values, pooled.indices, 2);
  }
};

}  // namespace

void add_pooling(std::vector<Operation>& list) {
  list.push_back(operation<MaxPool<1>>());
  list.push_back(operation<MaxPool<2>>());
  list.push_back(operation<MaxPool<3>>());
  list.push_back(operation<AvgPool<1>>());
  list.push_back(operation<AvgPool<2>>());
  list.push_back(operation<AvgPool<3>>());
  list.push_back(operation<AdaptiveAvgPool<1>>());
  list.push_back(operation<AdaptiveAvgPool<2>>());
  list.push_back(operation<AdaptiveAvgPool<3>>());
  list.push_back(operation<AdaptiveMaxPool<1>>());
  list.push_back(operation<AdaptiveMaxPool<2>>());
  list.push_back(operation<AdaptiveMaxPool<3>>());
  list.push_back(operation<LpPool2d>());
  list.push_back(operation<MaxUnpool2d>());
}

}  // namespace tandem::cases
