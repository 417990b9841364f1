#include "runtime/cuda/driver.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <new>
#include <optional>
#include <utility>

#include "base/wait_hook.h"
#include "runtime/cuda/check.h"
#include "runtime/cuda/nvml.h"
#include "runtime/cuda/replay.h"
#include "runtime/launch.h"

namespace tandem::runtime::cuda_gpu {

/// The operation that was queued last on a stream, by whatever thread.
class LastOperation {
 public:
  struct Named {
    const char* op = "";
    Site site = Site::none();
  };
  void set(const char* op, Site site) {
    const std::lock_guard lock(mutex_);
    last_ = {op, site};
  }
  [[nodiscard]] Named get() const {
    const std::lock_guard lock(mutex_);
    return last_;
  }

 private:
  mutable std::mutex mutex_;
  Named last_;
};

/// A CUDA stream, the status that its kernels write (host memory that GPUs see), and the last operation queued on it, which an
/// asynchronous error is put down to.
struct CudaStream {
  int device;
  cudaStream_t stream;
  Status* status;
  LastOperation last;
  std::vector<std::shared_ptr<CudaGraph>> replayed;  // graphs that were launched here since the last synchronization
};

/// The type of CUDA's numbers for captures.
using CaptureId = unsigned long long;  // NOLINT(google-runtime-int): CUDA's own type

/// A graph, or a capture that is to become one. Its kernels report to a status of its own, as it is replayed on any stream.
struct CudaGraph {
  int device = 0;
  cudaStream_t origin = nullptr;
  CaptureId id = 0;
  cudaGraphExec_t exec = nullptr;
  Status* status = nullptr;
  Replay* replay = nullptr;  // memory of the GPU

  CudaGraph() = default;
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;
  /// No replay of it is running: the streams that it is launched on keep it until they have been waited for.
  ~CudaGraph() {
    quietly_on(device, [&] {
      if (exec) (void)cudaGraphExecDestroy(exec);
      if (replay) (void)cudaFree(replay);
      if (status) (void)cudaFreeHost(status);
    });
  }
};

struct CudaEvent {
  int device = 0;
  cudaEvent_t event = nullptr;
  std::atomic<bool> captured{false};  // its last record is a part of a capture: it can be waited for by streams alone

  CudaEvent() = default;
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  ~CudaEvent() {
    if (event) quietly_on(device, [&] { (void)cudaEventDestroy(event); });
  }
};

namespace {

using GraphOwner = std::shared_ptr<CudaGraph>;

/// The number of the capture that a stream is a part of; 0 where it is in none, or in one that became invalid.
CaptureId capture_id(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  CaptureId id = 0;
#if CUDART_VERSION >= 13000
  check(cudaStreamGetCaptureInfo(stream, &status, &id), "cudaStreamGetCaptureInfo");
#else
  check(cudaStreamGetCaptureInfo_v2(stream, &status, &id), "cudaStreamGetCaptureInfo");
#endif
  return status == cudaStreamCaptureStatusActive ? id : 0;
}

CudaStream& stream_of(StreamHandle handle) { return *static_cast<CudaStream*>(handle); }
/// CUDA's handles for other processes, which are plain bytes, as ShareHandle and back.
template <class Handle>
ShareHandle to_share(const Handle& handle) {
  static_assert(sizeof(Handle) <= sizeof(ShareHandle) && std::is_trivially_copyable_v<Handle>);
  ShareHandle share;
  std::memcpy(share.bytes.data(), &handle, sizeof handle);
  return share;
}
template <class Handle>
Handle from_share(const ShareHandle& share) {
  Handle handle;
  std::memcpy(&handle, share.bytes.data(), sizeof handle);
  return handle;
}

CudaEvent& event_of(EventHandle handle) { return *static_cast<CudaEvent*>(handle); }

/// An event that may be queried and waited for. Error for one that was recorded in a capture: CUDA would end the capture.
CudaEvent& own_time_of(EventHandle handle, const char* op) {
  CudaEvent& event = event_of(handle);
  if (event.captured.load()) fail('[', op, "] the event was recorded in a capture: it has no time of its own");
  return event;
}

/// Asynchronous errors come out at a later call: the text names the last operation queued there.
void check_work(cudaError_t code, const char* call, const CudaStream* stream) {
  if (code == cudaSuccess) return;
  const auto [op, site] = stream ? stream->last.get() : LastOperation::Named{};
  if (!*op) check(code, call);
  (void)cudaGetLastError();
  fail("CUDA error: ", cudaGetErrorString(code), " (", cudaGetErrorName(code), " from ", call,
       "); the last operation queued on cuda:", stream->device, " was ", op, " at ", site.file, ":", site.line);
}

/// Throws what a status says, once. The stream has been synchronized.
void check_status(const CudaStream& stream, Status& status) {
  const Trouble trouble = status.trouble.load();
  if (trouble == Trouble::None) return;
  const std::string_view op = status.op;
  std::string text = trouble_text(status.op, trouble, status.a.load(), status.b.load());
  if (*status.site.file) text += str(" (queued at ", status.site.file, ":", status.site.line, " on cuda:", stream.device, ")");
  const Site queued_at = *status.site.file ? status.site : Site::none();
  new (&status) Status;
  throw_trouble(op, trouble, text, queued_at);
}

/// Host memory that GPUs write to.
Status* new_status() {
  void* status = nullptr;
  check(cudaHostAlloc(&status, sizeof(Status), cudaHostAllocPortable | cudaHostAllocMapped), "cudaHostAlloc");
  return new (status) Status;
}

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text;
  for (int i = 0; i < 16; ++i) {
    char byte[3];
    std::snprintf(byte, sizeof byte, "%02x", static_cast<unsigned>(static_cast<unsigned char>(uuid.bytes[i])));
    text += byte;
    if (i == 3 || i == 5 || i == 7 || i == 9) text += '-';
  }
  return text;
}

/// CUDA's 13000 as "13.0".
std::string version_text(int version) { return str(version / 1000, '.', version % 1000 / 10); }

/// How many GPUs there are; throws where none can be used.
int count_gpus() {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code == cudaErrorInsufficientDriver) {
    int driver = 0;
    (void)cudaDriverGetVersion(&driver);
    if (driver == 0) fail("no NVIDIA driver (libcuda.so.1) was found");
    fail("the NVIDIA driver is one for CUDA ", version_text(driver), ", but the plug-in was built with CUDA ", version_text(CUDART_VERSION),
         ": install a newer driver, or build with a toolkit of CUDA ", driver / 1000);
  }
  if (code != cudaErrorNoDevice) check(code, "cudaGetDeviceCount");
  if (count == 0) fail("CUDA shows no GPU (CUDA_VISIBLE_DEVICES may hide it)");
  return count;
}

}  // namespace

CudaDriver::CudaDriver() {
  const int count = count_gpus() * devices_per_gpu();
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp found{};
    check(cudaGetDeviceProperties(&found, gpu_behind(device)), "cudaGetDeviceProperties");
    properties_.push_back({.name = found.name,
                           .uuid = uuid_text(found.uuid),
                           .total_memory = found.totalGlobalMem,
                           .multi_processor_count = found.multiProcessorCount,
                           .major = found.major,
                           .minor = found.minor,
                           .is_virtual = false});
  }
  peers_.resize(static_cast<size_t>(count) * static_cast<size_t>(count));
}

CudaDriver::~CudaDriver() = default;

/// Held while a stream is waited for: the graphs that it has replayed, whose kernels report to statuses of their own.
class CudaDriver::Waiting {
 public:
  Waiting(CudaDriver& driver, CudaStream& stream) : driver_(driver), stream_(stream) {
    const std::lock_guard lock(driver_.mutex_);
    replayed_.swap(stream_.replayed);
  }
  /// Graphs whose status was not checked are left for the next wait.
  ~Waiting() {
    if (replayed_.empty()) return;
    const std::lock_guard lock(driver_.mutex_);
    stream_.replayed.insert(stream_.replayed.end(), replayed_.begin(), replayed_.end());
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  /// Throws the first report. The stream has been waited for.
  void check() {
    check_status(stream_, *stream_.status);
    for (; !replayed_.empty(); replayed_.pop_back()) check_status(stream_, *replayed_.back()->status);
  }

 private:
  CudaDriver& driver_;
  CudaStream& stream_;
  std::vector<GraphOwner> replayed_;
};

bool CudaDriver::can_access_peer(int device, int peer) const {
  const int gpu = gpu_behind(device), other = gpu_behind(peer);
  if (gpu == other) return device != peer;
  int able = 0;
  check(cudaDeviceCanAccessPeer(&able, gpu, other), "cudaDeviceCanAccessPeer");
  return able != 0;
}

void CudaDriver::reach_peer(int device, int peer) {
  const std::lock_guard lock(mutex_);
  char& tried = peers_[static_cast<size_t>(device) * properties_.size() + static_cast<size_t>(peer)];
  if (tried) return;
  tried = 1;
  if (!can_access_peer(device, peer)) return;
  const CudaDeviceGuard current(device);
  // There can be too many peers: copies go through the host then.
  if (cudaDeviceEnablePeerAccess(gpu_behind(peer), 0) != cudaSuccess) (void)cudaGetLastError();
}

// --- Memory
void* CudaDriver::allocate(int device, size_t bytes) {
  const CudaDeviceGuard current(device);
  void* address = nullptr;
  const cudaError_t code = cudaMalloc(&address, bytes);
  if (code == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();  // exhaustion is no error of the context
    return nullptr;
  }
  check(code, "cudaMalloc");
  return address;
}

void CudaDriver::free(int device, void* address, size_t) noexcept {
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(shared_, [&](const auto& each) { return each.second == address; });
  }
  quietly_on(device, [&] { (void)cudaFree(address); });
}

std::pair<size_t, size_t> CudaDriver::memory_info(int device) const {
  const CudaDeviceGuard current(device);
  size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return {free, total};
}

cuda::DeviceFigures CudaDriver::figures(int device) const {
  char address[32] = "";
  check(cudaDeviceGetPCIBusId(address, sizeof address, gpu_behind(device)), "cudaDeviceGetPCIBusId");
  return nvml_figures(address);
}

ShareHandle CudaDriver::share_memory(int device, void* address, size_t) {
  const CudaDeviceGuard current(device);
  cudaIpcMemHandle_t handle;
  check(cudaIpcGetMemHandle(&handle, address), "cudaIpcGetMemHandle");
  const ShareHandle share = to_share(handle);
  const std::lock_guard lock(mutex_);
  if (std::none_of(shared_.begin(), shared_.end(), [&](const auto& each) { return each.second == address; }))
    shared_.emplace_back(share, address);
  return share;
}

/// CUDA opens no memory in the process that it is of, where a message may come back: it is there already.
void* CudaDriver::open_memory(int device, const ShareHandle& share) {
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [handle, address] : shared_)
      if (handle.bytes == share.bytes) return address;
  }
  const CudaDeviceGuard current(device);
  void* address = nullptr;
  check(cudaIpcOpenMemHandle(&address, from_share<cudaIpcMemHandle_t>(share), cudaIpcMemLazyEnablePeerAccess), "cudaIpcOpenMemHandle");
  return address;
}

void CudaDriver::close_memory(int device, void* address) noexcept {
  {
    const std::lock_guard lock(mutex_);
    for (const auto& each : shared_)
      if (each.second == address) return;
  }
  quietly_on(device, [&] { (void)cudaIpcCloseMemHandle(address); });
}

void* CudaDriver::allocate_pinned(size_t bytes) {
  // It belongs to no GPU, but the call would make the current one's context: one that is in use will do.
  std::optional<CudaDeviceGuard> current;
  if (const int used = used_device(); used >= 0) current.emplace(used);
  void* address = nullptr;
  const cudaError_t code = cudaHostAlloc(&address, bytes, cudaHostAllocPortable);
  if (code == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    return nullptr;
  }
  check(code, "cudaHostAlloc");
  return address;
}

void CudaDriver::free_pinned(void* address, size_t) noexcept {
  quietly_on(std::max(used_device(), 0), [&] { (void)cudaFreeHost(address); });
}

int CudaDriver::used_device() const {
  for (int device = 0; device < device_count(); ++device)
    if (has_context(gpu_behind(device))) return device;
  return -1;
}

// --- Streams
StreamHandle CudaDriver::create_stream(int device, int priority) {
  const CudaDeviceGuard current(device);
  int least = 0, greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
  auto stream = std::make_unique<CudaStream>();
  stream->device = device;
  check(cudaStreamCreateWithPriority(&stream->stream, cudaStreamNonBlocking, priority < 0 ? greatest : least),
        "cudaStreamCreateWithPriority");
  stream->status = new_status();
  const std::lock_guard lock(mutex_);
  streams_.push_back(std::move(stream));
  return streams_.back().get();
}

bool CudaDriver::query_stream(StreamHandle handle) {
  const CudaStream& stream = stream_of(handle);
  const CudaDeviceGuard current(stream.device);
  if (in_capture(stream.stream)) fail("[query] the stream is being captured: its work is recorded, not run");
  const cudaError_t code = cudaStreamQuery(stream.stream);
  if (code == cudaErrorNotReady) {
    (void)cudaGetLastError();
    return false;
  }
  check_work(code, "cudaStreamQuery", &stream);
  return true;
}

void CudaDriver::synchronize_stream(StreamHandle handle, Site) {
  CudaStream& stream = stream_of(handle);
  const CudaDeviceGuard current(stream.device);
  if (in_capture(stream.stream)) fail("[synchronize] the stream is being captured: its work is recorded, not run");
  Waiting waiting(*this, stream);
  const tandem::detail::HookedWait hooked;
  check_work(cudaStreamSynchronize(stream.stream), "cudaStreamSynchronize", &stream);
  waiting.check();
}

std::vector<CudaStream*> CudaDriver::streams_of(int device) {
  std::vector<CudaStream*> streams;
  const std::lock_guard lock(mutex_);
  for (const auto& stream : streams_)
    if (stream->device == device) streams.push_back(stream.get());
  return streams;
}

/// Stream by stream: to wait for the whole GPU would end captures of other threads.
void CudaDriver::synchronize_device(int device, Site) {
  const CudaDeviceGuard current(device);
  std::deque<Waiting> waiting;
  std::vector<std::pair<CudaStream*, std::unique_ptr<CudaEvent>>> marks;
  for (CudaStream* stream : streams_of(device)) {
    auto passed = new_event(device, cudaEventDisableTiming);
    waiting.emplace_back(*this, *stream);
    if (record_event_outside_capture(passed.get(), stream)) marks.emplace_back(stream, std::move(passed));
    else waiting.pop_back();
  }
  const tandem::detail::HookedWait hooked;
  for (const auto& [stream, passed] : marks) check_work(cudaEventSynchronize(passed->event), "cudaEventSynchronize", stream);
  for (Waiting& each : waiting) each.check();
}

void CudaDriver::finish(int device) {
  const CudaDeviceGuard current(device);
  std::vector<std::unique_ptr<CudaEvent>> marks;
  for (CudaStream* stream : streams_of(device)) {
    auto passed = new_event(device, cudaEventDisableTiming);
    if (record_event_outside_capture(passed.get(), stream)) marks.push_back(std::move(passed));
  }
  for (const auto& passed : marks) (void)cudaEventSynchronize(passed->event);  // an error stays with the context
}

// --- Events
std::unique_ptr<CudaEvent> CudaDriver::new_event(int device, unsigned flags) const {
  const CudaDeviceGuard current(device);
  auto event = std::make_unique<CudaEvent>();
  event->device = device;
  check(cudaEventCreateWithFlags(&event->event, flags), "cudaEventCreateWithFlags");
  return event;
}

EventHandle CudaDriver::create_event(int device, bool timing) {
  return new_event(device, timing ? cudaEventDefault : cudaEventDisableTiming).release();
}

EventHandle CudaDriver::create_shared_event(int device) {
  return new_event(device, cudaEventDisableTiming | cudaEventInterprocess).release();
}

ShareHandle CudaDriver::share_event(EventHandle handle) {
  const CudaDeviceGuard current(event_of(handle).device);
  cudaIpcEventHandle_t shared;
  check(cudaIpcGetEventHandle(&shared, event_of(handle).event), "cudaIpcGetEventHandle");
  return to_share(shared);
}

EventHandle CudaDriver::open_event(int device, const ShareHandle& share) {
  const CudaDeviceGuard current(device);
  auto event = std::make_unique<CudaEvent>();
  event->device = device;
  check(cudaIpcOpenEventHandle(&event->event, from_share<cudaIpcEventHandle_t>(share)), "cudaIpcOpenEventHandle");
  return event.release();
}

void CudaDriver::destroy_event(EventHandle handle) noexcept { delete &event_of(handle); }

void CudaDriver::record_event(EventHandle handle, StreamHandle on) {
  const CudaStream& stream = stream_of(on);
  const CudaDeviceGuard current(stream.device);
  event_of(handle).captured.store(in_capture(stream.stream));
  check_work(cudaEventRecord(event_of(handle).event, stream.stream), "cudaEventRecord", &stream);
}

bool CudaDriver::record_event_outside_capture(EventHandle handle, StreamHandle on) {
  const std::lock_guard nobody_enters(entering_);
  if (in_capture(stream_of(on).stream)) return false;
  record_event(handle, on);
  return true;
}

void CudaDriver::wait_event(StreamHandle stream, EventHandle handle) {
  const CudaDeviceGuard current(stream_of(stream).device);
  std::unique_lock entering(entering_, std::defer_lock);
  if (event_of(handle).captured.load()) entering.lock();  // the stream joins the capture
  check_work(cudaStreamWaitEvent(stream_of(stream).stream, event_of(handle).event, 0), "cudaStreamWaitEvent", &stream_of(stream));
}

bool CudaDriver::query_event(EventHandle handle) {
  const CudaEvent& event = own_time_of(handle, "query");
  const CudaDeviceGuard current(event.device);
  const cudaError_t code = cudaEventQuery(event.event);
  if (code == cudaErrorNotReady) {
    (void)cudaGetLastError();
    return false;
  }
  check(code, "cudaEventQuery");
  return true;
}

void CudaDriver::synchronize_event(EventHandle handle, Site) {
  const CudaEvent& event = own_time_of(handle, "synchronize");
  const CudaDeviceGuard current(event.device);
  const tandem::detail::HookedWait hooked;
  check(cudaEventSynchronize(event.event), "cudaEventSynchronize");
}

double CudaDriver::elapsed_ms(EventHandle began, EventHandle ended) {
  const CudaDeviceGuard current(event_of(began).device);
  float ms = 0;
  check(cudaEventElapsedTime(&ms, event_of(began).event, event_of(ended).event), "cudaEventElapsedTime");
  return ms;
}

// --- Work
void CudaDriver::copy(void* to, int to_device, const void* from, int from_device, size_t bytes, StreamHandle handle, const char* op,
                      Site site) {
  CudaStream& stream = stream_of(handle);
  const CudaDeviceGuard current(stream.device);
  stream.last.set(op, site);
  const bool between_gpus = to_device >= 0 && from_device >= 0 && gpu_behind(to_device) != gpu_behind(from_device);
  if (between_gpus) reach_peer(stream.device, stream.device == to_device ? from_device : to_device);
  const cudaError_t code = between_gpus
                               ? cudaMemcpyPeerAsync(to, gpu_behind(to_device), from, gpu_behind(from_device), bytes, stream.stream)
                               : cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream.stream);
  check_work(code, "cudaMemcpyAsync", &stream);
}

void CudaDriver::host_function(StreamHandle handle, void (*run)(void*), void* context) {
  const CudaDeviceGuard current(stream_of(handle).device);
  check_work(cudaLaunchHostFunc(stream_of(handle).stream, run, context), "cudaLaunchHostFunc", &stream_of(handle));
}

// --- Graphs
// Captures are relaxed: what the library itself does meanwhile - memory for the cache, plans, handles - is allowed, and what would wait
// for the capture is refused by runtime/capture.h before it gets here.

CudaGraph* CudaDriver::capture_of(cudaStream_t stream) {
  if (captures_count_.load(std::memory_order_relaxed) == 0) return nullptr;
  const CaptureId id = capture_id(stream);
  if (id == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  for (const auto& capture : captures_)
    if (capture->id == id) return capture.get();
  return nullptr;
}

/// True also for a capture that became invalid: until its end nothing else can be done with the stream.
bool CudaDriver::in_capture(cudaStream_t stream) const {
  if (captures_count_.load() == 0) return false;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

void CudaDriver::begin_capture(StreamHandle handle) {
  const CudaStream& stream = stream_of(handle);
  const CudaDeviceGuard current(stream.device);
  if (capturing(handle)) fail("[capture_begin] the stream is being captured already");
  auto graph = std::make_unique<CudaGraph>();
  graph->device = stream.device;
  graph->origin = stream.stream;
  graph->status = new_status();
  void* replay = nullptr;
  check(cudaMalloc(&replay, sizeof(Replay)), "cudaMalloc");
  graph->replay = static_cast<Replay*>(replay);
  // Waited for, as any stream may replay the graph; on this stream, since the legacy default stream would wait for all others.
  check_work(cudaMemsetAsync(replay, 0, sizeof(Replay), stream.stream), "cudaMemsetAsync", &stream);
  check_work(cudaStreamSynchronize(stream.stream), "cudaStreamSynchronize", &stream);
  const std::lock_guard entering(entering_);
  const std::lock_guard lock(mutex_);
  captures_.reserve(captures_.size() + 1);
  captures_count_.store(captures_.size() + 1);  // before it begins, so that no launch of it is missed
  const cudaError_t code = cudaStreamBeginCapture(stream.stream, cudaStreamCaptureModeRelaxed);
  if (code == cudaSuccess) {
    graph->id = capture_id(stream.stream);
    captures_.push_back(std::move(graph));
  }
  captures_count_.store(captures_.size());
  check_work(code, "cudaStreamBeginCapture", &stream);
}

bool CudaDriver::capturing(StreamHandle handle) { return in_capture(stream_of(handle).stream); }

GraphHandle CudaDriver::end_capture(StreamHandle handle) {
  const CudaStream& stream = stream_of(handle);
  const CudaDeviceGuard current(stream.device);
  std::unique_ptr<CudaGraph> graph;
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(captures_.begin(), captures_.end(), [&](const auto& one) { return one->origin == stream.stream; });
    if (found == captures_.end()) fail("[capture_end] no capture began on this stream");
    graph = std::move(*found);
    captures_.erase(found);
  }
  cudaGraph_t kept = nullptr;
  const cudaError_t code = cudaStreamEndCapture(stream.stream, &kept);
  {
    const std::lock_guard lock(mutex_);
    captures_count_.store(captures_.size());  // after it ended
  }
  if (code == cudaErrorStreamCaptureUnjoined) {
    (void)cudaGetLastError();
    fail("[capture_end] a stream that joined the capture has work that the capturing stream has not waited for: call wait_stream first");
  }
  check_work(code, "cudaStreamEndCapture", &stream);
  const cudaError_t made = cudaGraphInstantiate(&graph->exec, kept, 0);
  (void)cudaGraphDestroy(kept);
  check_work(made, "cudaGraphInstantiate", &stream);
  return new GraphOwner(std::move(graph));
}

void CudaDriver::launch_graph(GraphHandle handle, StreamHandle on, const Replay* replay, Site site) {
  CudaStream& stream = stream_of(on);
  const GraphOwner& graph = *static_cast<GraphOwner*>(handle);
  const CudaDeviceGuard current(stream.device);
  stream.last.set("replay", site);
  {
    const std::lock_guard lock(mutex_);
    auto& replayed = stream.replayed;
    if (std::find(replayed.begin(), replayed.end(), graph) == replayed.end()) replayed.push_back(graph);
  }
  if (replay) check_work(write_replay(graph->replay, *replay, stream.stream), "cudaLaunchKernel", &stream);
  check_work(cudaGraphLaunch(graph->exec, stream.stream), "cudaGraphLaunch", &stream);
}

void CudaDriver::destroy_graph(GraphHandle handle) noexcept { delete static_cast<GraphOwner*>(handle); }

Queue CudaDriver::queue(StreamHandle handle, const char* op, Site site) {
  CudaStream& stream = stream_of(handle);
  stream.last.set(op, site);
  check(cudaSetDevice(gpu_behind(stream.device)), "cudaSetDevice");  // kernels are launched on the current GPU, whatever their stream
  Queue queue;
  queue.stream = stream.stream;
  queue.late = stream.status;
  if (const CudaGraph* capture = capture_of(stream.stream)) {
    queue.late = capture->status;
    queue.replay = capture->replay;
  }
  queue.op = op;
  queue.site = site;
  queue.device = gpu_behind(stream.device);  // libraries have a state for each GPU
  return queue;
}

}  // namespace tandem::runtime::cuda_gpu
