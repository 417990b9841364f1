#include "bench/work.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bench/machine.h"
#include "bench/measure.h"
#include "bench/rows.h"
#include "bench/work_cases.h"
#include "tandem.h"
#include "tools/command.h"

namespace tandem::bench {
namespace {

using nlohmann::ordered_json;
using tools::UsageError;

std::vector<const WorkCase*> chosen(const std::vector<std::string>& names) {
  std::vector<const WorkCase*> cases;
  for (const WorkCase& c : work_cases())
    if (names.empty() || std::find(names.begin(), names.end(), c.name) != names.end()) cases.push_back(&c);
  for (const std::string& name : names) {
    if (std::any_of(cases.begin(), cases.end(), [&](const WorkCase* c) { return c->name == name; })) continue;
    std::string known;
    for (const WorkCase& c : work_cases()) known += str(known.empty() ? "" : ", ", c.name);
    throw UsageError(str("work: there is no case '", name, "'. There are: ", known));
  }
  return cases;
}

/// The case's weights and data are the same in every process, on every device.
Work make(const WorkCase& c, const BenchWorkOptions& options, Device device) {
  manual_seed(0);
  return c.make(options.batch > 0 ? options.batch : c.batch, device);
}

Measured measure_work(const WorkCase& c, const Work& work, double ms, Device device) {
  return measure(c.name, ms, [&] {
    work.run();
    if (device.is_cuda()) cuda::synchronize(device);
  });
}

/// The most memory that the process has had: VmHWM, as ru_maxrss would count the process that started it, too.
int64_t peak_memory_bytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  int64_t kib = 0;
  while (status >> word)
    if (word == "VmHWM:") status >> kib;
  return kib * 1024;
}

ordered_json document(Device device, const ordered_json& rows) {
  return {{"library", "tandem"},
          {"device", device.str()},
          {"threads", get_num_threads()},
          {"peak_memory_bytes", peak_memory_bytes()},
          {"results", rows}};
}

/// The fastest of some: other work only makes it less.
double peak_gflops() {
  double peak = 0;
  for (int i = 0; i < 5; ++i) peak = std::max(peak, multiply_add_peak(get_num_threads()));
  return peak;
}

void list(const std::vector<const WorkCase*>& cases, const BenchWorkOptions& options, Device device) {
  ordered_json rows = ordered_json::array();
  for (const WorkCase* c : cases) {
    if (options.json) rows.push_back({{"name", c->name}, {"what", c->what}, {"flops", make(*c, options, device).flops()}});
    else std::cout << c->name << "\n";
  }
  if (!options.json) return;
  std::cout << ordered_json{{"threads", get_num_threads()}, {"peak_gflops", peak_gflops()}, {"cases", rows}}.dump(1) << "\n";
}

/// Says "ready" first.
void serve(const WorkCase& c, const BenchWorkOptions& options, Device device) {
  const Work work = make(c, options, device);
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    const ordered_json row = ordered_json::parse(to_json(measure_work(c, work, options.ms, device)));
    std::cout << document(device, ordered_json::array({row})).dump() << std::endl;
  }
}

void save(const std::vector<const WorkCase*>& cases, const BenchWorkOptions& options, Device device) {
  std::filesystem::create_directories(options.save);
  for (const WorkCase* c : cases)
    io::save_safetensors((std::filesystem::path(options.save) / str(c->name, ".safetensors")).string(),
                         make(*c, options, device).answers());
}

}  // namespace

int bench_work(const BenchWorkOptions& options) {
  const auto cases = chosen(options.cases);
  if (options.serve && options.cases.size() != 1) throw UsageError("work: --serve measures one case: name it with --case");
  const Device device = tools::device_named("work", options.device);
  if (options.threads > 0) set_num_threads(options.threads);
  if (options.list) list(cases, options, device);
  else if (!options.save.empty()) save(cases, options, device);
  else if (options.serve) serve(*cases.front(), options, device);
  if (options.list || options.serve || !options.save.empty()) return 0;

  ordered_json rows = ordered_json::array();
  if (!options.json) print_heading();
  for (const WorkCase* c : cases) {
    const Measured measured = measure_work(*c, make(*c, options, device), options.ms, device);
    if (options.json) rows.push_back(ordered_json::parse(to_json(measured)));
    else print_row(measured, c->what);
  }
  if (options.json) std::cout << document(device, rows).dump(1) << "\n";
  return 0;
}

}  // namespace tandem::bench
