// What hardware must offer: memory, copies, streams, events, properties. Everything above is written once and works on every driver.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/queue.h"
#include "runtime/device.h"
#include "runtime/monitor.h"

namespace tandem::runtime {

/// A driver's own stream and event. Only the driver looks inside.
using StreamHandle = void*;
using EventHandle = void*;
using GraphHandle = void*;

/// What another process of this machine needs to see a piece of a GPU's memory, or an event. Plain bytes, to be sent as they are.
struct ShareHandle {
  std::array<unsigned char, 128> bytes{};
};

/// GPUs of one kind: virtual ones or CUDA ones. Indices are those after CUDA_VISIBLE_DEVICES.
/// Functions may be called from any thread. Failures other than exhaustion throw Error.
class Driver {
 public:
  virtual ~Driver() = default;

  [[nodiscard]] virtual int device_count() const = 0;
  [[nodiscard]] virtual const cuda::DeviceProperties& properties(int device) const = 0;
  [[nodiscard]] virtual bool can_access_peer(int device, int peer) const = 0;

  /// Memory of the GPU; nullptr where it is used up. The address is the kernels'.
  virtual void* allocate(int device, size_t bytes) = 0;
  /// What is queued and uses the memory must have passed.
  virtual void free(int device, void* address, size_t bytes) noexcept = 0;
  /// {free, total} bytes.
  [[nodiscard]] virtual std::pair<size_t, size_t> memory_info(int device) const = 0;
  /// What the GPU's gauges show. Here: what every driver knows, the memory in use, all of it this process's.
  [[nodiscard]] virtual cuda::DeviceFigures figures(int device) const;
  /// The address that a user sees for a kernel's address: another one on a virtual GPU (it faults on the host), the same on a real one.
  [[nodiscard]] virtual void* user_address(int device, void* address) const = 0;
  /// The other way round.
  [[nodiscard]] virtual void* kernel_address(int device, void* address) const = 0;

  /// For other processes of this machine: the piece of memory that `allocate` gave. It must be kept as long as they have it open.
  [[nodiscard]] virtual ShareHandle share_memory(int device, void* address, size_t bytes) = 0;
  /// Another process's memory: the kernels' address here. Error where it is another GPU's, or its owner has ended.
  [[nodiscard]] virtual void* open_memory(int device, const ShareHandle& handle) = 0;
  virtual void close_memory(int device, void* address) noexcept = 0;

  /// Page-locked host memory; nullptr where it is used up.
  virtual void* allocate_pinned(size_t bytes) = 0;
  virtual void free_pinned(void* address, size_t bytes) noexcept = 0;

  /// The first one made for a GPU is its default stream. Streams are never destroyed.
  virtual StreamHandle create_stream(int device, int priority) = 0;
  /// Error where it is being captured.
  [[nodiscard]] virtual bool query_stream(StreamHandle stream) = 0;
  /// Waits for the stream; throws the error its work left, once. Error where it is being captured.
  virtual void synchronize_stream(StreamHandle stream, Site site) = 0;
  /// Waits for every stream of the GPU that is not being captured; throws the first error.
  virtual void synchronize_device(int device, Site site) = 0;
  /// Whether the calling thread may wait for work: not one that runs queued work, which others may be waiting for.
  [[nodiscard]] virtual bool may_wait() const { return true; }

  virtual EventHandle create_event(int device, bool timing) = 0;
  /// An event without timing that other processes of this machine can open.
  virtual EventHandle create_shared_event(int device) = 0;
  [[nodiscard]] virtual ShareHandle share_event(EventHandle event) = 0;
  virtual EventHandle open_event(int device, const ShareHandle& handle) = 0;
  virtual void destroy_event(EventHandle event) noexcept = 0;
  virtual void record_event(EventHandle event, StreamHandle stream) = 0;
  /// The same, but nothing where `stream` is being captured; whether the event was recorded. For what the library does to a stream that
  /// another thread may be capturing: to wait for such a stream, or to put an event of ours into it, would make the capture invalid.
  [[nodiscard]] virtual bool record_event_outside_capture(EventHandle event, StreamHandle stream) = 0;
  /// Work queued on `stream` from now on waits for the record that `event` has now.
  virtual void wait_event(StreamHandle stream, EventHandle event) = 0;
  [[nodiscard]] virtual bool query_event(EventHandle event) = 0;
  virtual void synchronize_event(EventHandle event, Site site) = 0;
  /// Waits until one of the events, of which there is at least one, has passed, and says which.
  [[nodiscard]] virtual size_t wait_for_any(std::span<const EventHandle> events, Site site);
  /// Whether streams look at the clock around their tasks, for WorkTimes. Elsewhere there are events.
  [[nodiscard]] virtual bool times_tasks() const { return false; }
  /// Milliseconds between two records made with timing.
  [[nodiscard]] virtual double elapsed_ms(EventHandle began, EventHandle ended) = 0;

  /// Queues a copy. Device -1 is the host. Both addresses are the kernels'.
  virtual void copy(void* to, int to_device, const void* from, int from_device, size_t bytes, StreamHandle stream, const char* op,
                    Site site) = 0;
  /// Copies to pageable host memory and waits; throws where the bytes did not arrive, whoever was told why.
  virtual void copy_to_host(void* to, const void* from, int from_device, size_t bytes, StreamHandle stream, const char* op, Site site);
  /// Queues a host function: `run(context)` is called when the stream gets there, also where the stream is poisoned.
  virtual void host_function(StreamHandle stream, void (*run)(void*), void* context) = 0;

  /// From here on work for `stream` is recorded, not run, whoever queues it; so is work for streams that wait for it. Error where it is
  /// captured already.
  virtual void begin_capture(StreamHandle stream) = 0;
  /// Whether `stream` is being captured.
  [[nodiscard]] virtual bool capturing(StreamHandle stream) = 0;
  /// The work recorded since begin_capture on this stream, as a graph. Error where a stream that joined has not been waited for, or nothing
  /// can be made of it; the capture has ended all the same.
  [[nodiscard]] virtual GraphHandle end_capture(StreamHandle stream) = 0;
  /// Queues all the work of a graph. Its kernels find `replay` in their queue; nullptr where none of them looks.
  virtual void launch_graph(GraphHandle graph, StreamHandle stream, const Replay* replay, Site site) = 0;
  /// Replays that are queued still run.
  virtual void destroy_graph(GraphHandle graph) noexcept = 0;

  /// What a kernel queued on `stream` is handed.
  [[nodiscard]] virtual Queue queue(StreamHandle stream, const char* op, Site site) = 0;
  /// Throws where skipped work should have written [address, address + bytes) and nothing has since.
  virtual void check_readable(int device, const void* address, size_t bytes) = 0;
  /// The memory is given to a new owner: what skipped work should have written there concerns nobody any more. For the allocator, at each
  /// allocation.
  virtual void forget(int /*device*/, const void* /*address*/, size_t /*bytes*/) noexcept {}
};

/// The GPUs' driver: virtual where TANDEM_VIRTUAL_GPUS or use_virtual_gpus asks for them, else the CUDA plug-in where it can be loaded,
/// else nullptr. Made at first use. In a forked child it may be asked for counts and properties only.
[[nodiscard]] Driver* driver();
/// The same, for use; error that says why where there is none, or this is a child forked from the process that has it.
[[nodiscard]] Driver& require_driver();
/// The same, for giving something back; nullptr in a forked child, which must leave it: it is the parent's.
[[nodiscard]] Driver* own_driver() noexcept;
/// Error in a process forked from one that had begun to use GPUs: neither their threads nor their contexts came along. To be called before
/// a lock is taken that another thread of the parent may have held.
void refuse_forked();
/// Whether the GPUs are virtual ones.
[[nodiscard]] bool devices_are_virtual();

/// The specification that use_virtual_gpus was given, so that a process started by this one can have the same GPUs; nothing where it was
/// not called.
[[nodiscard]] std::optional<std::string> virtual_gpus_asked_for();

/// What libtandem_cuda.so's one entry returns: `extern "C" const tandem::runtime::Plugin* tandem_cuda_plugin()`. It throws nothing.
/// Where it has a driver, it has handed its kernels to kernels::set_gpu_table.
struct Plugin {
  int version;     // kPluginVersion of the headers it was built with
  Driver* driver;  // nullptr where no GPU can be used: `why` says why
  const char* why;
};
inline constexpr int kPluginVersion = 10;

}  // namespace tandem::runtime
