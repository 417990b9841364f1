// A struct in memory that processes share. For the library.
#pragma once

#include <memory>
#include <new>

#include "process/parcel.h"
#include "runtime/shared_memory.h"

namespace tandem::multiprocessing::detail {

/// A T at the start of shared memory: made once, found there by the others.
template <class T>
class SharedObject {
 public:
  /// A new one; `arguments` are its constructor's.
  template <class... A>
  [[nodiscard]] static SharedObject make(const A&... arguments) {
    auto memory = runtime::SharedMemory::create(sizeof(T));
    new (memory->data()) T(arguments...);
    return SharedObject(std::move(memory));
  }
  void put(Parcel& parcel) const { parcel.put_memory(memory_); }
  [[nodiscard]] static SharedObject take(Received& received) {
    auto memory = received.take_memory();
    if (memory->bytes() < sizeof(T)) refuse(received.op(), "a shared memory is too small");
    return SharedObject(std::move(memory));
  }

  [[nodiscard]] T* operator->() const { return std::launder(reinterpret_cast<T*>(memory_->data())); }
  [[nodiscard]] T& operator*() const { return *operator->(); }
  [[nodiscard]] const std::shared_ptr<runtime::SharedMemory>& memory() const { return memory_; }

 private:
  explicit SharedObject(std::shared_ptr<runtime::SharedMemory> memory) : memory_(std::move(memory)) {}
  std::shared_ptr<runtime::SharedMemory> memory_;
};

}  // namespace tandem::multiprocessing::detail
