// What the gauges of a GPU show: how busy and how warm it is, and whose memory it holds. By PyTorch's names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/device.h"

namespace tandem::cuda {

/// A process that computes on a GPU, and how much of its memory it holds, in bytes.
struct DeviceProcess {
  int64_t pid = 0;
  size_t memory = 0;
};

/// What a GPU's gauges show at once; nothing where it lacks one.
struct DeviceFigures {
  std::optional<int> utilization, memory_usage;  // percent of the last sample period (1/6 s to 1 s)
  std::optional<int> temperature;                // degrees Celsius
  std::optional<int> power_draw;                 // milliwatts
  std::optional<int> clock_rate;                 // MHz
  size_t memory_used = 0;                        // bytes, by all processes
  std::optional<std::vector<DeviceProcess>> processes;
};

// Each is an error that says so where the GPU lacks the gauge - virtual ones know how busy they are, and their memory in use - and where
// NVIDIA's management library is missing.

/// Percent of the last sample period in which a kernel was running; of a virtual GPU, in which its busiest stream was, averaged over about
/// a second.
[[nodiscard]] int utilization(Device device = Device(DeviceType::CUDA));
[[nodiscard]] inline int utilization(int index) { return utilization(gpu(index)); }
/// Percent of the last sample period in which the GPU's memory was read or written.
[[nodiscard]] int memory_usage(Device device = Device(DeviceType::CUDA));
[[nodiscard]] inline int memory_usage(int index) { return memory_usage(gpu(index)); }
/// Degrees Celsius.
[[nodiscard]] int temperature(Device device = Device(DeviceType::CUDA));
[[nodiscard]] inline int temperature(int index) { return temperature(gpu(index)); }
/// Milliwatts, over the last sample period.
[[nodiscard]] int power_draw(Device device = Device(DeviceType::CUDA));
[[nodiscard]] inline int power_draw(int index) { return power_draw(gpu(index)); }
/// The clock of the multiprocessors, in MHz.
[[nodiscard]] int clock_rate(Device device = Device(DeviceType::CUDA));
[[nodiscard]] inline int clock_rate(int index) { return clock_rate(gpu(index)); }
/// Bytes of the GPU's memory that are in use, by all processes.
[[nodiscard]] size_t device_memory_used(Device device = Device(DeviceType::CUDA));
[[nodiscard]] inline size_t device_memory_used(int index) { return device_memory_used(gpu(index)); }
/// Who computes on the GPU, as text: "GPU:0", then a line for each process.
[[nodiscard]] std::string list_gpu_processes(Device device = Device(DeviceType::CUDA), Site = Site::here());
[[nodiscard]] inline std::string list_gpu_processes(int index, Site site = Site::here()) { return list_gpu_processes(gpu(index), site); }

}  // namespace tandem::cuda
