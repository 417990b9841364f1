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
/// The generators of all devices begin at this seed. From now on the CPU draws PyTorch's numbers: after manual_seed(0), rand({1}) is
/// 0.4963. A program that is never seeded, or by tandem::manual_seed alone, draws tandem's own, which are the same on all devices and
/// faster.
void manual_seed(uint64_t seed);

namespace cuda {

using tandem::cuda::current_device, tandem::cuda::current_stream, tandem::cuda::default_stream, tandem::cuda::DeviceGuard,
    tandem::cuda::empty_cache, tandem::cuda::Event, tandem::cuda::get_device_name, tandem::cuda::get_device_properties,
    tandem::cuda::is_available, tandem::cuda::max_memory_allocated, tandem::cuda::memory_allocated, tandem::cuda::memory_reserved,
    tandem::cuda::set_device, tandem::cuda::Stream, tandem::cuda::StreamGuard;
/// libtorch's name of a guard that names a GPU.
using CUDAGuard = tandem::cuda::DeviceGuard;
using CUDAStreamGuard = tandem::cuda::StreamGuard;
using CUDAStream = tandem::cuda::Stream;

/// How many GPUs there are, virtual or real.
[[nodiscard]] size_t device_count();
/// Whether cuDNN is there and may be used: never of virtual GPUs, whose kernels need none.
[[nodiscard]] bool cudnn_is_available();
/// Waits for all work of GPU `index`, of the current one where it is negative.
void synchronize(int64_t index = -1, tandem::Site site = tandem::Site::here());
/// The generators of all devices begin at this seed.
void manual_seed(uint64_t seed);
void manual_seed_all(uint64_t seed);
/// A stream of the pool of a GPU.
[[nodiscard]] Stream getStreamFromPool(bool high_priority = false, int device = -1);
[[nodiscard]] Stream getCurrentCUDAStream(int device = -1);
[[nodiscard]] Stream getDefaultCUDAStream(int device = -1);
void setCurrentCUDAStream(const Stream& stream);

namespace CUDACachingAllocator {
/// Gives the memory that is kept for later back to the device.
void emptyCache();
}  // namespace CUDACachingAllocator

}  // namespace cuda

using tandem::cuda::DeviceGuard;
/// What a guard of an optional device is.
class OptionalDeviceGuard {
 public:
  OptionalDeviceGuard() = default;
  explicit OptionalDeviceGuard(std::optional<Device> device);

 private:
  std::optional<tandem::cuda::DeviceGuard> guard_;
};

/// The switches of what GPUs compute with, and what there is.
class Context {
 public:
  [[nodiscard]] static bool hasCUDA();
  [[nodiscard]] static bool hasCuDNN();
  void setBenchmarkCuDNN(bool on);
  [[nodiscard]] bool benchmarkCuDNN() const;
  void setDeterministicCuDNN(bool on);
  [[nodiscard]] bool deterministicCuDNN() const;
  void setUserEnabledCuDNN(bool on);
  [[nodiscard]] bool userEnabledCuDNN() const;
  void setAllowTF32CuDNN(bool on);
  [[nodiscard]] bool allowTF32CuDNN() const;
  void setAllowTF32CuBLAS(bool on);
  [[nodiscard]] bool allowTF32CuBLAS() const;
  void setDeterministicAlgorithms(bool on, bool /*warn_only*/ = false);
  [[nodiscard]] bool deterministicAlgorithms() const;
};
/// The one there is.
[[nodiscard]] Context& globalContext();
[[nodiscard]] bool hasCUDA();
[[nodiscard]] size_t getNumGPUs();

}  // namespace torch
