// cuDNN's graph interface: its functions, descriptors that free themselves, a handle for each GPU.
#pragma once

#include <cudnn.h>

#include <initializer_list>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/backends.h"
#include "base/dtype.h"
#include "kernels/cuda/vendor/library.h"

namespace tandem::kernels::cuda::vendor {

struct Cudnn {
  Library library{"cuDNN", "libcudnn.so." TD_TEXT(CUDNN_MAJOR)};
  TD_FUNCTION(cudnnGetVersion);
  TD_FUNCTION(cudnnGetErrorString);
  TD_FUNCTION(cudnnCreate);
  TD_FUNCTION(cudnnSetStream);
  TD_FUNCTION(cudnnBackendCreateDescriptor);
  TD_FUNCTION(cudnnBackendDestroyDescriptor);
  TD_FUNCTION(cudnnBackendFinalize);
  TD_FUNCTION(cudnnBackendSetAttribute);
  TD_FUNCTION(cudnnBackendGetAttribute);
  TD_FUNCTION(cudnnBackendExecute);
};

inline Cudnn& cudnn() {
  static auto* const library = new Cudnn;
  return *library;
}

/// A call has failed: see Library::failed.
inline const char* failed(const char* call, cudnnStatus_t status) {
  return cudnn().library.failed(call, cudnn().cudnnGetErrorString(status));
}
/// The same for a call of CUDA that was made for cuDNN.
inline const char* failed(const char* call, cudaError_t status) { return cudnn().library.failed(call, cudaGetErrorString(status)); }

/// Whether cuDNN has to give the same bits each time.
inline bool deterministic() { return backends::cudnn::deterministic.load() || are_deterministic_algorithms_enabled(); }

/// A floating dtype.
inline cudnnDataType_t type_of(DType dtype) {
  switch (dtype) {
    case DType::Float16: return CUDNN_DATA_HALF;
    case DType::BFloat16: return CUDNN_DATA_BFLOAT16;
    case DType::Float32: return CUDNN_DATA_FLOAT;
    default: return CUDNN_DATA_DOUBLE;
  }
}

/// A descriptor of cuDNN. After the first failure everything that follows is left out, and `status` is its.
class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type) { status_ = cudnn().cudnnBackendCreateDescriptor(type, &descriptor_); }
  Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, nullptr)), status_(other.status_) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    status_ = other.status_;
    return *this;
  }
  ~Descriptor() {
    if (descriptor_) (void)cudnn().cudnnBackendDestroyDescriptor(descriptor_);
  }

  [[nodiscard]] bool good() const { return status_ == CUDNN_STATUS_SUCCESS; }
  [[nodiscard]] cudnnStatus_t status() const { return status_; }
  [[nodiscard]] cudnnBackendDescriptor_t get() const { return descriptor_; }

  template <class T>
  Descriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count, const T* values) {
    if (good()) status_ = cudnn().cudnnBackendSetAttribute(descriptor_, name, type, count, values);
    return *this;
  }
  template <class T>
  Descriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const T& value) {
    return set(name, type, 1, &value);
  }
  Descriptor& set(cudnnBackendAttributeName_t name, const Descriptor& value) {
    if (good()) status_ = value.status();
    return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value.descriptor_);
  }
  Descriptor& finalize() {
    if (good()) status_ = cudnn().cudnnBackendFinalize(descriptor_);
    return *this;
  }
  /// Reads up to `room` values; how many there were.
  template <class T>
  int64_t get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t room, T* values) const {
    int64_t count = 0;
    if (!good() || cudnn().cudnnBackendGetAttribute(descriptor_, name, type, room, &count, values) != CUDNN_STATUS_SUCCESS) return 0;
    return count < room ? count : room;
  }

 private:
  cudnnBackendDescriptor_t descriptor_ = nullptr;
  cudnnStatus_t status_ = CUDNN_STATUS_NOT_INITIALIZED;
};

/// The handle of a device, and an entry for each shape that was asked for; entries stay, as programs have few shapes.
template <class Key, class Entry>
struct CudnnState {
  std::mutex mutex;
  cudnnHandle_t handle = nullptr;
  std::map<Key, Entry> entries;

  /// The entry of `key`, made by make(handle, entry) where it is new and cuDNN works on this GPU. The mutex is held.
  template <class Make>
  Entry& of(const Key& key, Make make) {
    const auto [found, is_new] = entries.try_emplace(key);
    if (is_new) {
      if (const cudnnStatus_t status = handle ? CUDNN_STATUS_SUCCESS : cudnn().cudnnCreate(&handle); status != CUDNN_STATUS_SUCCESS) {
        (void)failed("cudnnCreate", status);
        handle = nullptr;
      }
      if (handle) make(handle, found->second);
    }
    return found->second;
  }
};

}  // namespace tandem::kernels::cuda::vendor
