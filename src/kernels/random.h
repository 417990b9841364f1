// Random numbers, the same on every device and for any number of threads: Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy
// as 1, 2, 3") and the ways from its words to numbers. CPU and CUDA share this file; the CPU's SIMD code follows it operation by operation
// (cpu/isa/random.cpp), and everything that is not exact is written with explicit fused multiply-adds, so that results agree to the bit.
//
// A counter gives four 32-bit words. Kinds that need one word an element: element i takes word i % 4 of counter offset + i / 4.
// Kinds that need 64 bits (Uniform in float64, Integers): element i takes words 2 (i % 2) (the low half) and 2 (i % 2) + 1 of counter
// offset + i / 2.
//
//   Uniform      k 2^-d from the upper d bits k of the element's word, d = 24 (float32), 11 (float16), 8 (bfloat16), 53 of 64 (float64):
//   never 1.
//                Then a + (b - a) u; a where rounding would reach b. (uniform_between: float32 in one rounding, float64 in two.)
//   Normal       Box-Muller in float32 from the words of elements 2 j and 2 j + 1 together (see normal_pair), then a + b z; float64 widens
//   z first.
//                (normal_from: float32 in one rounding, float64 in two.)
//   Exponential  -log(u) / a with u in (0, 1] from 24 bits, in float32, never 0; float64 widens.
//   Bernoulli    word < ceil(p 2^32).
//   Integers     a + the upper half of the 128-bit product of the 64 bits and b - a.
//   Permutation  the 64 bits of element i, as for Integers, with their low bits replaced by i (as many as n - 1 has); sorted; the low bits
//   are the result.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/math.h"
#include "kernels/table.h"

namespace tandem::kernels {

/// The four words of a counter.
struct PhiloxWords {
  uint32_t word[4];
};

inline constexpr uint32_t kPhiloxMultiplier0 = 0xD2511F53U, kPhiloxMultiplier1 = 0xCD9E8D57U, kPhiloxKey0 = 0x9E3779B9U,
                          kPhiloxKey1 = 0xBB67AE85U;

/// Ten rounds of Philox on counter (counter, 0) with key `seed`.
TD_HOST_DEVICE inline PhiloxWords philox(uint64_t seed, uint64_t counter) {
  uint32_t x0 = static_cast<uint32_t>(counter), x1 = static_cast<uint32_t>(counter >> 32), x2 = 0, x3 = 0;
  uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = static_cast<uint64_t>(kPhiloxMultiplier0) * x0, p1 = static_cast<uint64_t>(kPhiloxMultiplier1) * x2;
    x0 = static_cast<uint32_t>(p1 >> 32) ^ x1 ^ key0;
    x1 = static_cast<uint32_t>(p1);
    x2 = static_cast<uint32_t>(p0 >> 32) ^ x3 ^ key1;
    x3 = static_cast<uint32_t>(p0);
    key0 += kPhiloxKey0;
    key1 += kPhiloxKey1;
  }
  return {{x0, x1, x2, x3}};
}

/// What a call was given, or in a replayed graph what is true now. On a GPU `replay` is the GPU's memory.
struct RandomStart {
  uint64_t seed, offset;
  const Replay* replay;

  TD_HOST_DEVICE [[nodiscard]] uint64_t key() const { return replay ? replay->random_seed : seed; }
  TD_HOST_DEVICE [[nodiscard]] uint64_t counter() const { return replay ? replay->random_offset + offset : offset; }
};

/// Whether an element takes 64 bits rather than 32.
TD_HOST_DEVICE constexpr bool random_is_wide(Random kind, DType dtype) {
  return kind == Random::Integers || (kind == Random::Uniform && dtype == DType::Float64);
}
/// How many counters a call takes: the generator's offset must move by as many. (bernoulli and dropout: Bernoulli; randperm: Integers.)
constexpr uint64_t random_counters(Random kind, DType dtype, int64_t numel) {
  const auto count = static_cast<uint64_t>(numel);
  return random_is_wide(kind, dtype) ? (count + 1) / 2 : (count + 3) / 4;
}

/// Bits of a uniform number: what the type's fraction holds.
TD_HOST_DEVICE constexpr int uniform_bits(DType dtype) {
  return dtype == DType::Float16 ? 11 : dtype == DType::BFloat16 ? 8 : dtype == DType::Float64 ? 53 : 24;
}

/// Below this 64-bit threshold a word counts as a success of probability p. p >= 1 gives 2^32: every word.
TD_HOST_DEVICE inline uint64_t bernoulli_threshold(double p) {
  return p >= 1 ? 0x100000000ULL : p > 0 ? static_cast<uint64_t>(::ceil(p * 0x1p32)) : 0;
}

/// An integer in [low, low + range) from 64 bits.
TD_HOST_DEVICE inline int64_t integer_below(uint64_t bits, int64_t low, uint64_t range) {
#if defined(__CUDA_ARCH__)
  const uint64_t above = __umul64hi(bits, range);
#else
  const uint64_t above = static_cast<uint64_t>((static_cast<unsigned __int128>(bits) * range) >> 64);
#endif
  return static_cast<int64_t>(static_cast<uint64_t>(low) + above);
}

/// How many low bits of a permutation's sort keys hold the element.
TD_HOST_DEVICE inline int permutation_bits(int64_t n) {
  int bits = 0;
  while (bits < 63 && (static_cast<uint64_t>(n - 1) >> bits) != 0) ++bits;
  return bits;
}

namespace random_math {

inline constexpr float kLn2High = 0.693359375F, kLn2Low = -2.12194440e-4F;
inline constexpr float kQuarterTurn = 1.5707963267948966F * 0x1p-22F;  // the angle of one unit of a 24-bit fraction of a turn

#if defined(__CUDA_ARCH__)
__device__ inline float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }
__device__ inline float product(float a, float b) { return __fmul_rn(a, b); }
__device__ inline double product(double a, double b) { return __dmul_rn(a, b); }
__device__ inline double plus(double a, double b) { return __dadd_rn(a, b); }
__device__ inline float sqrt(float x) { return __fsqrt_rn(x); }
__device__ inline uint32_t bits_of(float x) { return __float_as_uint(x); }
__device__ inline float float_of(uint32_t x) { return __uint_as_float(x); }
#else
inline float fused(float a, float b, float c) { return ::fmaf(a, b, c); }
inline float product(float a, float b) { return a * b; }
inline double product(double a, double b) { return a * b; }
inline double plus(double a, double b) { return a + b; }
inline float sqrt(float x) { return ::sqrtf(x); }
inline uint32_t bits_of(float x) { return std::bit_cast<uint32_t>(x); }
inline float float_of(uint32_t x) { return std::bit_cast<float>(x); }
#endif

// Polynomials (Cephes) for a number or a SIMD vector V, which brings its own `fused`.
/// P of log(1 + f) = f - f^2 / 2 + f^3 P(f) on [sqrt(1/2) - 1, sqrt(2) - 1].
template <class V>
TD_HOST_DEVICE inline V log_polynomial(V f) {
  V p = fused(V(7.0376836292e-2F), f, V(-1.1514610310e-1F));
  p = fused(p, f, V(1.1676998740e-1F));
  p = fused(p, f, V(-1.2420140846e-1F));
  p = fused(p, f, V(1.4249322787e-1F));
  p = fused(p, f, V(-1.6668057665e-1F));
  p = fused(p, f, V(2.0000714765e-1F));
  p = fused(p, f, V(-2.4999993993e-1F));
  return fused(p, f, V(3.3333331174e-1F));
}
/// P of sin(x) = x + x^3 P(x^2) and of cos(x) = 1 - x^2 / 2 + x^4 P(x^2) on [-pi/4, pi/4].
template <class V>
TD_HOST_DEVICE inline V sin_polynomial(V square) {
  return fused(fused(V(-1.9515295891e-4F), square, V(8.3321608736e-3F)), square, V(-1.6666654611e-1F));
}
template <class V>
TD_HOST_DEVICE inline V cos_polynomial(V square) {
  return fused(fused(V(2.443315711809948e-5F), square, V(-1.388731625493765e-3F)), square, V(4.166664568298827e-2F));
}

/// -log(u) for u = (k + 1) 2^-24, k the word's upper 24 bits.
TD_HOST_DEVICE inline float minus_log(uint32_t word) {
  const float u = product(static_cast<float>(static_cast<int32_t>(word >> 8) + 1), 0x1p-24F);
  const uint32_t shifted = bits_of(u) - 0x3f3504f3U;
  const float e = static_cast<float>(static_cast<int32_t>(shifted) >> 23);
  const float f = float_of((shifted & 0x7fffffU) + 0x3f3504f3U) - 1.0F, square = product(f, f);
  float p = fused(product(log_polynomial(f), f), square, product(e, kLn2Low));
  p = fused(square, -0.5F, p);
  return -fused(e, kLn2High, f + p);
}

}  // namespace random_math

/// Two independent standard normal numbers from two words: radius sqrt(-2 log u) from the first, direction from the upper 24 bits of the
/// second.
TD_HOST_DEVICE inline void normal_pair(uint32_t first, uint32_t second, float& even, float& odd) {
  using namespace random_math;
  const float radius = random_math::sqrt(product(2.0F, minus_log(first)));
  const auto fraction = static_cast<int32_t>(second >> 8);
  const int32_t quarter = (fraction + (1 << 21)) >> 22;
  const float x = product(static_cast<float>(fraction - (quarter << 22)), kQuarterTurn), square = product(x, x);
  const float s = fused(product(x, square), sin_polynomial(square), x);
  const float c = fused(product(square, square), cos_polynomial(square), fused(square, -0.5F, 1.0F));
  const float cosine = quarter & 1 ? s : c, sine = quarter & 1 ? c : s;
  even = product(radius, (quarter + 1) & 2 ? -cosine : cosine);
  odd = product(radius, quarter & 2 ? -sine : sine);
}

/// A number of the exponential distribution of rate 1, above 0.
TD_HOST_DEVICE inline float exponential_of(uint32_t word) {
  const float y = random_math::minus_log(word);
  return y > 0 ? y : 0x1p-25F;
}

/// a + (b - a) u for u = k 2^-24, in [a, b).
TD_HOST_DEVICE inline float uniform_between(float u, float a, float b) {
  const float y = random_math::fused(b - a, u, a);
  return y < b ? y : a;
}

TD_HOST_DEVICE inline double uniform_between(double u, double a, double b) {
  const double y = random_math::plus(a, random_math::product(b - a, u));
  return y < b ? y : a;
}
/// mean + deviation z.
TD_HOST_DEVICE inline float normal_from(float z, float mean, float deviation) { return random_math::fused(deviation, z, mean); }
TD_HOST_DEVICE inline double normal_from(float z, double mean, double deviation) {
  return random_math::plus(mean, random_math::product(deviation, static_cast<double>(z)));
}

}  // namespace tandem::kernels
