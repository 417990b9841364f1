// Pooling against plain loops in double, over types, layouts, windows and instruction sets.
#include "kernels/array.h"
#include "kernels/table.h"

namespace tandem::kernels {
namespace {

using namespace testing;

struct Case {
  Sizes in;  // (n, c, d, h, w)
  Windows windows;
};

std::vector<Case> cases() {
  return {
      {{2, 3, 1, 9, 40}, {.kernel = {1, 3, 3}, .stride = {1, 2, 2}, .padding = {0, 1, 1}}},
      {{1, 2, 1, 7, 70}, {.kernel = {1, 2, 3}, .stride = {1, 1, 1}, .padding = {0, 0, 1}}},
      {{1, 2, 1, 8, 37}, {.kernel = {1, 3, 4}, .stride = {1, 2, 3}, .padding = {0, 1, 2}, .dilation = {1, 2, 2}}},
      {{1, 2, 5, 6, 20}, {.kernel = {2, 3, 2}, .stride = {2, 1, 2}, .padding = {1, 1, 0}}},
      {{2, 1, 1, 5, 33}, {.kernel = {1, 2, 2}, .stride = {1, 3, 5}}},
      {{1, 1, 1, 150, 150}, {.kernel = {1, 3, 3}, .stride = {1, 1, 2}, .padding = {0, 1, 0}}},  // several bands of rows
      {{1, 2, 1, 40, 45}, {.kernel = {1, 30, 40}, .stride = {1, 4, 2}, .padding = {0, 3, 3}}},  // windows one by one
      // 2x2 side by side: rows that fill no vector, one, and several; a last row and column that no window sees.
      {{2, 2, 1, 6, 14}, {.kernel = {1, 2, 2}, .stride = {1, 2, 2}}},
      {{1, 2, 1, 7, 67}, {.kernel = {1, 2, 2}, .stride = {1, 2, 2}}},
      {{1, 1, 1, 2, 128}, {.kernel = {1, 2, 2}, .stride = {1, 2, 2}}},
  };
}

/// Calls `f(place in the volume)` for what the window of an output sees, in order.
template <class F>
void each_seen(const Case& c, const int64_t (&o)[3], F f) {
  const Windows& w = c.windows;
  for (int64_t a = 0; a < w.kernel[0]; ++a)
    for (int64_t b = 0; b < w.kernel[1]; ++b)
      for (int64_t e = 0; e < w.kernel[2]; ++e) {
        const int64_t k[3] = {a, b, e};
        int64_t place = 0;
        bool inside = true;
        for (int d = 0; d < 3; ++d) {
          const int64_t at = o[d] * w.stride[d] - w.padding[d] + k[d] * w.dilation[d];
          inside &= at >= 0 && at < c.in[static_cast<size_t>(d) + 2];
          place = place * c.in[static_cast<size_t>(d) + 2] + at;
        }
        if (inside) f(place);
      }
}

Sizes out_sizes(const Case& c) {
  Sizes sizes{c.in[0], c.in[1]};
  for (size_t d = 0; d < 3; ++d)
    sizes.push_back((c.in[2 + d] + 2 * c.windows.padding[d] - c.windows.dilation[d] * (c.windows.kernel[d] - 1) - 1) / c.windows.stride[d] +
                    1);
  return sizes;
}

class Pooling : public EverySet {};
TD_EVERY_SET(Pooling);

TEST_P(Pooling, AgreesWithLoops) {
  for (const Case& c : cases())
    for (const DType dtype : {kFloat32, kFloat64, kFloat16, kBFloat16, kInt64, kUInt8})
      for (const Layout layout : kLayouts) {
        const std::string what = std::string(tandem::name(dtype)) + " " + name(layout) + " " + std::to_string(c.in[4]);
        Array in(dtype, c.in, layout);
        in.random(11);
        const Sizes sizes = out_sizes(c);
        Array largest(dtype, sizes), alone(dtype, sizes), places(kInt64, sizes), means(dtype, sizes);
        const bool averages = dtype != kUInt8 && c.windows.dilation[2] == 1;
        std::vector<double> most, where, mean;
        const int64_t volume = c.in[2] * c.in[3] * c.in[4];
        for (int64_t plane = 0; plane < c.in[0] * c.in[1]; ++plane)
          for (int64_t i = 0; i < sizes[2] * sizes[3] * sizes[4]; ++i) {
            const int64_t o[3] = {i / sizes[4] / sizes[3], i / sizes[4] % sizes[3], i % sizes[4]};
            double best = -INFINITY, sum = 0, count = 0, at = -1;
            each_seen(c, o, [&](int64_t place) {
              const double x = in[plane * volume + place];
              sum += x;
              ++count;
              if (x > best) best = x, at = static_cast<double>(place);
            });
            most.push_back(best);
            where.push_back(at);
            mean.push_back(dtype == kInt64 ? std::trunc(sum / count) : sum / count);
          }
        TestQueue queue;
        cpu_table().max_pool(queue, largest.out(), places.out(), in.view(), {.windows = c.windows});
        cpu_table().max_pool(queue, alone.out(), Out{}, in.view(), {.windows = c.windows});
        expect_close(largest, most, 0, what);
        expect_close(alone, most, 0, what + " without places");
        expect_close(places, where, 0, what + " places");
        if (!averages) continue;
        cpu_table().avg_pool(queue, means.out(), in.view(), {.windows = c.windows, .count_include_pad = false});
        expect_close(means, mean, tolerance(dtype), what + " means");
      }
}

TEST_P(Pooling, GradientsOfMeansAgreeWithLoops) {
  for (const Case& c : cases())
    for (const DType dtype : {kFloat32, kFloat64, kBFloat16})
      for (const Layout layout : kLayouts) {
        if (c.windows.dilation[2] != 1) continue;
        const Sizes sizes = out_sizes(c);
        Array grad(dtype, sizes, layout), out(dtype == kBFloat16 ? kFloat32 : dtype, c.in);
        grad.random(12);
        out.random(13);  // to be written over
        const int64_t volume = c.in[2] * c.in[3] * c.in[4], outputs = sizes[2] * sizes[3] * sizes[4];
        std::vector<double> wanted(static_cast<size_t>(c.in[0] * c.in[1] * volume));
        for (int64_t plane = 0; plane < c.in[0] * c.in[1]; ++plane)
          for (int64_t i = 0; i < outputs; ++i) {
            const int64_t o[3] = {i / sizes[4] / sizes[3], i / sizes[4] % sizes[3], i % sizes[4]};
            std::vector<int64_t> seen;
            each_seen(c, o, [&](int64_t place) { seen.push_back(place); });
            for (const int64_t place : seen)
              wanted[static_cast<size_t>(plane * volume + place)] += grad[plane * outputs + i] / static_cast<double>(seen.size());
          }
        TestQueue queue;
        cpu_table().avg_pool_backward(queue, out.out(), grad.view(), {.windows = c.windows, .count_include_pad = false});
        expect_close(out, wanted, 8 * tolerance(out.dtype()),
                     std::string(tandem::name(dtype)) + " " + name(layout) + " " + std::to_string(c.in[4]));
      }
}

TEST_P(Pooling, OfPairsNanWinsAndTheFirstOfEquals) {
  Array in(kFloat32, {1, 1, 1, 2, 40}), out(kFloat32, {1, 1, 1, 1, 20}), places(kInt64, {1, 1, 1, 1, 20});
  for (int64_t i = 0; i < 80; ++i) in.set(i, -INFINITY);
  in.set(4, NAN);
  in.set(45, 3);  // beside the nan
  in.set(46, 1);
  in.set(47, 1);
  TestQueue queue;
  cpu_table().max_pool(queue, out.out(), places.out(), in.view(), {.windows = {.kernel = {1, 2, 2}, .stride = {1, 2, 2}}});
  for (int64_t i = 0; i < 20; ++i) {
    if (i == 2) EXPECT_TRUE(std::isnan(out[i]));
    else EXPECT_EQ(out[i], i == 3 ? 1 : -INFINITY);
    if (i != 2) EXPECT_EQ(places[i], static_cast<double>(i == 3 ? 46 : 2 * i));
    else EXPECT_EQ(places[i], 4);
  }
}

TEST_P(Pooling, NanWinsAndTheFirstOfEquals) {
  Array in(kFloat32, {1, 1, 1, 1, 40}), out(kFloat32, {1, 1, 1, 1, 20}), places(kInt64, {1, 1, 1, 1, 20});
  for (int64_t i = 0; i < 40; ++i) in.set(i, -INFINITY);
  in.set(4, NAN);
  in.set(7, 1);
  TestQueue queue;
  cpu_table().max_pool(queue, out.out(), places.out(), in.view(), {.windows = {.kernel = {1, 1, 2}, .stride = {1, 1, 2}}});
  for (int64_t i = 0; i < 20; ++i) {
    if (i == 2) EXPECT_TRUE(std::isnan(out[i]));
    else EXPECT_EQ(out[i], i == 3 ? 1 : -INFINITY);
    EXPECT_EQ(places[i], static_cast<double>(i == 3 ? 7 : 2 * i));
  }
}

}  // namespace
}  // namespace tandem::kernels
