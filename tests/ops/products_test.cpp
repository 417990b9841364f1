// Products of matrices of sizes and layouts that take every way a backend has to compute them, against the CPU's in float64.
#include <cmath>
#include <vector>

#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

class Products : public OnDevice {
 protected:
  /// Whole numbers, so that integer products are exact and wrap nowhere.
  static td::Tensor operand(const td::Shape& sizes) { return td::randint(-4, 5, sizes, {.dtype = td::kFloat64}); }
  /// The same numbers with columns that are contiguous.
  static td::Tensor turned(const td::Tensor& x) { return x.mT().contiguous().mT(); }

  struct Size {
    td::Shape batch;
    int64_t m, n, k;
  };
  static const std::vector<Size>& sizes() {
    static const std::vector<Size> all{
        {{}, 1, 1, 1},     {{}, 1, 1, 1500},   {{}, 3, 400, 300},     {{}, 300, 2, 270},   {{}, 70, 90, 5},
        {{2}, 33, 35, 40}, {{}, 130, 257, 70}, {{3, 20}, 66, 65, 17}, {{}, 1025, 770, 19},
    };
    return all;
  }
};

TEST_P(Products, OfEverySizeLayoutAndType) {
  td::manual_seed(3);
  for (const Size& size : sizes()) {
    td::Shape left = size.batch, right = size.batch;
    left.push_back(size.m), left.push_back(size.k);
    right.push_back(size.k), right.push_back(size.n);
    const td::Tensor a = operand(left), b = operand(right), expected = td::matmul(a, b);
    for (const auto dtype : {td::kFloat32, td::kFloat64, td::kInt64, td::kInt16})
      for (const bool a_turned : {false, true})
        for (const bool b_turned : {false, true}) {
          const td::Tensor x = (a_turned ? turned(a) : a).to(device(), dtype), y = (b_turned ? turned(b) : b).to(device(), dtype);
          EXPECT_TRUE(td::equal(td::matmul(x, y).cpu().to(td::kFloat64), expected))
              << td::name(dtype) << " " << td::str(left, right) << a_turned << b_turned;
        }
  }
}

TEST_P(Products, OneMatrixForABatch) {
  td::manual_seed(4);
  const td::Tensor a = operand({5, 40, 30}), b = operand({30, 50}), c = operand({50}), expected = td::matmul(a, b);
  EXPECT_TRUE(td::equal(td::matmul(a.to(device()), b.to(device())).cpu(), expected));
  EXPECT_TRUE(td::equal(td::matmul(b.mT().to(device()), a.mT().to(device())).cpu(), expected.mT()));
  EXPECT_TRUE(td::equal(td::linear(a.to(device()), b.mT().to(device()), c.to(device())).cpu(), expected + c));
}

TEST_P(Products, AddToAMatrix) {
  td::manual_seed(5);
  for (const auto& [m, n, k] : std::vector<std::array<int64_t, 3>>{{3, 4, 0}, {3, 4, 5}, {60, 50, 40}, {1000, 800, 20}}) {
    const td::Tensor a = operand({m, k}), b = operand({k, n}), c = operand({m, n});
    for (const auto dtype : {td::kFloat32, td::kFloat64, td::kInt64}) {
      const auto there = [&](const td::Tensor& x) { return x.to(device(), dtype); };
      const td::Tensor found = td::addmm(there(c), there(a), there(b), 3, 2);
      EXPECT_TRUE(td::equal(found.cpu().to(td::kFloat64), td::matmul(a, b) * 2 + c * 3)) << td::name(dtype) << " " << m << "x" << n;
    }
  }
}

TEST_P(Products, ActivationsThatFollowKeepNan) {
  td::manual_seed(6);
  for (const int64_t n : {16, 200})
    for (const auto dtype : {td::kFloat32, td::kFloat64, td::kBFloat16})
      for (const bool has_bias : {true, false}) {
        SCOPED_TRACE(testing::Message() << n << " " << td::name(dtype) << (has_bias ? " with bias" : ""));
        const td::Tensor x = operand({n, n}), weight = operand({n, n}), bias = operand({n});
        x.select(0, 1).fill_(NAN);
        const td::Tensor plain = td::linear(x, weight, has_bias ? bias : td::Tensor());
        const auto there = [&](const td::Tensor& t) { return t.to(device(), dtype); };
        for (int use = 0; use < 2; ++use) {  // a library may be looked at more closely the first time
          const td::Tensor relu = td::linear_relu(there(x), there(weight), has_bias ? there(bias) : td::Tensor()).cpu();
          EXPECT_TRUE(td::allclose(relu.to(td::kFloat64), td::relu(plain), 1e-2, 0, true));
          const td::Tensor gelu = td::linear_gelu(there(x), there(weight), has_bias ? there(bias) : td::Tensor()).cpu();
          EXPECT_TRUE(td::allclose(gelu.to(td::kFloat64), td::gelu(plain, "tanh"), 1e-2, 1e-4, true));
        }
      }
}

INSTANTIATE_TEST_SUITE_P(Devices, Products, testing::Values("cpu", "cuda:0"), device_name);

}  // namespace
