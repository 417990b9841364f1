// What the tests of modules, optimizers and data parallelism share: bodies that run on every device, values on the host, texts of errors.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "support/on_device.h"
#include "tandem.h"

namespace tandem::testing {

/// A test whose body runs on the CPU and on both virtual GPUs, with the same random numbers each time.
class OnDevice : public ::OnDevice {
 protected:
  void SetUp() override { manual_seed(1); }
};
inline auto every_device() { return ::testing::Values("cpu", "cuda:0", "cuda:1"); }

/// The elements in row-major order.
inline std::vector<double> values(const Tensor& x) {
  const Tensor host = x.detach().cpu().to(kFloat64).contiguous();
  const auto* data = host.data_ptr<double>();
  return {data, data + host.numel()};
}

inline void expect_near(const Tensor& x, const std::vector<double>& expected, double tolerance = 1e-6) {
  const std::vector<double> got = values(x);
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], tolerance) << "element " << i;
}

template <class T>
std::string shown(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

/// Two layers with one weight.
struct Tied : nn::Module {
  nn::Linear in{3, 3};
  nn::Linear out{3, 3};
  Tied() { out.weight = in.weight; }
  void fields(nn::Fields& f) override {
    f("in", in);
    f("out", out);
  }
  Tensor forward(const Tensor& x) override { return out(in(x)); }
};

}  // namespace tandem::testing
