// PyTorch's random numbers for the CPU, to the bit: its mt19937, and what it makes of that for each distribution. Beside tandem's own,
// which are the same on all devices and for any number of threads.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "tensor/tensor.h"

namespace tandem {

/// The numbers of PyTorch's generator of the CPU, in the order in which PyTorch draws them. One thread at a time.
class MersenneTwister {
 public:
  static constexpr uint64_t kDefaultSeed = 67280421310721;

  explicit MersenneTwister(uint64_t seed = kDefaultSeed) { manual_seed(seed); }
  /// Begins anew; the lower 32 bits count, as in PyTorch.
  void manual_seed(uint64_t seed);
  /// What it began with.
  [[nodiscard]] uint64_t initial_seed() const { return seed_; }

  /// 32 random bits.
  uint32_t random();
  /// 64 random bits: the upper 32 first.
  uint64_t random64();
  /// In [0, 1), of 24 bits.
  float uniform_float();
  /// In [0, 1), of 53 bits.
  double uniform_double();
  /// Of mean 0 and deviation 1. Two come of each pair of uniform ones; the second is kept for the next call.
  double normal_double();

 private:
  void refill();

  uint64_t seed_ = 0;
  std::array<uint32_t, 624> state_{};
  uint32_t next_ = 0;
  std::optional<double> next_normal_;
};

/// Whose random numbers are drawn on the CPU; those of GPUs are tandem's always.
enum class CpuRandom : uint8_t {
  Tandem,           // the same on all devices, for any number of threads
  MersenneTwister,  // PyTorch's: after manual_seed(0), rand({1}) is 0.4963
};
/// Chooses for the process. manual_seed seeds both.
void set_cpu_random(CpuRandom kind);
/// Whose are drawn now.
[[nodiscard]] CpuRandom get_cpu_random();
/// The one that the CPU draws from where CpuRandom::MersenneTwister is chosen: to be kept and put back.
[[nodiscard]] MersenneTwister get_mersenne_twister();
/// Goes on from there.
void set_mersenne_twister(const MersenneTwister& generator);

}  // namespace tandem
