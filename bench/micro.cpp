// The cases of the micro benchmark. bench/peer/micro_torch.cpp has the same ones, name by name, for libtorch: what changes here changes
// there.
#include "bench/micro.h"

#include <algorithm>
#include <iostream>

#include "base/env.h"
#include "bench/measure.h"
#include "bench/rows.h"
#include "tandem.h"

namespace tandem::bench {
namespace {

struct Case {
  const char* name;
  const char* what;
  Measured (*run)(const char* name, double ms);
};

Measured empty_one(const char* name, double ms) {
  return measure(name, ms, [] { const auto x = empty({1}); });
}

Measured add_one(const char* name, double ms) {
  const auto x = ones({1}), y = ones({1});
  return measure(name, ms, [&] { const auto z = x + y; });
}

Measured add_backward(const char* name, double ms) {
  const auto x = ones({1}, {.requires_grad = true}), y = ones({1});
  return measure(name, ms, [&] {
    const auto z = x + y;
    z.backward();
    x.set_grad(Tensor());
  });
}

Measured ten_mul_backward(const char* name, double ms) {
  const auto x = ones({1}, {.requires_grad = true});
  return measure(name, ms, [&] {
    auto y = x;
    for (int i = 0; i < 10; ++i) y = y * 1.01;
    y.sum().backward();
    x.set_grad(Tensor());
  });
}

Measured linear_regression(const char* name, double ms) {
  manual_seed(0);
  const auto X = randn({32, 2}), y = randn({32, 1});
  nn::Linear net(2, 1);
  optim::SGD sgd(net.parameters(), {.lr = 0.03});
  return measure(name, ms, [&] {
    sgd.zero_grad();
    mse_loss(net(X), y).backward();
    sgd.step();
  });
}

template <int64_t kBatch>
Measured mlp_step(const char* name, double ms) {
  manual_seed(0);
  nn::Sequential net(nn::Linear(784, 256), nn::ReLU(), nn::Linear(256, 128), nn::ReLU(), nn::Linear(128, 10));
  // So small a rate that thousands of steps on one batch leave every number in its normal range: subnormals would be what is measured.
  optim::Adam adam(net.parameters(), {.lr = 1e-6});
  const auto x = randn({kBatch, 784});
  const auto labels = randint(0, 10, {kBatch});
  return measure(name, ms, [&] {
    adam.zero_grad();
    cross_entropy(net(x), labels).backward();
    adam.step();
  });
}

template <int64_t kSize>
Measured product(const char* name, double ms) {
  const auto a = randn({kSize, kSize}), b = randn({kSize, kSize});
  return measure(name, ms, [&] { const auto c = matmul(a, b); });
}

Measured add_10m(const char* name, double ms) {
  const auto x = randn({10'000'000}), y = randn({10'000'000});
  return measure(name, ms, [&] { const auto z = x + y; });
}

Measured exp_1m(const char* name, double ms) {
  const auto x = randn({1'000'000});
  return measure(name, ms, [&] { const auto z = exp(x); });
}

Measured tanh_1m(const char* name, double ms) {
  const auto x = randn({1'000'000});
  return measure(name, ms, [&] { const auto z = tanh(x); });
}

/// The caller's time for one small operation on a virtual GPU: bursts of 100 are timed, the waiting between them is not.
Measured queue_small(const char* name, double ms) {
  if (!environment("TANDEM_VIRTUAL_GPUS")) cuda::use_virtual_gpus("1");
  constexpr int64_t kBurst = 100;
  const auto x = ones({16}, gpu(0)), y = ones({16}, gpu(0));
  auto body = [&] { const auto z = x + y; };
  std::vector<double> per_call;
  const auto start = std::chrono::steady_clock::now();
  for (int64_t burst = 0;; ++burst) {
    const double ns = time_ns(kBurst, body);
    cuda::synchronize(0);
    const double passed_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    if (passed_ms > ms / 4) per_call.push_back(ns / kBurst);  // the first quarter warms up
    if (passed_ms > ms && per_call.size() >= 3) break;
  }
  return summarize(name, std::move(per_call), kBurst);
}

constexpr Case kCases[] = {
    {"empty", "empty tensor of 1 element", empty_one},
    {"add", "add of 1 element", add_one},
    {"add_backward", "add of 1 element, with backward", add_backward},
    {"ten_mul_backward", "ten multiplications by a scalar and a sum, with backward", ten_mul_backward},
    {"linear_regression", "linear regression step, batch 32", linear_regression},
    {"mlp_128", "MLP 784-256-128-10 Adam step, batch 128", mlp_step<128>},
    {"mlp_8", "MLP 784-256-128-10 Adam step, batch 8", mlp_step<8>},
    {"matmul_256", "matmul 256x256", product<256>},
    {"matmul_1024", "matmul 1024x1024", product<1024>},
    {"add_10m", "add of 10M", add_10m},
    {"exp_1m", "exp of 1M", exp_1m},
    {"tanh_1m", "tanh of 1M", tanh_1m},
    {"queue", "queueing a small operation on a virtual GPU", queue_small},  // last: it makes the GPU
};

std::string known_names() {
  std::string out;
  for (const Case& c : kCases) out += (out.empty() ? "" : ", ") + std::string(c.name);
  return out;
}

}  // namespace

int bench_micro(const BenchMicroOptions& options) {
  for (const auto& name : options.only)
    if (std::none_of(std::begin(kCases), std::end(kCases), [&](const Case& c) { return c.name == name; }))
      fail("micro: there is no case '", name, "'. The cases are ", known_names(), ".");
  if (options.threads < 0) fail("micro: threads must be at least 1, got ", options.threads, ".");
  if (!(options.ms > 0)) fail("micro: ms must be above 0, got ", options.ms, ".");
  if (options.threads > 0) set_num_threads(options.threads);
  std::vector<Measured> results;
  if (!options.json) print_heading();
  for (const Case& c : kCases) {
    if (!options.only.empty() && std::find(options.only.begin(), options.only.end(), c.name) == options.only.end()) continue;
    results.push_back(c.run(c.name, options.ms));
    if (options.json) continue;
    print_row(results.back(), c.what);
  }
  if (options.json) std::cout << to_json("tandem", get_num_threads(), results);
  return 0;
}

}  // namespace tandem::bench
