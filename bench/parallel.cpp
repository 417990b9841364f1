// Every number of GPUs is measured in one process on the same devices, in turn forwards and backwards, so that what slows the machine down
// for a while slows all of them. bench/parallel.py sets processes of their own beside it.
#include "bench/parallel.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/link_model.h"
#include "bench/measure.h"
#include "bench/parallel_cases.h"
#include "bench/parallel_moves.h"
#include "bench/parallel_text.h"
#include "tandem.h"
#include "tools/command.h"

namespace tandem::bench {
namespace {

using nlohmann::ordered_json;
using tools::UsageError;

constexpr const char* kOverlap = "overlap";
constexpr const char* kCollectives = "collectives";
constexpr const char* kModel = "model";

void say(const std::string& text) {
  if (isatty(STDERR_FILENO)) std::cerr << "\r\033[K" << text << std::flush;
}

/// How far the measuring is: a line that is drawn over itself, on a terminal only.
class Progress {
 public:
  Progress(std::string name, int steps) : name_(std::move(name)), steps_(steps) { draw(); }
  ~Progress() { say(""); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void advance() {
    ++done_;
    draw();
  }

 private:
  void draw() const {
    constexpr int kWidth = 20;
    const int filled = kWidth * done_ / std::max(steps_, 1);
    say(str(name_, " [", std::string(static_cast<size_t>(filled), '#'), std::string(static_cast<size_t>(kWidth - filled), '.'), "] ", done_,
            "/", steps_));
  }
  std::string name_;
  int steps_, done_ = 0;
};

std::string known_names() {
  std::string names;
  for (const ParallelCase& c : parallel_cases()) names += str(c.name, ", ");
  return names + kOverlap + ", " + kCollectives + ", " + kModel;
}

bool is_case(const std::string& name) {
  const auto cases = parallel_cases();
  return std::any_of(cases.begin(), cases.end(), [&](const ParallelCase& c) { return name == c.name; });
}

/// One number of devices: its work, how many steps a measurement is, and what came out.
struct Side {
  std::vector<Device> devices;
  ParallelWork work;
  int64_t steps = 1;
  std::vector<double> per_second{};

  [[nodiscard]] double measure() const {
    auto step = [&] { work.step(); };
    auto all = [&] {
      (void)time_ns(steps, step);
      wait_for(devices);
    };
    return work.units * static_cast<double>(steps) * 1e9 / time_ns(1, all);
  }
};

/// The work on the first `gpus` devices, warmed up, and as many steps a measurement as take `ms`.
Side prepare(const ParallelCase& c, int gpus, const ParallelSizes& sizes, double ms) {
  Side side;
  for (int i = 0; i < gpus; ++i) side.devices.push_back(gpu(i));
  manual_seed(0);
  side.work = c.make(side.devices, sizes);
  (void)side.measure();
  const double step_ms = side.work.units * 1e3 / side.measure();
  side.steps = std::max<int64_t>(1, static_cast<int64_t>(ms / step_ms));
  return side;
}

ordered_json figures(const ParallelCase& c, const Side& side, const Side& first) {
  const auto [lowest, highest] = std::minmax_element(side.per_second.begin(), side.per_second.end());
  const auto median_of = [](const Side& s) { return summarize("", s.per_second, 1).ns; };
  const double speed_up = median_of(side) / median_of(first),
               times = static_cast<double>(side.devices.size()) / static_cast<double>(first.devices.size());
  return {{"name", c.name},           {"gpus", side.devices.size()},
          {"batch", side.work.batch}, {"unit", c.unit},
          {"per_s", median_of(side)}, {"lowest", *lowest},
          {"highest", *highest},      {"runs", side.per_second},
          {"speed_up", speed_up},     {"efficiency", speed_up / times}};
}

/// All numbers of GPUs for one case.
ordered_json measure_case(const ParallelCase& c, const BenchParallelOptions& options, const ParallelSizes& sizes) {
  std::vector<Side> sides;
  Progress progress(c.name, static_cast<int>(options.gpus.size()) * (1 + 2 * options.rounds));
  for (const int gpus : options.gpus) {
    sides.push_back(prepare(c, gpus, sizes, options.ms));
    progress.advance();
  }
  const auto measure = [&](Side& side) {
    side.per_second.push_back(side.measure());
    progress.advance();
  };
  for (int round = 0; round < options.rounds; ++round) {
    std::for_each(sides.begin(), sides.end(), measure);
    std::for_each(sides.rbegin(), sides.rend(), measure);
  }
  ordered_json rows = ordered_json::array();
  for (const Side& side : sides) rows.push_back(figures(c, side, sides.front()));
  return rows;
}

/// Answers each line of standard input, a number of GPUs, with a line: the rate there. Says "ready" first.
int serve(const ParallelCase& c, const BenchParallelOptions& options, const ParallelSizes& sizes) {
  std::map<int, Side> sides;
  for (const int gpus : options.gpus) sides.emplace(gpus, prepare(c, gpus, sizes, options.ms));
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    const auto side = std::find_if(sides.begin(), sides.end(), [&](const auto& each) { return line == str(each.first); });
    if (side == sides.end()) throw UsageError(str("parallel: --serve was asked for '", line, "' GPUs, which is not among --gpus"));
    std::cout << ordered_json{{"gpus", side->first}, {"per_s", side->second.measure()}, {"batch", side->second.work.batch}}.dump()
              << std::endl;
  }
  return 0;
}

double given_rate(const BenchParallelOptions& options, const std::string& name) {
  for (const std::string& rate : options.rates)
    if (rate.starts_with(name + "=")) return std::stod(rate.substr(name.size() + 1));
  return 0;
}

void check_rates(const BenchParallelOptions& options) {
  for (const std::string& rate : options.rates) {
    const size_t at = rate.find('=');
    char* end = nullptr;
    const double value = at == std::string::npos ? 0 : std::strtod(rate.c_str() + at + 1, &end);
    if (at == std::string::npos || *end != '\0' || !(value > 0) || !is_case(rate.substr(0, at)))
      throw UsageError(str("parallel: --rate '", rate, "' is not CASE=IMAGES like densenet121=288. The cases are ", known_names()));
  }
}

/// What the model makes of one GPU's rate, given or among the rows that were measured.
ordered_json model(const ordered_json& results, const BenchParallelOptions& options) {
  ordered_json rows = ordered_json::array();
  for (const std::string& name : options.links)
    for (const ParallelCase& c : parallel_cases()) {
      double rate = given_rate(options, c.name), batch = static_cast<double>(options.batch > 0 ? options.batch : c.batch);
      const bool given = rate > 0;
      for (const ordered_json& one : results)
        if (!given && one["name"] == c.name && one["gpus"] == 1) {
          rate = one["per_s"].get<double>();
          batch = one["batch"].get<double>();
        }
      if (rate <= 0 || c.parameters == 0) continue;
      const Link link = link_named(name);
      const Modelled m = modelled(link, batch / rate * 1e9, c.parameters);
      const auto per_s = [&](double ns) { return batch * link.count * 1e9 / ns; };
      rows.push_back({{"link", name},
                      {"name", c.name},
                      {"gpus", link.count},
                      {"batch", batch},
                      {"one_per_s", rate},
                      {"measured_here", !given},
                      {"reduce_ms", m.reduce_ns / 1e6},
                      {"in_turn_per_s", per_s(m.in_turn_ns)},
                      {"in_turn_efficiency", m.compute_ns / m.in_turn_ns},
                      {"overlapped_per_s", per_s(m.overlapped_ns)},
                      {"overlapped_efficiency", m.compute_ns / m.overlapped_ns}});
    }
  return rows;
}

/// Checks what was asked for, and that the GPUs are there.
void check(BenchParallelOptions& options) {
  for (const std::string& name : options.only)
    if (!is_case(name) && name != kOverlap && name != kCollectives && name != kModel)
      throw UsageError(str("parallel: there is no case '", name, "'. There are: ", known_names()));
  if (!options.serve.empty() && !is_case(options.serve))
    throw UsageError(str("parallel: --serve '", options.serve, "': there is no such case. There are: ", known_names()));
  for (const std::string& link : options.links) (void)link_named(link);
  check_rates(options);
  std::sort(options.gpus.begin(), options.gpus.end());
  options.gpus.erase(std::unique(options.gpus.begin(), options.gpus.end()), options.gpus.end());
  if (options.gpus.empty() || options.gpus.front() < 1) throw UsageError("parallel: --gpus needs numbers from 1 on");
}

}  // namespace

int bench_parallel(BenchParallelOptions options) {
  check(options);
  if (options.quick) {
    options.rounds = 1;
    options.ms = std::min(options.ms, 50.0);
    options.size = std::min<int64_t>(options.size, 32);
    if (options.batch == 0) options.batch = 2;
  }
  if (options.only == std::vector<std::string>{kModel}) {  // it needs no GPU
    const ordered_json rows = model({}, options);
    if (options.json) std::cout << ordered_json{{"modelled", rows}}.dump(1) << "\n";
    else print_model(rows, options.links);
    return 0;
  }
  const int most = options.gpus.back();
  if (cuda::device_count() < most)
    throw UsageError(str("parallel: --gpus asks for ", most, ", but there are ", cuda::device_count(), " GPUs: TANDEM_VIRTUAL_GPUS=", most,
                         " makes virtual ones"));
  const cuda::DeviceProperties& properties = cuda::get_device_properties(0);
  const ParallelSizes sizes{options.batch, options.size, options.quick ? 64 : properties.is_virtual ? 1000 : 8192, properties.is_virtual};
  const auto wanted = [&](const std::string& name) {
    return options.only.empty() || std::find(options.only.begin(), options.only.end(), name) != options.only.end();
  };
  for (const ParallelCase& c : parallel_cases())
    if (options.serve == c.name) return serve(c, options, sizes);

  if (!options.json)
    std::cout << most << " x " << properties.name << ", each with " << properties.multi_processor_count
              << (properties.is_virtual ? " threads" : " multiprocessors") << std::endl;
  ordered_json results = ordered_json::array(), moves = ordered_json::array();
  for (const ParallelCase& c : parallel_cases()) {
    if (!wanted(c.name)) continue;
    const ordered_json rows = measure_case(c, options, sizes);
    if (!options.json) print_cases(rows);
    results.insert(results.end(), rows.begin(), rows.end());
  }
  ordered_json document = {
      {"library", "tandem"}, {"device", properties.name}, {"threads", get_num_threads()}, {"quick", options.quick}, {"results", results}};
  if (wanted(kOverlap)) {
    say(kOverlap);
    const Overlap o = measure_overlap(gpu(0), options.quick ? 64 : 1024, options.rounds);
    say("");
    if (!options.json) print_overlap(o);
    document["overlap"] = {{"products", o.products},    {"inner", o.inner},           {"run_ms", o.run_ms},
                           {"copy_ms", o.copy_ms},      {"in_turn_ms", o.in_turn_ms}, {"overlapped_ms", o.overlapped_ms},
                           {"of_longer", o.of_longer()}};
  }
  if (wanted(kCollectives)) {
    const std::vector<int64_t> bytes =
        options.quick ? std::vector<int64_t>{4, 4096} : std::vector<int64_t>{4, 64 << 10, 1 << 20, 16 << 20, 64 << 20};
    for (const int gpus : options.gpus) {
      if (gpus == 1) continue;
      say(str(kCollectives, " on ", gpus, " GPUs"));
      std::vector<Device> devices;
      for (int i = 0; i < gpus; ++i) devices.push_back(gpu(i));
      const std::vector<Moved> rows = measure_moves(devices, bytes, std::min(options.ms, 200.0));
      say("");
      if (!options.json) print_moves(rows);
      for (const Moved& row : rows)
        moves.push_back({{"name", row.name},
                         {"gpus", row.gpus},
                         {"bytes", row.bytes},
                         {"ns", row.ns},
                         {"gb_per_s", row.gb_per_s},
                         {"limit_gb_per_s", row.limit}});
    }
    document["collectives"] = moves;
  }
  if (!options.links.empty()) {
    const ordered_json rows = model(results, options);
    if (!options.json) print_model(rows, options.links);
    document["modelled"] = rows;
  }
  if (options.json) std::cout << document.dump(1) << "\n";
  return 0;
}

}  // namespace tandem::bench
