// The bytes behind tensors: one allocation on one device, shared by all views of it, with the version that in-place changes count up.
#pragma once

#include <atomic>
#include <cstddef>

#include "base/ref.h"
#include "base/site.h"
#include "runtime/device.h"

namespace tandem {

/// Memory on a device. Counted; freed with its last holder, on the device's terms (a GPU's block goes back to its stream's pool).
class Storage : public Counted<Storage> {
 public:
  Storage(Device device, size_t bytes, bool pinned, Site site);
  /// Memory of somebody else's; `deleter(context)` is called when the last holder lets go.
  Storage(Device device, void* data, size_t bytes, void (*deleter)(void*), void* context);
  /// The `bytes` from `offset` on of another storage, which it keeps, with a version of their own. Nothing else may use them.
  Storage(Storage& whole, size_t offset, size_t bytes);
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  ~Storage();

  /// The kernels' address.
  [[nodiscard]] void* data() const { return data_; }
  /// The user's address: on a virtual GPU one that faults when the host touches it.
  [[nodiscard]] void* user_data() const;
  [[nodiscard]] size_t bytes() const { return bytes_; }
  [[nodiscard]] Device device() const { return device_; }
  [[nodiscard]] bool is_pinned() const { return pinned_; }
  /// What somebody else's memory was given with, where its deleter is this one; nullptr elsewhere.
  [[nodiscard]] void* context_of(void (*deleter)(void*)) const { return deleter_ == deleter ? context_ : nullptr; }
  /// The allocator's record, for record_stream.
  [[nodiscard]] void* block() const { return block_; }
  /// Lets go of the bytes. Tensors over this storage stay, but to compute with one of them is an error until `refill`.
  void clear();
  /// Gives a cleared storage the bytes of `source`, which it keeps until the next `clear`. Counts as no change: the values are to be those
  /// of before. Tensors that backward keeps find them; whoever holds others calls TensorImpl::refresh.
  void refill(Storage& source);
  [[nodiscard]] bool was_refilled() const { return refilled_; }
  /// Whether its sole holder may have a result written over the bytes, as if they were freed and the result's memory asked for on the
  /// calling thread's current stream. Never where they are somebody else's.
  [[nodiscard]] bool reusable() const;
  /// How often the bytes were changed in place, but for changes through what Tensor::data() gave, which backward does not find out.
  [[nodiscard]] uint32_t version() const { return version_.load(std::memory_order_relaxed); }
  /// The same with those: for whoever keeps what was made of the values.
  [[nodiscard]] uint32_t changes() const { return version() + quiet_.load(std::memory_order_relaxed); }
  /// One more change; `quiet`: through Tensor::data().
  void bump_version(bool quiet = false) {
    std::atomic<uint32_t>& count = quiet ? quiet_ : version_;
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

 private:
  friend class Counted<Storage>;
  friend struct TensorImpl;
  friend struct TensorBlock;
  void destroy() const;

  void* data_ = nullptr;
  void* block_ = nullptr;
  size_t bytes_ = 0;
  Device device_;
  bool pinned_ = false;
  bool embedded_ = false;  // lies beside a TensorImpl, in one piece of memory with it
  bool foreign_ = false;   // the library did not allocate the bytes
  bool refilled_ = false;  // tensors may hold an older address of the bytes
  std::atomic<uint32_t> version_{0}, quiet_{0};
  void (*deleter_)(void*) = nullptr;
  void* context_ = nullptr;
};

}  // namespace tandem
