#include "ops/random.h"

#include <array>
#include <mutex>

#include "autograd/history.h"
#include "base/error.h"
#include "kernels/random.h"
#include "ops/creation.h"
#include "ops/launch.h"
#include "ops/operators.h"

namespace tandem {
namespace {

/// A generator a device: the CPU's first, then the cards'.
struct Generators {
  std::mutex mutex;
  std::array<GeneratorState, 1 + 64> states{};
  uint64_t seed = 0;
};

Generators& generators() {
  static auto* all = new Generators;  // outlives tensors of static lifetime
  return *all;
}

GeneratorState& state_of(Generators& all, Device device) {
  return all.states[static_cast<size_t>(device.is_cpu() ? 0 : 1 + device.index())];
}

/// Takes `count` counters of the device's generator.
GeneratorState advance(Device device, uint64_t count) {
  Generators& all = generators();
  const std::lock_guard lock(all.mutex);
  GeneratorState& state = state_of(all, device);
  const GeneratorState before = state;
  state.offset += count;
  return before;
}

void fill_random(const Tensor& x, kernels::Random kind, double a, double b, const char* op, Site site) {
  if (x.numel() == 0) return;
  const GeneratorState state = advance(x.device(), kernels::random_counters(kind, x.dtype(), x.numel()));
  if (x.is_contiguous()) {
    ops::kernels_of(x).random(ops::launch(x, op, site), ops::out(x), kind, a, b, state.seed, state.offset);
    return;
  }
  const Tensor dense = empty(x.sizes(), {.dtype = x.dtype(), .device = x.device()}, site);
  ops::kernels_of(x).random(ops::launch(x, op, site), ops::out(dense), kind, a, b, state.seed, state.offset);
  ops::kernels_of(x).copy(ops::launch(x, op, site), ops::out(x), ops::view(dense));
}

Tensor new_random(const Shape& sizes, Options options, kernels::Random kind, double a, double b, DType dtype, const char* op, Site site) {
  const bool requires_grad = std::exchange(options.requires_grad, false);
  options.dtype = options.dtype.value_or(dtype);
  Tensor x = empty(sizes, options, site);
  if (kind != kernels::Random::Integers && !is_floating(x.dtype())) fail("[", op, "] is not implemented for ", x.dtype(), "; use randint");
  fill_random(x, kind, a, b, op, site);
  if (requires_grad) x.requires_grad_();
  return x;
}

const Tensor& fill_in_place(const Tensor& x, kernels::Random kind, double a, double b, const char* op, Site site) {
  autograd::check_in_place(op, x);
  if (!is_floating(x.dtype()) && kind != kernels::Random::Bernoulli) fail("[", op, "] is not implemented for ", x.dtype());
  fill_random(x, kind, a, b, op, site);
  x.impl().storage->bump_version();
  if (autograd::needs_grad(x)) autograd::record_in_place(op, x, {x}, site, [](const Tensor& g) { return zeros_like(g); });
  return x;
}

}  // namespace

void manual_seed(uint64_t seed) {
  Generators& all = generators();
  const std::lock_guard lock(all.mutex);
  all.states.fill({seed, 0});
  all.seed = seed;
}

uint64_t initial_seed() {
  Generators& all = generators();
  const std::lock_guard lock(all.mutex);
  return all.seed;
}

GeneratorState get_rng_state(Device device) {
  const Device where = detail::resolve(device);
  Generators& all = generators();
  const std::lock_guard lock(all.mutex);
  return state_of(all, where);
}

void set_rng_state(GeneratorState state, Device device) {
  const Device where = detail::resolve(device);
  Generators& all = generators();
  const std::lock_guard lock(all.mutex);
  state_of(all, where) = state;
}

Tensor rand(const Shape& sizes, const Options& options, Site site) {
  return new_random(sizes, options, kernels::Random::Uniform, 0, 1, get_default_dtype(), "rand", site);
}
Tensor rand(const Shape& sizes, Device device, Site site) { return rand(sizes, {.device = device}, site); }
Tensor rand(const Shape& sizes, DType dtype, Site site) { return rand(sizes, {.dtype = dtype}, site); }

Tensor randn(const Shape& sizes, const Options& options, Site site) {
  return new_random(sizes, options, kernels::Random::Normal, 0, 1, get_default_dtype(), "randn", site);
}
Tensor randn(const Shape& sizes, Device device, Site site) { return randn(sizes, {.device = device}, site); }
Tensor randn(const Shape& sizes, DType dtype, Site site) { return randn(sizes, {.dtype = dtype}, site); }

Tensor randint(int64_t low, int64_t high, const Shape& sizes, const Options& options, Site site) {
  if (low >= high) fail("[randint] random_ expects 'from' to be less than 'to', but got from=", low, " >= to=", high);
  return new_random(sizes, options, kernels::Random::Integers, static_cast<double>(low), static_cast<double>(high), kInt64, "randint",
                    site);
}
Tensor randint(int64_t high, const Shape& sizes, const Options& options, Site site) { return randint(0, high, sizes, options, site); }

Tensor randperm(int64_t n, const Options& options, Site site) {
  if (n < 0) fail("[randperm] n must be non-negative, not ", n);
  const DType dtype = options.dtype.value_or(kInt64);
  Options exact = options;
  exact.dtype = kInt64;
  const Tensor x = empty({n}, exact, site);
  if (n > 0) {
    const GeneratorState state = advance(x.device(), kernels::random_counters(kernels::Random::Integers, kInt64, n));
    ops::kernels_of(x).randperm(ops::launch(x, "randperm", site), ops::out(x), state.seed, state.offset);
  }
  return x.to(dtype, {}, site);
}

Tensor rand_like(const Tensor& other, const Options& options, Site site) {
  Options full = options;
  full.dtype = options.dtype.value_or(other.dtype());
  full.device = options.device.value_or(other.device());
  return rand(other.sizes(), full, site);
}

Tensor randn_like(const Tensor& other, const Options& options, Site site) {
  Options full = options;
  full.dtype = options.dtype.value_or(other.dtype());
  full.device = options.device.value_or(other.device());
  return randn(other.sizes(), full, site);
}

Tensor bernoulli(const Tensor& p, Site site) {
  const Tensor dense = p.detach().contiguous(site);
  Tensor x = empty(p.sizes(), {.dtype = p.dtype(), .device = p.device()}, site);
  if (x.numel() == 0) return x;
  const GeneratorState state = advance(x.device(), kernels::random_counters(kernels::Random::Bernoulli, x.dtype(), x.numel()));
  ops::kernels_of(x).bernoulli(ops::launch(x, "bernoulli", site), ops::out(x), ops::view(dense), state.seed, state.offset);
  return x;
}

Tensor dropout(const Tensor& x, double p, bool training, Site site) {
  if (!(p >= 0 && p <= 1)) fail("[dropout] dropout probability has to be between 0 and 1, but got ", p);
  if (!training || p == 0 || x.numel() == 0) return x;
  if (!is_floating(x.dtype())) fail("[dropout] is defined for floating dtypes, not ", x.dtype());
  const Tensor dense = x.detach().contiguous(site);
  Tensor y = empty(x.sizes(), {.dtype = x.dtype(), .device = x.device()}, site);
  const Tensor mask = empty(x.sizes(), {.dtype = kBool, .device = x.device()}, site);
  const GeneratorState state = advance(x.device(), kernels::random_counters(kernels::Random::Bernoulli, x.dtype(), x.numel()));
  ops::kernels_of(x).dropout(ops::launch(x, "dropout", site), ops::out(y), ops::out(mask), ops::view(dense), p, state.seed, state.offset);
  if (!autograd::needs_grad(x)) return y;
  return autograd::record(
      "NativeDropoutBackward0", y, {x}, site,
      [mask = autograd::saved(mask), scale = p < 1 ? 1 / (1 - p) : 0.0](const Tensor& g) { return g * mask.get() * scale; });
}

const Tensor& Tensor::uniform_(double from, double to, Site site) const {
  if (from > to) fail("[uniform_] expects to return a [from, to) range, but found from=", from, " > to=", to);
  return fill_in_place(*this, kernels::Random::Uniform, from, to, "uniform_", site);
}
const Tensor& Tensor::normal_(double mean, double std, Site site) const {
  if (!(std >= 0)) fail("[normal_] expects std >= 0.0, but found std ", std);
  return fill_in_place(*this, kernels::Random::Normal, mean, std, "normal_", site);
}
const Tensor& Tensor::exponential_(double lambda, Site site) const {
  if (!(lambda > 0)) fail("[exponential_] expects lambda > 0.0, but found lambda=", lambda);
  return fill_in_place(*this, kernels::Random::Exponential, lambda, 0, "exponential_", site);
}
const Tensor& Tensor::bernoulli_(double p, Site site) const {
  if (!(p >= 0 && p <= 1)) fail("[bernoulli_] expects p to be in [0, 1], but got p=", p);
  return fill_in_place(*this, kernels::Random::Bernoulli, p, 0, "bernoulli_", site);
}

}  // namespace tandem
