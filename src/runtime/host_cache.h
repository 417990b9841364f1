// The host's memory cache: small blocks in bins that each thread keeps for itself, overflow in shared bins, blocks from 1 MiB on in one
// shared best-fit cache over mmap. A loop that frees and asks again meets neither a lock nor a page fault.
#pragma once

#include <atomic>
#include <cstddef>

namespace tandem::runtime {

/// Where blocks stop being small.
inline constexpr size_t kLargeHostBlock = size_t{1} << 20;

/// Bytes that the cache keeps for reuse: in shared bins and the large cache, not in other threads' bins.
[[nodiscard]] size_t host_cache_bytes() noexcept;
/// Gives everything cached back to the system: the calling thread's bins, the shared ones, the large blocks.
void trim_host_cache() noexcept;
/// The most bytes of large blocks that are kept; an eighth of the memory that this process may use and at most 4 GiB unless set. The shared
/// bins keep at most a quarter of that. Returns what it was.
size_t set_host_cache_limit(size_t bytes) noexcept;
[[nodiscard]] size_t host_cache_limit() noexcept;

/// What primitives of libraries take that kernels keep for the next call, about, and the most that they keep of those that nobody uses: 96
/// MiB, or a thirty-second of the memory that this process may use. Counted by the kernels.
extern constinit std::atomic<size_t> primitive_bytes;
[[nodiscard]] size_t primitive_limit() noexcept;

namespace detail {

/// Bins of 64, 128, 192, 256, then four to each doubling up to 1 MiB.
inline constexpr int kHostBins = 52;
constexpr int host_bin(size_t bytes) {
  if (bytes <= 256) return static_cast<int>((bytes + 63) / 64) - 1;
  const int log2 = 63 - __builtin_clzll(bytes - 1);  // bytes in (2^log2, 2^(log2+1)]
  return 4 + (log2 - 8) * 4 + static_cast<int>((bytes - 1) >> (log2 - 2) & 3);
}
constexpr size_t host_bin_size(int bin) {
  if (bin < 4) return static_cast<size_t>(bin + 1) * 64;
  const int log2 = (bin - 4) / 4 + 8;
  return (size_t{1} << log2) + (static_cast<size_t>((bin - 4) % 4) + 1) * (size_t{1} << (log2 - 2));
}

/// Blocks from 1 MiB on. nullptr where there is no memory.
[[nodiscard]] void* allocate_large_host(size_t bytes) noexcept;
void free_large_host(void* data) noexcept;
void trim_large_host() noexcept;
[[nodiscard]] size_t large_host_cached() noexcept;
size_t limit_large_host(size_t bytes) noexcept;

}  // namespace detail
}  // namespace tandem::runtime
