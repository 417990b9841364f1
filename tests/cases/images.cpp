// Images in other sizes, their channels moved, and images read at points.
#include <algorithm>
#include <cmath>

#include "cases/case.h"

namespace tandem::cases {
namespace {

struct Images : Case {
  static constexpr bool zero_dim = false, empty_input = false;
  static constexpr double tolerance = 8;
};

/// `size` rows and columns from as many as there are.
struct InterpolateNearest : Images {
  static constexpr const char* name = "interpolate_nearest";
  static constexpr const char* torch = "nn.functional.interpolate(mode='nearest')";
  static constexpr DTypes dtypes = kFloating | only(kUInt8);
  void inputs(Inputs& in) const {
    in.add(randn({2, 3, 4, 5}), 7, 3);
    in.add(randn({1, 2, 3, 3}), 6, 6);
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({1, 2, 3, 3}), n, 3);
    in.add(ones({1, 2, 3, 3}), 3, n);
    in.add(ones({1, 2, 1, 1}), 60, n / 50);
    in.add(ones({1, 1, 60, n / 50}), 1, 1);
  }
  Tensor run(const Tensor& x, int64_t h, int64_t w) const { return interpolate(x, {.size = Shape{h, w}}); }
  Tensor reference(const Tensor& x, int64_t h, int64_t w) const {
    return generate({x.size(0), x.size(1), h, w}, [&](const Shape& p) {
      return at(x, {p[0], p[1], p[2] * x.size(2) / h, p[3] * x.size(3) / w});
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({(n + 50175) / 50176, 64, 28, 28}), 56, 56); }
};

/// The value at (y, x), a mean of four; `inside` says what counts beyond the edges.
double bilinear_at(const Tensor& x, int64_t n, int64_t c, double row, double column, bool clamp) {
  double sum = 0;
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 2; ++j) {
      auto r = int64_t(std::floor(row)) + i, k = int64_t(std::floor(column)) + j;
      const double weight = (1 - std::fabs(row - double(r))) * (1 - std::fabs(column - double(k)));
      if (clamp) r = std::clamp<int64_t>(r, 0, x.size(2) - 1), k = std::clamp<int64_t>(k, 0, x.size(3) - 1);
      if (r >= 0 && r < x.size(2) && k >= 0 && k < x.size(3)) sum += weight * at(x, {n, c, r, k});
    }
  return sum;
}

struct InterpolateBilinear : InterpolateNearest {
  static constexpr const char* name = "interpolate_bilinear";
  static constexpr const char* torch = "nn.functional.interpolate(mode='bilinear')";
  Tensor run(const Tensor& x, int64_t h, int64_t w) const { return interpolate(x, {.size = Shape{h, w}, .mode = "bilinear"}); }
  Tensor reference(const Tensor& x, int64_t h, int64_t w) const {
    return generate({x.size(0), x.size(1), h, w}, [&](const Shape& p) {
      const double row = std::max(0.0, (double(p[2]) + 0.5) * double(x.size(2)) / double(h) - 0.5);
      const double column = std::max(0.0, (double(p[3]) + 0.5) * double(x.size(3)) / double(w) - 0.5);
      return bilinear_at(x, p[0], p[1], row, column, true);
    });
  }
  static constexpr DTypes without_reference = only(kUInt8);  // rounded in its own way
};

struct PixelShuffle : Images {
  static constexpr const char* name = "pixel_shuffle";
  static constexpr bool sums = false;
  static constexpr DTypes dtypes = kAnyType;
  void inputs(Inputs& in) const {
    in.add(randn({2, 8, 3, 4}), 2);
    in.add(randn({9, 2, 2}), 3);
  }
  Tensor run(const Tensor& x, int64_t r) const { return pixel_shuffle(x, r); }
  Tensor reference(const Tensor& x, int64_t r) const {
    Shape sizes = x.sizes();
    const size_t c = sizes.size() - 3;
    sizes[c] /= r * r, sizes[c + 1] *= r, sizes[c + 2] *= r;
    return generate(sizes, [&](Shape p) {
      p[c] = (p[c] * r + p[c + 1] % r) * r + p[c + 2] % r;
      p[c + 1] /= r, p[c + 2] /= r;
      return at(x, p);
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({(n + 50175) / 50176, 64, 28, 28}), 2); }
};

struct PixelUnshuffle : Images {
  static constexpr const char* name = "pixel_unshuffle";
  static constexpr bool sums = false;
  static constexpr DTypes dtypes = kAnyType;
  void inputs(Inputs& in) const {
    in.add(randn({2, 2, 6, 4}), 2);
    in.add(randn({1, 6, 6}), 3);
  }
  Tensor run(const Tensor& x, int64_t r) const { return pixel_unshuffle(x, r); }
  Tensor reference(const Tensor& x, int64_t r) const {
    Shape sizes = x.sizes();
    const size_t c = sizes.size() - 3;
    sizes[c] *= r * r, sizes[c + 1] /= r, sizes[c + 2] /= r;
    return generate(sizes, [&](Shape p) {
      p[c + 1] = p[c + 1] * r + p[c] / r % r, p[c + 2] = p[c + 2] * r + p[c] % r;
      p[c] /= r * r;
      return at(x, p);
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({(n + 50175) / 50176, 64, 28, 28}), 2); }
};

struct ChannelShuffle : Images {
  static constexpr const char* name = "channel_shuffle";
  static constexpr bool sums = false;
  static constexpr DTypes dtypes = kAnyType;
  void inputs(Inputs& in) const { in.add(randn({2, 6, 3, 2}), 3); }
  Tensor run(const Tensor& x, int64_t groups) const { return channel_shuffle(x, groups); }
  Tensor reference(const Tensor& x, int64_t groups) const {
    return generate(x.sizes(), [&](Shape p) {
      p[1] = p[1] % groups * (x.size(1) / groups) + p[1] / groups;
      return at(x, p);
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({(n + 50175) / 50176, 64, 28, 28}), 4); }
};

struct GridSample : Images {
  static constexpr const char* name = "grid_sample";
  static constexpr const char* torch = "nn.functional.grid_sample";
  static constexpr bool twice = false;    // as in PyTorch
  static constexpr bool repeats = false;  // the gradient's sums come in any order, as in PyTorch
  void inputs(Inputs& in) const {
    in.add(randn({2, 3, 4, 5}), rand({2, 3, 2, 2}) * 2.4 - 1.2);
    in.add(randn({1, 1, 3, 3}), rand({1, 4, 4, 2}) * 2 - 1);
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({1, 2, 3, 3}), zeros({1, n, 1, 2}));  // all at the centre
    in.add(ones({1, n, 2, 2}), zeros({1, 3, 1, 2}));
  }
  Tensor run(const Tensor& x, const Tensor& grid) const { return grid_sample(x, grid); }
  Tensor reference(const Tensor& x, const Tensor& grid) const {
    return generate({x.size(0), x.size(1), grid.size(1), grid.size(2)}, [&](const Shape& p) {
      const double column = ((at(grid, {p[0], p[2], p[3], 0}) + 1) * double(x.size(3)) - 1) / 2;
      const double row = ((at(grid, {p[0], p[2], p[3], 1}) + 1) * double(x.size(2)) - 1) / 2;
      return bilinear_at(x, p[0], p[1], row, column, false);
    });
  }
  void bench(Inputs& in, int64_t n) const {
    const int64_t batch = (n + 50175) / 50176;
    in.add(randn({batch, 64, 28, 28}), rand({batch, 28, 28, 2}) * 2 - 1);
  }
};

struct AffineGrid : Images {
  static constexpr const char* name = "affine_grid";
  static constexpr const char* torch = "nn.functional.affine_grid";
  static constexpr DTypes dtypes = kFloating;
  void inputs(Inputs& in) const { in.add(randn({2, 2, 3}), Shape{2, 1, 4, 5}); }
  void many(Inputs& in, int64_t n) const { in.add(ones({2, 2, 3}), Shape{2, 1, 60, n / 50}); }
  Tensor run(const Tensor& theta, const Shape& size) const { return affine_grid(theta, size); }
  Tensor reference(const Tensor& theta, const Shape& size) const {
    return generate({size[0], size[2], size[3], 2}, [&](const Shape& p) {
      const double x = (2 * double(p[2]) + 1) / double(size[3]) - 1, y = (2 * double(p[1]) + 1) / double(size[2]) - 1;
      return at(theta, {p[0], p[3], 0}) * x + at(theta, {p[0], p[3], 1}) * y + at(theta, {p[0], p[3], 2});
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({8, 2, 3}), Shape{8, 1, 250, (n + 1999) / 2000}); }
};

}  // namespace

void add_images(std::vector<Operation>& list) {
  list.push_back(operation<InterpolateNearest>());
  list.push_back(operation<InterpolateBilinear>());
  list.push_back(operation<PixelShuffle>());
  list.push_back(operation<PixelUnshuffle>());
  list.push_back(operation<ChannelShuffle>());
  list.push_back(operation<GridSample>());
  list.push_back(operation<AffineGrid>());
}

}  // namespace tandem::cases
