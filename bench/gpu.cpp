// The cases that bench/gpu/bench.py has for PyTorch, name by name. A case queues its work, ten times, and waits once: a GPU computes while
// the next calls are queued.
#include "bench/gpu.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/gpu_work.h"
#include "bench/measure.h"
#include "models/models.h"
#include "tools/command.h"

namespace tandem::bench {
namespace {

using tools::device_named;
using tools::UsageError;

using Work = GpuWork;
using Case = GpuCase;

constexpr int64_t kCopied = 64 << 20;

Work copy_to(Device device, int64_t shrink) {
  const Tensor from = zeros({kCopied / shrink}, {.dtype = kUInt8}).pin_memory(),
               to = empty({kCopied / shrink}, {.dtype = kUInt8, .device = device});
  return {[=] { to.copy_(from, true); }, static_cast<double>(from.nbytes())};
}
Work copy_from(Device device, int64_t shrink) {
  const Tensor from = zeros({kCopied / shrink}, {.dtype = kUInt8, .device = device}),
               to = empty({kCopied / shrink}, {.dtype = kUInt8}).pin_memory();
  return {[=] { to.copy_(from, true); }, static_cast<double>(from.nbytes())};
}
Work copy_within(Device device, int64_t shrink) {
  const Tensor from = zeros({4 * kCopied / shrink}, {.dtype = kUInt8, .device = device}), to = empty_like(from);
  return {[=] { to.copy_(from); }, 2.0 * static_cast<double>(from.nbytes())};
}

template <DType dtype>
Work product(Device device, int64_t shrink) {
  const int64_t n = std::max<int64_t>(4096 / shrink, 8);
  const Tensor a = randn({n, n}, {.device = device}).to(dtype), b = randn({n, n}, {.device = device}).to(dtype);
  return {[=] { const Tensor c = matmul(a, b); }, 0, 2.0 * double(n) * double(n) * double(n)};
}

/// One step of training; the network and its optimizer live as long as the case.
template <class Optimizer, class Options>
Work step_of(const nn::Sequential& net, const Options& options, const Tensor& x, int64_t classes, Device device) {
  struct State {
    nn::Sequential net;
    std::unique_ptr<Optimizer> optimizer;
  };
  const auto state = std::make_shared<State>(State{net, nullptr});
  state->net.to(device);
  state->optimizer = std::make_unique<Optimizer>(state->net.parameters(), options);
  const Tensor labels = randint(0, classes, {x.size(0)}, {.device = device});
  return {[=] {
    state->optimizer->zero_grad();
    cross_entropy(state->net(x), labels).backward();
    state->optimizer->step();
  }};
}

template <int64_t kBatch>
Work mlp(Device device, int64_t) {
  const nn::Sequential net(nn::Linear(784, 256), nn::ReLU(), nn::Linear(256, 128), nn::ReLU(), nn::Linear(128, 10));
  return step_of<optim::Adam>(net, optim::AdamOptions{.lr = 1e-6}, randn({kBatch, 784}, {.device = device}), 10, device);
}
/// The same, captured once and replayed.
template <int64_t kBatch>
Work mlp_graph(Device device, int64_t shrink) {
  if (!device.is_cuda()) return {};
  const Work step = mlp<kBatch>(device, shrink);
  for (int i = 0; i < 3; ++i) step.run();  // what a capture cannot make is made here
  cuda::Graph graph;
  const cuda::DeviceGuard current(device);
  cuda::graph(graph, step.run);
  return {[=]() mutable { graph.replay(); }};
}
Work cifar(Device device, int64_t shrink) {
  const int64_t batch = std::max<int64_t>(64 / shrink, 1);
  return step_of<optim::SGD>(models::cifar_cnn(), optim::SGDOptions{.lr = 1e-4, .momentum = 0.9},
                             randn({batch, 3, 32, 32}, {.device = device}), 10, device);
}
Work resnet18(Device device, int64_t shrink) {
  const int64_t batch = std::max<int64_t>(256 / shrink, 1);
  return step_of<optim::SGD>(models::d2l_resnet18(), optim::SGDOptions{.lr = 1e-4}, randn({batch, 1, 28, 28}, {.device = device}), 10,
                             device);
}

constexpr Case kOwnCases[] = {
    {"copy_to", "64 MiB of pinned memory to the GPU", copy_to},
    {"copy_from", "64 MiB from the GPU to pinned memory", copy_from},
    {"copy_within", "256 MiB within the GPU's memory", copy_within},
    {"matmul_4096", "matmul 4096x4096, float32", product<kFloat32>},
    {"matmul_4096_bf16", "matmul 4096x4096, bfloat16", product<kBFloat16>},
    {"mlp_8", "MLP 784-256-128-10 Adam step, batch 8", mlp<8>},
    {"mlp_128", "MLP 784-256-128-10 Adam step, batch 128", mlp<128>},
    {"mlp_8_graph", "the first of them as a graph", mlp_graph<8>},
    {"mlp_128_graph", "the second of them as a graph", mlp_graph<128>},
    {"cifar_cnn", "CIFAR-10 network, SGD step, batch 64", cifar},
    {"resnet18", "ResNet-18 of Dive into Deep Learning, SGD step, batch 256", resnet18},
};

std::vector<Case> all_cases() {
  std::vector<Case> cases(std::begin(kOwnCases), std::end(kOwnCases));
  for (const Case& c : gpu_kernel_cases()) cases.push_back(c);
  return cases;
}

std::string rate_text(const Work& work, double ns) {
  char text[32] = "";
  if (work.bytes > 0) std::snprintf(text, sizeof text, "%.1f GB/s", work.bytes / ns);
  if (work.flops > 0) std::snprintf(text, sizeof text, "%.2f TFLOP/s", work.flops / ns / 1e3);
  return text;
}

}  // namespace

int bench_gpu(const BenchGpuOptions& options) {
  const std::vector<Case> cases = all_cases();
  for (const std::string& name : options.only) {
    if (std::any_of(cases.begin(), cases.end(), [&](const Case& c) { return c.name == name; })) continue;
    std::string known;
    for (const Case& c : cases) known += str(known.empty() ? "" : ", ", c.name);
    throw UsageError(str("gpu: there is no case '", name, "'. There are: ", known));
  }
  const Device device = device_named("gpu", options.device);
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  if (!options.json) std::cout << "case                  median  rate           what" << std::endl;
  for (const Case& c : cases) {
    if (!options.only.empty() && std::find(options.only.begin(), options.only.end(), c.name) == options.only.end()) continue;
    manual_seed(0);
    const Work work = c.make(device, options.shrink);
    if (!work.run) continue;
    constexpr int kQueued = 10;
    const Measured measured = measure(c.name, options.ms, [&] {
      for (int i = 0; i < kQueued; ++i) work.run();
      if (device.is_cuda()) cuda::synchronize(device);
    });
    const double ns = measured.ns / kQueued;
    if (options.json) {
      rows.push_back({{"name", c.name}, {"ns", ns}, {"best_ns", measured.best_ns / kQueued}});
      continue;
    }
    char line[160];
    std::snprintf(line, sizeof line, "%-18s %10s  %-14s %s", c.name, readable(ns).c_str(), rate_text(work, ns).c_str(), c.what);
    std::cout << line << std::endl;
  }
  if (options.json)
    std::cout << nlohmann::ordered_json{{"library", "tandem"},
                                        {"device", device.is_cuda() ? cuda::get_device_properties(device).name : device.str()},
                                        {"shrink", options.shrink},
                                        {"results", rows}}
                     .dump(1)
              << "\n";
  return 0;
}

}  // namespace tandem::bench
