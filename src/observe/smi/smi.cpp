#include "observe/smi/smi.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/format.h"
#include "base/splitmix.h"
#include "observe/smi/smi_ask.h"
#include "runtime/driver.h"

namespace tandem::smi {
namespace {

using runtime::GpuUse;
using runtime::ProgramUse;
constexpr auto kLongestWait = std::chrono::milliseconds(1000);

/// By the index and the program: what it inherited from another is that one's, too.
std::string uuid_in(const std::string& group, const std::string& uuid) {
  uint64_t state = std::hash<std::string>()(group + uuid);
  const uint64_t first = tandem::detail::splitmix64(state), second = tandem::detail::splitmix64(state);
  return tandem::detail::uuid_text(first, second);
}

/// A worker names its parent, which may be a worker, or a rank, itself.
void join_groups(std::vector<ProgramUse>& programs) {
  std::map<std::string, std::string> group_of;
  for (const ProgramUse& program : programs) group_of[str("pid-", program.pid)] = program.group;
  for (ProgramUse& program : programs) {
    for (int steps = 0; steps < 16; ++steps) {
      const auto parent = group_of.find(program.group);
      if (parent == group_of.end() || parent->second == program.group) break;
      program.group = parent->second;
    }
  }
}

Gpu gpu_of(const ProgramUse& program, const GpuUse& use) {
  return {.index = use.index,
          .name = use.name,
          .uuid = use.is_virtual ? uuid_in(program.group, use.uuid) : use.uuid,
          .is_virtual = use.is_virtual,
          .program = use.is_virtual ? program.pid : 0,
          .memory_total = use.memory_total,
          .memory_used = 0,
          .utilization = use.utilization,
          .temperature = {},
          .power_draw = {},
          .processes = {}};
}

/// Adds what a program says of a GPU.
void add_use(Gpu& gpu, const ProgramUse& program, const GpuUse& use) {
  gpu.memory_used += use.memory_used;
  if (gpu.is_virtual) gpu.program = std::min(gpu.program, program.pid);
  if (use.utilization) gpu.utilization = std::max(gpu.utilization.value_or(0), *use.utilization);
  if (use.memory_used > 0) gpu.processes.push_back({program.pid, program.name, use.memory_used, use.tensor_bytes});
}

std::string name_of_process(int64_t pid) {
  std::ifstream file(str("/proc/", pid, "/comm"));
  std::string name;
  std::getline(file, name);
  return name;
}

/// What the GPU itself shows counts, where it does: it knows of programs without tandem, too.
void read_gauges(Gpu& gpu, int device) {
  cuda::DeviceFigures figures;
  try {
    figures = runtime::require_driver().figures(device);
  } catch (const Error&) {
    return;  // NVIDIA's management library is missing: what programs say is all there is
  }
  gpu.memory_used = figures.memory_used;
  gpu.utilization = figures.utilization;
  gpu.temperature = figures.temperature;
  gpu.power_draw = figures.power_draw;
  for (const cuda::DeviceProcess& process : figures.processes.value_or(std::vector<cuda::DeviceProcess>())) {
    const auto known = std::find_if(gpu.processes.begin(), gpu.processes.end(), [&](const Process& p) { return p.pid == process.pid; });
    if (known != gpu.processes.end()) known->memory_used = std::max(known->memory_used, process.memory);
    else gpu.processes.push_back({process.pid, name_of_process(process.pid), process.memory, 0});
  }
}

/// GPUs by UUID in the order in which programs name them, this process's first.
std::vector<Gpu> merged(const std::vector<ProgramUse>& programs, int64_t self) {
  std::vector<Gpu> gpus;
  for (const ProgramUse& program : programs) {
    for (const GpuUse& use : program.gpus) {
      Gpu one = gpu_of(program, use);
      auto known = std::find_if(gpus.begin(), gpus.end(), [&](const Gpu& gpu) { return gpu.uuid == one.uuid; });
      if (known == gpus.end()) known = gpus.insert(gpus.end(), std::move(one));
      add_use(*known, program, use);
    }
  }
  for (const ProgramUse& program : programs) {
    if (program.pid != self) continue;
    for (const GpuUse& use : program.gpus) {
      if (use.is_virtual) continue;
      const auto gpu = std::find_if(gpus.begin(), gpus.end(), [&](const Gpu& one) { return one.uuid == use.uuid; });
      read_gauges(*gpu, use.index);
    }
  }
  for (Gpu& gpu : gpus)
    std::sort(gpu.processes.begin(), gpu.processes.end(), [](const Process& a, const Process& b) { return a.pid < b.pid; });
  return gpus;
}

std::vector<ProgramUse> all_programs() {
  std::vector<ProgramUse> programs = {runtime::own_use()};
  for (ProgramUse& other : detail::ask_programs(kLongestWait)) programs.push_back(std::move(other));
  join_groups(programs);
  return programs;
}

}  // namespace

std::vector<Gpu> query() {
  const std::vector<ProgramUse> programs = all_programs();
  const ProgramUse& own = programs.front();
  std::vector<Gpu> gpus = merged(programs, own.pid);
  std::erase_if(gpus, [&](const Gpu& gpu) {
    return std::none_of(own.gpus.begin(), own.gpus.end(), [&](const GpuUse& use) { return gpu_of(own, use).uuid == gpu.uuid; });
  });
  return gpus;
}

std::vector<Gpu> query_all() {
  std::vector<ProgramUse> programs = all_programs();
  // Who only looks on has no virtual GPUs worth showing, but for what a program that is started here would get.
  auto& own = programs.front().gpus;
  const bool used = std::any_of(own.begin(), own.end(), [](const GpuUse& use) { return use.memory_used > 0; });
  const bool others = std::any_of(programs.begin() + 1, programs.end(), [](const ProgramUse& program) { return !program.gpus.empty(); });
  if (!used && others) std::erase_if(own, [](const GpuUse& use) { return use.is_virtual; });
  std::vector<Gpu> gpus = merged(programs, getpid());
  std::stable_sort(gpus.begin(), gpus.end(), [](const Gpu& a, const Gpu& b) {
    return std::tuple(a.is_virtual, a.program, a.index) < std::tuple(b.is_virtual, b.program, b.index);
  });
  return gpus;
}

}  // namespace tandem::smi
