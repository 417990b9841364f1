#include "runtime/cuda/driver.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>

#include "runtime/cuda/check.h"
#include "runtime/cuda/nvml.h"
#include "runtime/cuda/replay.h"
#include "runtime/launch.h"

namespace tandem::runtime::cuda_cards {

/// A CUDA stream, the status that its kernels write (host memory that cards see), and the last operation queued on it, which an
/// asynchronous error is put down to.
struct CardStream {
  int device;
  cudaStream_t stream;
  Status* status;
  const char* op = "";
  Site site;
  std::vector<std::shared_ptr<Status>> replayed;  // of graphs that were launched here since the last synchronization
};

/// What CUDA numbers captures with.
using CaptureId = unsigned long long;  // NOLINT(google-runtime-int): CUDA's own type

/// A graph, or a capture that is to become one. Its kernels report to a status of its own, as it is replayed on any stream.
struct CardGraph {
  int device = 0;
  cudaStream_t origin = nullptr;
  CaptureId id = 0;
  cudaGraphExec_t exec = nullptr;
  std::shared_ptr<Status> status;
  Replay* replay = nullptr;  // memory of the card

  ~CardGraph() {
    if (exec) (void)cudaGraphExecDestroy(exec);  // one that is running is freed when it is done
    if (replay) (void)cudaFree(replay);
  }
};

namespace {

struct CardEvent {
  int device;
  cudaEvent_t event;
};

/// The number of the capture that a stream is a part of; 0 where it is in none, or one that was spoilt.
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

CardStream& stream_of(StreamHandle handle) { return *static_cast<CardStream*>(handle); }
/// CUDA's own handles, which are plain bytes, and back.
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

CardEvent& event_of(EventHandle handle) { return *static_cast<CardEvent*>(handle); }

/// Asynchronous errors come out at a later call: the text names the last operation queued there.
void check_work(cudaError_t code, const char* call, const CardStream* stream) {
  if (code == cudaSuccess) return;
  if (!stream || !*stream->op) check(code, call);
  (void)cudaGetLastError();
  fail("CUDA error: ", cudaGetErrorString(code), " (", cudaGetErrorName(code), " from ", call,
       "); the last operation queued on cuda:", stream->device, " was ", stream->op, " at ", stream->site.file, ":", stream->site.line);
}

/// Throws what a status says, once. The stream has been synchronized.
void check_status(const CardStream& stream, Status& status) {
  const Trouble trouble = status.trouble.load();
  if (trouble == Trouble::None) return;
  std::string text = trouble_text(status.op, trouble, status.a.load(), status.b.load());
  if (*status.site.file) text += str(" (queued at ", status.site.file, ":", status.site.line, " on cuda:", stream.device, ")");
  new (&status) Status;
  throw_trouble(trouble, text);
}

/// Host memory that cards write to.
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

/// How many cards there are; throws where none can be used.
int count_cards() {
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
  if (count == 0) fail("CUDA shows no card (CUDA_VISIBLE_DEVICES may hide it)");
  return count;
}

}  // namespace

CudaDriver::CudaDriver() {
  const int count = count_cards() * devices_per_card();
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp found{};
    check(cudaGetDeviceProperties(&found, card_behind(device)), "cudaGetDeviceProperties");
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

bool CudaDriver::can_access_peer(int device, int peer) const {
  const int card = card_behind(device), other = card_behind(peer);
  if (card == other) return device != peer;
  int able = 0;
  check(cudaDeviceCanAccessPeer(&able, card, other), "cudaDeviceCanAccessPeer");
  return able != 0;
}

void CudaDriver::reach_peer(int device, int peer) {
  const std::lock_guard lock(mutex_);
  char& tried = peers_[static_cast<size_t>(device) * properties_.size() + static_cast<size_t>(peer)];
  if (tried) return;
  tried = 1;
  if (!can_access_peer(device, peer)) return;
  const CardGuard card(device);
  // There can be too many peers: copies go through the host then.
  if (cudaDeviceEnablePeerAccess(card_behind(peer), 0) != cudaSuccess) (void)cudaGetLastError();
}

// --- Memory
void* CudaDriver::allocate(int device, size_t bytes) {
  const CardGuard card(device);
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
  quietly_on(device, [&] { (void)cudaFree(address); });
}

std::pair<size_t, size_t> CudaDriver::memory_info(int device) const {
  const CardGuard card(device);
  size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return {free, total};
}

cuda::CardFigures CudaDriver::figures(int device) const {
  char address[32] = "";
  check(cudaDeviceGetPCIBusId(address, sizeof address, card_behind(device)), "cudaDeviceGetPCIBusId");
  return nvml_figures(address);
}

ShareHandle CudaDriver::share_memory(int device, void* address, size_t) {
  const CardGuard card(device);
  cudaIpcMemHandle_t handle;
  check(cudaIpcGetMemHandle(&handle, address), "cudaIpcGetMemHandle");
  return to_share(handle);
}

void* CudaDriver::open_memory(int device, const ShareHandle& share) {
  const CardGuard card(device);
  void* address = nullptr;
  check(cudaIpcOpenMemHandle(&address, from_share<cudaIpcMemHandle_t>(share), cudaIpcMemLazyEnablePeerAccess), "cudaIpcOpenMemHandle");
  return address;
}

void CudaDriver::close_memory(int device, void* address) noexcept {
  quietly_on(device, [&] { (void)cudaIpcCloseMemHandle(address); });
}

void* CudaDriver::allocate_pinned(size_t bytes) {
  // It belongs to no card, but the call would make the current one's context: one that is in use will do.
  int used = 0;
  while (used < device_count() && !has_context(used)) ++used;
  std::optional<CardGuard> card;
  if (used < device_count()) card.emplace(used);
  void* address = nullptr;
  const cudaError_t code = cudaHostAlloc(&address, bytes, cudaHostAllocPortable);
  if (code == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    return nullptr;
  }
  check(code, "cudaHostAlloc");
  return address;
}

void CudaDriver::free_pinned(void* address, size_t) noexcept { (void)cudaFreeHost(address); }

// --- Streams
StreamHandle CudaDriver::create_stream(int device, int priority) {
  const CardGuard card(device);
  int least = 0, greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
  auto stream = std::make_unique<CardStream>();
  stream->device = device;
  check(cudaStreamCreateWithPriority(&stream->stream, cudaStreamNonBlocking, priority < 0 ? greatest : least),
        "cudaStreamCreateWithPriority");
  stream->status = new_status();
  const std::lock_guard lock(mutex_);
  streams_.push_back(std::move(stream));
  return streams_.back().get();
}

bool CudaDriver::query_stream(StreamHandle handle) {
  const CardStream& stream = stream_of(handle);
  const CardGuard card(stream.device);
  const cudaError_t code = cudaStreamQuery(stream.stream);
  if (code == cudaErrorNotReady) {
    (void)cudaGetLastError();
    return false;
  }
  check_work(code, "cudaStreamQuery", &stream);
  return true;
}

void CudaDriver::synchronize_stream(StreamHandle handle, Site) {
  CardStream& stream = stream_of(handle);
  const CardGuard card(stream.device);
  check_work(cudaStreamSynchronize(stream.stream), "cudaStreamSynchronize", &stream);
  check_reports(stream);
}

void CudaDriver::synchronize_device(int device, Site) {
  const CardGuard card(device);
  std::vector<CardStream*> streams;
  const CardStream* last = nullptr;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& stream : streams_) {
      if (stream->device != device) continue;
      streams.push_back(stream.get());
      if (*stream->op) last = stream.get();
    }
  }
  check_work(cudaDeviceSynchronize(), "cudaDeviceSynchronize", last);
  for (CardStream* stream : streams) check_reports(*stream);
}

/// Throws what kernels of a stream, and of graphs launched on it, have reported. The stream has been synchronized.
void CudaDriver::check_reports(CardStream& stream) {
  std::vector<std::shared_ptr<Status>> replayed;
  {
    const std::lock_guard lock(mutex_);
    replayed.swap(stream.replayed);
  }
  check_status(stream, *stream.status);
  for (const auto& status : replayed) check_status(stream, *status);
}

// --- Events
EventHandle CudaDriver::create_event(int device, bool timing) {
  const CardGuard card(device);
  auto event = std::make_unique<CardEvent>();
  event->device = device;
  check(cudaEventCreateWithFlags(&event->event, timing ? cudaEventDefault : cudaEventDisableTiming), "cudaEventCreateWithFlags");
  return event.release();
}

EventHandle CudaDriver::create_shared_event(int device) {
  const CardGuard card(device);
  auto event = std::make_unique<CardEvent>();
  event->device = device;
  check(cudaEventCreateWithFlags(&event->event, cudaEventDisableTiming | cudaEventInterprocess), "cudaEventCreateWithFlags");
  return event.release();
}

ShareHandle CudaDriver::share_event(EventHandle handle) {
  const CardGuard card(event_of(handle).device);
  cudaIpcEventHandle_t shared;
  check(cudaIpcGetEventHandle(&shared, event_of(handle).event), "cudaIpcGetEventHandle");
  return to_share(shared);
}

EventHandle CudaDriver::open_event(int device, const ShareHandle& share) {
  const CardGuard card(device);
  auto event = std::make_unique<CardEvent>();
  event->device = device;
  check(cudaIpcOpenEventHandle(&event->event, from_share<cudaIpcEventHandle_t>(share)), "cudaIpcOpenEventHandle");
  return event.release();
}

void CudaDriver::destroy_event(EventHandle handle) noexcept {
  const std::unique_ptr<CardEvent> event(&event_of(handle));
  (void)cudaEventDestroy(event->event);
}

void CudaDriver::record_event(EventHandle handle, StreamHandle stream) {
  const CardGuard card(stream_of(stream).device);
  check_work(cudaEventRecord(event_of(handle).event, stream_of(stream).stream), "cudaEventRecord", &stream_of(stream));
}

void CudaDriver::wait_event(StreamHandle stream, EventHandle handle) {
  const CardGuard card(stream_of(stream).device);
  check_work(cudaStreamWaitEvent(stream_of(stream).stream, event_of(handle).event, 0), "cudaStreamWaitEvent", &stream_of(stream));
}

bool CudaDriver::query_event(EventHandle handle) {
  const CardGuard card(event_of(handle).device);
  const cudaError_t code = cudaEventQuery(event_of(handle).event);
  if (code == cudaErrorNotReady) {
    (void)cudaGetLastError();
    return false;
  }
  check(code, "cudaEventQuery");
  return true;
}

void CudaDriver::synchronize_event(EventHandle handle, Site) {
  const CardGuard card(event_of(handle).device);
  check(cudaEventSynchronize(event_of(handle).event), "cudaEventSynchronize");
}

double CudaDriver::elapsed_ms(EventHandle began, EventHandle ended) {
  const CardGuard card(event_of(began).device);
  float ms = 0;
  check(cudaEventElapsedTime(&ms, event_of(began).event, event_of(ended).event), "cudaEventElapsedTime");
  return ms;
}

// --- Work
void CudaDriver::copy(void* to, int to_device, const void* from, int from_device, size_t bytes, StreamHandle handle, const char* op,
                      Site site) {
  CardStream& stream = stream_of(handle);
  const CardGuard card(stream.device);
  stream.op = op;
  stream.site = site;
  const bool between_cards = to_device >= 0 && from_device >= 0 && card_behind(to_device) != card_behind(from_device);
  if (between_cards) reach_peer(stream.device, stream.device == to_device ? from_device : to_device);
  const cudaError_t code = between_cards
                               ? cudaMemcpyPeerAsync(to, card_behind(to_device), from, card_behind(from_device), bytes, stream.stream)
                               : cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream.stream);
  check_work(code, "cudaMemcpyAsync", &stream);
}

void CudaDriver::host_function(StreamHandle handle, void (*run)(void*), void* context) {
  const CardGuard card(stream_of(handle).device);
  check_work(cudaLaunchHostFunc(stream_of(handle).stream, run, context), "cudaLaunchHostFunc", &stream_of(handle));
}

// --- Graphs
// Captures are relaxed: what the library itself does meanwhile - memory for the cache, plans, handles - is allowed, and what would wait
// for the capture is refused by runtime/capture.h before it gets here.

CardGraph* CudaDriver::capture_of(cudaStream_t stream) {
  if (captures_count_.load(std::memory_order_relaxed) == 0) return nullptr;
  const CaptureId id = capture_id(stream);
  if (id == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  for (const auto& capture : captures_)
    if (capture->id == id) return capture.get();
  return nullptr;
}

void CudaDriver::begin_capture(StreamHandle handle) {
  const CardStream& stream = stream_of(handle);
  const CardGuard card(stream.device);
  if (capturing(handle)) fail("[capture_begin] the stream is being captured already");
  auto graph = std::make_unique<CardGraph>();
  graph->device = stream.device;
  graph->origin = stream.stream;
  graph->status.reset(new_status(), [](Status* status) { (void)cudaFreeHost(status); });
  void* replay = nullptr;
  check(cudaMalloc(&replay, sizeof(Replay)), "cudaMalloc");
  graph->replay = static_cast<Replay*>(replay);
  check(cudaMemset(replay, 0, sizeof(Replay)), "cudaMemset");
  check(cudaStreamBeginCapture(stream.stream, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
  graph->id = capture_id(stream.stream);
  const std::lock_guard lock(mutex_);
  captures_.push_back(std::move(graph));
  captures_count_.store(captures_.size());
}

bool CudaDriver::capturing(StreamHandle handle) { return capture_of(stream_of(handle).stream) != nullptr; }

GraphHandle CudaDriver::end_capture(StreamHandle handle) {
  const CardStream& stream = stream_of(handle);
  const CardGuard card(stream.device);
  std::unique_ptr<CardGraph> graph;
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(captures_.begin(), captures_.end(), [&](const auto& one) { return one->origin == stream.stream; });
    if (found == captures_.end()) fail("[capture_end] no capture began on this stream");
    graph = std::move(*found);
    captures_.erase(found);
    captures_count_.store(captures_.size());
  }
  cudaGraph_t kept = nullptr;
  const cudaError_t code = cudaStreamEndCapture(stream.stream, &kept);
  if (code == cudaErrorStreamCaptureUnjoined) {
    (void)cudaGetLastError();
    fail("[capture_end] a stream that joined the capture has work that the capturing stream has not waited for: call wait_stream first");
  }
  check_work(code, "cudaStreamEndCapture", &stream);
  const cudaError_t made = cudaGraphInstantiate(&graph->exec, kept, 0);
  (void)cudaGraphDestroy(kept);
  check_work(made, "cudaGraphInstantiate", &stream);
  return graph.release();
}

void CudaDriver::launch_graph(GraphHandle handle, StreamHandle on, const Replay* replay, Site site) {
  CardStream& stream = stream_of(on);
  const CardGraph& graph = *static_cast<CardGraph*>(handle);
  const CardGuard card(stream.device);
  stream.op = "replay";
  stream.site = site;
  if (replay) check_work(write_replay(graph.replay, *replay, stream.stream), "cudaLaunchKernel", &stream);
  check_work(cudaGraphLaunch(graph.exec, stream.stream), "cudaGraphLaunch", &stream);
  const std::lock_guard lock(mutex_);
  auto& replayed = stream.replayed;
  if (std::find(replayed.begin(), replayed.end(), graph.status) == replayed.end()) replayed.push_back(graph.status);
}

void CudaDriver::destroy_graph(GraphHandle handle) noexcept {
  auto* const graph = static_cast<CardGraph*>(handle);
  quietly_on(graph->device, [&] {
    (void)cudaDeviceSynchronize();  // a replay may still write to its status and read what it was given
    delete graph;
  });
}

Queue CudaDriver::queue(StreamHandle handle, const char* op, Site site) {
  CardStream& stream = stream_of(handle);
  stream.op = op;
  stream.site = site;
  check(cudaSetDevice(card_behind(stream.device)), "cudaSetDevice");  // a launch goes to the current card, whatever its stream
  Queue queue;
  queue.stream = stream.stream;
  queue.late = stream.status;
  if (const CardGraph* capture = capture_of(stream.stream)) {
    queue.late = capture->status.get();
    queue.replay = capture->replay;
  }
  queue.op = op;
  queue.site = site;
  queue.device = card_behind(stream.device);  // libraries keep what they need for each card
  return queue;
}

}  // namespace tandem::runtime::cuda_cards
