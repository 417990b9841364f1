// One memfd a GPU, mapped once for kernels (read and write) and once for users (no access). First fit; neighbouring gaps are merged.
#include "runtime/virtual/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>

#include "base/error.h"

namespace tandem::runtime::virtual_gpu {
namespace {
constexpr size_t kPiece = size_t{2} << 20;
constexpr size_t rounded(size_t bytes) { return (bytes + kPiece - 1) / kPiece * kPiece; }
}  // namespace

Arena::Arena(int device, size_t bytes) : total_(bytes) {
  span_ = 2 * rounded(bytes);
  const auto refuse = [&](const char* what) {
    const int error = errno;
    if (file_ >= 0) close(file_);
    fail("cannot set up ", bytes >> 20, " MiB of memory for virtual GPU ", device, ": ", what, ": ", std::strerror(error),
         "; ask for less, as TANDEM_VIRTUAL_GPUS=2x1GiB");
  };
  file_ = memfd_create("tandem-virtual-gpu", MFD_CLOEXEC);
  if (file_ < 0) refuse("memfd_create");
  if (ftruncate(file_, static_cast<off_t>(span_)) != 0) refuse("ftruncate");
  void* kernels = mmap(nullptr, span_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_, 0);
  if (kernels == MAP_FAILED) refuse("mmap");
  void* user = mmap(nullptr, span_, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file_, 0);
  if (user == MAP_FAILED) {
    const int error = errno;
    munmap(kernels, span_);
    errno = error;
    refuse("mmap");
  }
  kernels_ = static_cast<char*>(kernels);
  offset_ = static_cast<ptrdiff_t>(reinterpret_cast<uintptr_t>(user) - reinterpret_cast<uintptr_t>(kernels));
  gaps_[0] = span_;
}

Arena::~Arena() {
  munmap(reinterpret_cast<void*>(user_base()), span_);
  munmap(kernels_, span_);
  close(file_);
}

void* Arena::allocate(size_t bytes) {
  const size_t size = rounded(bytes);
  if (bytes == 0 || size < bytes) return nullptr;
  const std::lock_guard lock(mutex_);
  if (size > total_ - used_) return nullptr;
  for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
    if (gap->second < size) continue;
    const auto [offset, length] = *gap;
    // A full machine must show here, not as SIGBUS in a kernel: posix_fallocate returns its error.
    int error;
    while ((error = posix_fallocate(file_, static_cast<off_t>(offset), static_cast<off_t>(size))) == EINTR) {
    }
    if (error != 0) {
      fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset), static_cast<off_t>(size));
      return nullptr;
    }
    gaps_.erase(gap);
    if (length > size) gaps_[offset + size] = length - size;
    used_ += size;
    return kernels_ + offset;
  }
  return nullptr;
}

void Arena::free(void* address, size_t bytes) noexcept {
  const size_t size = rounded(bytes);
  const auto offset = static_cast<size_t>(static_cast<char*>(address) - kernels_);
  const std::lock_guard lock(mutex_);
  fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset), static_cast<off_t>(size));
  used_ -= size;
  auto gap = gaps_.emplace(offset, size).first;
  if (const auto next = std::next(gap); next != gaps_.end() && gap->first + gap->second == next->first) {
    gap->second += next->second;
    gaps_.erase(next);
  }
  if (gap != gaps_.begin()) {
    const auto before = std::prev(gap);
    if (before->first + before->second == gap->first) {
      before->second += gap->second;
      gaps_.erase(gap);
    }
  }
}

size_t Arena::free_bytes() const {
  const std::lock_guard lock(mutex_);
  return total_ - used_;
}

}  // namespace tandem::runtime::virtual_gpu
