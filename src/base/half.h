// The two 16-bit floating types as storage: conversion to and from float, rounding to nearest even. Arithmetic is done in float.
#pragma once

#include <bit>
#include <compare>
#include <cstdint>
#include <limits>

namespace tandem {

/// The upper half of a float32: 8 bits of exponent, 7 of fraction.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  explicit BFloat16(float value) : bits(round(value)) {}
  /// The number that these bits are.
  [[nodiscard]] static constexpr BFloat16 from_bits(uint16_t bits) {
    BFloat16 value;
    value.bits = bits;
    return value;
  }
  /// The same number as a float.
  explicit operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

  friend bool operator==(BFloat16 a, BFloat16 b) { return static_cast<float>(a) == static_cast<float>(b); }
  friend auto operator<=>(BFloat16 a, BFloat16 b) { return static_cast<float>(a) <=> static_cast<float>(b); }

 private:
  static uint16_t round(float value) {
    const uint32_t u = std::bit_cast<uint32_t>(value);
    if ((u & 0x7fffffffU) > 0x7f800000U) return static_cast<uint16_t>((u >> 16) | 0x40U);  // nan stays nan
    return static_cast<uint16_t>((u + 0x7fffU + ((u >> 16) & 1U)) >> 16);
  }
};

/// IEEE binary16: 5 bits of exponent, 10 of fraction.
struct Half {
  uint16_t bits = 0;

  Half() = default;
  explicit Half(float value) : bits(round(value)) {}
  /// The number that these bits are.
  [[nodiscard]] static constexpr Half from_bits(uint16_t bits) {
    Half value;
    value.bits = bits;
    return value;
  }
  /// The same number as a float.
  explicit operator float() const {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000U) << 16;
    const uint32_t magnitude = bits & 0x7fffU;
    if (magnitude >= 0x7c00U) return std::bit_cast<float>(sign | 0x7f800000U | (magnitude & 0x3ffU) << 13);
    if (magnitude < 0x400U) return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(static_cast<float>(magnitude) * 0x1p-24f));
    return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000U));
  }

  friend bool operator==(Half a, Half b) { return static_cast<float>(a) == static_cast<float>(b); }
  friend auto operator<=>(Half a, Half b) { return static_cast<float>(a) <=> static_cast<float>(b); }

 private:
  static uint16_t round(float value) {
    const uint32_t u = std::bit_cast<uint32_t>(value);
    const auto sign = static_cast<uint16_t>((u >> 16) & 0x8000U);
    const uint32_t a = u & 0x7fffffffU;
    if (a > 0x7f800000U) return sign | 0x7e00U;
    if (a >= 0x477ff000U) return sign | 0x7c00U;  // from 65520 on: infinity
    if (a < 0x38800000U) {                        // below the smallest normal number: let float addition round
      const float shifted = std::bit_cast<float>(a) + 0.5F;
      return sign | static_cast<uint16_t>(std::bit_cast<uint32_t>(shifted) - 0x3f000000U);
    }
    return sign | static_cast<uint16_t>((a - 0x38000000U + 0xfffU + ((a >> 13) & 1U)) >> 13);
  }
};

}  // namespace tandem

// The kind of number is float's; the figures are their own.
template <>
struct std::numeric_limits<tandem::Half> : std::numeric_limits<float> {
  static constexpr int digits = 11, digits10 = 3, max_digits10 = 5;
  static constexpr int min_exponent = -13, min_exponent10 = -4, max_exponent = 16, max_exponent10 = 4;
  /// The number that these bits are.
  static constexpr tandem::Half min() noexcept { return tandem::Half::from_bits(0x0400); }
  /// The number that these bits are.
  static constexpr tandem::Half lowest() noexcept { return tandem::Half::from_bits(0xfbff); }
  /// The number that these bits are.
  static constexpr tandem::Half max() noexcept { return tandem::Half::from_bits(0x7bff); }
  /// The number that these bits are.
  static constexpr tandem::Half epsilon() noexcept { return tandem::Half::from_bits(0x1400); }
  /// The number that these bits are.
  static constexpr tandem::Half round_error() noexcept { return tandem::Half::from_bits(0x3800); }
  /// The number that these bits are.
  static constexpr tandem::Half infinity() noexcept { return tandem::Half::from_bits(0x7c00); }
  /// The number that these bits are.
  static constexpr tandem::Half quiet_NaN() noexcept { return tandem::Half::from_bits(0x7e00); }
  /// The number that these bits are.
  static constexpr tandem::Half signaling_NaN() noexcept { return tandem::Half::from_bits(0x7d00); }
  /// The number that these bits are.
  static constexpr tandem::Half denorm_min() noexcept { return tandem::Half::from_bits(0x0001); }
};

template <>
struct std::numeric_limits<tandem::BFloat16> : std::numeric_limits<float> {
  static constexpr bool is_iec559 = false;
  static constexpr int digits = 8, digits10 = 2, max_digits10 = 4;
  /// The number that these bits are.
  static constexpr tandem::BFloat16 min() noexcept { return tandem::BFloat16::from_bits(0x0080); }
  /// The number that these bits are.
  static constexpr tandem::BFloat16 lowest() noexcept { return tandem::BFloat16::from_bits(0xff7f); }
  /// The number that these bits are.
  static constexpr tandem::BFloat16 max() noexcept { return tandem::BFloat16::from_bits(0x7f7f); }
  /// The number that these bits are.
  static constexpr tandem::BFloat16 epsilon() noexcept { return tandem::BFloat16::from_bits(0x3c00); }
  /// The number that these bits are.
  static constexpr tandem::BFloat16 round_error() noexcept { return tandem::BFloat16::from_bits(0x3f00); }
  /// The number that these bits are.
  static constexpr tandem::BFloat16 infinity() noexcept { return tandem::BFloat16::from_bits(0x7f80); }
  /// The number that these bits are.
  static constexpr tandem::BFloat16 quiet_NaN() noexcept { return tandem::BFloat16::from_bits(0x7fc0); }
  /// The number that these bits are.
  static constexpr tandem::BFloat16 signaling_NaN() noexcept { return tandem::BFloat16::from_bits(0x7fa0); }
  /// The number that these bits are.
  static constexpr tandem::BFloat16 denorm_min() noexcept { return tandem::BFloat16::from_bits(0x0001); }
};
