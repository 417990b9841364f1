#include "train/memory_recorder.h"

#include <algorithm>
#include <iterator>

#include "runtime/memory.h"

namespace tandem::train {

MemoryRecorder::MemoryRecorder(const std::vector<Device>& devices, size_t most) : most_(std::max<size_t>(most, 2)) {
  std::copy_if(devices.begin(), devices.end(), std::back_inserter(devices_), [](Device device) { return device.is_cuda(); });
}

void MemoryRecorder::record(double x) {
  if (devices_.empty() || calls_++ % interval_ != 0) return;
  if (samples_.size() == most_) {
    for (size_t i = 0; 2 * i < samples_.size(); ++i) samples_[i] = std::move(samples_[2 * i]);
    samples_.resize((samples_.size() + 1) / 2);
    interval_ *= 2;
    if ((calls_ - 1) % interval_ != 0) return;
  }
  MemorySample sample{x, {}};
  for (const Device device : devices_)
    sample.devices.push_back({cuda::memory_allocated(device), cuda::max_memory_allocated(device), cuda::memory_reserved(device)});
  samples_.push_back(std::move(sample));
}

}  // namespace tandem::train
