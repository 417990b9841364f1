// The memory in the form of torch.cuda.memory._snapshot: what keys there are, torch/cuda/memory.py says.
#include "io/file.h"
#include "io/pickle.h"
#include "observe/memory/memory_history.h"
#include "observe/memory/memory_recorder.h"
#include "runtime/driver.h"
#include "runtime/memory.h"

namespace tandem::cuda::memory {
namespace {

using io::PickleWriter;

void put(PickleWriter& out, const char* key, uint64_t value) {
  out.text(key);
  out.number(value);
}
void put(PickleWriter& out, const char* key, std::string_view value) {
  out.text(key);
  out.text(value);
}

/// The call stack, of which the user's line is known.
void put_frames(PickleWriter& out, const std::string& file, int line) {
  out.text("frames");
  out.begin_list();
  if (!file.empty()) {
    out.begin_dict();
    put(out, "filename", file);
    put(out, "line", static_cast<uint64_t>(line));
    put(out, "name", "");
    out.end_dict();
  }
  out.end_list();
}

void put_segment(PickleWriter& out, const SegmentInfo& segment) {
  size_t requested = 0;
  for (const BlockInfo& block : segment.blocks) requested += block.requested_size;
  out.begin_dict();
  put(out, "device", static_cast<uint64_t>(segment.device));
  put(out, "address", segment.address);
  put(out, "total_size", segment.total_size);
  put(out, "allocated_size", segment.allocated_size);
  put(out, "active_size", segment.active_size);
  put(out, "requested_size", requested);
  put(out, "stream", static_cast<uint64_t>(segment.stream));
  put(out, "segment_type", segment.is_large ? "large" : "small");
  out.text("segment_pool_id");
  out.pair(0, 0);
  out.text("is_expandable");
  out.boolean(false);
  put_frames(out, "", 0);
  out.text("blocks");
  out.begin_list();
  uintptr_t address = segment.address;
  for (const BlockInfo& block : segment.blocks) {
    out.begin_dict();
    put(out, "address", address);
    put(out, "size", block.size);
    put(out, "requested_size", block.requested_size);
    put(out, "state", block.state);
    put_frames(out, block.file, block.line);
    out.end_dict();
    address += block.size;
  }
  out.end_list();
  out.end_dict();
}

void put_event(PickleWriter& out, const HistoryEntry& entry) {
  const auto time = std::chrono::duration_cast<std::chrono::microseconds>(entry.time.time_since_epoch());
  const bool of_a_block = entry.action == "alloc" || entry.action.starts_with("free_");
  out.begin_dict();
  put(out, "action", entry.action);
  put(out, "addr", entry.address);
  put(out, "size", of_a_block ? entry.requested : entry.size);
  put(out, "stream", static_cast<uint64_t>(entry.stream));
  put(out, "time_us", static_cast<uint64_t>(time.count()));
  if (entry.action == "oom") put(out, "device_free", entry.device_free);
  put_frames(out, entry.file, entry.line);
  out.end_dict();
}

}  // namespace

void dump_snapshot(const std::string& path) {
  const int devices = runtime::require_driver().device_count();
  PickleWriter out;
  out.begin_dict();
  out.text("segments");
  out.begin_list();
  for (int device = 0; device < devices; ++device) {
    detail::note_snapshot(device);
    for (const SegmentInfo& segment : memory_snapshot(gpu(device))) put_segment(out, segment);
  }
  out.end_list();
  out.text("device_traces");
  out.begin_list();
  for (int device = 0; device < devices; ++device) {
    out.begin_list();
    for (const HistoryEntry& entry : history(gpu(device))) put_event(out, entry);
    out.end_list();
  }
  out.end_list();
  out.text("allocator_settings");
  out.begin_dict();
  out.end_dict();
  out.text("external_annotations");
  out.begin_list();
  out.end_list();
  out.end_dict();
  io::write_file("dump_snapshot", path, out.finish(), io::MissingFolder::IsMade);
}

}  // namespace tandem::cuda::memory
