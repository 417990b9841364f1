// Random numbers: Philox, one generator a device, the offset taken when the call is made. The same seed gives the same numbers on every
// device. A program that sets none draws other numbers in each run, in each process and on each device, unless TANDEM_SEED is set.
#pragma once

#include <cstdint>

#include "tensor/tensor.h"

namespace tandem {

/// Seeds the generators of all devices of this process: each draws the same numbers from then on. As torch.manual_seed.
void manual_seed(uint64_t seed);
/// The seed that manual_seed was given last, or the one that the process began with: a program that sets none gives the same numbers again
/// where TANDEM_SEED is this. As torch.initial_seed.
[[nodiscard]] uint64_t initial_seed();

/// A generator's state: everything that decides its next numbers.
struct GeneratorState {
  uint64_t seed = 0, offset = 0;
  friend bool operator==(const GeneratorState&, const GeneratorState&) = default;
};
/// The state of the generator of `device`.
[[nodiscard]] GeneratorState get_rng_state(Device device = cpu());
/// Goes on from a state that get_rng_state gave.
void set_rng_state(GeneratorState state, Device device = cpu());

/// Numbers that the calling thread draws on the CPU come from a generator of its own, made from this seed, until the end of the scope.
class ThreadGeneratorGuard {
 public:
  explicit ThreadGeneratorGuard(uint64_t seed);
  ~ThreadGeneratorGuard();
  ThreadGeneratorGuard(const ThreadGeneratorGuard&) = delete;
  ThreadGeneratorGuard& operator=(const ThreadGeneratorGuard&) = delete;

 private:
  GeneratorState state_;
  GeneratorState* before_;
};

/// Uniform in [0, 1).
[[nodiscard]] Tensor rand(const Shape& sizes, const Options& options = {}, Site site = Site::here());
[[nodiscard]] Tensor rand(const Shape& sizes, const OneOption auto& option, Site site = Site::here()) {
  return rand(sizes, only(option, site), site);
}
/// Normal, mean 0 and deviation 1.
[[nodiscard]] Tensor randn(const Shape& sizes, const Options& options = {}, Site site = Site::here());
[[nodiscard]] Tensor randn(const Shape& sizes, const OneOption auto& option, Site site = Site::here()) {
  return randn(sizes, only(option, site), site);
}
/// Integers in [low, high), int64 unless told otherwise.
[[nodiscard]] Tensor randint(int64_t low, int64_t high, const Shape& sizes, const Options& options = {}, Site site = Site::here());
[[nodiscard]] Tensor randint(int64_t high, const Shape& sizes, const Options& options = {}, Site site = Site::here());
[[nodiscard]] Tensor randint(int64_t low, int64_t high, const Shape& sizes, const OneOption auto& option, Site site = Site::here()) {
  return randint(low, high, sizes, only(option, site), site);
}
[[nodiscard]] Tensor randint(int64_t high, const Shape& sizes, const OneOption auto& option, Site site = Site::here()) {
  return randint(high, sizes, only(option, site), site);
}
/// A permutation of 0 … n-1.
[[nodiscard]] Tensor randperm(int64_t n, const Options& options = {}, Site site = Site::here());
[[nodiscard]] Tensor randperm(int64_t n, const OneOption auto& option, Site site = Site::here()) {
  return randperm(n, only(option, site), site);
}
/// rand of the sizes, dtype and device of `other`.
[[nodiscard]] Tensor rand_like(const Tensor& other, const Options& options = {}, Site site = Site::here());
[[nodiscard]] Tensor rand_like(const Tensor& other, const OneOption auto& option, Site site = Site::here()) {
  return rand_like(other, only(option, site), site);
}
/// randn of the sizes, dtype and device of `other`.
[[nodiscard]] Tensor randn_like(const Tensor& other, const Options& options = {}, Site site = Site::here());
[[nodiscard]] Tensor randn_like(const Tensor& other, const OneOption auto& option, Site site = Site::here()) {
  return randn_like(other, only(option, site), site);
}
/// randint of the sizes, dtype and device of `other`.
[[nodiscard]] Tensor randint_like(const Tensor& other, int64_t low, int64_t high, const Options& options = {}, Site site = Site::here());
[[nodiscard]] Tensor randint_like(const Tensor& other, int64_t high, const Options& options = {}, Site site = Site::here());
/// Normal with a mean and a deviation for each element, one of them a tensor; or of given sizes. Error for a negative deviation.
[[nodiscard]] Tensor normal(const Operand& mean, const Operand& std = 1, Site site = Site::here());
[[nodiscard]] Tensor normal(double mean, double std, const Shape& sizes, const Options& options = {}, Site site = Site::here());
/// 1 with the probability that each element of x gives. Error for one outside [0, 1], on a device at the next synchronization.
[[nodiscard]] Tensor bernoulli(const Tensor& x, Site site = Site::here());
/// 1 with probability p, in the sizes and type of `like`.
[[nodiscard]] Tensor bernoulli(const Tensor& like, double p, Site site = Site::here());
/// Categories (int64) drawn for each row of weights (n) or (m, n), which need not sum to 1. Error for negative, infinite or all-zero
/// weights, and without replacement for more draws than weights above 0. As torch.multinomial.
[[nodiscard]] Tensor multinomial(const Tensor& probabilities, int64_t num_samples, Flag replacement = false, Site site = Site::here());
/// Zeroes elements with probability p and scales the others by 1 / (1 - p); the tensor itself unless training. As
/// torch.nn.functional.dropout.
[[nodiscard]] Tensor dropout(const Tensor& x, double p = 0.5, Flag training = true, Site site = Site::here());
/// The same in place.
const Tensor& dropout_(const Tensor& x, double p = 0.5, Flag training = true, Site site = Site::here());

}  // namespace tandem
