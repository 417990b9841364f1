#include "libtorch/cuda.h"

#include "ops/mersenne_twister.h"

namespace torch::cuda {

size_t device_count() { return static_cast<size_t>(tandem::cuda::device_count()); }

bool cudnn_is_available() {
  for (const auto& library : tandem::cuda::libraries())
    if (library.name == "cuDNN") return library.why.empty();
  return false;
}

void synchronize(int64_t index, tandem::Site site) {
  tandem::cuda::synchronize(Device(DeviceType::CUDA, static_cast<int>(index < 0 ? -1 : index)), site);
}

void manual_seed(uint64_t seed) { tandem::manual_seed(seed); }

void manual_seed_all(uint64_t seed) { tandem::manual_seed(seed); }

Stream getStreamFromPool(bool high_priority, int device) { return Stream(Device(DeviceType::CUDA, device), high_priority ? -1 : 0); }

Stream getCurrentCUDAStream(int device) { return current_stream(Device(DeviceType::CUDA, device)); }

Stream getDefaultCUDAStream(int device) { return default_stream(Device(DeviceType::CUDA, device)); }

void setCurrentCUDAStream(const Stream& stream) { tandem::cuda::set_stream(stream); }

void CUDACachingAllocator::emptyCache() { tandem::cuda::empty_cache(); }

}  // namespace torch::cuda

namespace torch {

void manual_seed(uint64_t seed) {
  tandem::set_cpu_random(tandem::CpuRandom::MersenneTwister);
  tandem::manual_seed(seed);
}

OptionalDeviceGuard::OptionalDeviceGuard(std::optional<Device> device) {
  if (device) guard_.emplace(*device);
}

bool Context::hasCUDA() { return tandem::cuda::is_available(); }

bool Context::hasCuDNN() { return cuda::cudnn_is_available(); }

void Context::setBenchmarkCuDNN(bool on) { tandem::backends::cudnn::benchmark = on; }

bool Context::benchmarkCuDNN() const { return tandem::backends::cudnn::benchmark; }

void Context::setDeterministicCuDNN(bool on) { tandem::backends::cudnn::deterministic = on; }

bool Context::deterministicCuDNN() const { return tandem::backends::cudnn::deterministic; }

void Context::setUserEnabledCuDNN(bool on) { tandem::backends::cudnn::enabled = on; }

bool Context::userEnabledCuDNN() const { return tandem::backends::cudnn::enabled; }

void Context::setAllowTF32CuDNN(bool on) { tandem::backends::cudnn::allow_tf32 = on; }

bool Context::allowTF32CuDNN() const { return tandem::backends::cudnn::allow_tf32; }

void Context::setAllowTF32CuBLAS(bool on) { tandem::backends::cuda::matmul::allow_tf32 = on; }

bool Context::allowTF32CuBLAS() const { return tandem::backends::cuda::matmul::allow_tf32; }

void Context::setDeterministicAlgorithms(bool on, bool /*warn_only*/) { tandem::use_deterministic_algorithms(on); }

bool Context::deterministicAlgorithms() const { return tandem::are_deterministic_algorithms_enabled(); }

Context& globalContext() {
  static Context context;
  return context;
}

bool hasCUDA() { return tandem::cuda::is_available(); }

size_t getNumGPUs() { return cuda::device_count(); }

}  // namespace torch
