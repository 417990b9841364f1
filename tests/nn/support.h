// What the tests of modules, optimizers and data parallelism share: bodies that run on every device, values on the host, texts of errors.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "tandem.h"

namespace tandem::testing {

/// A test whose body runs on the CPU and on both virtual cards.
class OnDevice : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { manual_seed(1); }
  [[nodiscard]] Device device() const { return Device(GetParam()); }
};
inline auto every_device() { return ::testing::Values("cpu", "cuda:0", "cuda:1"); }
inline std::string device_name(const ::testing::TestParamInfo<const char*>& info) {
  std::string name;
  for (const char* c = info.param; *c; ++c)
    if (*c != ':') name += *c;
  return name;
}

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

/// The text of the `E` that `f` throws.
template <class E = Error, class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  } catch (const std::exception& e) {
    return std::string("another type of error: ") + e.what();
  }
  return "no error";
}

}  // namespace tandem::testing
