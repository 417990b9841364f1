// A GPU's memory figures, as PyTorch's caching allocator has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/device.h"

namespace tandem::cuda {

/// One figure: now, the most, and all that was ever added and taken away.
struct Stat {
  size_t current = 0, peak = 0, allocated = 0, freed = 0;
};
/// One figure for both pools together, and for the small (up to 1 MiB) and the large pool.
struct StatByPool {
  Stat all, small_pool, large_pool;
};

/// torch.cuda.memory_stats, as fields.
struct MemoryStats {
  StatByPool allocation, segment, active, inactive_split;  // counts
  StatByPool allocated_bytes, reserved_bytes, active_bytes, inactive_split_bytes, requested_bytes;
  int64_t num_alloc_retries = 0, num_ooms = 0;
};

/// One block of a segment.
struct BlockInfo {
  size_t size = 0, requested_size = 0;
  std::string state;  // "active_allocated", "active_pending_free", "inactive"
  std::string file;   // who asked for it
  int line = 0;
};
/// One piece of memory taken from the driver.
struct SegmentInfo {
  int device = 0;
  uintptr_t address = 0;  // as the user sees it
  size_t total_size = 0, allocated_size = 0, active_size = 0;
  bool is_large = false;
  int stream = 0;
  std::vector<BlockInfo> blocks;
};

/// Bytes held by tensors now, and the most there were since the last reset.
[[nodiscard]] size_t memory_allocated(Device device = Device(DeviceType::CUDA));
/// The most bytes that tensors held since the last reset.
[[nodiscard]] size_t max_memory_allocated(Device device = Device(DeviceType::CUDA));
/// Bytes taken from the driver now, and the most there were.
[[nodiscard]] size_t memory_reserved(Device device = Device(DeviceType::CUDA));
/// The most bytes taken from the driver since the last reset.
[[nodiscard]] size_t max_memory_reserved(Device device = Device(DeviceType::CUDA));
/// The old name of memory_reserved.
[[nodiscard]] size_t memory_cached(Device device = Device(DeviceType::CUDA));
/// All figures of the allocator. As torch.cuda.memory_stats.
[[nodiscard]] MemoryStats memory_stats(Device device = Device(DeviceType::CUDA));
/// From now on the figures of "the most" begin anew.
void reset_peak_memory_stats(Device device = Device(DeviceType::CUDA));
/// Sets what was ever allocated and freed to 0.
void reset_accumulated_memory_stats(Device device = Device(DeviceType::CUDA));
/// A table of the figures.
[[nodiscard]] std::string memory_summary(Device device = Device(DeviceType::CUDA));
/// All memory taken from the driver, block by block.
[[nodiscard]] std::vector<SegmentInfo> memory_snapshot(Device device = Device(DeviceType::CUDA));
/// This process takes at most `fraction` (0 to 1) of the GPU's whole memory; what it holds already stays. More is an OutOfMemoryError that
/// names the allowed figure. As torch.cuda.set_per_process_memory_fraction.
void set_per_process_memory_fraction(double fraction, Device device = Device(DeviceType::CUDA), Site = Site::here());
/// Gives unsplit cached segments of all GPUs, those of graphs that are gone among them, and cached page-locked memory back to the driver;
/// never memory held by tensors.
void empty_cache(Site site = Site::here());

}  // namespace tandem::cuda

namespace tandem {

/// What the library keeps of the host's memory for reuse, in bytes, and the most that it keeps.
struct HostMemoryStats {
  size_t cached = 0, cached_limit = 0;          // freed memory of tensors, but for what other threads keep for themselves
  size_t primitives = 0, primitives_limit = 0;  // what oneDNN has made for the shapes of products and convolutions, about
};
/// The figures of now.
[[nodiscard]] HostMemoryStats host_memory_stats();
/// A table of the figures.
[[nodiscard]] std::string host_memory_summary();

}  // namespace tandem
