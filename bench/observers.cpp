#include "bench/observers.h"

#include <algorithm>
#include <iostream>
#include <optional>

#include "base/env.h"
#include "bench/measure.h"
#include "bench/rows.h"
#include "tandem.h"

namespace tandem::bench {
namespace {

constexpr int64_t kCalls = 2000;  // a batch: as many as a queue holds without a wait, and a recording without growing much

enum class Who { Nobody, Ledger, Profiler, Races };

struct Case {
  const char* name;
  const char* what;
  bool on_gpu;
  bool backward;
  Who who;
};

constexpr Case kCases[] = {
    {"add", "addition on the CPU", false, false, Who::Nobody},
    {"add_ledger", "the same, with a ledger", false, false, Who::Ledger},
    {"add_profiler", "with a profiler", false, false, Who::Profiler},
    {"add_races", "with a checker of races", false, false, Who::Races},
    {"add_backward", "addition on the CPU, with backward", false, true, Who::Nobody},
    {"queue", "addition queued on a virtual GPU", true, false, Who::Nobody},
    {"queue_ledger", "the same, with a ledger", true, false, Who::Ledger},
    {"queue_profiler", "with a profiler", true, false, Who::Profiler},
    {"queue_races", "with a checker of races", true, false, Who::Races},
};

/// The caller's time. What watches is made anew for each batch, outside of the timing, as are the waits for the GPU.
Measured measure_with(const Case& c, double ms) {
  const Device device = c.on_gpu ? gpu(0) : Device("cpu");
  const auto x = ones({8}, device).requires_grad_(c.backward), y = ones({8}, device);
  const auto body = [&] {
    const auto z = x + y;
    if (!c.backward) return;
    z.sum().backward();
    x.set_grad(Tensor());
  };
  std::vector<double> per_call;
  const auto start = std::chrono::steady_clock::now();
  for (;;) {
    std::optional<ledger::Recorder> ledger;
    std::optional<profiler::Profile> profile;
    std::optional<races::Checker> checker;
    if (c.who == Who::Ledger) ledger.emplace();
    if (c.who == Who::Profiler) profile.emplace();
    if (c.who == Who::Races) checker.emplace();
    const double ns = time_ns(kCalls, body);
    if (c.on_gpu) cuda::synchronize(device);
    const double passed_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    if (passed_ms > ms / 4) per_call.push_back(ns / kCalls);  // the first quarter warms up
    if (passed_ms > ms && per_call.size() >= 3) break;
  }
  return summarize(c.name, std::move(per_call), kCalls);
}

}  // namespace

int bench_observers(const BenchObserversOptions& options) {
  for (const auto& name : options.only)
    if (std::none_of(std::begin(kCases), std::end(kCases), [&](const Case& c) { return c.name == name; })) {
      std::string known;
      for (const Case& c : kCases) known += (known.empty() ? "" : ", ") + std::string(c.name);
      fail("observers: there is no case '", name, "'. The cases are ", known, ".");
    }
  if (!environment("TANDEM_VIRTUAL_GPUS")) cuda::use_virtual_gpus("1");
  std::vector<Measured> results;
  if (!options.json) print_heading();
  for (const Case& c : kCases) {
    if (!options.only.empty() && std::find(options.only.begin(), options.only.end(), c.name) == options.only.end()) continue;
#ifdef TD_NO_OBSERVERS
    if (c.who != Who::Nobody) continue;
#endif
    results.push_back(measure_with(c, options.ms));
    if (options.json) continue;
    print_row(results.back(), c.what);
  }
  if (options.json) std::cout << to_json("tandem", get_num_threads(), results);
  return 0;
}

}  // namespace tandem::bench
