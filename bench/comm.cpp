// Every rank calls this with the same options. bench/comm.py starts them, and the peers beside them.
#include "bench/comm.h"

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "bench/measure.h"
#include "bench/rows.h"
#include "comm/api/distributed.h"
#include "tandem.h"
#include "tools/command.h"

namespace tandem::bench {
namespace {

/// The first rank's number, on every rank.
double agreed(double number) {
  const Tensor t = full({1}, number, {.dtype = kFloat64});
  distributed::broadcast(t, 0);
  return t.item<double>();
}

template <int64_t kBytes>
Measured all_reduce(const char* name, double ms) {
  const Tensor t = zeros({kBytes / 4});
  return measure_together(
      name, ms, [&] { distributed::all_reduce(t); }, agreed);
}

/// 784-256-128-10, 64 samples a rank, the ranks' gradients averaged while backward runs.
Measured mlp(const char* name, double ms) {
  manual_seed(0);
  auto net = models::mlp({784, 256, 128, 10});
  parallel::DistributedDataParallel ddp(net);
  optim::SGD sgd(net.parameters(), {.lr = 1e-6});
  const Tensor x = randn({64, 784}), labels = randint(0, 10, {64});
  return measure_together(
      name, ms,
      [&] {
        sgd.zero_grad();
        cross_entropy(ddp(x), labels).backward();
        sgd.step();
      },
      agreed);
}

struct Case {
  const char* name;
  const char* what;
  Measured (*run)(const char* name, double ms);
};

constexpr Case kCases[] = {
    {"all_reduce_4", "blocking all_reduce of 4 B", all_reduce<4>},
    {"all_reduce_1m", "blocking all_reduce of 1 MB", all_reduce<1'000'000>},
    {"all_reduce_16m", "blocking all_reduce of 16 MB", all_reduce<16'000'000>},
    {"mlp", "data-parallel MLP 784-256-128-10 SGD step, 64 samples a rank", mlp},
};

std::string known_names() {
  std::string out;
  for (const Case& c : kCases) out += (out.empty() ? "" : ", ") + std::string(c.name);
  return out;
}

}  // namespace

int bench_comm(const BenchCommOptions& options) {
  for (const std::string& name : options.only)
    if (std::none_of(std::begin(kCases), std::end(kCases), [&](const Case& c) { return c.name == name; }))
      throw tools::UsageError(str("comm: there is no case '", name, "'. There are: ", known_names()));
  set_num_threads(options.threads);
  distributed::init_process_group(options.backend, {.init_method = options.meet});
  const bool first = distributed::get_rank() == 0;
  std::vector<Measured> results;
  if (first && !options.json) print_heading();
  for (const Case& c : kCases) {
    if (!options.only.empty() && std::find(options.only.begin(), options.only.end(), c.name) == options.only.end()) continue;
    results.push_back(c.run(c.name, options.ms));
    if (!first || options.json) continue;
    print_row(results.back(), c.what);
  }
  if (first && options.json) std::cout << to_json("tandem " + distributed::get_backend(), options.threads, results);
  distributed::destroy_process_group();
  return 0;
}

}  // namespace tandem::bench
