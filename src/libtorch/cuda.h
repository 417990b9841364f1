// torch::cuda, seeds, and the switches of at::globalContext().
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/backends.h"
#include "libtorch/types.h"
#include "ops/random.h"
#include "runtime/device.h"
#include "runtime/libraries.h"
#include "runtime/memory.h"
#include "runtime/stream.h"

namespace torch {

using tandem::initial_seed;
using tandem::manual_seed;

namespace cuda {

using tandem::cuda::current_device;
using tandem::cuda::current_stream;
using tandem::cuda::default_stream;
using tandem::cuda::DeviceGuard;
using tandem::cuda::empty_cache;
using tandem::cuda::Event;
using tandem::cuda::get_device_name;
using tandem::cuda::get_device_properties;
using tandem::cuda::is_available;
using tandem::cuda::max_memory_allocated;
using tandem::cuda::memory_allocated;
using tandem::cuda::memory_reserved;
using tandem::cuda::set_device;
using tandem::cuda::Stream;
using tandem::cuda::StreamGuard;
/// libtorch's name of a guard that names a GPU.
using CUDAGuard = tandem::cuda::DeviceGuard;
using CUDAStreamGuard = tandem::cuda::StreamGuard;
using CUDAStream = tandem::cuda::Stream;

/// How many GPUs there are, virtual or real.
[[nodiscard]] inline size_t device_count() { return static_cast<size_t>(tandem::cuda::device_count()); }
/// Whether cuDNN is there and may be used: never of virtual GPUs, whose kernels need none.
[[nodiscard]] inline bool cudnn_is_available() {
  for (const auto& library : tandem::cuda::libraries())
    if (library.name == "cuDNN") return library.why.empty();
  return false;
}
/// Waits for all work of GPU `index`, of the current one where it is negative.
inline void synchronize(int64_t index = -1, tandem::Site site = tandem::Site::here()) {
  tandem::cuda::synchronize(Device(DeviceType::CUDA, static_cast<int>(index < 0 ? -1 : index)), site);
}
/// The generators of all devices begin at this seed.
inline void manual_seed(uint64_t seed) { tandem::manual_seed(seed); }
inline void manual_seed_all(uint64_t seed) { tandem::manual_seed(seed); }
/// A stream of the pool of a GPU.
[[nodiscard]] inline Stream getStreamFromPool(bool high_priority = false, int device = -1) {
  return Stream(Device(DeviceType::CUDA, device), high_priority ? -1 : 0);
}
[[nodiscard]] inline Stream getCurrentCUDAStream(int device = -1) { return current_stream(Device(DeviceType::CUDA, device)); }
[[nodiscard]] inline Stream getDefaultCUDAStream(int device = -1) { return default_stream(Device(DeviceType::CUDA, device)); }
inline void setCurrentCUDAStream(const Stream& stream) { tandem::cuda::set_stream(stream); }

}  // namespace cuda

using tandem::cuda::DeviceGuard;
/// What a guard of an optional device is.
class OptionalDeviceGuard {
 public:
  OptionalDeviceGuard() = default;
  explicit OptionalDeviceGuard(std::optional<Device> device) {
    if (device) guard_.emplace(*device);
  }

 private:
  std::optional<tandem::cuda::DeviceGuard> guard_;
};

/// The switches of what GPUs compute with, and what there is.
class Context {
 public:
  [[nodiscard]] static bool hasCUDA() { return tandem::cuda::is_available(); }
  [[nodiscard]] static bool hasCuDNN() { return cuda::cudnn_is_available(); }
  void setBenchmarkCuDNN(bool on) { tandem::backends::cudnn::benchmark = on; }
  [[nodiscard]] bool benchmarkCuDNN() const { return tandem::backends::cudnn::benchmark; }
  void setDeterministicCuDNN(bool on) { tandem::backends::cudnn::deterministic = on; }
  [[nodiscard]] bool deterministicCuDNN() const { return tandem::backends::cudnn::deterministic; }
  void setUserEnabledCuDNN(bool on) { tandem::backends::cudnn::enabled = on; }
  [[nodiscard]] bool userEnabledCuDNN() const { return tandem::backends::cudnn::enabled; }
  void setAllowTF32CuDNN(bool on) { tandem::backends::cudnn::allow_tf32 = on; }
  [[nodiscard]] bool allowTF32CuDNN() const { return tandem::backends::cudnn::allow_tf32; }
  void setAllowTF32CuBLAS(bool on) { tandem::backends::cuda::matmul::allow_tf32 = on; }
  [[nodiscard]] bool allowTF32CuBLAS() const { return tandem::backends::cuda::matmul::allow_tf32; }
  void setDeterministicAlgorithms(bool on, bool /*warn_only*/ = false) { tandem::use_deterministic_algorithms(on); }
  [[nodiscard]] bool deterministicAlgorithms() const { return tandem::are_deterministic_algorithms_enabled(); }
};
/// The one there is.
[[nodiscard]] inline Context& globalContext() {
  static Context context;
  return context;
}
[[nodiscard]] inline bool hasCUDA() { return tandem::cuda::is_available(); }

}  // namespace torch
