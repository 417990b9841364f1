// Convolutions and the way back, unfold and fold, padding. References follow each element of the result to those it is made of.
#include <algorithm>

#include "cases/case.h"

namespace tandem::cases {
namespace {

/// `lead`, then the first N of `spatial`.
template <int N>
Shape with(Shape lead, const Shape& spatial) {
  for (int d = 0; d < N; ++d) lead.push_back(spatial[size_t(d)]);
  return lead;
}

template <int N>
struct Conv : Case {
  static constexpr const char* name = pick<N>("conv1d", "conv2d", "conv3d");
  static constexpr const char* torch = pick<N>("nn.functional.conv1d", "nn.functional.conv2d", "nn.functional.conv3d");
  static constexpr DTypes dtypes = kNumbers;
  static constexpr double tolerance = 16;
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    // stride, padding, dilation, groups
    in.add(randn(with<N>({2, 4}, {7, 6, 4})), randn(with<N>({6, 4}, {3, 2, 2})), randn({6}), 1, 0, 1, 1);
    in.add(randn(with<N>({2, 4}, {7, 6, 5})), randn(with<N>({6, 2}, {3, 3, 3})), randn({6}), 2, 1, 1, 2);
    in.add(randn(with<N>({1, 3}, {7, 6, 5})), randn(with<N>({3, 1}, {2, 2, 2})), Tensor(), 1, 2, 2, 3);
    in.add(randn(with<N>({1, 20}, {9, 9, 3})), randn(with<N>({16, 20}, {3, 3, 3})), Tensor(), 1, 1, 1, 1);
    in.add(randn(with<N>({0, 4}, {7, 6, 5})), randn(with<N>({6, 4}, {3, 2, 2})), randn({6}), 1, 0, 1, 1);
  }
  static ConvOptions options(int64_t stride, int64_t padding, int64_t dilation, int64_t groups) {
    return {.stride = stride, .padding = ConvPadding(Shape{padding}), .dilation = dilation, .groups = groups};
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones(with<N>({n, 1}, {3, 3, 3})), ones(with<N>({2, 1}, {3, 3, 3})), ones({2}), 1, 0, 1, 1);
    in.add(ones(with<N>({1, n / 3}, {3, 3, 3})), ones(with<N>({2, n / 3}, {3, 3, 3})), ones({2}), 1, 0, 1, 1);
    in.add(ones(with<N>({n / 300, 16}, {10, 10, 3})), ones(with<N>({16, 16}, {3, 3, 3})), ones({16}), 1, 1, 1, 1);
    in.add(ones(with<N>({n, 4}, {3, 2, 2})), ones(with<N>({4, 1}, {2, 1, 1})), ones({4}), 1, 0, 1, 4);
  }
  Tensor run(const Tensor& x, const Tensor& w, const Tensor& bias, int64_t stride, int64_t padding, int64_t dilation,
             int64_t groups) const {
    const ConvOptions o = options(stride, padding, dilation, groups);
    return N == 1 ? conv1d(x, w, bias, o) : N == 2 ? conv2d(x, w, bias, o) : conv3d(x, w, bias, o);
  }
  Tensor reference(const Tensor& x, const Tensor& w, const Tensor& bias, int64_t stride, int64_t padding, int64_t dilation,
                   int64_t groups) const {
    Shape sizes{x.size(0), w.size(0)}, window{w.size(1)};
    for (size_t d = 2; d < 2 + N; ++d) {
      sizes.push_back((x.sizes()[d] + 2 * padding - dilation * (w.sizes()[d] - 1) - 1) / stride + 1);
      window.push_back(w.sizes()[d]);
    }
    const int64_t per_group = w.size(0) / groups;
    return generate(sizes, [&](const Shape& to) {
      double sum = bias.defined() ? at(bias, {to[1]}) : 0;
      for_each_position(window, [&](const Shape& k) {
        Shape from{to[0], to[1] / per_group * w.size(1) + k[0]}, weight{to[1], k[0]};
        for (size_t d = 0; d < N; ++d) {
          const int64_t place = to[2 + d] * stride + k[1 + d] * dilation - padding;
          if (place < 0 || place >= x.sizes()[2 + d]) return;
          from.push_back(place);
          weight.push_back(k[1 + d]);
        }
        sum += at(x, from) * at(w, weight);
      });
      return sum;
    });
  }
  void bench(Inputs& in, int64_t n) const {
    const Shape image = N == 1 ? Shape{784} : N == 2 ? Shape{28, 28} : Shape{7, 14, 8};
    in.add(randn(with<N>({std::max<int64_t>(1, n / 50176), 64}, image)), randn(with<N>({64, 64}, {3, 3, 3})), randn({64}), 1, 1, 1, 1);
  }
  double flops(const Tensor& x, const Tensor& w, const Tensor&, int64_t, int64_t, int64_t, int64_t) const {
    return 2.0 * double(x.numel()) * double(w.numel()) / double(w.size(1));  // as many results a channel as inputs
  }
};

template <int N>
struct ConvTranspose : Case {
  static constexpr const char* name = pick<N>("conv_transpose1d", "conv_transpose2d", "conv_transpose3d");
  static constexpr const char* torch =
      pick<N>("nn.functional.conv_transpose1d", "nn.functional.conv_transpose2d", "nn.functional.conv_transpose3d");
  static constexpr DTypes dtypes = kFloating | only(kInt64);
  static constexpr double tolerance = 16;
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    // stride, padding, output_padding, groups, dilation
    in.add(randn(with<N>({2, 4}, {5, 4, 3})), randn(with<N>({4, 6}, {3, 2, 2})), randn({6}), 1, 0, 0, 1, 1);
    in.add(randn(with<N>({2, 4}, {5, 4, 3})), randn(with<N>({4, 3}, {3, 3, 3})), randn({6}), 2, 1, 1, 2, 1);
    in.add(randn(with<N>({1, 3}, {5, 4, 3})), randn(with<N>({3, 1}, {2, 2, 2})), Tensor(), 1, 1, 0, 3, 2);
    in.add(randn(with<N>({0, 4}, {5, 4, 3})), randn(with<N>({4, 6}, {3, 2, 2})), randn({6}), 1, 0, 0, 1, 1);
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones(with<N>({n, 1}, {2, 2, 2})), ones(with<N>({1, 2}, {3, 3, 3})), ones({2}), 1, 0, 0, 1, 1);
    in.add(ones(with<N>({1, n / 3}, {2, 2, 2})), ones(with<N>({n / 3, 2}, {3, 3, 3})), ones({2}), 2, 0, 0, 1, 1);
  }
  Tensor run(const Tensor& x, const Tensor& w, const Tensor& bias, int64_t stride, int64_t padding, int64_t more, int64_t groups,
             int64_t dilation) const {
    const ConvTransposeOptions o{.stride = stride, .padding = padding, .output_padding = more, .groups = groups, .dilation = dilation};
    return N == 1 ? conv_transpose1d(x, w, bias, o) : N == 2 ? conv_transpose2d(x, w, bias, o) : conv_transpose3d(x, w, bias, o);
  }
  Tensor reference(const Tensor& x, const Tensor& w, const Tensor& bias, int64_t stride, int64_t padding, int64_t more, int64_t groups,
                   int64_t dilation) const {
    Shape sizes{x.size(0), w.size(1) * groups}, window{x.size(1) / groups};
    for (size_t d = 2; d < 2 + N; ++d) {
      sizes.push_back((x.sizes()[d] - 1) * stride - 2 * padding + dilation * (w.sizes()[d] - 1) + more + 1);
      window.push_back(w.sizes()[d]);
    }
    return generate(sizes, [&](const Shape& to) {
      double sum = bias.defined() ? at(bias, {to[1]}) : 0;
      for_each_position(window, [&](const Shape& k) {
        const int64_t channel = to[1] / w.size(1) * (x.size(1) / groups) + k[0];
        Shape from{to[0], channel}, weight{channel, to[1] % w.size(1)};
        for (size_t d = 0; d < N; ++d) {
          const int64_t place = to[2 + d] + padding - k[1 + d] * dilation;
          if (place < 0 || place % stride != 0 || place / stride >= x.sizes()[2 + d]) return;
          from.push_back(place / stride);
          weight.push_back(k[1 + d]);
        }
        sum += at(x, from) * at(w, weight);
      });
      return sum;
    });
  }
  void bench(Inputs& in, int64_t n) const {
    const Shape image = N == 1 ? Shape{784} : N == 2 ? Shape{28, 28} : Shape{7, 14, 8};
    in.add(randn(with<N>({std::max<int64_t>(1, n / 50176), 64}, image)), randn(with<N>({64, 64}, {3, 3, 3})), randn({64}), 1, 1, 0, 1, 1);
  }
  double flops(const Tensor& x, const Tensor& w, const Tensor&, int64_t, int64_t, int64_t, int64_t, int64_t) const {
    return 2.0 * double(x.numel()) * double(w.numel()) / double(w.size(0));
  }
};

/// Windows of 2-D images: where row r, column c of kernel place (i, j) lies in the image; outside counts as zero.
struct Windows {
  int64_t height, width, kernel, dilation, padding, stride;
  [[nodiscard]] int64_t count(int64_t size) const { return (size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1; }
  [[nodiscard]] int64_t place(int64_t window, int64_t k) const { return window * stride + k * dilation - padding; }
};

struct Unfold : Case {
  static constexpr const char* name = "unfold";
  static constexpr const char* torch = "nn.functional.unfold";
  static constexpr DTypes dtypes = kFloating | only(kBool);
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(randn({2, 3, 5, 6}), 2, 1, 0, 1);
    in.add(randn({2, 3, 5, 6}), 3, 2, 2, 2);
    in.add(randn({0, 3, 5, 6}), 2, 1, 0, 1);
  }
  void many(Inputs& in, int64_t n) const { in.add(ones({1, 1, 70, 70}), n / 75, 1, 0, 1); }
  Tensor run(const Tensor& x, int64_t kernel, int64_t dilation, int64_t padding, int64_t stride) const {
    return unfold(x, kernel, {.dilation = dilation, .padding = padding, .stride = stride});
  }
  Tensor reference(const Tensor& x, int64_t kernel, int64_t dilation, int64_t padding, int64_t stride) const {
    const Windows w{x.size(2), x.size(3), kernel, dilation, padding, stride};
    const int64_t columns = w.count(w.width);
    return generate({x.size(0), x.size(1) * kernel * kernel, w.count(w.height) * columns}, [&](const Shape& to) {
      const int64_t row = w.place(to[2] / columns, to[1] / kernel % kernel), column = w.place(to[2] % columns, to[1] % kernel);
      const bool inside = row >= 0 && row < w.height && column >= 0 && column < w.width;
      return inside ? at(x, {to[0], to[1] / (kernel * kernel), row, column}) : 0;
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({std::max<int64_t>(1, n / 50176), 64, 28, 28}), 3, 1, 1, 1); }
};

struct Fold : Case {
  static constexpr const char* name = "fold";
  static constexpr const char* torch = "nn.functional.fold";
  static constexpr DTypes dtypes = kFloating | only(kBool);
  static constexpr double tolerance = 4;
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(randn({2, 3 * 4, 4 * 5}), 5, 6, 2, 1, 0, 1);
    in.add(randn({2, 3 * 9, 3 * 3}), 5, 6, 3, 2, 2, 2);
    in.add(randn({0, 3 * 4, 4 * 5}), 5, 6, 2, 1, 0, 1);
  }
  void many(Inputs& in, int64_t n) const {
    const int64_t kernel = n / 75, places = 71 - kernel;
    in.add(ones({1, kernel * kernel, places * places}), 70, 70, kernel, 1, 0, 1);
  }
  Tensor run(const Tensor& x, int64_t height, int64_t width, int64_t kernel, int64_t dilation, int64_t padding, int64_t stride) const {
    return fold(x, Shape{height, width}, kernel, {.dilation = dilation, .padding = padding, .stride = stride});
  }
  Tensor reference(const Tensor& x, int64_t height, int64_t width, int64_t kernel, int64_t dilation, int64_t padding,
                   int64_t stride) const {
    const Windows w{height, width, kernel, dilation, padding, stride};
    const int64_t rows = w.count(height), columns = w.count(width);
    return generate({x.size(0), x.size(1) / (kernel * kernel), height, width}, [&](const Shape& to) {
      double sum = 0;
      for_each_position({rows, columns, kernel, kernel}, [&](const Shape& k) {
        if (w.place(k[0], k[2]) == to[2] && w.place(k[1], k[3]) == to[3])
          sum += at(x, {to[0], (to[1] * kernel + k[2]) * kernel + k[3], k[0] * columns + k[1]});
      });
      return sum;
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({std::max<int64_t>(1, n / 50176), 64 * 9, 28 * 28}), 28, 28, 3, 1, 1, 1); }
};

struct Pad : Case {
  static constexpr const char* name = "pad";
  static constexpr const char* torch = "nn.functional.pad";
  static constexpr DTypes dtypes = kAnyType;
  static constexpr double tolerance = 4;
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), Shape{1, 2}, "constant");
    in.add(randn({2, 3, 5}), Shape{-1, 2, 1, 0}, "constant");
    in.add(randn({2, 3, 5}), Shape{2, 1}, "reflect");
    in.add(randn({2, 3, 5}), Shape{2, 6}, "replicate");
    in.add(randn({2, 3, 4, 5}), Shape{2, 1, 1, 2}, "circular");
    in.add(randn({0, 3, 5}), Shape{1, 1}, "constant");
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({1, 2, 3}), Shape{n, n}, "replicate");
    in.add(ones({1, 2, 3, 3}), Shape{50, 50, n / 50, 2}, "replicate");
    in.add(ones({1, 2, 3}), Shape{2, 1}, "reflect");
    in.add(ones({1, 2, 3}), Shape{2, 3}, "circular");
  }
  Tensor run(const Tensor& x, const Shape& sides, const std::string& mode) const { return pad(x, sides, mode.c_str()); }
  Tensor reference(const Tensor& x, const Shape& sides, const std::string& mode) const {
    Shape sizes = x.sizes();
    const auto before = [&](size_t d) {
      const size_t pair = 2 * (x.sizes().size() - 1 - d);
      return pair < sides.size() ? sides[pair] : 0;
    };
    for (size_t d = 0; d < sizes.size(); ++d)
      if (const size_t pair = 2 * (sizes.size() - 1 - d); pair < sides.size()) sizes[d] += sides[pair] + sides[pair + 1];
    return generate(sizes, [&](Shape position) {
      for (size_t d = 0; d < sizes.size(); ++d) {
        int64_t& i = position[d];
        const int64_t size = x.sizes()[d];
        i -= before(d);
        if (mode == "constant" && (i < 0 || i >= size)) return 0.0;
        if (mode == "replicate") i = std::clamp<int64_t>(i, 0, size - 1);
        if (mode == "circular") i = (i + size) % size;
        if (mode == "reflect") i = i < 0 ? -i : i >= size ? 2 * (size - 1) - i : i;
      }
      return at(x, position);
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({(n + 999) / 1000, 1000}), Shape{8, 8}, "constant"); }
};

}  // namespace

void add_convolutions(std::vector<Operation>& list) {
  list.push_back(operation<Conv<1>>());
  list.push_back(operation<Conv<2>>());
  list.push_back(operation<Conv<3>>());
  list.push_back(operation<ConvTranspose<1>>());
  list.push_back(operation<ConvTranspose<2>>());
  list.push_back(operation<ConvTranspose<3>>());
  list.push_back(operation<Unfold>());
  list.push_back(operation<Fold>());
  list.push_back(operation<Pad>());
}

}  // namespace tandem::cases
