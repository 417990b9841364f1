// The operations are those of tests/cases, which the tests check. docs/benchmarks.md says how it measures.
#include "bench/ops.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "bench/machine.h"
#include "bench/measure.h"
#include "cases/case.h"
#include "runtime/launch.h"
#include "tandem.h"
#include "tools/command.h"
#include "tools/did_you_mean.h"
#include "train/terminal.h"

namespace tandem::bench {
namespace {

using tools::device_named;
using tools::did_you_mean;
using tools::UsageError;

using cases::Argument;
using cases::Arguments;
using cases::Operation;
using cases::Sample;

struct Figures {
  Measured time;
  size_t in = 0, out = 0;               // bytes
  double flops = 0;                     // 0: bytes count
  std::optional<double> share;          // of what the machine can do
  std::optional<double> plain_loop_ns;  // of a plain loop that computes the same

  /// GB/s or GFLOP/s.
  [[nodiscard]] double rate() const { return (flops > 0 ? flops : double(in + out)) / time.ns; }
};

/// Calls of an operation that are measured besides its usual one.
const std::vector<Operation>& variants() {
  static const std::vector<Operation> all = [] {
    Operation row = *cases::find_operation("add"), column = row;
    row.name = "add_row";
    row.bench = [](int64_t) { return Sample{{Argument(randn({100, 1000})), Argument(randn({1000}))}}; };
    column.name = "add_column";
    column.bench = [](int64_t) { return Sample{{Argument(randn({100, 1000})), Argument(randn({100, 1}))}}; };
    return std::vector<Operation>{std::move(row), std::move(column)};
  }();
  return all;
}

std::vector<const Operation*> chosen(const std::vector<std::string>& names) {
  std::vector<const Operation*> out;
  if (names.empty()) {
    for (const Operation& operation : cases::operations())
      if (operation.bench) out.push_back(&operation);
    for (const Operation& operation : variants()) out.push_back(&operation);
    return out;
  }
  for (const std::string& name : names) {
    const Operation* operation = cases::find_operation(name);
    for (const Operation& variant : variants())
      if (variant.name == name) operation = &variant;
    if (!operation) {
      std::vector<std::string> known;
      for (const Operation& other : cases::operations())
        if (other.bench) known.push_back(other.name);
      for (const Operation& variant : variants()) known.push_back(variant.name);
      throw UsageError(str("ops: there is no operation '", name, "'", did_you_mean(name, known), "; --list names them all"));
    }
    if (!operation->bench) throw UsageError(str("ops: '", name, "' is a view: it moves no element, so there is nothing to measure"));
    out.push_back(operation);
  }
  return out;
}

/// How far the machine's own loops get, measured once for each amount of work.
class Machine {
 public:
  explicit Machine(Device device) : device_(device) {
    real_gpu_ = device.is_cuda() && !cuda::get_device_properties(device).is_virtual;
    threads_ = device.is_cuda() ? std::max(1, cuda::get_device_properties(device).multi_processor_count) : get_num_threads();
  }
  /// Nanoseconds of a plain loop over the same bytes; on a real GPU, of the driver's own copy.
  double loop_ns(size_t in, size_t out) {
    double& ns = loops_[{in, out}];
    if (ns == 0) ns = real_gpu_ ? copy_ns((in + out) / 2) : plain_loop_ns(in, out, threads_);
    return ns;
  }
  /// Nanoseconds of a plain loop that computes the same of the same floats; none on a real GPU, and of what is no such function.
  [[nodiscard]] std::optional<double> function_ns(const std::string& name, const Arguments& arguments) const {
    std::vector<const float*> operands;
    int64_t n = 0;
    for (const Argument& argument : arguments) {
      if (!argument.is_tensor()) continue;
      const Tensor x = argument.as<Tensor>();
      if (x.dtype() != kFloat32 || !x.is_contiguous() || (!operands.empty() && x.numel() != n)) return {};
      operands.push_back(x.data_ptr<float>());
      n = x.numel();
    }
    if (real_gpu_ || operands.empty()) return {};
    return function_loop_ns(name, operands, n, threads_);
  }
  /// Operations a nanosecond; none on a real GPU, which has no such loop yet.
  std::optional<double> flops_per_ns() {
    if (real_gpu_) return {};
    if (peak_ == 0) peak_ = multiply_add_peak(threads_);
    return peak_;
  }

 private:
  double copy_ns(size_t bytes) const {
    const Tensor from = zeros({static_cast<int64_t>(bytes)}, {.dtype = kUInt8, .device = device_}), to = empty_like(from);
    constexpr int kCopies = 20;
    return measure("", 60,
                   [&] {
                     for (int i = 0; i < kCopies; ++i)
                       runtime::copy_bytes(to.impl().data, device_, false, from.impl().data, device_, false, bytes, true, "bench",
                                           Site::here());
                     cuda::synchronize(device_);
                   })
               .ns /
           kCopies;
  }

  Device device_;
  bool real_gpu_ = false;
  int threads_ = 1;
  double peak_ = 0;
  std::map<std::pair<size_t, size_t>, double> loops_;
};

Figures measure_operation(const Operation& operation, const BenchOpsOptions& options, Device device, Machine& machine) {
  manual_seed(0);
  Figures figures;
  const Sample sample = operation.bench(options.size);
  Arguments arguments;
  for (const Argument& argument : sample.arguments)
    arguments.push_back(argument.map([&](const Tensor& x) {
      figures.in += x.nbytes();
      return x.to(device);
    }));
  for (const Tensor& result : operation.timed(arguments)) figures.out += result.nbytes();
  if (device.is_cuda()) {
    // A GPU works while the next calls are queued; the waiting is shared by some of them.
    constexpr int kQueued = 10;
    figures.time = measure(operation.name, options.ms, [&] {
      for (int i = 0; i < kQueued; ++i) (void)operation.timed(arguments);
      cuda::synchronize(device);
    });
    figures.time.ns /= kQueued;
    figures.time.best_ns /= kQueued;
    figures.time.batch *= kQueued;
  } else {
    figures.time = measure(operation.name, options.ms, [&] { (void)operation.timed(arguments); });
  }
  if (operation.flops) {
    figures.flops = operation.flops(arguments);
    if (const auto peak = machine.flops_per_ns()) figures.share = figures.rate() / *peak;
  } else {
    figures.share = machine.loop_ns(figures.in, figures.out) / figures.time.ns;
    figures.plain_loop_ns = machine.function_ns(operation.name, sample.arguments);
  }
  return figures;
}

nlohmann::json to_document(const Figures& f) {
  nlohmann::json row = {{"name", f.time.name},   {"ns", f.time.ns},  {"best_ns", f.time.best_ns}, {"batches", f.time.batches},
                        {"batch", f.time.batch}, {"bytes_in", f.in}, {"bytes_out", f.out}};
  if (f.flops > 0) row["gflops"] = f.rate();
  else row["gb_per_s"] = f.rate();
  row["share_of_peak"] = f.share ? nlohmann::json(*f.share) : nlohmann::json(nullptr);
  if (f.plain_loop_ns) row["plain_loop_ns"] = *f.plain_loop_ns;
  return row;
}

std::string to_line(const Figures& f) {
  char share[16] = "-", plain[16] = "", line[176];
  if (f.share) std::snprintf(share, sizeof share, "%.0f%%", 100 * *f.share);
  if (f.plain_loop_ns) std::snprintf(plain, sizeof plain, "%12.2fx", *f.plain_loop_ns / f.time.ns);
  std::snprintf(line, sizeof line, "%-24s %10s %9.1f %-7s %8s%s", f.time.name.c_str(), readable(f.time.ns).c_str(), f.rate(),
                f.flops > 0 ? "GFLOP/s" : "GB/s", share, plain);
  return line;
}

}  // namespace

int bench_ops(const BenchOpsOptions& options) {
  const auto operations = chosen(options.names);
  if (options.list) {
    for (const Operation* operation : operations) std::cout << operation->name << "\n";
    return 0;
  }
  const Device device = device_named("ops", options.device);
  if (options.threads > 0) set_num_threads(options.threads);
  Machine machine(device);
  const bool progress = train::terminal_of(2).interactive;
  nlohmann::json rows = nlohmann::json::array();
  if (!options.json) std::cout << "operation                      time      rate           of peak   plain loop" << std::endl;
  for (size_t i = 0; i < operations.size(); ++i) {
    if (progress) std::cerr << "\r\033[K" << operations[i]->name << " (" << i + 1 << " of " << operations.size() << ")" << std::flush;
    const Figures figures = measure_operation(*operations[i], options, device, machine);
    if (progress) std::cerr << "\r\033[K" << std::flush;
    if (options.json) rows.push_back(to_document(figures));
    else std::cout << to_line(figures) << std::endl;
  }
  if (options.json)
    std::cout << nlohmann::json{{"library", "tandem"},
                                {"device", device.str()},
                                {"threads", get_num_threads()},
                                {"size", options.size},
                                {"results", rows}}
                     .dump(1)
              << "\n";
  return 0;
}

}  // namespace tandem::bench
