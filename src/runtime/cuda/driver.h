// Real GPUs behind the interface Driver, through the CUDA runtime.
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/driver.h"

namespace tandem::runtime::cuda_gpu {

struct CudaEvent;
struct CudaStream;
struct CudaGraph;

/// The GPUs that CUDA shows (CUDA itself obeys CUDA_VISIBLE_DEVICES).
class CudaDriver final : public Driver {
 public:
  /// Throws where there is no GPU or no working driver.
  CudaDriver();
  ~CudaDriver() override;

  [[nodiscard]] int device_count() const override { return static_cast<int>(properties_.size()); }
  [[nodiscard]] const cuda::DeviceProperties& properties(int device) const override { return properties_[static_cast<size_t>(device)]; }
  [[nodiscard]] bool can_access_peer(int device, int peer) const override;

  void* allocate(int device, size_t bytes) override;
  void free(int device, void* address, size_t bytes) noexcept override;
  [[nodiscard]] std::pair<size_t, size_t> memory_info(int device) const override;
  [[nodiscard]] cuda::DeviceFigures figures(int device) const override;
  [[nodiscard]] void* user_address(int, void* address) const override { return address; }
  [[nodiscard]] void* kernel_address(int, void* address) const override { return address; }

  [[nodiscard]] ShareHandle share_memory(int device, void* address, size_t bytes) override;
  [[nodiscard]] void* open_memory(int device, const ShareHandle& handle) override;
  void close_memory(int device, void* address) noexcept override;
  void* allocate_pinned(size_t bytes) override;
  void free_pinned(void* address, size_t bytes) noexcept override;

  StreamHandle create_stream(int device, int priority) override;
  [[nodiscard]] bool query_stream(StreamHandle stream) override;
  void synchronize_stream(StreamHandle stream, Site site) override;
  void synchronize_device(int device, Site site) override;
  /// Waits for what is queued there now; what went wrong is left to be told where the user waits.
  void finish(int device);

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
  [[nodiscard]] double elapsed_ms(EventHandle began, EventHandle ended) override;

  void copy(void* to, int to_device, const void* from, int from_device, size_t bytes, StreamHandle stream, const char* op,
            Site site) override;
  void host_function(StreamHandle stream, void (*run)(void*), void* context) override;
  void begin_capture(StreamHandle stream) override;
  [[nodiscard]] bool capturing(StreamHandle stream) override;
  [[nodiscard]] GraphHandle end_capture(StreamHandle stream) override;
  void launch_graph(GraphHandle graph, StreamHandle stream, const Replay* replay, Site site) override;
  void destroy_graph(GraphHandle graph) noexcept override;
  [[nodiscard]] Queue queue(StreamHandle stream, const char* op, Site site) override;
  void check_readable(int, const void*, size_t) override {}  // CUDA ends a context's work at its first error

 private:
  /// Lets `device` reach the memory of `peer` where it can; tried once.
  void reach_peer(int device, int peer);
  class Waiting;
  [[nodiscard]] std::vector<CudaStream*> streams_of(int device);

  CudaGraph* capture_of(cudaStream_t stream);
  [[nodiscard]] bool in_capture(cudaStream_t stream) const;
  [[nodiscard]] std::unique_ptr<CudaEvent> new_event(int device, unsigned flags) const;
  /// A GPU that is in use, to be current for what belongs to none; -1 where there is none yet.
  [[nodiscard]] int used_device() const;

  std::vector<cuda::DeviceProperties> properties_;
  std::mutex entering_;                                // held while a stream enters a capture, and while one must not
  std::mutex mutex_;                                   // guards what follows
  std::vector<std::pair<ShareHandle, void*>> shared_;  // memory of this process that others may open
  std::vector<char> peers_;                            // for each GPU and peer, whether it was tried
  std::vector<std::unique_ptr<CudaStream>> streams_;
  std::vector<std::unique_ptr<CudaGraph>> captures_;  // under way
  std::atomic<size_t> captures_count_{0};             // so that a launch outside of any costs one load
};

}  // namespace tandem::runtime::cuda_gpu
