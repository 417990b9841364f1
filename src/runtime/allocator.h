// Where a storage's bytes come from: a cache for the host, the caching allocator for GPUs. For the library.
#pragma once

#include <atomic>
#include <cstddef>

#include "base/site.h"
#include "runtime/device.h"
#include "runtime/stream.h"

namespace tandem::runtime {

/// Bytes for a storage. `block` is the allocator's own record (nothing for plain host memory).
struct Allocation {
  void* data = nullptr;  // the kernels' address
  void* block = nullptr;
};

/// Host memory, aligned to 64 bytes, from a cache: a loop that frees and asks again meets no page fault. Throws OutOfMemoryError.
[[nodiscard]] void* allocate_host(size_t bytes);
/// `bytes` as asked for.
void free_host(void* data, size_t bytes) noexcept;

/// Memory of a GPU, for the current stream of `device` (an indexed GPU). Zero bytes give nullptr. Throws OutOfMemoryError with PyTorch's
/// text.
[[nodiscard]] Allocation allocate_device(Device device, size_t bytes, Site site);
void free_device(Device device, Allocation allocation) noexcept;
/// The block is used on `stream` too: once freed, it is given out again only when that stream has passed what is queued on it at the time
/// of freeing.
void record_stream(Device device, Allocation allocation, const cuda::Stream& stream);
/// Whether the block, were it freed, could be given to a request of the calling thread now: it belongs to the current stream, and to the
/// capture's pool where the thread captures, and no other stream uses it.
[[nodiscard]] bool reusable_now(Device device, Allocation allocation);

/// Page-locked host memory from a cache; reused only when copies recorded on it have passed.
[[nodiscard]] Allocation allocate_pinned(size_t bytes, Site site);
void free_pinned(Allocation allocation) noexcept;
void record_stream_pinned(Allocation allocation, const cuda::Stream& stream);
/// Waits for the copies of freed blocks, then gives all that nobody holds back to the driver.
void empty_pinned_cache(Site site);

/// Where the memory of new tensors comes from in place of the allocators above; pinned memory stays theirs. Tests put guard bytes around
/// it.
struct MemorySource {
  /// `record` is for `free`.
  Allocation (*allocate)(Device device, size_t bytes, Site site, void*& record);
  void (*free)(void* record);
};
/// nullptr: the allocators. What a source gave goes back to it, whichever is set then.
inline constinit std::atomic<const MemorySource*> memory_source{nullptr};

/// Writes what lies at `address` of GPU `device` into `out`, cut to `size`: "4000 bytes allocated at file.cpp:12". False where it is no
/// memory of the caching allocator, or another thread is inside it. The address may be the kernels' or the user's. For a signal handler: it
/// takes no memory and waits for nothing.
bool describe_block(int device, const void* address, char* out, size_t size) noexcept;

}  // namespace tandem::runtime
