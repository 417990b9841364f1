// Convolutions of float32 by each route: near the sums in float64, and the same to the bit for any number of threads.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <tandem/tandem.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/align.h"
#include "kernels/every_set.h"
#include "kernels/queue.h"
#include "kernels/table.h"

namespace tandem {
namespace {

struct Sizes {
  int64_t n, in, out, height, width, kernel, padding;
  int64_t stride = 1, dilation = 1;

  [[nodiscard]] ConvOptions options() const { return {.stride = stride, .padding = padding, .dilation = dilation}; }
};

constexpr Sizes kSizes[] = {
    // Winograd's algorithm: whole tiles of 4x4 and tiles that reach over the edge, channels that fill no vector, a last piece with fewer
    // strips of tiles, blocks of channels, every padding, places that windows see outside of the input alone.
    {16, 64, 64, 28, 28, 3, 1},
    {5, 50, 50, 32, 32, 3, 1},
    {9, 32, 48, 14, 14, 3, 1},
    {33, 40, 32, 12, 8, 3, 1},
    {4, 256, 256, 14, 14, 3, 1},
    {2, 128, 32, 56, 56, 3, 1},
    {7, 96, 33, 18, 22, 3, 0},
    {64, 32, 32, 4, 4, 3, 1},
    {1, 32, 64, 64, 64, 3, 1},
    {3, 17, 70, 19, 33, 3, 2},
    {11, 130, 16, 8, 9, 3, 0},
    {8, 16, 20, 3, 25, 3, 2},
    // Products with windows of one element, and those too narrow for it. The gradient of the weight: image by image, images side by side
    // with few places and with many, with sums that are too large for that, in a batch that no number of cores divides.
    {3, 20, 40, 12, 12, 1, 0},
    {1, 7, 33, 30, 11, 1, 0},
    {8, 24, 40, 12, 13, 1, 0},
    {8, 130, 260, 24, 24, 1, 0},
    {8, 520, 260, 12, 12, 1, 0},
    {8, 520, 520, 24, 24, 1, 0},
    {37, 17, 24, 13, 13, 1, 0},
    {5, 64, 64, 5, 5, 1, 0},
    // Many images, one a lane: vectors that are not full, one channel, a border within the windows, strides that leave some of the input
    // unseen, places that fill no vector.
    {48, 20, 50, 13, 13, 5, 0},
    {31, 1, 7, 12, 20, 3, 1},
    {13, 5, 20, 15, 14, 3, 1, 2},
    {32, 3, 19, 9, 33, 5, 2, 3, 2},
    {16, 20, 33, 5, 5, 5, 4},
    // The others.
    {5, 33, 20, 9, 13, 5, 2},
    {2, 300, 290, 10, 10, 3, 1},
};

struct Results {
  Tensor out, of_input, of_weight;
};

Results convolve(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& slope, const Sizes& s) {
  const Tensor in = x.detach().clone().requires_grad_(), by = weight.detach().clone().requires_grad_();
  const Tensor out = conv2d(in, by, bias, s.options());
  const std::vector<Tensor> gradients = grad({out}, {in, by}, {.grad_outputs = {slope}});
  return {out.detach(), gradients[0], gradients[1]};
}

/// The largest difference in units of the sums' size, were their terms of either sign at random.
double error(const Tensor& got, const Tensor& wanted) {
  const double size = std::sqrt((wanted * wanted).mean().item<double>());
  return (got.to(kFloat64) - wanted).abs().max().item<double>() / size;
}

std::string text(const Sizes& s) {
  return std::to_string(s.n) + " images " + std::to_string(s.in) + " -> " + std::to_string(s.out) + ", " + std::to_string(s.height) + "x" +
         std::to_string(s.width);
}

class Convolution : public kernels::testing::EverySet {};
TD_EVERY_SET(Convolution);

TEST_P(Convolution, IsNearTheSumsInDouble) {
  manual_seed(7);
  for (const Sizes& s : kSizes) {
    const Tensor x = randn({s.n, s.in, s.height, s.width}), weight = randn({s.out, s.in, s.kernel, s.kernel}), bias = randn({s.out});
    const Tensor slope = randn_like(conv2d(x, weight, bias, s.options()));
    const Results got = convolve(x, weight, bias, slope, s);
    const auto wide = [](const Tensor& t) { return t.to(kFloat64); };
    const Results wanted = convolve(wide(x), wide(weight), wide(bias), wide(slope), s);
    EXPECT_LT(error(got.out, wanted.out), 2e-5) << text(s);
    EXPECT_LT(error(got.of_input, wanted.of_input), 2e-5) << text(s);
    EXPECT_LT(error(got.of_weight, wanted.of_weight), 2e-5) << text(s);
  }
}

TEST_P(Convolution, GivesTheSameBitsForAnyNumberOfThreads) {
  manual_seed(8);
  const int before = get_num_threads();
  for (const Sizes& s : kSizes) {
    const Tensor x = randn({s.n, s.in, s.height, s.width}), weight = randn({s.out, s.in, s.kernel, s.kernel}), bias = randn({s.out});
    const Tensor slope = randn_like(conv2d(x, weight, bias, s.options()));
    set_num_threads(1);
    const Results one = convolve(x, weight, bias, slope, s);
    for (const int threads : {2, 5}) {
      set_num_threads(threads);
      const Results more = convolve(x, weight, bias, slope, s);
      EXPECT_TRUE(equal(one.out, more.out)) << text(s);
      EXPECT_TRUE(equal(one.of_input, more.of_input)) << text(s);
      EXPECT_TRUE(equal(one.of_weight, more.of_weight)) << text(s);
    }
  }
  set_num_threads(before);
}

/// Memory whose end is the end of what may be touched.
class Fenced {
 public:
  explicit Fenced(size_t bytes) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE)), whole = align_up(bytes);
    total_ = align_up(whole, page) + page;
    base_ = static_cast<char*>(mmap(nullptr, total_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_EQ(mprotect(base_ + total_ - page, page, PROT_NONE), 0);
    data = base_ + total_ - page - whole;
  }
  ~Fenced() { munmap(base_, total_); }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;
  char* data;

 private:
  char* base_;
  size_t total_;
};

kernels::Out images_at(void* data, std::initializer_list<int64_t> sizes) {
  kernels::Out v{};
  v.data = data;
  v.dtype = kFloat32;
  v.ndim = 5;
  std::copy(sizes.begin(), sizes.end(), v.sizes);
  int64_t stride = 1;
  for (int d = 4; d >= 0; --d) {
    v.strides[d] = stride;
    stride *= v.sizes[d];
  }
  return v;
}

TEST_P(Convolution, WritesNothingBehindItsWorkspace) {
  using kernels::ConvolutionPart;
  for (const int64_t in_channels : {1, 3, 16, 33})
    for (const int64_t out_channels : {8, 33, 64})
      for (const int64_t window : {1, 3})
        for (const int64_t side : {8, 14, 17})
          for (const int64_t n : {1, 4, 20}) {
            Fenced x(static_cast<size_t>(n * in_channels * side * side) * 4), y(static_cast<size_t>(n * out_channels * side * side) * 4),
                w(static_cast<size_t>(in_channels * out_channels * window * window) * 4);
            const kernels::Out in = images_at(x.data, {n, in_channels, 1, side, side}),
                               out = images_at(y.data, {n, out_channels, 1, side, side}),
                               weight = images_at(w.data, {out_channels, in_channels, 1, window, window});
            kernels::Windows windows;
            for (const int d : {1, 2}) {
              windows.kernel[d] = window;
              windows.padding[d] = window / 2;
            }
            kernels::testing::TestQueue queue(2);
            const kernels::Table& table = kernels::cpu_table();
            for (const auto part : {ConvolutionPart::Forward, ConvolutionPart::Input, ConvolutionPart::Weight}) {
              const Fenced workspace(table.convolution_workspace(part, out, in, weight, windows, 1, false));
              if (part == ConvolutionPart::Forward) table.convolution(queue, out, in, weight, {}, windows, 1, workspace.data);
              else if (part == ConvolutionPart::Input) table.convolution_input(queue, in, out, weight, windows, 1, workspace.data);
              else table.convolution_weight(queue, weight, out, in, windows, 1, workspace.data);
            }
            EXPECT_EQ(queue.trouble(), Trouble::None);
          }
}

TEST_P(Convolution, KeepsImagesInLanesApart) {
  Tensor x = ones({29, 5, 13, 13});
  x[3][2][6][6].fill_(NAN);
  const Tensor weight = ones({20, 5, 3, 3}).requires_grad_(), in = x.clone().requires_grad_(), out = conv2d(in, weight);
  const Tensor finite = isfinite(out).flatten(1).all(1);
  EXPECT_FALSE(finite[3].item<bool>());
  EXPECT_EQ(finite.sum().item<int64_t>(), 28);
  EXPECT_TRUE(equal(out[28], full({20, 11, 11}, 45.0F)));
  // An element of the input is seen by up to nine windows of each of 20 channels.
  const std::vector<Tensor> gradients = grad({out}, {in, weight}, {.grad_outputs = {ones_like(out)}});
  EXPECT_EQ(gradients[0].max().item<float>(), 180);
  EXPECT_EQ(gradients[0].sum().item<double>(), 29.0 * 20 * 121 * 45);
  EXPECT_TRUE(isnan(gradients[1].select(1, 2)).all().item<bool>());
  EXPECT_TRUE(equal(gradients[1].select(1, 4), full({20, 3, 3}, 29.0F * 121)));
}

/// One number that is not finite, or so large that sums with it lose all others: everything that does not see it is as without it.
TEST_P(Convolution, GivesWhatPlainSumsGiveOfNumbersThatAreNotFiniteOrLarge) {
  manual_seed(9);
  constexpr double kBad[] = {INFINITY, -INFINITY, NAN, 1e37, -1e30, 1e20, 1e8, 1e5};
  constexpr Sizes kOnes[] = {{3, 17, 70, 19, 33, 3, 2}, {2, 20, 16, 17, 12, 3, 1}, {5, 16, 24, 13, 18, 3, 0}, {1, 96, 96, 16, 16, 3, 1}};
  size_t turn = 0;
  for (const Sizes& s : kOnes)
    for (const double bad : kBad)
      for (const char where : {'x', 'w', 'g'}) {
        Tensor x = randn({s.n, s.in, s.height, s.width}), weight = randn({s.out, s.in, 3, 3});
        Tensor slope = randn_like(conv2d(x, weight, {}, s.options()));
        const Tensor& spoilt = where == 'x' ? x : where == 'w' ? weight : slope;
        const int64_t rows = spoilt.size(2), columns = spoilt.size(3);
        // A corner, an edge, or somewhere inside.
        const int64_t row = turn % 3 == 2 ? rows / 2 : 0, column = turn % 3 == 0 ? columns - 1 : columns / 2;
        spoilt[spoilt.size(0) - 1][spoilt.size(1) / 2][row][column].fill_(bad);
        ++turn;
        const Results got = convolve(x, weight, {}, slope, s);
        const auto wide = [](const Tensor& t) { return t.to(kFloat64); };
        const auto size = [](const Tensor& t) { return t.to(kFloat64).abs(); };
        const Results wanted = convolve(wide(x), wide(weight), {}, wide(slope), s);
        const Results bound = convolve(size(x), size(weight), {}, size(slope), s);
        const auto check = [&](const Tensor& out, const Tensor& in_double, const Tensor& of_sizes, const char* what) {
          const Tensor in_float = in_double.to(kFloat32).to(kFloat64);  // a sum may be too large for a float
          const Tensor same = logical_or(out.to(kFloat64) == in_float, logical_and(isnan(out), isnan(in_float)));
          const Tensor near = (out.to(kFloat64) - in_double).abs() <= of_sizes * 1e-5;
          const Tensor good = logical_or(same, logical_and(isfinite(out), near));
          EXPECT_TRUE(good.all().item<bool>()) << text(s) << ": " << what << " with " << bad << " in " << where << ": "
                                               << logical_not(good).sum().item<int64_t>() << " of " << good.numel() << " differ";
        };
        check(got.out, wanted.out, bound.out, "result");
        check(got.of_input, wanted.of_input, bound.of_input, "gradient of the input");
        check(got.of_weight, wanted.of_weight, bound.of_weight, "gradient of the weight");
      }
}

/// Numbers that are all large are no worse than others.
TEST_P(Convolution, TakesLargeNumbersAmongTheirLike) {
  manual_seed(10);
  const Sizes s{4, 32, 32, 20, 20, 3, 1};
  const Tensor x = randn({s.n, s.in, s.height, s.width}), weight = randn({s.out, s.in, 3, 3});
  const Tensor slope = randn_like(conv2d(x, weight, {}, s.options()));
  const Results ones = convolve(x, weight, {}, slope, s);
  const float factor = 0x1p20F;
  const Results large = convolve(x * factor, weight, {}, slope * factor, s);
  EXPECT_TRUE(equal(large.out, ones.out * factor));
  EXPECT_TRUE(equal(large.of_input, ones.of_input * factor));
  EXPECT_TRUE(equal(large.of_weight, ones.of_weight * factor * factor));
}

}  // namespace
}  // namespace tandem
