// Random numbers (definitions: kernels/random.h, which the CPU shares). A thread makes four neighbours from the words of one counter, or of
// two where an element takes 64 bits, and writes them together where the address allows it. So the numbers depend on nothing but seed and
// offset. A permutation is sorted in place.
#include "kernels/cuda/bitonic.cuh"
#include "kernels/cuda/entries.h"
#include "kernels/cuda/fours.cuh"
#include "kernels/random.h"

namespace tandem::kernels::cuda {
namespace {

/// The words of elements 4 i … 4 i + 3.
struct Words {
  RandomStart start;

  TD_DEVICE PhiloxWords operator()(int64_t i) const { return philox(start.key(), start.counter() + static_cast<uint64_t>(i)); }
  /// Two words for each element.
  TD_DEVICE void wide(int64_t i, uint64_t (&bits)[kFour]) const {
    for (int half = 0; half < 2; ++half) {
      const PhiloxWords w = philox(start.key(), start.counter() + 2 * static_cast<uint64_t>(i) + static_cast<uint64_t>(half));
      for (int k = 0; k < 2; ++k) bits[2 * half + k] = w.word[2 * k] | static_cast<uint64_t>(w.word[2 * k + 1]) << 32;
    }
  }
};

/// Elements 4 i … 4 i + 3 of a contiguous output, as `make` makes them.
template <class Make>
struct Draw {
  Out out;
  int64_t count;
  bool aligned;
  Words words;
  Make make;

  TD_DEVICE void operator()(int64_t i) const {
    using Number = typename Make::Number;
    Number y[kFour];
    make(words, i, y);
    const int64_t first = i * kFour;
    if (aligned && first + kFour <= count) {
      store_four<Number>(out.data, out.dtype, first, y);
    } else {
      for (int k = 0; k < kFour; ++k)
        if (first + k < count) store(out.data, out.dtype, first + k, y[k]);
    }
  }
};

template <class Make>
void draw(const Queue& queue, const Out& out, Words words, const Make& make) {
  const int64_t count = out.numel();
  for_each(queue, (count + kFour - 1) / kFour, Draw<Make>{out, count, aligned_to_four(out.data, out.dtype), words, make});
}

/// A number rounded to a floating type of at most 32 bits.
TD_DEVICE float rounded_to(DType dtype, float x) {
  if (dtype == DType::Float16) return to_compute(to_element<Half>(x));
  if (dtype == DType::BFloat16) return to_compute(to_element<BFloat16>(x));
  return x;
}

struct UniformFloat {
  using Number = float;
  DType dtype;
  float from, to;

  TD_DEVICE void operator()(const Words& words, int64_t i, float (&y)[kFour]) const {
    const int bits = uniform_bits(dtype);
    const float unit = 1.0F / static_cast<float>(1 << bits);
    const PhiloxWords w = words(i);
    for (int k = 0; k < kFour; ++k) {
      y[k] = uniform_between(static_cast<float>(w.word[k] >> (32 - bits)) * unit, from, to);
      if (rounded_to(dtype, y[k]) >= to) y[k] = from;
    }
  }
};

struct UniformDouble {
  using Number = double;
  double from, to;

  TD_DEVICE void operator()(const Words& words, int64_t i, double (&y)[kFour]) const {
    uint64_t bits[kFour];
    words.wide(i, bits);
    for (int k = 0; k < kFour; ++k) y[k] = uniform_between(static_cast<double>(bits[k] >> 11) * 0x1p-53, from, to);
  }
};

template <class C>
struct Normal {
  using Number = C;
  C mean, deviation;

  TD_DEVICE void operator()(const Words& words, int64_t i, C (&y)[kFour]) const {
    const PhiloxWords w = words(i);
    for (int k = 0; k < kFour; k += 2) {
      float even, odd;
      normal_pair(w.word[k], w.word[k + 1], even, odd);
      y[k] = normal_from(even, mean, deviation);
      y[k + 1] = normal_from(odd, mean, deviation);
    }
  }
};

struct ExponentialFloat {
  using Number = float;
  float scale;

  TD_DEVICE void operator()(const Words& words, int64_t i, float (&y)[kFour]) const {
    const PhiloxWords w = words(i);
    for (int k = 0; k < kFour; ++k) y[k] = exponential_of(w.word[k]) * scale;
  }
};

struct ExponentialDouble {
  using Number = double;
  double rate;

  TD_DEVICE void operator()(const Words& words, int64_t i, double (&y)[kFour]) const {
    const PhiloxWords w = words(i);
    for (int k = 0; k < kFour; ++k) y[k] = static_cast<double>(exponential_of(w.word[k])) / rate;
  }
};

struct Successes {
  using Number = float;
  uint64_t threshold;

  TD_DEVICE void operator()(const Words& words, int64_t i, float (&y)[kFour]) const {
    const PhiloxWords w = words(i);
    for (int k = 0; k < kFour; ++k) y[k] = w.word[k] < threshold ? 1.0F : 0.0F;
  }
};

struct Integers {
  using Number = int64_t;
  int64_t low;
  uint64_t range;

  TD_DEVICE void operator()(const Words& words, int64_t i, int64_t (&y)[kFour]) const {
    uint64_t bits[kFour];
    words.wide(i, bits);
    for (int k = 0; k < kFour; ++k) y[k] = integer_below(bits[k], low, range);
  }
};

/// Each element with a probability of its own.
struct Bernoulli {
  Out out;
  View probability;
  int64_t count;
  Words words;
  Reporter report;

  TD_DEVICE void operator()(int64_t i) const {
    const PhiloxWords w = words(i);
    for (int k = 0; k < kFour; ++k) {
      const int64_t at = i * kFour + k;
      if (at >= count) return;
      const double p = load<double>(probability.data, probability.dtype, at);
      if (!(p >= 0 && p <= 1)) report_probability(report, p);
      store(out.data, out.dtype, at, static_cast<double>(w.word[k]) < p * 0x1p32 ? 1.0F : 0.0F);
    }
  }
};

template <class T>
struct Dropout {
  T* out;
  bool* mask;
  const T* in;
  int64_t count;
  bool aligned;
  uint64_t threshold;
  Compute<T> factor;
  Words words;

  TD_DEVICE void operator()(int64_t i) const {
    const PhiloxWords w = words(i);
    const int64_t first = i * kFour;
    if (aligned && first + kFour <= count) {
      const Four<T> x = reinterpret_cast<const Four<T>*>(in)[i];
      Four<T> y;
      Four<bool> kept;
      for (int k = 0; k < kFour; ++k) one(w.word[k], x.element[k], y.element[k], kept.element[k]);
      reinterpret_cast<Four<T>*>(out)[i] = y;
      reinterpret_cast<Four<bool>*>(mask)[i] = kept;
    } else {
      for (int k = 0; k < kFour; ++k)
        if (first + k < count) one(w.word[k], in[first + k], out[first + k], mask[first + k]);
    }
  }

 private:
  TD_DEVICE void one(uint32_t word, T x, T& y, bool& kept) const {
    kept = word < threshold;
    y = to_element<T>(kept ? to_compute(x) * factor : Compute<T>(0));
  }
};

/// The sort keys of elements 4 i … 4 i + 3 of a permutation: all different, as their low bits are the element.
struct PermutationKeys {
  uint64_t* keys;
  int64_t count;
  uint64_t low_bits;
  Words words;

  TD_DEVICE void operator()(int64_t i) const {
    uint64_t bits[kFour];
    words.wide(i, bits);
    for (int k = 0; k < kFour; ++k)
      if (const int64_t at = i * kFour + k; at < count) keys[at] = (bits[k] & ~low_bits) | static_cast<uint64_t>(at);
  }
};

struct LessKey {
  TD_DEVICE bool operator()(uint64_t a, uint64_t b) const { return a < b; }
};

struct KeepLowBits {
  uint64_t* keys;
  uint64_t low_bits;

  TD_DEVICE void operator()(int64_t i) const { keys[i] &= low_bits; }
};

}  // namespace

void random(const Queue& queue, Out out, Random kind, double a, double b, uint64_t seed, uint64_t offset) {
  const Words words{{seed, offset, queue.replay}};
  const bool is_double = out.dtype == kFloat64;
  switch (kind) {
    case Random::Uniform:
      if (is_double) return draw(queue, out, words, UniformDouble{a, b});
      // Rounded to a half type, the bounds are what numbers are compared with.
      return visit_floating(out.dtype, [&](auto zero) {
        const auto bound = [](double x) { return static_cast<float>(decltype(zero)(static_cast<float>(x))); };
        draw(queue, out, words, UniformFloat{out.dtype, bound(a), bound(b)});
      });
    case Random::Normal:
      if (is_double) return draw(queue, out, words, Normal<double>{a, b});
      return draw(queue, out, words, Normal<float>{static_cast<float>(a), static_cast<float>(b)});
    case Random::Exponential:
      if (is_double) return draw(queue, out, words, ExponentialDouble{a});
      return draw(queue, out, words, ExponentialFloat{static_cast<float>(1 / a)});
    case Random::Bernoulli: return draw(queue, out, words, Successes{bernoulli_threshold(a)});
    case Random::Integers: {
      const auto low = static_cast<int64_t>(a);
      const uint64_t range = static_cast<uint64_t>(static_cast<int64_t>(b)) - static_cast<uint64_t>(low);
      return draw(queue, out, words, Integers{low, range});
    }
  }
}

void bernoulli(const Queue& queue, Out out, View probability, uint64_t seed, uint64_t offset) {
  const int64_t count = out.numel();
  for_each(queue, (count + kFour - 1) / kFour, Bernoulli{out, probability, count, {{seed, offset, queue.replay}}, Reporter(queue)});
}

void randperm(const Queue& queue, Out out, uint64_t seed, uint64_t offset) {
  const int64_t n = out.numel();
  if (n == 0) return;
  auto* const keys = out.as<uint64_t>();
  const uint64_t low_bits = (1ULL << permutation_bits(n)) - 1;
  for_each(queue, (n + kFour - 1) / kFour, PermutationKeys{keys, n, low_bits, {{seed, offset, queue.replay}}});
  bitonic_sort(queue, keys, n, LessKey{});
  for_each(queue, n, KeepLowBits{keys, low_bits});
}

void dropout(const Queue& queue, Out out, Out mask, View in, double p, uint64_t seed, uint64_t offset) {
  const int64_t count = out.numel();
  const bool aligned = aligned_to_four(out.data, out.dtype) && aligned_to_four(mask.data, mask.dtype) && aligned_to_four(in.data, in.dtype);
  visit_floating(out.dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto factor = static_cast<Compute<T>>(p < 1 ? 1 / (1 - p) : 0);
    for_each(
        queue, (count + kFour - 1) / kFour,
        Dropout<T>{
            out.as<T>(), mask.as<bool>(), in.as<T>(), count, aligned, bernoulli_threshold(1 - p), factor, {{seed, offset, queue.replay}}});
  });
}

}  // namespace tandem::kernels::cuda
