// Floating numbers as integers: the same on every device, also for nan and for what does not fit.
#include <cmath>
#include <limits>

#include "support/on_device.h"
#include "tandem.h"

namespace tandem::testing {
namespace {

/// As PyTorch on the CPU of an x86 machine.
int64_t expected(double x, DType to) {
  const bool wide = to == kInt64;
  const double limit = wide ? 0x1p63 : 0x1p31;
  const int64_t least = wide ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int32_t>::min();
  const int64_t whole = x >= -limit && x < limit ? static_cast<int64_t>(x) : least;
  switch (to) {
    case kUInt8: return static_cast<uint8_t>(whole);
    case kInt8: return static_cast<int8_t>(whole);
    case kInt16: return static_cast<int16_t>(whole);
    default: return whole;
  }
}

class Conversions : public OnDevice {};

TEST_P(Conversions, NanAndWhatDoesNotFitAreTheSameOnEveryDevice) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> values = {std::nan(""), inf,    -inf,   1e300, -1e300, 0x1p63, -0x1p63, 0x1p62, 0x1p31, -0x1p31, 3e9,
                                      -3e9,         65536., 32768., 300.7, -300.7, 255.9,  -1.5,    -0.9,   -0.0,   2.5};
  for (const DType from : {kFloat64, kFloat32, kFloat16, kBFloat16}) {
    const Tensor numbers = tensor(values).to(kFloat64).to(from);
    for (const DType to : {kInt64, kInt32, kInt16, kInt8, kUInt8}) {
      const Tensor whole = numbers.to(device()).to(to).cpu();
      for (int64_t i = 0; i < numbers.numel(); ++i) {
        const double value = numbers[i].to(kFloat64).item<double>();
        EXPECT_EQ(whole[i].to(kInt64).item<int64_t>(), expected(value, to)) << from << " to " << to << " of " << value;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Conversions, ::testing::Values("cpu", "cuda:0"), device_name);

}  // namespace
}  // namespace tandem::testing
