// Copies, conversions and pointwise operations over layouts that kernels move in units of different widths: rows whose lengths, steps and
// first addresses are multiples of sixteen bytes, of eight, or of an element alone; transposed, expanded, tiny and empty ones. What lies
// between the elements has to stay.
#include <cmath>

#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

struct Side {
  td::Shape strides;
  int64_t first = 0;
};
struct Pair {
  td::Shape sizes;
  Side out, in;
};
const Pair kPairs[] = {
    {{}, {{}}, {{}, 3}},
    {{0}, {{1}}, {{1}}},
    {{64}, {{1}}, {{1}}},
    {{63}, {{1}, 1}, {{1}, 2}},
    {{61}, {{1}}, {{0}}},
    {{41}, {{3}}, {{2}, 1}},
    {{6, 16}, {{16, 1}}, {{32, 1}, 16}},
    {{6, 16}, {{32, 1}, 16}, {{24, 1}, 8}},
    {{6, 16}, {{20, 1}, 4}, {{36, 1}}},
    {{6, 16}, {{18, 1}}, {{18, 1}, 2}},
    {{6, 16}, {{17, 1}}, {{16, 1}}},
    {{5, 7}, {{7, 1}}, {{9, 1}, 1}},
    {{5, 7}, {{8, 1}}, {{8, 1}}},
    {{9, 3}, {{4, 1}}, {{3, 1}}},
    {{9, 1}, {{4, 1}}, {{3, 1}}},
    {{30, 50}, {{50, 1}}, {{1, 30}}},
    {{30, 50}, {{1, 30}}, {{1, 30}}},
    {{30, 51}, {{1, 30}}, {{1, 31}, 1}},
    {{40, 45}, {{45, 1}}, {{1, 40}}},
    {{33, 17}, {{19, 1}, 1}, {{1, 35}, 2}},
    {{2, 20, 45}, {{900, 45, 1}}, {{900, 1, 20}}},
    {{2, 20, 3, 16}, {{960, 1, 320, 20}}, {{960, 48, 16, 1}}},
    {{6, 9}, {{9, 1}}, {{0, 1}}},
    {{6, 9}, {{9, 1}}, {{1, 0}}},
    {{6, 8}, {{8, 1}}, {{0, 1}, 1}},
    {{0, 8}, {{8, 1}}, {{16, 1}}},
    {{3, 2, 4, 5}, {{40, 1, 10, 2}}, {{40, 20, 5, 1}}},
    {{3, 2, 4, 8}, {{64, 32, 8, 1}}, {{64, 1, 16, 2}}},
    {{3, 5, 16}, {{96, 16, 1}}, {{112, 20, 1}, 4}},
};
constexpr td::DType kAll[] = {td::kBool,  td::kUInt8,   td::kInt8,     td::kInt16,   td::kInt32,
                              td::kInt64, td::kFloat16, td::kBFloat16, td::kFloat32, td::kFloat64};
constexpr int64_t kMemory = 2000;

/// Where element number i of a layout lies.
int64_t place(const td::Shape& sizes, const Side& side, int64_t i) {
  int64_t at = side.first;
  for (size_t d = sizes.size(); d-- > 0; i /= sizes[d]) at += i % sizes[d] * side.strides[d];
  return at;
}
int64_t count(const td::Shape& sizes) {
  int64_t n = 1;
  for (const int64_t size : sizes) n *= size;
  return n;
}

class Layouts : public OnDevice {
 protected:
  /// Memory of numbers that every dtype has.
  static td::Tensor memory(int64_t seed) {
    td::Tensor x = td::empty({kMemory}, td::kFloat64);
    for (int64_t i = 0; i < kMemory; ++i) x.data_ptr<double>()[i] = static_cast<double>((i * 37 + seed) % 101 % 11);
    return x;
  }
  static td::Tensor seen(const td::Tensor& all, const td::Shape& sizes, const Side& side) {
    return all.as_strided(sizes, side.strides, side.first);
  }
  static double as(td::DType dtype, double x) { return dtype == td::kBool ? x != 0 : x; }
};

TEST_P(Layouts, CopiesAndConversions) {
  const td::Tensor in = memory(5), out = memory(8);
  for (const Pair& pair : kPairs) {
    for (const td::DType from : kAll) {
      const td::Tensor source = in.to(from).to(device());
      for (const td::DType to : kAll) {
        const td::Tensor target = out.to(to).clone().to(device());
        seen(target, pair.sizes, pair.out).copy_(seen(source, pair.sizes, pair.in));
        td::Tensor wanted = out.to(to).to(td::kFloat64);
        for (int64_t i = 0; i < count(pair.sizes); ++i)
          wanted.data_ptr<double>()[place(pair.sizes, pair.out, i)] =
              as(to, as(from, in.data_ptr<double>()[place(pair.sizes, pair.in, i)]));
        EXPECT_TRUE(td::equal(target.cpu().to(td::kFloat64), wanted))
            << from << " to " << to << ", " << td::str(pair.sizes, " from ", pair.in.strides, " to ", pair.out.strides);
      }
    }
  }
}

TEST_P(Layouts, PointwiseOperations) {
  const td::Tensor in = memory(5), out = memory(8), third = memory(3);
  for (const Pair& pair : kPairs) {
    for (const td::DType dtype : {td::kFloat32, td::kBFloat16, td::kFloat64, td::kInt32, td::kUInt8}) {
      const td::Tensor source = in.to(device(), dtype), target = out.clone().to(device(), dtype), other = third.to(device(), dtype);
      const td::Tensor written = seen(target, pair.sizes, pair.out);
      written.addcmul_(seen(source, pair.sizes, pair.in), seen(other, pair.sizes, pair.out), 2).add_(1);
      td::Tensor wanted = out.clone();
      for (int64_t i = 0; i < count(pair.sizes); ++i) {
        const int64_t at = place(pair.sizes, pair.out, i);
        wanted.data_ptr<double>()[at] += 2 * in.data_ptr<double>()[place(pair.sizes, pair.in, i)] * third.data_ptr<double>()[at] + 1;
      }
      EXPECT_TRUE(td::equal(target.cpu().to(td::kFloat64), wanted.to(dtype).to(td::kFloat64)))
          << dtype << ", " << td::str(pair.sizes, " from ", pair.in.strides, " to ", pair.out.strides);
    }
    // Of two dtypes, to a third.
    const td::Tensor less =
        td::lt(seen(in.to(device(), td::kFloat16), pair.sizes, pair.in), seen(out.to(device(), td::kFloat32), pair.sizes, pair.out)).cpu();
    const td::Tensor flat = less.reshape({-1});
    for (int64_t i = 0; i < count(pair.sizes); ++i)
      EXPECT_EQ(flat.data_ptr<bool>()[i],
                in.data_ptr<double>()[place(pair.sizes, pair.in, i)] < out.data_ptr<double>()[place(pair.sizes, pair.out, i)]);
  }
}

TEST_P(Layouts, ConversionsRoundOnce) {
  const auto through = [](const td::Tensor& x, td::DType to) {
    const td::Tensor wide = x.to(device());
    return std::pair(wide.to(to).cpu(), td::stack({wide, wide}, 1).select(1, 1).to(to).cpu());  // dense, and apart
  };
  const td::Tensor whole = td::tensor({(int64_t{1} << 53) + 1, -(int64_t{1} << 53) - 3, (int64_t{1} << 24) + 1, int64_t{255}, int64_t{-2}});
  const td::Tensor numbers = td::tensor({1 + 0x1p-8 + 0x1p-30, 1 + 0x1p-11 + 0x1p-30, 1e-7, -3.75, 65519.}, td::kFloat64);
  for (const td::DType to : kAll) {
    for (const td::Tensor& x :
         {whole, whole.to(td::kInt32), whole.to(td::kInt16), numbers, numbers.to(td::kFloat32), numbers.to(td::kFloat16)}) {
      const auto [dense, apart] = through(x, to);
      const td::Tensor wanted = x.to(to);
      EXPECT_TRUE(td::equal(dense, wanted)) << x.dtype() << " to " << to;
      EXPECT_TRUE(td::equal(apart, wanted)) << x.dtype() << " to " << to;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Layouts, testing::Values("cpu", "cuda:0"), device_name);

}  // namespace
