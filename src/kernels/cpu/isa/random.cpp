// Philox and the ways from its words to floats, a vector at a time: operation by operation what kernels/random.h does for one number.
#include "kernels/random.h"

#include <algorithm>

#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/isa/vec.h"

namespace tandem::kernels::cpu::TD_ISA {

using Floats = Vec<float>;
using Words = Raw<uint32_t>;
using Ints = Raw<int32_t>;
constexpr int kWords = kVectorBytes / 4, kPairs = kVectorBytes / 8;

TD_INLINE Words64 broadcast(uint64_t x) { return Words64{} + x; }

template <class V>
TD_INLINE V load(const void* from) {
  V v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

/// Counters first … first + kPairs - 1, one a 64-bit lane. Only the lower half of a lane counts until the end, so halves need no masking on
/// the way.
TD_INLINE void philox_block(uint32_t* words, uint64_t seed, uint64_t first) {
  Words64 numbers;
  for (int i = 0; i < kPairs; ++i) numbers[i] = static_cast<uint64_t>(i);
  const Words64 counter = broadcast(first) + numbers;
  Words64 x0 = counter, x1 = counter >> 32, x2{}, x3{};
  auto key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  const Words64 m0 = broadcast(kPhiloxMultiplier0), m1 = broadcast(kPhiloxMultiplier1);
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
    const Words64 p0 = multiply_low(x0, m0), p1 = multiply_low(x2, m1);
    x0 = (p1 >> 32) ^ x1 ^ broadcast(key0);
    x1 = p1;
    x2 = (p0 >> 32) ^ x3 ^ broadcast(key1);
    x3 = p0;
    key0 += kPhiloxKey0;
    key1 += kPhiloxKey1;
  }
  const Words64 a = (x0 & 0xffffffffU) | x1 << 32, b = (x2 & 0xffffffffU) | x3 << 32;
  const Words64 front = shuffle(a, b, [](int i) { return i / 2 + i % 2 * kPairs; });
  const Words64 back = shuffle(a, b, [](int i) { return i / 2 + i % 2 * kPairs + kPairs / 2; });
  std::memcpy(words, &front, sizeof front);
  std::memcpy(words + kWords, &back, sizeof back);
}

void philox_words(uint32_t* words, uint64_t seed, uint64_t counter, int64_t counters) {
  int64_t c = 0;
  for (; c + kPairs <= counters; c += kPairs) philox_block(words + 4 * c, seed, counter + static_cast<uint64_t>(c));
  if (c == counters) return;
  uint32_t rest[4 * kPairs];
  philox_block(rest, seed, counter + static_cast<uint64_t>(c));
  std::memcpy(words + 4 * c, rest, static_cast<size_t>(counters - c) * 16);
}

/// Runs `f(out, words)` over whole vectors; the rest by way of a buffer.
template <class Out, class F>
TD_INLINE void whole_vectors(Out* out, const uint32_t* words, int64_t n, int step, F f) {
  int64_t i = 0;
  for (; i + step <= n; i += step) f(out + i, words + i);
  if (i == n) return;
  uint32_t rest[2 * kWords] = {};
  Out result[2 * kWords];
  std::memcpy(rest, words + i, static_cast<size_t>(n - i) * sizeof *words);
  f(result, rest);
  std::memcpy(out + i, result, static_cast<size_t>(n - i) * sizeof *out);
}

void uniform(float* out, const uint32_t* words, int64_t n, int bits, float a, float b) {
  const Floats from(a), range(b - a), to(b), unit(1.0F / static_cast<float>(1 << bits));
  const int shift = 32 - bits;
  whole_vectors(out, words, n, kWords, [&](float* y, const uint32_t* w) {
    const Floats u = Floats(__builtin_convertvector(reinterpret_cast<Ints>(load<Words>(w) >> shift), Raw<float>)) * unit;
    const Floats x = fused(range, u, from);
    select(x < to, x, from).store(y);
  });
}

TD_INLINE Floats minus_log(Words word) {
  const Floats u = Floats(__builtin_convertvector(reinterpret_cast<Ints>(word >> 8) + 1, Raw<float>)) * Floats(0x1p-24F);
  const Ints shifted = u.bits() - 0x3f3504f3;
  const Floats e(__builtin_convertvector(shifted >> 23, Raw<float>));
  const Floats f = Floats::of_bits((shifted & 0x7fffff) + 0x3f3504f3) - Floats(1.0F), square = f * f;
  Floats p = fused(random_math::log_polynomial(f) * f, square, e * Floats(random_math::kLn2Low));
  p = fused(square, Floats(-0.5F), p);
  return -fused(e, Floats(random_math::kLn2High), f + p);
}

void normal(float* out, const uint32_t* words, int64_t n, float mean, float deviation) {
  const Floats centre(mean), spread_by(deviation);
  whole_vectors(out, words, n, 2 * kWords, [&](float* y, const uint32_t* w) {
    const auto front = load<Words>(w), back = load<Words>(w + kWords);
    const Words first = shuffle(front, back, [](int i) { return 2 * i; }), second = shuffle(front, back, [](int i) { return 2 * i + 1; });
    const Floats radius = sqrt(minus_log(first) * Floats(2.0F));
    const auto fraction = reinterpret_cast<Ints>(second >> 8);
    const Ints quarter = (fraction + (1 << 21)) >> 22;
    const Floats x = Floats(__builtin_convertvector(fraction - (quarter << 22), Raw<float>)) * Floats(random_math::kQuarterTurn),
                 square = x * x;
    const Floats s = fused(x * square, random_math::sin_polynomial(square), x);
    const Floats c = fused(square * square, random_math::cos_polynomial(square), fused(square, Floats(-0.5F), Floats(1.0F)));
    const Ints odd = -(quarter & 1);
    const Ints cosine = (c.bits() & ~odd) | (s.bits() & odd), sine = (s.bits() & ~odd) | (c.bits() & odd);
    const Floats even_result = radius * Floats::of_bits(cosine ^ ((quarter + 1) & 2) << 30);
    const Floats odd_result = radius * Floats::of_bits(sine ^ (quarter & 2) << 30);
    const Floats z0 = fused(spread_by, even_result, centre), z1 = fused(spread_by, odd_result, centre);
    const Raw<float> in_order[2] = {shuffle(z0.v, z1.v, [](int i) { return i / 2 + i % 2 * kWords; }),
                                    shuffle(z0.v, z1.v, [](int i) { return i / 2 + i % 2 * kWords + kWords / 2; })};
    std::memcpy(y, in_order, sizeof in_order);
  });
}

void exponential(float* out, const uint32_t* words, int64_t n, float factor) {
  whole_vectors(out, words, n, kWords, [&](float* y, const uint32_t* w) {
    const Floats x = minus_log(load<Words>(w));
    (select(x > Floats(0.0F), x, Floats(0x1p-25F)) * Floats(factor)).store(y);
  });
}

void bernoulli(float* out, const uint32_t* words, int64_t n, uint64_t threshold) {
  if (threshold > 0xffffffffU) return static_cast<void>(std::fill(out, out + n, 1.0F));
  const auto below = static_cast<uint32_t>(threshold);
  for (int64_t i = 0; i < n; ++i) out[i] = words[i] < below ? 1.0F : 0.0F;
}

void dropout(float* out, uint8_t* mask, const float* in, const uint32_t* words, int64_t n, uint64_t threshold, float factor) {
  for (int64_t i = 0; i < n; ++i) {
    const bool kept = words[i] < threshold;
    mask[i] = kept;
    out[i] = kept ? in[i] * factor : 0.0F;
  }
}

void fill_random(RandomFunctions& random) {
  random.philox = philox_words;
  random.uniform = uniform;
  random.normal = normal;
  random.exponential = exponential;
  random.bernoulli = bernoulli;
  random.dropout = dropout;
}

}  // namespace tandem::kernels::cpu::TD_ISA
