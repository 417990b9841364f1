// `tandem devices`: what there is to compute on, as a table or as JSON.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cgroup.h"
#include "base/env.h"
#include "base/format.h"
#include "base/json_text.h"
#include "base/parallel.h"
#include "kernels/cpu/instruction_set.h"
#include "ops/creation.h"
#include "runtime/device.h"
#include "runtime/libraries.h"
#include "runtime/monitor.h"
#include "tensor/tensor.h"
#include "tools/program.h"

namespace tandem::tools {
namespace {

using nlohmann::ordered_json;

/// The first value of that name in a file of /proc; empty where it has none.
std::string system_value(const char* file, std::string_view name) {
  std::ifstream info(file);
  for (std::string line; std::getline(info, line);)
    if (line.starts_with(name)) {
      const auto at = line.find(':');
      const auto value = at == std::string::npos ? at : line.find_first_not_of(" \t", at + 1);
      return value == std::string::npos ? "" : line.substr(value);
    }
  return "";
}
std::string cpu_name() { return system_value("/proc/cpuinfo", "model name"); }

/// MHz, of the first core now; 0 where the system does not tell.
int cpu_clock() { return static_cast<int>(std::strtod(system_value("/proc/cpuinfo", "cpu MHz").c_str(), nullptr)); }

/// Bytes that programs could get.
size_t free_host_memory() {
  return static_cast<size_t>(std::strtoull(system_value("/proc/meminfo", "MemAvailable").c_str(), nullptr, 10)) << 10;
}

/// Of the kernels: what TANDEM_ISA asks for, else the best that the processor has.
std::string instruction_set() { return kernels::cpu::wanted_instruction_set(environment("TANDEM_ISA")).name; }

/// MHz; nothing where the GPU or NVIDIA's management library does not tell.
std::optional<int> gpu_clock(int device) {
  try {
    return cuda::clock_rate(device);
  } catch (const Error&) {
    return {};
  }
}

std::string gib(size_t bytes) {
  const auto size = static_cast<double>(bytes);
  return bytes >= size_t{1} << 30 ? detail::formatted("%.1f GiB", size / (1 << 30)) : detail::formatted("%.0f MiB", size / (1 << 20));
}

std::vector<int> peers_of(int device) {
  std::vector<int> peers;
  for (int other = 0; other < cuda::device_count(); ++other)
    if (other != device && cuda::can_device_access_peer(device, other)) peers.push_back(other);
  return peers;
}

/// How fast bytes go from one device to another, in 10^9 bytes a second.
struct Link {
  Device from, to;
  double speed = 0;
};

/// The best of a few copies, of page-locked memory on the host's side. Error where a device lacks the memory for it.
Link measure(Device from, Device to) {
  constexpr int64_t kBytes = int64_t{16} << 20;
  constexpr int kCopies = 5;
  const auto memory = [](Device device) {
    return empty({kBytes}, {.dtype = kUInt8, .device = device, .pin_memory = device.is_cpu()}).fill_(1);
  };
  const Tensor source = memory(from), target = memory(to);
  const auto finish = [&] {
    for (const Device device : {from, to})
      if (device.is_cuda()) cuda::synchronize(device);
  };
  double best = 0;
  for (int i = 0; i < kCopies; ++i) {
    finish();
    const auto began = std::chrono::steady_clock::now();
    target.copy_(source, true);
    finish();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    best = std::max(best, static_cast<double>(kBytes) / seconds / 1e9);
  }
  return {from, to, best};
}

/// Between the host and each GPU, and each two GPUs, both ways.
std::vector<Link> measure_links() {
  std::vector<Device> devices = {cpu()};
  for (int device = 0; device < cuda::device_count(); ++device) devices.push_back(gpu(device));
  std::vector<Link> links;
  for (const Device from : devices)
    for (const Device to : devices)
      if (from != to) links.push_back(measure(from, to));
  return links;
}

ordered_json describe() {
  ordered_json devices = ordered_json::array();
  devices.push_back({{"device", "cpu"},
                     {"name", cpu_name()},
                     {"total_memory", detail::machine_memory()},
                     {"free_memory", free_host_memory()},
                     {"cores", sysconf(_SC_NPROCESSORS_ONLN)},
                     {"threads", get_num_threads()},
                     {"clock_mhz", cpu_clock()},
                     {"instruction_set", instruction_set()},
                     {"virtual", false}});
  for (int device = 0; device < cuda::device_count(); ++device) {
    const cuda::DeviceProperties& properties = cuda::get_device_properties(device);
    ordered_json peers = ordered_json::array();
    for (const int peer : peers_of(device)) peers.push_back(gpu(peer).str());
    devices.push_back({{"device", gpu(device).str()},
                       {"name", properties.name},
                       {"uuid", properties.uuid},
                       {"total_memory", properties.total_memory},
                       {"free_memory", cuda::mem_get_info(device).first},
                       {"multi_processor_count", properties.multi_processor_count},
                       {"clock_mhz", gpu_clock(device) ? ordered_json(*gpu_clock(device)) : ordered_json(nullptr)},
                       {"compute_capability", str(properties.major, ".", properties.minor)},
                       {"virtual", properties.is_virtual},
                       {"peers", std::move(peers)}});
  }
  return devices;
}

ordered_json describe_libraries() {
  ordered_json libraries = ordered_json::array();
  for (const cuda::Library& library : cuda::libraries()) {
    ordered_json one = {{"library", library.name}, {"used", library.why.empty()}, {"version", library.version}, {"file", library.file}};
    if (!library.why.empty()) one["why"] = library.why;
    libraries.push_back(std::move(one));
  }
  return libraries;
}

using Row = std::vector<std::string>;

/// Columns as wide as their widest entry, two spaces between them.
void print_table(const std::vector<Row>& rows) {
  std::vector<size_t> widths(rows[0].size(), 0);
  for (const Row& row : rows)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) line += row[i] + std::string(i + 1 < row.size() ? widths[i] - row[i].size() + 2 : 0, ' ');
    std::cout << line << '\n';
  }
}

std::string speed_text(double speed) { return detail::formatted("%.1f", speed); }

/// A row for each device that bytes come from, a column for each that they go to.
void print_links(const std::vector<Link>& links) {
  std::vector<Row> rows = {{"GB/s from"}};
  for (const Link& link : links) {
    if (rows.back()[0] != link.from.str()) rows.push_back({link.from.str()});
    rows.back().push_back(speed_text(link.speed));
  }
  for (size_t i = 1; i < rows.size(); ++i) {
    rows[0].push_back("to " + rows[i][0]);
    rows[i].insert(rows[i].begin() + static_cast<std::ptrdiff_t>(i), "-");  // from a device to itself
  }
  std::cout << '\n';
  print_table(rows);
}

int print_devices(bool json, bool measured) {
  const std::vector<Link> links = measured ? measure_links() : std::vector<Link>();
  if (json) {
    ordered_json all = {{"devices", describe()}, {"libraries", describe_libraries()}};
    for (const Link& link : links)
      all["links"].push_back({{"from", link.from.str()}, {"to", link.to.str()}, {"bytes_per_second", std::llround(link.speed * 1e9)}});
    std::cout << detail::json_text(all, 2) << std::endl;
    return 0;
  }
  std::vector<Row> rows = {{"device", "memory", "free", "compute", "clock", "kind", "peers", "name"}};
  const auto count = [](int64_t number, const char* what) { return str(number, " ", what, number == 1 ? "" : "s"); };
  const auto clock = [](int mhz) { return mhz > 0 ? str(mhz, " MHz") : "-"; };
  rows.push_back({"cpu", gib(detail::machine_memory()), gib(free_host_memory()),
                  str(count(get_num_threads(), "thread"), " of ", count(sysconf(_SC_NPROCESSORS_ONLN), "core")), clock(cpu_clock()),
                  instruction_set(), "-", cpu_name()});
  for (int device = 0; device < cuda::device_count(); ++device) {
    const cuda::DeviceProperties& properties = cuda::get_device_properties(device);
    std::string peers;
    for (const int peer : peers_of(device)) peers += (peers.empty() ? "" : ",") + gpu(peer).str();
    rows.push_back(
        {gpu(device).str(), gib(properties.total_memory), gib(cuda::mem_get_info(device).first),
         count(properties.multi_processor_count, properties.is_virtual ? "thread" : "multiprocessor"), clock(gpu_clock(device).value_or(0)),
         properties.is_virtual ? "virtual" : str("sm_", properties.major, properties.minor), peers.empty() ? "-" : peers, properties.name});
  }
  print_table(rows);
  rows = {{"library", "version", "used", "file"}};
  for (const cuda::Library& library : cuda::libraries())
    rows.push_back({library.name, library.version.empty() ? "-" : library.version, library.why.empty() ? "yes" : "no", library.file});
  if (rows.size() > 1) {
    std::cout << '\n';
    print_table(rows);
    for (const cuda::Library& library : cuda::libraries())
      if (!library.why.empty()) std::cout << library.name << " is not used: " << library.why << '\n';
  }
  if (links.size() > 0) print_links(links);
  if (cuda::device_count() == 0) {
    try {
      (void)detail::resolve(gpu(0));
    } catch (const Error& why) {
      std::cout << why.what() << "\n";
    }
  }
  std::cout.flush();
  return 0;
}

}  // namespace

void add_devices(CLI::App& app, Action& action) {
  CLI::App* devices = app.add_subcommand("devices", "List the CPU and the GPUs, virtual ones too");
  const auto json = std::make_shared<bool>(false);
  const auto measured = std::make_shared<bool>(false);
  devices->add_flag("--json", *json, "Print a JSON document instead of a table");
  devices->add_flag("--measure", *measured, "Measure how fast copies between the devices are, too");
  devices->callback([=, &action] { action = [=] { return print_devices(*json, *measured); }; });
}

}  // namespace tandem::tools
