// Random numbers of orders and of augmentation: a sequence that its seed alone decides, the same on every machine.
#pragma once

#include <cstdint>

#include "base/splitmix.h"
#include "ops/random.h"

namespace tandem::data {

/// A sequence of numbers. Two `stream`s of one seed have nothing in common.
class Generator {
 public:
  explicit Generator(uint64_t seed, uint64_t stream = 0) : state_(seed) { state_ = next() ^ (stream * 0xd1342543de82ef95ULL); }
  /// 64 random bits.
  uint64_t next() { return tandem::detail::splitmix64(state_); }
  /// Uniform in 0 … bound - 1, bound > 0: the rare numbers that would make some results likelier are drawn again.
  uint64_t below(uint64_t bound) {
    const uint64_t surplus = (0 - bound) % bound;  // 2^64 mod bound
    uint64_t number = next();
    while (number < surplus) number = next();
    return number % bound;
  }
  /// Uniform in [low, high), in steps of 2^-53 of the range.
  double uniform(double low = 0, double high = 1) { return low + (high - low) * (static_cast<double>(next() >> 11) * 0x1p-53); }

 private:
  uint64_t state_;
};

/// The generator of the sample that the calling thread is reading: its numbers follow from the loader's seed, the epoch and the sample's
/// index, whichever thread reads it. Error outside of `Dataset::get` as a loader or a batch calls it.
[[nodiscard]] Generator& sample_generator();

/// A seed drawn from the CPU's generator of operations (`manual_seed`).
[[nodiscard]] uint64_t drawn_seed();

/// While a sample is read: `sample_generator()` is this sample's, and so are the numbers that operations such as `rand` draw on the CPU.
class SampleScope {
 public:
  SampleScope(uint64_t seed, uint64_t epoch, int64_t index);
  ~SampleScope();
  SampleScope(const SampleScope&) = delete;
  SampleScope& operator=(const SampleScope&) = delete;
  /// Whether the calling thread is in such a scope.
  [[nodiscard]] static bool is_active();

 private:
  Generator generator_;
  ThreadGeneratorGuard tensors_;
  Generator* before_;
};

/// `f` of the sample's generator. A sample that is read by hand, not for a batch, gets one by chance, as `manual_seed` says.
template <class F>
auto with_sample_generator(int64_t index, const F& f) {
  if (SampleScope::is_active()) return f(sample_generator());
  const SampleScope scope(drawn_seed(), 0, index);
  return f(sample_generator());
}

}  // namespace tandem::data
