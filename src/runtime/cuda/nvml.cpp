// The library comes with the driver, its header with nothing that is needed otherwise: what is called is declared here, as NVML's reference
// has it (docs.nvidia.com/deploy/nvml-api).
#include "runtime/cuda/nvml.h"

#include <dlfcn.h>

#include "base/error.h"

namespace tandem::runtime::cuda_gpu {
namespace {

using Result = int;  // nvmlReturn_t
constexpr Result kSuccess = 0, kInsufficientSize = 7;
constexpr int kOnTheDie = 0;         // NVML_TEMPERATURE_GPU
constexpr int kMultiprocessors = 1;  // NVML_CLOCK_SM
using NvmlDevice = void*;            // nvmlDevice_t

struct Utilization {  // nvmlUtilization_t
  unsigned kernels, memory;
};
struct Memory {  // nvmlMemory_t
  unsigned long long total, free, used;
};
struct Process {  // nvmlProcessInfo_t of version 2 and 3
  unsigned pid;
  unsigned long long memory;  // all ones: not known
  unsigned gpu_instance, compute_instance;
};

/// The library, opened and started once.
struct Nvml {
  std::string why;  // it cannot be used
  const char* (*text)(Result) = nullptr;
  Result (*device_at)(const char* pci_address, NvmlDevice*) = nullptr;
  Result (*utilization)(NvmlDevice, Utilization*) = nullptr;
  Result (*temperature)(NvmlDevice, int sensor, unsigned*) = nullptr;
  Result (*power)(NvmlDevice, unsigned*) = nullptr;
  Result (*clock)(NvmlDevice, int which, unsigned*) = nullptr;
  Result (*memory)(NvmlDevice, Memory*) = nullptr;
  Result (*processes)(NvmlDevice, unsigned* count, Process*) = nullptr;

  Nvml() {
    constexpr const char* file = "libnvidia-ml.so.1";
    library_ = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library_) {
      why = str(file, ", which comes with the NVIDIA driver, cannot be opened");
      return;
    }
    Result (*start)() = nullptr;
    find(start, "nvmlInit_v2");
    find(text, "nvmlErrorString");
    find(device_at, "nvmlDeviceGetHandleByPciBusId_v2");
    find(utilization, "nvmlDeviceGetUtilizationRates");
    find(temperature, "nvmlDeviceGetTemperature");
    find(power, "nvmlDeviceGetPowerUsage");
    find(clock, "nvmlDeviceGetClockInfo");
    find(memory, "nvmlDeviceGetMemoryInfo");
    find(processes, "nvmlDeviceGetComputeRunningProcesses_v3");
    if (!why.empty()) return;
    if (const Result code = start(); code != kSuccess) why = str("NVML does not start: ", text(code));
  }

 private:
  template <class Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    if (!function && why.empty()) why = str("libnvidia-ml.so.1 lacks ", name, ": the NVIDIA driver is too old");
  }
  void* library_ = nullptr;
};

const Nvml& nvml() {
  static const auto* const library = new Nvml;  // stays: it may be asked while the program ends
  return *library;
}

}  // namespace

cuda::DeviceFigures nvml_figures(const char* pci_address) {
  const Nvml& n = nvml();
  if (!n.why.empty()) fail("the gauges of a GPU cannot be read: ", n.why);
  const auto check = [&](Result code, const char* what) {
    if (code != kSuccess) fail("the gauges of the GPU at ", pci_address, " cannot be read: ", n.text(code), " (", what, ")");
  };
  NvmlDevice device = nullptr;
  check(n.device_at(pci_address, &device), "nvmlDeviceGetHandleByPciBusId");
  cuda::DeviceFigures figures;
  if (Utilization busy{}; n.utilization(device, &busy) == kSuccess) {
    figures.utilization = static_cast<int>(busy.kernels);
    figures.memory_usage = static_cast<int>(busy.memory);
  }
  unsigned number = 0;
  if (n.temperature(device, kOnTheDie, &number) == kSuccess) figures.temperature = static_cast<int>(number);
  if (n.power(device, &number) == kSuccess) figures.power_draw = static_cast<int>(number);
  if (n.clock(device, kMultiprocessors, &number) == kSuccess) figures.clock_rate = static_cast<int>(number);
  Memory memory{};
  check(n.memory(device, &memory), "nvmlDeviceGetMemoryInfo");
  figures.memory_used = memory.used;
  std::vector<Process> processes(16);
  unsigned count = 0;
  Result code = kInsufficientSize;
  while (code == kInsufficientSize && processes.size() < (size_t{1} << 20)) {
    count = static_cast<unsigned>(processes.size());
    code = n.processes(device, &count, processes.data());
    if (code == kInsufficientSize) processes.resize(2 * processes.size() + count);
  }
  if (code != kSuccess) return figures;
  figures.processes.emplace();
  for (unsigned i = 0; i < count; ++i)
    figures.processes->push_back({static_cast<int64_t>(processes[i].pid), processes[i].memory == ~0ULL ? 0 : processes[i].memory});
  return figures;
}

}  // namespace tandem::runtime::cuda_gpu
