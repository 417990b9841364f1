#include "ops/random.h"

#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <numbers>
#include <utility>

#include "autograd/history.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/process_seed.h"
#include "base/work_site.h"
#include "kernels/random.h"
#include "ops/creation.h"
#include "ops/generator.h"
#include "ops/launch.h"
#include "ops/mersenne_fill.h"
#include "ops/operators.h"
#include "ops/reduce.h"
#include "ops/view.h"
#include "runtime/capture.h"

namespace tandem {
namespace {

/// A generator a device: the CPU's first, then the GPUs'. In a program that gives no seed no two of them draw the same numbers.
struct Generators {
  detail::ForkSafeMutex mutex;
  std::array<GeneratorState, 1 + 64> states{};
  uint64_t seed;

  Generators() {
    const auto given = detail::seed_from_environment();
    seed = given ? *given : detail::seed_by_chance();
    for (size_t i = 0; i < states.size(); ++i) states[i].seed = detail::split_seed(seed, detail::SeedOf::Device, i);
  }
};

Generators& generators() {
  static auto* all = new Generators;  // outlives tensors of static lifetime
  return *all;
}

/// The calling thread's own generator for the CPU; nullptr: it uses everybody's.
constinit thread_local GeneratorState* this_threads = nullptr;

GeneratorState& state_of(Generators& all, Device device) {
  if (this_threads && device.is_cpu()) return *this_threads;
  return all.states[static_cast<size_t>(device.is_cpu() ? 0 : 1 + device.index())];
}

}  // namespace

// In a capture they are counted from 0: each replay takes them all, and says where they begin.
GeneratorState ops::take_counters(Device device, uint64_t count) {
  if (runtime::Capture* const capture = device.is_cuda() ? runtime::capture_of_current_stream(device) : nullptr) {
    if (capture->random_counters == 0)
      capture->before_replay.emplace_back([device, capture](Replay& replay) {
        const GeneratorState state = ops::take_counters(device, capture->random_counters);
        replay.random_seed = state.seed;
        replay.random_offset = state.offset;
      });
    return {0, std::exchange(capture->random_counters, capture->random_counters + count)};
  }
  Generators& all = generators();
  const std::lock_guard lock(all.mutex);
  GeneratorState& state = state_of(all, device);
  const GeneratorState before = state;
  state.offset += count;
  return before;
}

namespace {

/// Whether the numbers for this device are PyTorch's.
bool draws_mersenne(Device device) { return device.is_cpu() && get_cpu_random() == CpuRandom::MersenneTwister; }

void fill_mersenne(const Tensor& x, kernels::Random kind, double a, double b) {
  switch (kind) {
    case kernels::Random::Uniform: return ops::mersenne_uniform(x, a, b);
    case kernels::Random::Normal: return ops::mersenne_normal(x, a, b);
    case kernels::Random::Exponential: return ops::mersenne_exponential(x, a);
    case kernels::Random::Bernoulli: return ops::mersenne_bernoulli(x, a);
    case kernels::Random::Integers:
      return ops::mersenne_integers(x, static_cast<int64_t>(a),
                                    static_cast<uint64_t>(static_cast<int64_t>(b)) - static_cast<uint64_t>(static_cast<int64_t>(a)));
  }
}

void fill_random(const Tensor& x, kernels::Random kind, double a, double b, const char* op, Site site) {
  if (x.numel() == 0) return;
  if (draws_mersenne(x.device())) return fill_mersenne(x, kind, a, b);
  const GeneratorState state = ops::take_counters(x.device(), kernels::random_counters(kind, x.dtype(), x.numel()));
  if (x.is_contiguous()) {
    ops::launch(x, op, site, &kernels::Table::random, x, kind, a, b, state.seed, state.offset);
    return;
  }
  const Tensor dense = empty(x.sizes(), {.dtype = x.dtype(), .device = x.device()}, site);
  ops::launch(x, op, site, &kernels::Table::random, dense, kind, a, b, state.seed, state.offset);
  ops::launch(x, op, site, &kernels::Table::copy, x, dense);
}

Tensor new_random(const Shape& sizes, Options options, kernels::Random kind, double a, double b, DType dtype, const char* op, Site site) {
  const bool requires_grad = std::exchange(options.requires_grad, false);
  options.dtype = options.dtype.value_or(dtype);
  Tensor x = empty(sizes, options, site);
  if (kind != kernels::Random::Integers && !is_floating(x.dtype()))
    fail<NotImplementedError>("[", op, "] is not implemented for ", x.dtype(), "; use randint");
  fill_random(x, kind, a, b, op, site);
  if (requires_grad) x.requires_grad_();
  return x;
}

const Tensor& fill_in_place(const Tensor& x, kernels::Random kind, double a, double b, const char* op, Site site) {
  autograd::check_in_place(op, x);
  if (!is_floating(x.dtype()) && kind != kernels::Random::Bernoulli && kind != kernels::Random::Integers)
    fail<NotImplementedError>("[", op, "] is not implemented for ", x.dtype());
  fill_random(x, kind, a, b, op, site);
  x.impl().bump_version();
  if (autograd::needs_grad(x)) autograd::record_in_place(op, x, {x}, site, [](const Tensor& g) { return zeros_like(g); });
  return x;
}

/// The largest whole number up to which a dtype holds all of them.
int64_t largest_whole(DType dtype) {
  switch (dtype) {
    case kBool: return 1;
    case kUInt8: return 255;
    case kInt8: return 127;
    case kInt16: return 32767;
    case kInt32: return 2147483647;
    case kInt64: return 9223372036854774783;  // one more is a double
    case kFloat16: return 2048;
    case kBFloat16: return 256;
    case kFloat32: return 1 << 24;
    case kFloat64: return int64_t{1} << 53;
  }
  __builtin_unreachable();
}

void check_range(const char* op, int64_t from, int64_t to, DType dtype) {
  if (from >= to) fail("[", op, "] random_ expects 'from' to be less than 'to', but got from=", from, " >= to=", to);
  if (is_floating(dtype)) return;
  const int64_t highest = dtype == kInt64 ? std::numeric_limits<int64_t>::max() : largest_whole(dtype);
  const int64_t lowest = dtype == kBool || dtype == kUInt8 ? 0 : -highest - 1;
  if (from < lowest || from > highest) fail("[", op, "] from is out of bounds for ", dtype, ": ", from);
  if (to - 1 < lowest || to - 1 > highest) fail("[", op, "] to - 1 is out of bounds for ", dtype, ": ", to - 1);
}

void check_probability(const char* op, double p) {
  if (!(p >= 0 && p <= 1)) fail("[", op, "] dropout probability has to be between 0 and 1, but got ", p);
}

/// `other`'s dtype and device where the options name none.
Options like(const Tensor& other, Options options) {
  options.dtype = options.dtype.value_or(other.dtype());
  options.device = options.device.value_or(other.device());
  return options;
}

}  // namespace

void manual_seed(uint64_t seed) {
  Generators& all = generators();
  const std::lock_guard lock(all.mutex);
  all.states.fill({seed, 0});
  all.seed = seed;
  ops::mersenne_seed(seed);
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

ThreadGeneratorGuard::ThreadGeneratorGuard(uint64_t seed) : state_{seed, 0}, before_(std::exchange(this_threads, &state_)) {}
ThreadGeneratorGuard::~ThreadGeneratorGuard() { this_threads = before_; }

Tensor rand(const Shape& sizes, const Options& options, Site site) {
  return new_random(sizes, options, kernels::Random::Uniform, 0, 1, get_default_dtype(), "rand", site);
}

Tensor randn(const Shape& sizes, const Options& options, Site site) {
  return new_random(sizes, options, kernels::Random::Normal, 0, 1, get_default_dtype(), "randn", site);
}

Tensor randint(int64_t low, int64_t high, const Shape& sizes, const Options& options, Site site) {
  check_range("randint", low, high, options.dtype.value_or(kInt64));
  return new_random(sizes, options, kernels::Random::Integers, static_cast<double>(low), static_cast<double>(high), kInt64, "randint",
                    site);
}
Tensor randint(int64_t high, const Shape& sizes, const Options& options, Site site) { return randint(0, high, sizes, options, site); }

Tensor randperm(int64_t n, const Options& options, Site site) {
  if (n < 0) fail("[randperm] n must be non-negative, not ", n);
  const DType dtype = options.dtype.value_or(kInt64);
  if (dtype == kBool) fail<NotImplementedError>("[randperm] is not implemented for 'Bool'");
  if (const int64_t most = largest_whole(dtype) + is_floating(dtype); n > most)
    fail("[randperm] n is too large for result tensor type: n is ", n, ", but ", dtype, " goes up to ", most, "; use kInt64");
  Options exact = options;
  exact.dtype = kInt64;
  const Tensor x = empty({n}, exact, site);
  if (n > 0 && draws_mersenne(x.device())) {
    ops::mersenne_permutation(x);
  } else if (n > 0) {
    const GeneratorState state = ops::take_counters(x.device(), kernels::random_counters(kernels::Random::Integers, kInt64, n));
    ops::launch(x, "randperm", site, &kernels::Table::randperm, x, state.seed, state.offset);
  }
  return x.to(dtype, {}, site);
}

Tensor rand_like(const Tensor& other, const Options& options, Site site) { return rand(other.sizes(), like(other, options), site); }
Tensor randn_like(const Tensor& other, const Options& options, Site site) { return randn(other.sizes(), like(other, options), site); }
Tensor randint_like(const Tensor& other, int64_t low, int64_t high, const Options& options, Site site) {
  return randint(low, high, other.sizes(), like(other, options), site);
}
Tensor randint_like(const Tensor& other, int64_t high, const Options& options, Site site) {
  return randint_like(other, 0, high, options, site);
}

Tensor normal(const Operand& mean, const Operand& std, Site site) {
  const NoGradGuard no_grad;
  if (std.is_tensor() ? std.tensor().numel() > 0 && !std.tensor().min(site).ge(0, site) : !(std.number().to<double>() >= 0))
    fail("[normal] expects all elements of std >= 0.0");
  if (!mean.is_tensor() && !std.is_tensor())
    fail<TypeError>("[normal] takes a tensor as mean or as std; for two numbers give a size too, as normal(0, 1, {2, 3})");
  const Tensor& from = mean.is_tensor() ? mean.tensor() : std.tensor();
  Shape sizes = from.sizes();
  if (mean.is_tensor() && std.is_tensor()) {
    ops::check_same_device("normal", mean.tensor(), "mean", std.tensor(), "std");
    sizes = broadcast_shapes(sizes, std.tensor().sizes());
  }
  return add(mul(randn(sizes, {.dtype = from.dtype(), .device = from.device()}, site), std, site), mean, site);
}
Tensor normal(double mean, double std, const Shape& sizes, const Options& options, Site site) {
  if (!(std >= 0)) fail("[normal] expects std >= 0.0, but found std ", std);
  return new_random(sizes, options, kernels::Random::Normal, mean, std, get_default_dtype(), "normal", site);
}

Tensor multinomial(const Tensor& probabilities, int64_t num_samples, Flag replacement, Site site) {
  const detail::ComposedAt line(site);
  const NoGradGuard no_grad;
  const Tensor& p = probabilities;
  if (p.dim() != 1 && p.dim() != 2) fail("[multinomial] prob_dist must be 1 or 2 dim, not ", p.dim());
  if (!is_floating(p.dtype())) fail("[multinomial] only supports floating-point dtypes for input, got: ", scalar_name(p.dtype()));
  const int64_t categories = p.size(-1);
  if (num_samples <= 0) fail("[multinomial] cannot sample n_sample <= 0 samples, got ", num_samples);
  if (!replacement && num_samples > categories)
    fail("[multinomial] cannot sample n_sample > prob_dist.size(-1) samples without replacement: ", num_samples, " of ", categories);
  if (p.numel() > 0) {
    if (!logical_and(isfinite(p, site), p >= 0, site).all(site))
      fail("[multinomial] probability tensor contains either `inf`, `nan` or element < 0");
    if (!gt(p.sum(-1, false, {}, site), 0, site).all(site))
      fail("[multinomial] invalid multinomial distribution (sum of probabilities <= 0)");
    if (!replacement && num_samples > 1)
      if (const auto enough = gt(p, 0, site).sum(-1, false, {}, site).min(site).item<int64_t>(); enough < num_samples)
        fail("[multinomial] invalid multinomial distribution (with replacement=False, not enough non-negative category to sample): ",
             num_samples, " samples of ", enough, " categories with a probability above 0; draw fewer, or with replacement");
  }
  if (replacement && num_samples > 1 && draws_mersenne(p.device())) {
    Shape drawn = p.sizes();
    drawn[drawn.size() - 1] = num_samples;
    const Tensor categories_of = empty(drawn, {.dtype = kInt64, .device = p.device()}, site);
    if (p.numel() > 0) ops::mersenne_categories(categories_of, p.detach().contiguous(site));
    return categories_of;
  }
  // The least of exponential times 1 / p is the first event of a race that category i wins with probability p; the order of arrival is a
  // draw without replacement.
  const Tensor among = replacement && num_samples > 1 ? p.unsqueeze(-2, site) : p;
  Shape sizes = among.sizes();
  if (replacement && num_samples > 1) sizes[sizes.size() - 2] = num_samples;
  const Tensor race = among / empty(sizes, {.dtype = p.dtype(), .device = p.device()}, site).exponential_(1, site);
  if (replacement && num_samples > 1) return race.argmax(-1, false, site);
  if (num_samples == 1) return race.argmax(-1, true, site);
  return race.topk(num_samples, -1, true, true, site).indices;
}
Tensor Tensor::multinomial(int64_t num_samples, Flag replacement, Site site) const {
  return tandem::multinomial(*this, num_samples, replacement, site);
}

Tensor bernoulli(const Tensor& x, Site site) {
  if (!is_floating(x.dtype()))
    fail("[bernoulli] expects probabilities of a floating dtype, not ", x.dtype(), "; convert with to(kFloat32)");
  const Tensor dense = x.detach().contiguous(site);
  Tensor y = empty(x.sizes(), {.dtype = x.dtype(), .device = x.device()}, site);
  if (y.numel() == 0) return y;
  if (draws_mersenne(y.device())) {
    if (!logical_and(dense >= 0, dense <= 1, site).all(site)) fail("[bernoulli] Expected p_in >= 0 && p_in <= 1 to be true, but it is not");
    ops::mersenne_bernoulli(y, dense);
    return y;
  }
  const GeneratorState state = ops::take_counters(y.device(), kernels::random_counters(kernels::Random::Bernoulli, y.dtype(), y.numel()));
  ops::launch(y, "bernoulli", site, &kernels::Table::bernoulli, y, dense, state.seed, state.offset);
  return y;
}

Tensor bernoulli(const Tensor& like, double p, Site site) { return empty_like(like, {}, site).bernoulli_(p, site); }

namespace {

/// Whether there is anything to drop; errors for what cannot be dropped.
bool drops(const char* op, const Tensor& x, double p, bool training) {
  check_probability(op, p);
  if (!training || p == 0 || x.numel() == 0) return false;
  if (!is_floating(x.dtype())) fail("[", op, "] is defined for floating dtypes, not ", x.dtype());
  return true;
}
/// Fills `y` with what is left of `x`, both contiguous, which may be one tensor; which elements those are.
Tensor drop(const char* op, const Tensor& y, const Tensor& x, double p, Site site) {
  const Tensor mask = empty(x.sizes(), {.dtype = kBool, .device = x.device()}, site);
  if (draws_mersenne(x.device())) {
    ops::mersenne_bernoulli(mask, 1 - p);
    y.copy_(p < 1 ? x * (mask.to(x.dtype(), {}, site) / (1 - p)) : zeros_like(x, {}, site), false, site);
    return mask;
  }
  const GeneratorState state = ops::take_counters(x.device(), kernels::random_counters(kernels::Random::Bernoulli, x.dtype(), x.numel()));
  ops::launch(x, op, site, &kernels::Table::dropout, y, mask, x, p, state.seed, state.offset);
  return mask;
}
auto dropout_backward(const Tensor& mask, double p) {
  return [mask = autograd::saved(mask), scale = p < 1 ? 1 / (1 - p) : 0.0](const Tensor& g) { return g * mask.get() * scale; };
}

}  // namespace

Tensor dropout(const Tensor& x, double p, Flag training, Site site) {
  if (!drops("dropout", x, p, training)) return x;
  Tensor y = empty(x.sizes(), {.dtype = x.dtype(), .device = x.device()}, site);
  const Tensor mask = drop("dropout", y, x.detach().contiguous(site), p, site);
  if (!autograd::needs_grad(x)) return y;
  return autograd::record("NativeDropoutBackward0", y, {x}, site, dropout_backward(mask, p));
}

const Tensor& dropout_(const Tensor& x, double p, Flag training, Site site) {
  autograd::check_in_place("dropout_", x);
  if (!drops("dropout_", x, p, training)) return x;
  if (!x.is_contiguous()) return x.copy_(dropout(x, p, training, site), false, site);
  const Tensor mask = drop("dropout_", x, x, p, site);
  x.impl().bump_version();
  if (autograd::needs_grad(x)) autograd::record_in_place("NativeDropoutBackward0", x, {x}, site, dropout_backward(mask, p));
  return x;
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
const Tensor& Tensor::random_(int64_t from, int64_t to, Site site) const {
  check_range("random_", from, to, dtype());
  return fill_in_place(*this, kernels::Random::Integers, static_cast<double>(from), static_cast<double>(to), "random_", site);
}
const Tensor& Tensor::random_(int64_t to, Site site) const { return random_(0, to, site); }
const Tensor& Tensor::random_(Site site) const {
  if (!draws_mersenne(device())) return random_(0, largest_whole(dtype()) + 1, site);
  autograd::check_in_place("random_", *this);
  ops::mersenne_whole(*this);
  impl().bump_version();
  return *this;
}
const Tensor& Tensor::bernoulli_(double p, Site site) const {
  if (!(p >= 0 && p <= 1)) fail("[bernoulli_] expects p to be in [0, 1], but got p=", p);
  return fill_in_place(*this, kernels::Random::Bernoulli, p, 0, "bernoulli_", site);
}

// --- Made from the others
namespace {

/// x filled with what `make` gives for a new tensor of its sizes, of a dtype wide enough to compute in.
template <class Make>
const Tensor& made_in_place(const Tensor& x, const char* op, Site site, Make make) {
  autograd::check_in_place(op, x);
  Tensor values = empty(x.sizes(), {.dtype = promote_types(x.dtype(), kFloat32), .device = x.device()}, site);
  {
    const NoGradGuard no_grad;
    values = make(values);
  }
  return x.copy_(values, false, site);
}

void check_floats(const char* op, const Tensor& x) {
  if (!is_floating(x.dtype())) fail("[", op, "] expects a floating dtype, not ", x.dtype());
}

}  // namespace

const Tensor& Tensor::bernoulli_(const Tensor& p, Site site) const {
  autograd::check_in_place("bernoulli_", *this);
  return copy_(tandem::bernoulli(p.expand(sizes(), site), site), false, site);
}

const Tensor& Tensor::geometric_(double p, Site site) const {
  if (!(p > 0 && p < 1)) fail("[geometric_] expects p to be in (0, 1), but got p=", p);
  if (dtype() == kBool) fail<NotImplementedError>("[geometric_] is not implemented for bool");
  return made_in_place(*this, "geometric_", site, [&](const Tensor& x) {
    if (draws_mersenne(x.device())) return ops::mersenne_geometric(x, p), x;
    return x.exponential_(-std::log1p(-p), site).ceil(site);
  });
}

const Tensor& Tensor::cauchy_(double median, double sigma, Site site) const {
  if (!(sigma > 0)) fail("[cauchy_] expects sigma > 0.0, but found sigma=", sigma);
  check_floats("cauchy_", *this);
  return made_in_place(*this, "cauchy_", site, [&](const Tensor& x) {
    if (draws_mersenne(x.device())) return ops::mersenne_cauchy(x, median, sigma), x;
    // by the inverse of its distribution function
    return ((x.uniform_(0, 1, site) - 0.5) * std::numbers::pi).tan(site) * sigma + median;
  });
}

const Tensor& Tensor::log_normal_(double mean, double std, Site site) const {
  if (!(std > 0)) fail("[log_normal_] expects std > 0.0, but found std=", std);
  check_floats("log_normal_", *this);
  return made_in_place(*this, "log_normal_", site, [&](const Tensor& x) {
    if (draws_mersenne(x.device())) return ops::mersenne_log_normal(x, mean, std), x;
    return x.normal_(mean, std, site).exp(site);
  });
}

}  // namespace tandem
