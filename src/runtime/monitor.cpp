#include "runtime/monitor.h"

#include "base/error.h"
#include "base/format.h"
#include "runtime/driver.h"
#include "runtime/stream_record.h"

namespace tandem::cuda {
namespace {

/// One gauge; `lack` says what a virtual GPU is without.
int read(Device device, const char* call, std::optional<int> DeviceFigures::*gauge, const char* lack) {
  const int index = runtime::device_index(device, call);
  runtime::Driver& driver = runtime::require_driver();
  const std::optional<int> shown = driver.figures(index).*gauge;
  if (!shown && driver.properties(index).is_virtual)
    fail('[', call, "] ", gpu(index), " is a virtual GPU, which has no ", lack, ": ask a real GPU");
  if (!shown) fail('[', call, "] ", gpu(index), " (", driver.properties(index).name, ") does not tell it");
  return *shown;
}

}  // namespace

int utilization(Device device) { return read(device, "utilization", &DeviceFigures::utilization, "count of busy time"); }
int memory_usage(Device device) { return read(device, "memory_usage", &DeviceFigures::memory_usage, "count of its memory's busy time"); }
int temperature(Device device) { return read(device, "temperature", &DeviceFigures::temperature, "thermometer"); }
int power_draw(Device device) { return read(device, "power_draw", &DeviceFigures::power_draw, "power meter"); }
int clock_rate(Device device) { return read(device, "clock_rate", &DeviceFigures::clock_rate, "clock of its own"); }

size_t device_memory_used(Device device) {
  const int index = runtime::device_index(device, "device_memory_used");
  return runtime::require_driver().figures(index).memory_used;
}

std::string list_gpu_processes(Device device, Site /*site*/) {
  const int index = runtime::device_index(device, "list_gpu_processes");
  runtime::Driver& driver = runtime::require_driver();
  const DeviceFigures figures = driver.figures(index);
  if (!figures.processes) fail("[list_gpu_processes] ", gpu(index), " (", driver.properties(index).name, ") does not tell who uses it");
  std::string text = str("GPU:", index);
  if (figures.processes->empty()) text += "\nno processes are running";
  for (const DeviceProcess& process : *figures.processes)
    text += tandem::detail::formatted("\nprocess %10lld uses %12.3f MB GPU memory", static_cast<long long>(process.pid),
                                      static_cast<double>(process.memory) / (1 << 20));
  return text;
}

}  // namespace tandem::cuda
