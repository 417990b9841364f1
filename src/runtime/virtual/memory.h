// A virtual GPU's memory: a budget of pages, mapped twice. Kernels use one address; the user sees the other, which faults when the host
// touches it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

namespace tandem::runtime::virtual_gpu {

/// The memory of one GPU, handed out in pieces of 2 MiB. Thread-safe. Pages are reserved when handed out, so that what was given can be
/// used.
class Arena {
 public:
  /// Reserves addresses, no memory. Error where the system refuses.
  Arena(int device, size_t bytes);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// The kernels' address; nullptr where the budget or the machine's memory is used up.
  [[nodiscard]] void* allocate(size_t bytes);
  /// `bytes` as asked for.
  void free(void* address, size_t bytes) noexcept;
  [[nodiscard]] size_t free_bytes() const;
  [[nodiscard]] size_t total_bytes() const { return total_; }
  /// Kernels' address to the user's.
  [[nodiscard]] void* user_address(void* address) const { return static_cast<char*>(address) + offset_; }
  /// First user's address, its kernels' counterpart, and how many bytes of addresses there are.
  [[nodiscard]] uintptr_t user_base() const { return reinterpret_cast<uintptr_t>(kernels_) + static_cast<uintptr_t>(offset_); }
  [[nodiscard]] uintptr_t kernels_base() const { return reinterpret_cast<uintptr_t>(kernels_); }
  [[nodiscard]] size_t span() const { return span_; }
  /// The file that all of it is in, and where in it an address of the kernels' lies.
  [[nodiscard]] int file() const { return file_; }
  [[nodiscard]] size_t offset_of(const void* address) const { return static_cast<size_t>(static_cast<const char*>(address) - kernels_); }

 private:
  const size_t total_;
  size_t span_ = 0;  // bytes of addresses: more than the budget, so that gaps do not use it up
  int file_ = -1;
  char* kernels_ = nullptr;
  ptrdiff_t offset_ = 0;  // from kernels' to users' addresses
  mutable std::mutex mutex_;
  size_t used_ = 0;
  std::map<size_t, size_t> gaps_;  // free ranges: offset to size
};

}  // namespace tandem::runtime::virtual_gpu
