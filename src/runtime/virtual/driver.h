// The driver of virtual GPUs: streams are threads, memory is a budget of pages, copies take the time of a link.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/driver.h"
#include "runtime/virtual/copy.h"
#include "runtime/virtual/memory.h"
#include "runtime/virtual/options.h"
#include "runtime/virtual/share.h"
#include "runtime/virtual/stream.h"

namespace tandem::runtime::virtual_gpu {

/// All virtual GPUs of a process, or of a test. Starts no thread until work is queued.
class VirtualDriver final : public Driver {
 public:
  /// `visible` chooses and orders GPUs out of options.count, as CUDA_VISIBLE_DEVICES does.
  VirtualDriver(const Options& options, std::span<const int> visible);
  /// Drops queued kernels and waits for the threads.
  ~VirtualDriver() override;

  [[nodiscard]] int device_count() const override { return static_cast<int>(devices_.size()); }
  [[nodiscard]] const cuda::DeviceProperties& properties(int device) const override { return at(device).properties; }
  [[nodiscard]] bool can_access_peer(int device, int peer) const override;

  void* allocate(int device, size_t bytes) override;
  /// Takes effect when the work now queued for the GPU is done, since that may use the memory.
  void free(int device, void* address, size_t bytes) noexcept override;
  [[nodiscard]] std::pair<size_t, size_t> memory_info(int device) const override;
  [[nodiscard]] cuda::DeviceFigures figures(int device) const override;
  [[nodiscard]] void* user_address(int device, void* address) const override;
  [[nodiscard]] void* kernel_address(int device, void* address) const override;
  [[nodiscard]] ShareHandle share_memory(int device, void* address, size_t bytes) override;
  [[nodiscard]] void* open_memory(int device, const ShareHandle& handle) override;
  void close_memory(int device, void* address) noexcept override;
  void* allocate_pinned(size_t bytes) override;
  void free_pinned(void* address, size_t bytes) noexcept override;

  StreamHandle create_stream(int device, int priority) override;
  [[nodiscard]] bool query_stream(StreamHandle stream) override;
  void synchronize_stream(StreamHandle stream, Site site) override;
  void synchronize_device(int device, Site site) override;
  [[nodiscard]] bool may_wait() const override { return Stream::of_this_thread() == nullptr; }

  EventHandle create_event(int device, bool timing) override;
  EventHandle create_shared_event(int device) override;
  [[nodiscard]] ShareHandle share_event(EventHandle event) override;
  EventHandle open_event(int device, const ShareHandle& handle) override;
  void destroy_event(EventHandle event) noexcept override;
  void record_event(EventHandle event, StreamHandle stream) override;
  [[nodiscard]] bool record_event_outside_capture(EventHandle event, StreamHandle stream) override;
  void wait_event(StreamHandle stream, EventHandle event) override;
  [[nodiscard]] bool query_event(EventHandle event) override;
  void synchronize_event(EventHandle event, Site site) override;
  [[nodiscard]] bool times_tasks() const override { return true; }
  [[nodiscard]] double elapsed_ms(EventHandle began, EventHandle ended) override;

  void copy(void* to, int to_device, const void* from, int from_device, size_t bytes, StreamHandle stream, const char* op,
            Site site) override;
  void copy_to_host(void* to, const void* from, int from_device, size_t bytes, StreamHandle stream, const char* op, Site site) override;
  /// Moves the bytes now, on the calling thread, which runs a task of a stream: over the links between the devices, which takes their
  /// time. Device -1 is the host.
  void copy_now(void* to, int to_device, const void* from, int from_device, size_t bytes) {
    engines_.copy(to, to_device, from, from_device, bytes);
  }
  /// Whether links are as fast as memory, so that reading another device's memory in place takes no less time than a copy would.
  [[nodiscard]] bool links_are_free() const {
    return machine_.options.peer && machine_.options.link <= 0 && machine_.options.latency_ns == 0;
  }
  void host_function(StreamHandle stream, void (*run)(void*), void* context) override;
  void begin_capture(StreamHandle stream) override;
  [[nodiscard]] bool capturing(StreamHandle stream) override;
  [[nodiscard]] GraphHandle end_capture(StreamHandle stream) override;
  void launch_graph(GraphHandle graph, StreamHandle stream, const Replay* replay, Site site) override;
  void destroy_graph(GraphHandle graph) noexcept override;
  [[nodiscard]] Queue queue(StreamHandle stream, const char* op, Site site) override;
  void check_readable(int device, const void* address, size_t bytes) override;
  void forget(int device, const void* address, size_t bytes) noexcept override;

  /// Drops queued kernels, lets everything else happen, and waits for the threads, at most so long (negative: as long as it takes).
  void stop(int64_t most_ms) noexcept;

 private:
  struct Device {
    cuda::DeviceProperties properties;
    std::unique_ptr<Arena> arena;
    std::vector<std::unique_ptr<Stream>> streams;  // guarded by streams_mutex_
  };
  void wait_for(std::span<const Point> points);
  [[nodiscard]] const Device& at(int device) const { return devices_[static_cast<size_t>(device)]; }
  [[nodiscard]] std::vector<Stream*> streams_of(int device) const;

  mutable Machine machine_;
  CopyEngines engines_;
  std::vector<Device> devices_;
  mutable std::mutex streams_mutex_;
  mutable std::mutex opened_mutex_;
  std::vector<std::unique_ptr<OpenedMemory>> opened_;  // other processes' memory
};

/// What a virtual GPU calls itself: made from its index alone, so that every process sees the same. Without "GPU-".
[[nodiscard]] std::string uuid_of(int index);

/// The driver of the process: never destroyed, stopped when the program ends.
[[nodiscard]] Driver* start_driver(const Options& options);

}  // namespace tandem::runtime::virtual_gpu
