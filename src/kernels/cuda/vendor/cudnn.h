// cuDNN's graph interface: its functions, descriptors that free themselves, a handle for each card.
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
  Library library{"libcudnn.so." TD_TEXT(CUDNN_MAJOR)};
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

/// A descriptor of cuDNN. After the first failure everything that follows is left out, and `good` is false.
class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type) {
    good_ = cudnn().cudnnBackendCreateDescriptor(type, &descriptor_) == CUDNN_STATUS_SUCCESS;
  }
  Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, nullptr)), good_(other.good_) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    good_ = other.good_;
    return *this;
  }
  ~Descriptor() {
    if (descriptor_) (void)cudnn().cudnnBackendDestroyDescriptor(descriptor_);
  }

  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] cudnnBackendDescriptor_t get() const { return descriptor_; }

  template <class T>
  Descriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count, const T* values) {
    if (good_) good_ = cudnn().cudnnBackendSetAttribute(descriptor_, name, type, count, values) == CUDNN_STATUS_SUCCESS;
    return *this;
  }
  template <class T>
  Descriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const T& value) {
    return set(name, type, 1, &value);
  }
  Descriptor& set(cudnnBackendAttributeName_t name, const Descriptor& value) {
    good_ &= value.good();
    return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value.descriptor_);
  }
  Descriptor& finalize() {
    if (good_) good_ = cudnn().cudnnBackendFinalize(descriptor_) == CUDNN_STATUS_SUCCESS;
    return *this;
  }
  /// Reads up to `room` values; how many there were.
  template <class T>
  int64_t get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t room, T* values) const {
    int64_t count = 0;
    if (!good_ || cudnn().cudnnBackendGetAttribute(descriptor_, name, type, room, &count, values) != CUDNN_STATUS_SUCCESS) return 0;
    return count < room ? count : room;
  }

 private:
  cudnnBackendDescriptor_t descriptor_ = nullptr;
  bool good_ = false;
};

/// Handle of a card, and what is kept for each shape; for good, as programs have few.
template <class Key, class Kept>
struct CudnnCard {
  std::mutex mutex;
  cudnnHandle_t handle = nullptr;
  std::map<Key, Kept> kept;

  /// What is kept for `key`, made by make(handle, kept) where it is new and cuDNN works on this card. The mutex is held.
  template <class Make>
  Kept& of(const Key& key, Make make) {
    const auto [found, is_new] = kept.try_emplace(key);
    if (is_new) {
      if (!handle && cudnn().cudnnCreate(&handle) != CUDNN_STATUS_SUCCESS) handle = nullptr;
      if (handle) make(handle, found->second);
    }
    return found->second;
  }
};

}  // namespace tandem::kernels::cuda::vendor
