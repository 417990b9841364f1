// Random numbers: SIMD code against the definitions in kernels/random.h to the bit, whatever the type and the number of threads; Philox
// against its published vectors; and what the numbers are distributed like.
#include "kernels/random.h"

#include <algorithm>
#include <bit>

#include "kernels/array.h"

namespace tandem::kernels {
namespace {

using namespace testing;

constexpr uint64_t kSeed = 0x123456789ABCDEF0ULL;

uint32_t word_of(int64_t i, uint64_t offset, uint64_t seed = kSeed) {
  return philox(seed, offset + static_cast<uint64_t>(i / 4)).word[i % 4];
}
uint64_t bits_of(int64_t i, uint64_t offset, uint64_t seed = kSeed) {
  const PhiloxWords w = philox(seed, offset + static_cast<uint64_t>(i / 2));
  return w.word[2 * (i % 2)] | static_cast<uint64_t>(w.word[2 * (i % 2) + 1]) << 32;
}

Array run(DType dtype, int64_t n, Random kind, double a, double b, uint64_t offset, int threads = 2, uint64_t seed = kSeed) {
  Array out(dtype, {n});
  TestQueue queue(threads);
  cpu_table().random(queue, out.out(), kind, a, b, seed, offset);
  EXPECT_TRUE(out.guards_stand());
  return out;
}

double rounded(DType dtype, float x) {
  Array one(dtype, {1});
  one.set(0, static_cast<double>(x));
  return one[0];
}

class RandomNumbers : public EverySet {};
TD_EVERY_SET(RandomNumbers);

TEST_P(RandomNumbers, PhiloxAsPublished) {
  // From the Random123 distribution (kat_vectors): philox4x32-10 of zeros.
  const PhiloxWords zeros = philox(0, 0);
  EXPECT_EQ(zeros.word[0], 0x6627e8d5U);
  EXPECT_EQ(zeros.word[1], 0xe169c58dU);
  EXPECT_EQ(zeros.word[2], 0xbc57ac4cU);
  EXPECT_EQ(zeros.word[3], 0x9b00dbd8U);
}

TEST_P(RandomNumbers, UniformIsTheDefinitionToTheBit) {
  for (const DType dtype : {kFloat32, kFloat16, kBFloat16, kFloat64})
    for (const int64_t n : {1, 3, 4, 63, 70, 5000}) {
      for (const auto& [a, b] : {std::pair{0.0, 1.0}, {-2.5, 0.75}}) {
        const Array out = run(dtype, n, Random::Uniform, a, b, 77);
        for (int64_t i = 0; i < n; ++i) {
          double expected = 0;
          if (dtype == kFloat64) {
            expected = uniform_between(static_cast<double>(bits_of(i, 77) >> 11) * 0x1p-53, a, b);
          } else {
            const int bits = uniform_bits(dtype);
            const float u = static_cast<float>(word_of(i, 77) >> (32 - bits)) * static_cast<float>(std::ldexp(1.0, -bits));
            expected = rounded(dtype, uniform_between(u, static_cast<float>(a), static_cast<float>(b)));
            if (expected >= b) expected = a;
          }
          ASSERT_EQ(out[i], expected) << name(dtype) << " " << i;
          ASSERT_TRUE(out[i] >= a && out[i] < b);
        }
      }
    }
}

TEST_P(RandomNumbers, NormalIsTheDefinitionToTheBit) {
  for (const DType dtype : {kFloat32, kBFloat16, kFloat64})
    for (const int64_t n : {1, 2, 7, 33, 2047, 2049, 40001}) {
      const Array out = run(dtype, n, Random::Normal, 1.5, 0.25, 1ULL << 33);
      for (int64_t i = 0; i < n; ++i) {
        float pair[2];
        normal_pair(word_of(i & ~1LL, 1ULL << 33), word_of(i | 1, 1ULL << 33), pair[0], pair[1]);
        const double expected =
            dtype == kFloat64 ? normal_from(pair[i % 2], 1.5, 0.25) : rounded(dtype, normal_from(pair[i % 2], 1.5F, 0.25F));
        ASSERT_EQ(out[i], expected) << name(dtype) << " " << n << " " << i;
      }
    }
}

TEST_P(RandomNumbers, NormalPairIsBoxMuller) {
  for (int64_t i = 0; i < 4000; i += 2) {
    float even = 0, odd = 0;
    const uint32_t first = word_of(i, 5), second = word_of(i + 1, 5);
    normal_pair(first, second, even, odd);
    const double radius = std::sqrt(-2 * std::log(static_cast<double>((first >> 8) + 1) * 0x1p-24)),
                 angle = 2 * M_PI * static_cast<double>(second >> 8) * 0x1p-24;
    ASSERT_NEAR(even, radius * std::cos(angle), 4e-6);
    ASSERT_NEAR(odd, radius * std::sin(angle), 4e-6);
  }
  float even = 0, odd = 0;
  normal_pair(0, 0, even, odd);  // the largest radius there is
  EXPECT_NEAR(even, std::sqrt(2 * 24 * std::log(2.0)), 1e-5);
  normal_pair(~0U, 0, even, odd);  // log(1)
  EXPECT_EQ(even, 0);
}

TEST_P(RandomNumbers, ExponentialIsTheDefinition) {
  for (const DType dtype : {kFloat32, kFloat64}) {
    const Array out = run(dtype, 10001, Random::Exponential, 4, 0, 9);
    double sum = 0;
    for (int64_t i = 0; i < out.numel(); ++i) {
      const float e = exponential_of(word_of(i, 9));
      ASSERT_EQ(out[i], dtype == kFloat64 ? static_cast<double>(e) / 4 : static_cast<double>(e * 0.25F));
      ASSERT_GT(out[i], 0);
      sum += out[i];
    }
    EXPECT_NEAR(sum / 10001, 0.25, 0.01);
  }
  EXPECT_GT(exponential_of(~0U), 0);
}

TEST_P(RandomNumbers, BernoulliAndIntegers) {
  const Array coins = run(kFloat32, 20000, Random::Bernoulli, 0.3, 0, 1);
  double heads = 0;
  for (int64_t i = 0; i < coins.numel(); ++i) {
    ASSERT_EQ(coins[i], word_of(i, 1) < bernoulli_threshold(0.3) ? 1 : 0);
    heads += coins[i];
  }
  EXPECT_NEAR(heads / 20000, 0.3, 0.015);
  for (const double p : {0.0, 1.0}) {
    const Array sure = run(kBool, 5000, Random::Bernoulli, p, 0, 1);
    for (int64_t i = 0; i < sure.numel(); ++i) ASSERT_EQ(sure[i], p);
  }
  for (const DType dtype : {kInt64, kInt32, kUInt8, kFloat32}) {
    const Array dice = run(dtype, 6001, Random::Integers, dtype == kUInt8 ? 1 : -3, 7, 2);
    std::vector<int> counts(20);
    for (int64_t i = 0; i < dice.numel(); ++i) ++counts[static_cast<size_t>(dice[i] + 5)];
    for (int value = dtype == kUInt8 ? 1 : -3; value < 7; ++value) EXPECT_GT(counts[static_cast<size_t>(value + 5)], 450) << value;
  }
  const Array wide = run(kInt64, 4, Random::Integers, -0x1p62, 0x1p62, 0);
  for (int64_t i = 0; i < 4; ++i)
    EXPECT_EQ(static_cast<int64_t>(wide[i]),
              static_cast<int64_t>(static_cast<double>(integer_below(bits_of(i, 0), -(1LL << 62), 1ULL << 63))));
}

TEST_P(RandomNumbers, MomentsOfTheNormal) {
  const Array out = run(kFloat32, 200000, Random::Normal, 0, 1, 0);
  double sum = 0, squares = 0, fourths = 0;
  for (int64_t i = 0; i < out.numel(); ++i) {
    const double x = out[i];
    sum += x;
    squares += x * x;
    fourths += x * x * x * x;
  }
  const auto n = static_cast<double>(out.numel());
  EXPECT_NEAR(sum / n, 0, 0.01);
  EXPECT_NEAR(squares / n, 1, 0.015);
  EXPECT_NEAR(fourths / n, 3, 0.1);
}

TEST_P(RandomNumbers, SameForAnyNumberOfThreadsAndPieces) {
  for (const Random kind : {Random::Uniform, Random::Normal, Random::Exponential, Random::Bernoulli, Random::Integers})
    for (const DType dtype : {kFloat32, kFloat64, kFloat16}) {
      const Array one = run(dtype, 70001, kind, 0.5, 3, 11, 1), many = run(dtype, 70001, kind, 0.5, 3, 11, 4);
      ASSERT_EQ(one.values(), many.values());
      // The same numbers follow where the counters say so.
      const int64_t skip = 40000;
      const Array later = run(dtype, 100, kind, 0.5, 3, 11 + random_counters(kind, dtype, skip));
      for (int64_t i = 0; i < 100; ++i) ASSERT_EQ(later[i], one[skip + i]);
    }
}

TEST_P(RandomNumbers, BernoulliOfATensor) {
  for (const DType dtype : {kFloat32, kFloat64, kFloat16}) {
    Array p(dtype, {3000}), out(dtype, {3000});
    for (int64_t i = 0; i < 3000; ++i) p.set(i, static_cast<double>(i % 5) / 4);
    TestQueue queue;
    cpu_table().bernoulli(queue, out.out(), p.view(), kSeed, 3);
    for (int64_t i = 0; i < 3000; ++i) ASSERT_EQ(out[i], word_of(i, 3) < bernoulli_threshold(p[i]) ? 1 : 0);
    EXPECT_TRUE(out.guards_stand());
  }
}

TEST_P(RandomNumbers, Dropout) {
  for (const DType dtype : {kFloat32, kFloat64, kFloat16, kBFloat16})
    for (const double p : {0.0, 0.25, 1.0}) {
      Array in(dtype, {5003}), out(dtype, {5003}), mask(kBool, {5003});
      for (int64_t i = 0; i < in.numel(); ++i) in.set(i, 3);
      TestQueue queue;
      cpu_table().dropout(queue, out.out(), mask.out(), in.view(), p, kSeed, 8);
      for (int64_t i = 0; i < in.numel(); ++i) {
        const bool kept = word_of(i, 8) < bernoulli_threshold(1 - p);
        ASSERT_EQ(mask[i], kept);
        ASSERT_NEAR(out[i], kept ? 3 / (1 - p) : 0, 8 * tolerance(dtype));
      }
      EXPECT_TRUE(out.guards_stand() && mask.guards_stand());
    }
}

TEST_P(RandomNumbers, PermutationIsTheDefinition) {
  for (const int64_t n : {1, 2, 3, 64, 65, 4095, 4096, 50000}) {
    Array out(kInt64, {n});
    TestQueue queue;
    cpu_table().randperm(queue, out.out(), kSeed, 21);
    std::vector<std::pair<uint64_t, int64_t>> keys;
    const int bits = permutation_bits(n);
    for (int64_t i = 0; i < n; ++i) keys.emplace_back((bits_of(i, 21) >> bits << bits) | static_cast<uint64_t>(i), i);
    std::sort(keys.begin(), keys.end());
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(out[i], static_cast<double>(keys[static_cast<size_t>(i)].second));
    EXPECT_TRUE(out.guards_stand());
  }
}

}  // namespace
}  // namespace tandem::kernels
