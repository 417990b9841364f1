// The 16-bit floating types against references: the compiler's own type for float16, the nearest neighbour by distance for bfloat16.
#include "base/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace tandem {
namespace {

/// Floats on which rounding can go wrong: every value that a 16-bit type has, what lies between two of them, and the neighbours of both.
template <class T>
std::vector<float> hard_floats() {
  std::vector<float> out;
  const auto with_neighbours = [&out](float value) {
    for (const float x : {value, std::nextafter(value, -INFINITY), std::nextafter(value, INFINITY)}) out.push_back(x);
  };
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    T low, high;
    low.bits = static_cast<uint16_t>(bits);
    high.bits = static_cast<uint16_t>(bits + 1);
    const auto a = static_cast<float>(low), b = static_cast<float>(high);
    if (!std::isfinite(a)) {
      out.push_back(a);
      continue;
    }
    with_neighbours(a);
    if (std::isfinite(b)) with_neighbours(a / 2 + b / 2);
  }
  std::mt19937 random(1);
  for (int i = 0; i < 1 << 20; ++i) out.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
  return out;
}

#ifdef __FLT16_MAX__
TEST(Half, ConvertsToFloatAsTheCompilerDoes) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    Half ours;
    ours.bits = static_cast<uint16_t>(bits);
    const auto theirs = static_cast<float>(std::bit_cast<_Float16>(ours.bits));
    const auto value = static_cast<float>(ours);
    if (std::isnan(theirs)) EXPECT_TRUE(std::isnan(value)) << bits;
    else ASSERT_EQ(std::bit_cast<uint32_t>(value), std::bit_cast<uint32_t>(theirs)) << bits;
  }
}

TEST(Half, RoundsAsTheCompilerDoes) {
  for (const float value : hard_floats<Half>()) {
    const Half ours(value);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(ours)));
      EXPECT_EQ(std::signbit(static_cast<float>(ours)), std::signbit(value));
    } else {
      ASSERT_EQ(ours.bits, std::bit_cast<uint16_t>(static_cast<_Float16>(value))) << value;
    }
  }
}
#endif

template <class T>
void check_limits() {
  using Limits = std::numeric_limits<T>;
  const auto f = [](T value) { return static_cast<float>(value); };
  const auto next = [](T value, int steps) { return static_cast<float>(T::from_bits(static_cast<uint16_t>(value.bits + steps))); };
  static_assert(Limits::is_specialized && Limits::is_signed && Limits::has_infinity && !Limits::is_integer && Limits::radix == 2);
  EXPECT_TRUE(std::isinf(f(Limits::infinity())) && f(Limits::infinity()) > 0);
  EXPECT_EQ(next(Limits::max(), 1), f(Limits::infinity()));
  EXPECT_EQ(f(Limits::lowest()), -f(Limits::max()));
  EXPECT_EQ(next(T(1.F), 1) - 1, f(Limits::epsilon()));
  EXPECT_EQ(f(Limits::epsilon()), std::ldexp(1.F, 1 - Limits::digits));
  EXPECT_EQ(f(Limits::min()), std::ldexp(1.F, Limits::min_exponent - 1));
  EXPECT_EQ(f(Limits::max()), std::ldexp(1 - std::ldexp(0.5F, 1 - Limits::digits), Limits::max_exponent));
  EXPECT_EQ(f(Limits::denorm_min()), std::ldexp(1.F, Limits::min_exponent - Limits::digits));
  EXPECT_EQ(f(Limits::round_error()), 0.5F);
  EXPECT_TRUE(std::isnan(f(Limits::quiet_NaN())) && std::isnan(f(Limits::signaling_NaN())));
  EXPECT_EQ(Limits::digits10, static_cast<int>((Limits::digits - 1) * std::log10(2.0)));
  EXPECT_EQ(Limits::max_digits10, static_cast<int>(std::ceil(Limits::digits * std::log10(2.0) + 1)));
  EXPECT_LE(std::pow(10.0, Limits::max_exponent10), f(Limits::max()));
  EXPECT_GE(std::pow(10.0, Limits::min_exponent10), f(Limits::min()));
}

TEST(Half, HasTheLimitsOfItsNumbers) { check_limits<Half>(); }
TEST(BFloat16, HasTheLimitsOfItsNumbers) { check_limits<BFloat16>(); }

TEST(Half, HasItsLandmarks) {
  EXPECT_EQ(Half(1.F).bits, 0x3c00);
  EXPECT_EQ(Half(-2.F).bits, 0xc000);
  EXPECT_EQ(Half(65504.F).bits, 0x7bff);
  EXPECT_EQ(Half(65519.F).bits, 0x7bff);
  EXPECT_EQ(Half(65520.F).bits, 0x7c00);
  EXPECT_EQ(Half(0x1p-24F).bits, 1);
  EXPECT_EQ(Half(0x1p-25F).bits, 0);  // halfway to zero: to even
  EXPECT_EQ(Half(-0.F).bits, 0x8000);
}

TEST(BFloat16, ConvertsToFloatExactly) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    BFloat16 value;
    value.bits = static_cast<uint16_t>(bits);
    ASSERT_EQ(std::bit_cast<uint32_t>(static_cast<float>(value)), bits << 16);
  }
}

TEST(BFloat16, RoundsToTheNearestAndTiesToEven) {
  for (const float value : hard_floats<BFloat16>()) {
    const BFloat16 ours(value);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(ours)));
      continue;
    }
    // The neighbours below and above in size; past the largest finite one, what would come next stands for infinity.
    const uint32_t sign = std::bit_cast<uint32_t>(value) & 0x80000000U, size = std::bit_cast<uint32_t>(value) & 0x7fffffffU;
    const uint32_t below = size >> 16, above = below + 1;
    const auto as_double = [](uint32_t bits) { return bits == 0x7f80 ? 0x1p128 : static_cast<double>(std::bit_cast<float>(bits << 16)); };
    uint32_t expected = below;
    if (below != 0x7f80) {
      const double x = static_cast<double>(std::bit_cast<float>(size)), down = x - as_double(below), up = as_double(above) - x;
      if (up < down || (up == down && above % 2 == 0)) expected = above;
    }
    ASSERT_EQ(ours.bits, static_cast<uint16_t>(sign >> 16 | expected)) << value;
  }
}

}  // namespace
}  // namespace tandem
