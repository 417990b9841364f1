// cuDNN's graph interface: its functions, descriptors that free themselves, a handle for each GPU.
#pragma once

#include <cudnn.h>

#include <condition_variable>
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
    case DType::Float64: return CUDNN_DATA_DOUBLE;
    case DType::Bool:
    case DType::UInt8:
    case DType::Int8:
    case DType::Int16:
    case DType::Int32:
    case DType::Int64: break;
  }
  __builtin_unreachable();
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

/// The handle of a device for calls, and an entry for each shape that was asked for; entries stay, as programs have few shapes.
template <class Key, class Entry>
class CudnnState {
 public:
  std::mutex mutex;
  cudnnHandle_t handle = nullptr;

  /// The entry of `key`, made by make(handle, entry) where it is new and cuDNN works on this GPU. That may take half a second, for which
  /// `lock`, of the mutex, is let go, and which has a handle of its own: calls with other entries go on. Who wants the same one waits for
  /// it.
  template <class Make>
  Entry& of(std::unique_lock<std::mutex>& lock, const Key& key, Make make) {
    const auto [found, is_new] = slots_.try_emplace(key);
    Slot& slot = found->second;
    if (!is_new) {
      made_.wait(lock, [&] { return slot.made; });
      return slot.entry;
    }
    if (!handle) handle = new_handle();
    cudnnHandle_t own = nullptr;
    if (!makers_.empty()) {
      own = makers_.back();
      makers_.pop_back();
    }
    {
      const Making making(*this, lock, slot, own);
      if (!own && handle) own = new_handle();
      if (own) make(own, slot.entry);
    }
    return slot.entry;
  }

 private:
  struct Slot {
    Entry entry;
    bool made = false;
  };
  /// The time without the lock. It ends also where making throws.
  struct Making {
    CudnnState& state;
    std::unique_lock<std::mutex>& lock;
    Slot& slot;
    cudnnHandle_t& own;

    Making(CudnnState& state, std::unique_lock<std::mutex>& lock, Slot& slot, cudnnHandle_t& own)
        : state(state), lock(lock), slot(slot), own(own) {
      lock.unlock();
    }
    Making(const Making&) = delete;
    Making& operator=(const Making&) = delete;
    ~Making() {
      lock.lock();
      slot.made = true;
      if (own) state.makers_.push_back(own);
      state.made_.notify_all();
    }
  };

  static cudnnHandle_t new_handle() {
    cudnnHandle_t created = nullptr;
    const cudnnStatus_t status = cudnn().cudnnCreate(&created);
    if (status == CUDNN_STATUS_SUCCESS) return created;
    (void)failed("cudnnCreate", status);
    return nullptr;
  }

  std::map<Key, Slot> slots_;
  std::vector<cudnnHandle_t> makers_;  // that nobody uses
  std::condition_variable made_;
};

}  // namespace tandem::kernels::cuda::vendor
