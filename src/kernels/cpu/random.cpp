// Random numbers (definitions: kernels/random.h). Counters are turned into words in a first-cache buffer by SIMD code, words into numbers
// from there; pieces of fixed size are shared out among the threads, and each knows its counters, so the numbers depend on nothing else.
#include "kernels/random.h"

#include <algorithm>
#include <bit>

#include "base/parallel.h"
#include "kernels/cpu/entries.h"
#include "kernels/cpu/isa/isa.h"

namespace tandem::kernels::cpu {
namespace {

constexpr int64_t kBuffer = 2048;        // elements of a buffer: 8 KiB of words
constexpr int64_t kPiece = 8 * kBuffer;  // elements a thread takes at a time

/// Calls `f(first element, count, words)` over blocks of elements, in parallel. Wide elements have two words each.
template <class F>
void for_blocks(const Queue& queue, int64_t numel, bool wide, uint64_t seed, uint64_t offset, F f) {
  const int64_t words_per_element = wide ? 2 : 1;
  const RandomStart start{seed, offset, queue.replay};
  parallel_for(numel, kPiece, queue.threads, [&](int64_t begin, int64_t end) {
    alignas(64) uint32_t words[2 * kBuffer];
    for (int64_t i = begin; i < end; i += kBuffer) {
      const int64_t count = std::min(kBuffer, end - i), counters = (count * words_per_element + 3) / 4;
      isa().random.philox(words, start.key(), start.counter() + static_cast<uint64_t>(i * words_per_element / 4), counters);
      f(i, count, words);
    }
  });
}

uint64_t bits_of(const uint32_t* words, int64_t i) { return words[2 * i] | static_cast<uint64_t>(words[2 * i + 1]) << 32; }

/// Stores a number as T, as the copy kernel would convert it.
template <class T, class S>
T number(S x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) return T(static_cast<float>(x));
  else if constexpr (std::is_same_v<T, bool>) return x != 0;
  else return static_cast<T>(x);
}

/// Floats for `count` elements by `make(floats, words, count)`, converted to the type of `out`.
template <class Make>
void floats_to(const Out& out, int64_t first, int64_t count, const uint32_t* words, Make make) {
  if (out.dtype == kFloat32) return make(out.as<float>() + first, words, count);
  alignas(64) float buffer[kBuffer];
  make(buffer, words, count);
  isa().conversions.unpack_from(kComputeFloat, out.dtype)(out.as<char>() + first * static_cast<int64_t>(size_of(out.dtype)), 1, buffer,
                                                          count);
}

void fill_uniform(const Queue& queue, const Out& out, int64_t numel, double a, double b, uint64_t seed, uint64_t offset) {
  if (out.dtype == kFloat64) {
    return for_blocks(queue, numel, true, seed, offset, [&](int64_t first, int64_t count, const uint32_t* words) {
      for (int64_t i = 0; i < count; ++i)
        out.as<double>()[first + i] = uniform_between(static_cast<double>(bits_of(words, i) >> 11) * 0x1p-53, a, b);
    });
  }
  // Rounded to a half type, the bounds are what numbers are compared with.
  const auto rounded = [&](double x) {
    return out.dtype == kFloat16    ? static_cast<float>(Half(static_cast<float>(x)))
           : out.dtype == kBFloat16 ? static_cast<float>(BFloat16(static_cast<float>(x)))
                                    : static_cast<float>(x);
  };
  const float from = rounded(a), to = rounded(b);
  for_blocks(queue, numel, false, seed, offset, [&](int64_t first, int64_t count, const uint32_t* words) {
    floats_to(out, first, count, words, [&](float* y, const uint32_t* w, int64_t n) {
      isa().random.uniform(y, w, n, uniform_bits(out.dtype), from, to);
      if (out.dtype == kFloat32) return;
      for (int64_t i = 0; i < n; ++i)
        if (rounded(y[i]) >= to) y[i] = from;
    });
  });
}

void fill_normal(const Queue& queue, const Out& out, int64_t numel, double mean, double deviation, uint64_t seed, uint64_t offset) {
  for_blocks(queue, numel, false, seed, offset, [&](int64_t first, int64_t count, uint32_t* words) {
    if (out.dtype != kFloat64) {
      // Numbers come in pairs: of the last pair of an odd count only the first is stored.
      floats_to(out, first, count & ~1LL, words, [&](float* y, const uint32_t* w, int64_t n) {
        isa().random.normal(y, w, n, static_cast<float>(mean), static_cast<float>(deviation));
      });
      if (count & 1) {
        float pair[2];
        isa().random.normal(pair, words + count - 1, 2, static_cast<float>(mean), static_cast<float>(deviation));
        visit(out.dtype, [&]<class T>(T) { out.as<T>()[first + count - 1] = number<T>(pair[0]); });
      }
      return;
    }
    alignas(64) float buffer[kBuffer];
    isa().random.normal(buffer, words, (count + 1) & ~1LL, 0.0F, 1.0F);
    for (int64_t i = 0; i < count; ++i) out.as<double>()[first + i] = normal_from(buffer[i], mean, deviation);
  });
}

void fill_exponential(const Queue& queue, const Out& out, int64_t numel, double rate, uint64_t seed, uint64_t offset) {
  for_blocks(queue, numel, false, seed, offset, [&](int64_t first, int64_t count, const uint32_t* words) {
    if (out.dtype != kFloat64)
      return floats_to(out, first, count, words,
                       [&](float* y, const uint32_t* w, int64_t n) { isa().random.exponential(y, w, n, static_cast<float>(1 / rate)); });
    alignas(64) float buffer[kBuffer];
    isa().random.exponential(buffer, words, count, 1.0F);
    for (int64_t i = 0; i < count; ++i) out.as<double>()[first + i] = static_cast<double>(buffer[i]) / rate;
  });
}

}  // namespace

void random(const Queue& queue, Out out, Random kind, double a, double b, uint64_t seed, uint64_t offset) {
  const int64_t numel = out.numel();
  switch (kind) {
    case Random::Uniform: return fill_uniform(queue, out, numel, a, b, seed, offset);
    case Random::Normal: return fill_normal(queue, out, numel, a, b, seed, offset);
    case Random::Exponential: return fill_exponential(queue, out, numel, a, seed, offset);
    case Random::Bernoulli: {
      const uint64_t threshold = bernoulli_threshold(a);
      return for_blocks(queue, numel, false, seed, offset, [&](int64_t first, int64_t count, const uint32_t* words) {
        floats_to(out, first, count, words, [&](float* y, const uint32_t* w, int64_t n) { isa().random.bernoulli(y, w, n, threshold); });
      });
    }
    case Random::Integers: {
      const auto low = static_cast<int64_t>(a);
      const uint64_t range = static_cast<uint64_t>(static_cast<int64_t>(b)) - static_cast<uint64_t>(low);
      return for_blocks(queue, numel, true, seed, offset, [&](int64_t first, int64_t count, const uint32_t* words) {
        visit(out.dtype, [&]<class T>(T) {
          for (int64_t i = 0; i < count; ++i) out.as<T>()[first + i] = number<T>(integer_below(bits_of(words, i), low, range));
        });
      });
    }
  }
}

void bernoulli(const Queue& queue, Out out, View probability, uint64_t seed, uint64_t offset) {
  const auto report = [&](double p) { queue.status->report(Trouble::NotProbability, std::bit_cast<int64_t>(p)); };
  for_blocks(queue, out.numel(), false, seed, offset, [&](int64_t first, int64_t count, const uint32_t* words) {
    visit(probability.dtype, [&]<class P>(P) {
      visit(out.dtype, [&]<class T>(T) {
        if constexpr (std::is_same_v<P, Half> || std::is_same_v<P, BFloat16> || std::is_floating_point_v<P>) {
          for (int64_t i = 0; i < count; ++i) {
            const auto p = static_cast<double>(
                static_cast<std::conditional_t<std::is_same_v<P, double>, double, float>>(probability.as<P>()[first + i]));
            if (!(p >= 0 && p <= 1)) report(p);
            const bool drawn = static_cast<double>(words[i]) < p * 0x1p32;  // as bernoulli_threshold, without a branch
            out.as<T>()[first + i] = number<T>(static_cast<float>(drawn));
          }
        }
      });
    });
  });
}

void dropout(const Queue& queue, Out out, Out mask, View in, double p, uint64_t seed, uint64_t offset) {
  const uint64_t threshold = bernoulli_threshold(1 - p);
  const double factor = p < 1 ? 1 / (1 - p) : 0;
  for_blocks(queue, out.numel(), false, seed, offset, [&](int64_t first, int64_t count, const uint32_t* words) {
    if (out.dtype == kFloat32)
      return isa().random.dropout(out.as<float>() + first, mask.as<uint8_t>() + first, in.as<float>() + first, words, count, threshold,
                                  static_cast<float>(factor));
    visit(out.dtype, [&]<class T>(T) {
      using Computed = std::conditional_t<std::is_same_v<T, double>, double, float>;
      if constexpr (is_floating(dtype_of<T>())) {
        for (int64_t i = first; i < first + count; ++i) {
          const bool kept = words[i - first] < threshold;
          mask.as<bool>()[i] = kept;
          out.as<T>()[i] = kept ? T(static_cast<Computed>(in.as<T>()[i]) * static_cast<Computed>(factor)) : T(Computed(0));
        }
      }
    });
  });
}

namespace {

/// Sorts distinct keys whose bits after the first `skip`, equal ones, are uniform: they are spread over buckets by their next bits, in
/// place, then each bucket is sorted by itself.
void sort_uniform(const Queue& queue, uint64_t* keys, int64_t n, int skip = 0) {
  constexpr int64_t kMaxBuckets = 2048, kSmallBucket = 4;
  if (n <= 12) {
    for (int64_t i = 1; i < n; ++i) {
      const uint64_t key = keys[i];
      int64_t at = i;
      for (; at > 0 && keys[at - 1] > key; --at) keys[at] = keys[at - 1];
      keys[at] = key;
    }
    return;
  }
  int64_t begin[kMaxBuckets + 1], next[kMaxBuckets];
  int64_t buckets = 1;
  int log = 0;
  while (buckets < kMaxBuckets && buckets * kSmallBucket < n) buckets *= 2, ++log;
  if (skip + log > 63) return std::sort(keys, keys + n);  // not for keys of uniform bits
  const auto bucket_of = [&](uint64_t key) { return static_cast<int64_t>(key << skip >> (64 - log)); };
  std::fill(begin, begin + buckets + 1, 0);
  for (int64_t i = 0; i < n; ++i) ++begin[bucket_of(keys[i]) + 1];
  for (int64_t b = 0; b < buckets; ++b) {
    begin[b + 1] += begin[b];
    next[b] = begin[b];
  }
  for (int64_t b = 0; b < buckets; ++b) {
    while (next[b] < begin[b + 1]) {
      uint64_t key = keys[next[b]];
      for (int64_t home = bucket_of(key); home != b; home = bucket_of(key)) std::swap(key, keys[next[home]++]);
      keys[next[b]++] = key;
    }
  }
  parallel_for(buckets, 64, skip == 0 && n > 16384 ? queue.threads : 1, [&](int64_t first, int64_t last) {
    for (int64_t b = first; b < last; ++b) sort_uniform(queue, keys + begin[b], begin[b + 1] - begin[b], skip + log);
  });
}

}  // namespace

void randperm(const Queue& queue, Out out, uint64_t seed, uint64_t offset) {
  const int64_t n = out.numel();
  if (n == 0) return;
  const uint64_t mask = (1ULL << permutation_bits(n)) - 1;
  auto* keys = out.as<uint64_t>();
  for_blocks(queue, n, true, seed, offset, [&](int64_t first, int64_t count, const uint32_t* words) {
    for (int64_t i = 0; i < count; ++i) keys[first + i] = (bits_of(words, i) & ~mask) | static_cast<uint64_t>(first + i);
  });
  sort_uniform(queue, keys, n);
  parallel_for(n, kPiece, queue.threads, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) keys[i] &= mask;
  });
}

}  // namespace tandem::kernels::cpu
