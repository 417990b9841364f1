// `tandem devices`: what there is to compute on, as a table or as JSON.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "runtime/device.h"
#include "runtime/libraries.h"
#include "tools/program.h"

namespace tandem::tools {
namespace {

using nlohmann::ordered_json;

/// As the system tells it; empty where it does not.
std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) {
      const auto at = line.find(": ");
      return at == std::string::npos ? "" : line.substr(at + 2);
    }
  return "";
}

size_t host_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && bytes > 0 ? static_cast<size_t>(pages) * static_cast<size_t>(bytes) : 0;
}

std::string gib(size_t bytes) {
  std::array<char, 32> text = {};
  if (bytes >= size_t{1} << 30) std::snprintf(text.data(), text.size(), "%.1f GiB", static_cast<double>(bytes) / (1 << 30));
  else std::snprintf(text.data(), text.size(), "%.0f MiB", static_cast<double>(bytes) / (1 << 20));
  return text.data();
}

std::vector<int> peers_of(int device) {
  std::vector<int> peers;
  for (int other = 0; other < cuda::device_count(); ++other)
    if (other != device && cuda::can_device_access_peer(device, other)) peers.push_back(other);
  return peers;
}

ordered_json describe() {
  ordered_json devices = ordered_json::array();
  devices.push_back(
      {{"device", "cpu"}, {"name", cpu_name()}, {"total_memory", host_memory()}, {"threads", get_num_threads()}, {"virtual", false}});
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

int print_devices(bool json) {
  if (json) {
    std::cout << ordered_json{{"devices", describe()}, {"libraries", describe_libraries()}}.dump(2) << std::endl;
    return 0;
  }
  std::vector<Row> rows = {{"device", "memory", "compute", "kind", "peers", "name"}};
  const auto count = [](int number, const char* what) { return str(number, " ", what, number == 1 ? "" : "s"); };
  rows.push_back({"cpu", gib(host_memory()), count(get_num_threads(), "thread"), "host", "-", cpu_name()});
  for (int device = 0; device < cuda::device_count(); ++device) {
    const cuda::DeviceProperties& properties = cuda::get_device_properties(device);
    std::string peers;
    for (const int peer : peers_of(device)) peers += (peers.empty() ? "" : ",") + gpu(peer).str();
    rows.push_back({gpu(device).str(), gib(properties.total_memory),
                    count(properties.multi_processor_count, properties.is_virtual ? "thread" : "multiprocessor"),
                    properties.is_virtual ? "virtual" : str("sm_", properties.major, properties.minor), peers.empty() ? "-" : peers,
                    properties.name});
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
  devices->add_flag("--json", *json, "Print a JSON document instead of a table");
  devices->callback([json, &action] { action = [json] { return print_devices(*json); }; });
}

}  // namespace tandem::tools
