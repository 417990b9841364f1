// The algorithms are those of PyTorch's ATen/core/MT19937RNGEngine.h, TransformationHelper.h and native/cpu/DistributionTemplates.h,
// written anew; mt19937 is that of Matsumoto and Nishimura (1998). The normal numbers of 16 and more float32 come of the polynomials of the
// Cephes library for log, sin and cos, with products and sums fused as PyTorch's AVX2 code has them.
#include "ops/mersenne_twister.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <mutex>
#include <numbers>
#include <vector>

#include "base/fork.h"
#include "ops/creation.h"
#include "ops/mersenne_fill.h"
#include "ops/random.h"
#include "ops/view.h"

namespace tandem {

void MersenneTwister::manual_seed(uint64_t seed) {
  seed_ = seed;
  next_normal_.reset();
  state_[0] = static_cast<uint32_t>(seed);
  for (uint32_t i = 1; i < state_.size(); ++i) state_[i] = 1812433253U * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
  next_ = static_cast<uint32_t>(state_.size());
}

void MersenneTwister::refill() {
  constexpr size_t n = 624, m = 397;
  for (size_t i = 0; i < n; ++i) {
    const uint32_t y = (state_[i] & 0x80000000U) | (state_[(i + 1) % n] & 0x7fffffffU);
    state_[i] = state_[(i + m) % n] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfU : 0);
  }
  next_ = 0;
}

uint32_t MersenneTwister::random() {
  if (next_ >= state_.size()) refill();
  uint32_t y = state_[next_++];
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680U;
  y ^= (y << 15) & 0xefc60000U;
  return y ^ (y >> 18);
}
uint64_t MersenneTwister::random64() {
  const uint64_t high = random();
  return high << 32 | random();
}
float MersenneTwister::uniform_float() { return static_cast<float>(random() & 0xffffffU) * 0x1p-24F; }
double MersenneTwister::uniform_double() { return static_cast<double>(random64() & 0x1fffffffffffffU) * 0x1p-53; }
double MersenneTwister::normal_double() {
  if (next_normal_) return *std::exchange(next_normal_, std::nullopt);
  const double u1 = uniform_double(), u2 = uniform_double();
  const double radius = std::sqrt(-2 * std::log1p(-u2)), theta = 2 * std::numbers::pi * u1;
  next_normal_ = radius * std::sin(theta);
  return radius * std::cos(theta);
}

namespace {

struct Shared {
  detail::ForkSafeMutex mutex;
  MersenneTwister generator;
  bool seeded = false;
  std::atomic<CpuRandom> kind{CpuRandom::Tandem};
};
Shared& shared() {
  static auto* all = new Shared;  // outlives tensors of static lifetime
  return *all;
}

/// log x of a positive float, by Cephes' logf.
float log_of(float x) {
  x = std::max(x, std::numeric_limits<float>::min());
  const auto bits = std::bit_cast<uint32_t>(x);
  float e = static_cast<float>(static_cast<int32_t>(bits >> 23) - 0x7f) + 1;
  x = std::bit_cast<float>((bits & ~0x7f800000U) | std::bit_cast<uint32_t>(0.5F));
  const bool small = x < 0.707106781186547524F;
  const float added = small ? x : 0;
  x = x - 1 + added;
  if (small) e -= 1;
  const float z = x * x;
  float y = 7.0376836292E-2F;
  for (const float c : {-1.1514610310E-1F, 1.1676998740E-1F, -1.2420140846E-1F, 1.4249322787E-1F, -1.6668057665E-1F, 2.0000714765E-1F,
                        -2.4999993993E-1F, 3.3333331174E-1F})
    y = std::fma(y, x, c);
  y = std::fma(y * x, z, e * -2.12194440e-4F);
  y = std::fma(z, -0.5F, y);
  return std::fma(e, 0.693359375F, x + y);
}

/// sin and cos of x >= 0, by Cephes' sinf and cosf.
struct SinCos {
  float sin, cos;
};
SinCos sin_cos(float x) {
  const int32_t octant = (static_cast<int32_t>(x * 1.27323954473516F) + 1) & ~1;
  const auto y = static_cast<float>(octant);
  for (const float part : {-0.78515625F, -2.4187564849853515625e-4F, -3.77489497744594108e-8F}) x = std::fma(y, part, x);
  const float z = x * x;
  float cosine = std::fma(2.443315711809948E-005F, z, -1.388731625493765E-003F);
  cosine = std::fma(cosine, z, 4.166664568298827E-002F) * z;
  cosine = std::fma(cosine, z, -(z * 0.5F)) + 1;
  float sine = std::fma(-1.9515295891E-4F, z, 8.3321608736E-3F);
  sine = std::fma(sine, z, -1.6666654611E-1F) * z;
  sine = std::fma(sine, x, x);
  if (octant & 2) std::swap(sine, cosine);
  return {octant & 4 ? -sine : sine, (octant - 2) & 4 ? cosine : -cosine};
}

/// Sixteen uniform numbers become sixteen normal ones, the first eight with the last.
void sixteen_normal(float* data, float mean, float std) {
  for (int i = 0; i < 8; ++i) {
    const float radius = std::sqrt(-2 * log_of(1 - data[i]));
    const auto [sine, cosine] = sin_cos(2 * std::numbers::pi_v<float> * data[i + 8]);
    data[i] = std::fma(radius * cosine, std, mean);
    data[i + 8] = std::fma(radius * sine, std, mean);
  }
}
void sixteen_normal(double* data, double mean, double std) {
  for (int i = 0; i < 8; ++i) {
    const double radius = std::sqrt(-2 * std::log(1 - data[i])), theta = 2 * std::numbers::pi * data[i + 8];
    data[i] = radius * std::cos(theta) * std + mean;
    data[i + 8] = radius * std::sin(theta) * std + mean;
  }
}

template <class T>
T uniform_of(MersenneTwister& generator) {
  if constexpr (std::is_same_v<T, double>) return generator.uniform_double();
  else return generator.uniform_float();
}

template <class T>
void fill_normal(MersenneTwister& generator, T* data, int64_t count, T mean, T std) {
  for (int64_t i = 0; i < count; ++i) data[i] = uniform_of<T>(generator);
  for (int64_t i = 0; i + 16 <= count; i += 16) sixteen_normal(data + i, mean, std);
  if (count % 16 == 0) return;
  for (int64_t i = count - 16; i < count; ++i) data[i] = uniform_of<T>(generator);
  sixteen_normal(data + count - 16, mean, std);
}

/// The tensor with its dimensions in the order in which they lie in memory; where that is not dense, a dense one to be copied from.
struct InMemoryOrder {
  Tensor x, dense;
  explicit InMemoryOrder(const Tensor& tensor) : x(tensor) {
    std::vector<int64_t> order;
    for (int64_t i = 0; i < x.dim(); ++i) order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return x.strides()[static_cast<size_t>(a)] > x.strides()[static_cast<size_t>(b)]; });
    x = x.detach().permute(Shape(order), Site::none());
    dense = x.is_contiguous() ? x : empty(x.sizes(), {.dtype = x.dtype(), .device = Device()}, Site::none());
  }
  ~InMemoryOrder() = default;
  void finish() const {
    if (!dense.is_same(x)) x.copy_(dense, false, Site::none());
  }
};

/// Each element in the order of memory: `make(generator)` gives a double, or what the dtype's is made of.
template <class Make>
void each(const Tensor& tensor, Make make) {
  const InMemoryOrder order(tensor);
  Shared& all = shared();
  const std::lock_guard lock(all.mutex);
  visit(tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* const data = static_cast<T*>(order.dense.data_ptr(Site::none()));
    for (int64_t i = 0; i < tensor.numel(); ++i) {
      const auto value = make(all.generator, zero);
      if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>) data[i] = T(static_cast<float>(value));
      else data[i] = static_cast<T>(value);
    }
  });
  order.finish();
}

}  // namespace

void set_cpu_random(CpuRandom kind) {
  bool first;
  {
    const std::lock_guard lock(shared().mutex);
    first = !std::exchange(shared().seeded, true);
  }
  if (first) ops::mersenne_seed(initial_seed());
  shared().kind.store(kind);
}
CpuRandom get_cpu_random() { return shared().kind.load(std::memory_order_relaxed); }
MersenneTwister get_mersenne_twister() {
  const std::lock_guard lock(shared().mutex);
  return shared().generator;
}
void set_mersenne_twister(const MersenneTwister& generator) {
  const std::lock_guard lock(shared().mutex);
  shared().generator = generator;
}

void ops::mersenne_seed(uint64_t seed) {
  const std::lock_guard lock(shared().mutex);
  shared().seeded = true;
  shared().generator.manual_seed(seed);
}

// What rounds to the upper bound, which is not among the results, becomes the lower one.
void ops::mersenne_uniform(const Tensor& x, double from, double to) {
  each(x, [&](MersenneTwister& generator, auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, double>) {
      const double value = std::fma(generator.uniform_double(), to - from, from);
      return value == to ? from : value;
    } else {
      const float low = static_cast<float>(from), high = static_cast<float>(to);
      const float value = std::fma(generator.uniform_float(), high - low, low);
      return static_cast<float>(static_cast<T>(value)) == high ? low : value;
    }
  });
}

void ops::mersenne_normal(const Tensor& x, double mean, double std) {
  if (x.numel() < 16 || !x.is_contiguous()) {
    each(x, [&](MersenneTwister& generator, auto) { return generator.normal_double() * std + mean; });
    return;
  }
  const std::lock_guard lock(shared().mutex);
  MersenneTwister& generator = shared().generator;
  if (x.dtype() == kFloat64) return fill_normal(generator, static_cast<double*>(x.data_ptr(Site::none())), x.numel(), mean, std);
  if (x.dtype() == kFloat32)
    return fill_normal(generator, static_cast<float*>(x.data_ptr(Site::none())), x.numel(), static_cast<float>(mean),
                       static_cast<float>(std));
  // Half types draw for sixteen at a time; float32 and float64 for all before the first is made.
  const Tensor wide = empty(x.sizes(), {.dtype = kFloat32, .device = Device()}, Site::none());
  auto* const data = static_cast<float*>(wide.data_ptr(Site::none()));
  const auto make = [&](int64_t at) {
    for (int64_t i = at; i < at + 16; ++i) data[i] = generator.uniform_float();
    sixteen_normal(data + at, static_cast<float>(mean), static_cast<float>(std));
  };
  for (int64_t at = 0; at + 16 <= x.numel(); at += 16) make(at);
  if (x.numel() % 16 != 0) make(x.numel() - 16);
  x.detach().copy_(wide, false, Site::none());
}

void ops::mersenne_exponential(const Tensor& x, double lambda) {
  each(x, [&](MersenneTwister& generator, auto) { return -1 / lambda * std::log1p(-generator.uniform_double()); });
}

void ops::mersenne_integers(const Tensor& x, int64_t from, uint64_t range) {
  const bool wide = range >= uint64_t{1} << 28;
  each(x, [&](MersenneTwister& generator, auto) {
    return from + static_cast<int64_t>((wide ? generator.random64() : generator.random()) % range);
  });
}

void ops::mersenne_whole(const Tensor& x) {
  each(x, [&](MersenneTwister& generator, auto zero) -> int64_t {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, int64_t>) return static_cast<int64_t>(generator.random64() & 0x7fffffffffffffffU);
    else if constexpr (std::is_same_v<T, double>) return static_cast<int64_t>(generator.random64() % ((uint64_t{1} << 53) + 1));
    else if constexpr (std::is_same_v<T, bool>) return generator.random() & 1;
    else if constexpr (std::is_integral_v<T>) return generator.random() % (static_cast<uint32_t>(std::numeric_limits<T>::max()) + 1);
    else return generator.random() % ((std::is_same_v<T, float> ? 1U << 24 : std::is_same_v<T, Half> ? 1U << 11 : 1U << 8) + 1);
  });
}

void ops::mersenne_bernoulli(const Tensor& x, double p) {
  each(x, [&](MersenneTwister& generator, auto) { return generator.uniform_double() < p; });
}

void ops::mersenne_bernoulli(const Tensor& x, const Tensor& p) {
  const Tensor chances = p.to(p.dtype() == kFloat64 ? kFloat64 : kFloat32, {}, Site::none());
  const std::lock_guard lock(shared().mutex);
  MersenneTwister& generator = shared().generator;
  const Tensor drawn = empty(x.sizes(), {.dtype = kBool, .device = Device()}, Site::none());
  auto* const out = static_cast<bool*>(drawn.data_ptr(Site::none()));
  for (int64_t i = 0; i < x.numel(); ++i)
    out[i] = chances.dtype() == kFloat64 ? generator.uniform_double() < static_cast<const double*>(chances.data_ptr(Site::none()))[i]
                                         : generator.uniform_float() < static_cast<const float*>(chances.data_ptr(Site::none()))[i];
  x.detach().copy_(drawn, false, Site::none());
}

void ops::mersenne_geometric(const Tensor& x, double p) {
  each(x, [&](MersenneTwister& generator, auto) { return std::ceil(std::log(generator.uniform_double()) / std::log1p(-p)); });
}

void ops::mersenne_cauchy(const Tensor& x, double median, double sigma) {
  each(x,
       [&](MersenneTwister& generator, auto) { return median + sigma * std::tan(std::numbers::pi * (generator.uniform_double() - 0.5)); });
}

void ops::mersenne_log_normal(const Tensor& x, double mean, double std) {
  each(x, [&](MersenneTwister& generator, auto) { return std::exp(std::fma(generator.normal_double(), std, mean)); });
}

void ops::mersenne_permutation(const Tensor& x) {
  auto* const out = static_cast<int64_t*>(x.data_ptr(Site::none()));
  const int64_t n = x.numel();
  for (int64_t i = 0; i < n; ++i) out[i] = i;
  const std::lock_guard lock(shared().mutex);
  for (int64_t i = 0; i + 1 < n; ++i)
    std::swap(out[i], out[i + static_cast<int64_t>(shared().generator.random() % static_cast<uint64_t>(n - i))]);
}

void ops::mersenne_categories(const Tensor& x, const Tensor& p) {
  const int64_t categories = p.size(-1), samples = x.size(-1), rows = p.numel() / std::max<int64_t>(categories, 1);
  auto* const out = static_cast<int64_t*>(x.data_ptr(Site::none()));
  const Tensor chances = p.to(p.dtype() == kFloat64 ? kFloat64 : kFloat32, {}, Site::none());
  const std::lock_guard lock(shared().mutex);
  MersenneTwister& generator = shared().generator;
  visit(chances.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) {
      const T* const given = static_cast<const T*>(chances.data_ptr(Site::none()));
      std::vector<T> below(static_cast<size_t>(categories));
      for (int64_t row = 0; row < rows; ++row) {
        T sum = 0;
        for (int64_t j = 0; j < categories; ++j) below[static_cast<size_t>(j)] = sum += given[row * categories + j];
        for (T& bound : below) bound /= sum;
        below.back() = 1;
        for (int64_t i = 0; i < samples; ++i) {
          const double drawn = generator.uniform_double();
          out[row * samples + i] =
              std::lower_bound(below.begin(), below.end(), drawn, [](T bound, double value) { return bound < value; }) - below.begin();
        }
      }
    }
  });
}

}  // namespace tandem
