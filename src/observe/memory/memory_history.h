// What happened to GPUs' memory, event by event, and the memory as it is: as a file for PyTorch's viewer, and as a page.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/device.h"

namespace tandem::cuda::memory {

/// Options of record_history(), in this order.
struct HistoryOptions {
  size_t max_entries = 1'000'000;  // of each GPU: the latest are kept
};

/// One event. Actions are PyTorch's: "alloc", "free_requested" (its owner let go), "free_completed" (it can be handed out again, and so
/// have all streams that used it), "segment_alloc" and "segment_free" (taken from the GPU, given back), "oom" (what could not be had: an
/// OutOfMemoryError followed), "snapshot" (dump_snapshot was called).
struct HistoryEntry {
  std::string action;
  uintptr_t address = 0;  // as the user sees it
  size_t size = 0;        // bytes of the block or segment
  size_t requested = 0;   // bytes of these that were asked for
  int stream = 0;
  std::chrono::system_clock::time_point time;
  std::string file;  // the line that asked for the memory; empty where nobody's did
  int line = 0;
  size_t device_free = 0;  // of "oom": bytes of the GPU that were free
};

/// Begins to note what happens to the memory of all GPUs, from nothing; `false`: ends, and forgets what was noted. An entry takes about 80
/// bytes of the host's memory. As torch.cuda.memory._record_memory_history.
void record_history(bool on = true, Site = Site::here());
void record_history(HistoryOptions options, Site = Site::here());
/// What was noted of a GPU, the oldest first.
[[nodiscard]] std::vector<HistoryEntry> history(Device device = Device(DeviceType::CUDA));

/// Writes segments, blocks and history of all GPUs as the pickle that PyTorch's viewer opens (pytorch.org/memory_viz, and
/// torch/cuda/_memory_viz.py). Without a history the viewer has the segments alone. The file is written whole or not at all.
void dump_snapshot(const std::string& path);
/// Writes an HTML page of all GPUs that use memory: figures, a timeline, who held memory at the peak, which lines hold most, each segment
/// with its blocks and holes, the latest events. It needs nothing but itself. The file is written whole or not at all.
void write_page(const std::string& path);

}  // namespace tandem::cuda::memory
