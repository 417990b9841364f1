#include "runtime/cuda/driver.h"

#include <cuda_runtime.h>

#include <cstdio>
#include <new>

#include "runtime/cuda/check.h"
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
};

namespace {

struct CardEvent {
  int device;
  cudaEvent_t event;
};

CardStream& stream_of(StreamHandle handle) { return *static_cast<CardStream*>(handle); }
CardEvent& event_of(EventHandle handle) { return *static_cast<CardEvent*>(handle); }

/// Asynchronous errors come out at a later call: the text names the last operation queued there.
void check_work(cudaError_t code, const char* call, const CardStream* stream) {
  if (code == cudaSuccess) return;
  if (!stream || !*stream->op) check(code, call);
  fail("CUDA error: ", cudaGetErrorString(code), " (", cudaGetErrorName(code), " from ", call,
       "); the last operation queued on cuda:", stream->device, " was ", stream->op, " at ", stream->site.file, ":", stream->site.line);
}

/// Throws what kernels of this stream have reported, once. The stream has been synchronized.
void check_status(CardStream& stream) {
  Status& status = *stream.status;
  const Trouble trouble = status.trouble.load();
  if (trouble == Trouble::None) return;
  std::string text = trouble_text(status.op, trouble, status.a.load(), status.b.load());
  if (*status.site.file) text += str(" (queued at ", status.site.file, ":", status.site.line, " on cuda:", stream.device, ")");
  new (&status) Status;
  throw_trouble(trouble, text);
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

}  // namespace

CudaDriver::CudaDriver() {
  int count = 0;
  check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  if (count == 0) fail("CUDA shows no card");
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp found{};
    check(cudaGetDeviceProperties(&found, device), "cudaGetDeviceProperties");
    properties_.push_back({.name = found.name,
                           .uuid = uuid_text(found.uuid),
                           .total_memory = found.totalGlobalMem,
                           .multi_processor_count = found.multiProcessorCount,
                           .major = found.major,
                           .minor = found.minor,
                           .is_virtual = false});
  }
  for (int device = 0; device < count; ++device) {
    const CardGuard card(device);
    for (int peer = 0; peer < count; ++peer) {
      if (peer == device || !can_access_peer(device, peer)) continue;
      const cudaError_t code = cudaDeviceEnablePeerAccess(peer, 0);
      if (code == cudaErrorPeerAccessAlreadyEnabled) (void)cudaGetLastError();
      else check(code, "cudaDeviceEnablePeerAccess");
    }
  }
}

CudaDriver::~CudaDriver() = default;

bool CudaDriver::can_access_peer(int device, int peer) const {
  int able = 0;
  check(cudaDeviceCanAccessPeer(&able, device, peer), "cudaDeviceCanAccessPeer");
  return able != 0;
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
  int before = 0;
  if (cudaGetDevice(&before) != cudaSuccess || cudaSetDevice(device) != cudaSuccess) return;  // the process is ending
  (void)cudaFree(address);
  (void)cudaSetDevice(before);
}

std::pair<size_t, size_t> CudaDriver::memory_info(int device) const {
  const CardGuard card(device);
  size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return {free, total};
}

void* CudaDriver::allocate_pinned(size_t bytes) {
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
  void* status = nullptr;
  check(cudaHostAlloc(&status, sizeof(Status), cudaHostAllocPortable | cudaHostAllocMapped), "cudaHostAlloc");
  stream->status = new (status) Status;
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
  check_status(stream);
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
  for (CardStream* stream : streams) check_status(*stream);
}

// --- Events
EventHandle CudaDriver::create_event(int device, bool timing) {
  const CardGuard card(device);
  auto event = std::make_unique<CardEvent>();
  event->device = device;
  check(cudaEventCreateWithFlags(&event->event, timing ? cudaEventDefault : cudaEventDisableTiming), "cudaEventCreateWithFlags");
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
  const cudaError_t code = to_device >= 0 && from_device >= 0 && to_device != from_device
                               ? cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, stream.stream)
                               : cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream.stream);
  check_work(code, "cudaMemcpyAsync", &stream);
}

void CudaDriver::host_function(StreamHandle handle, void (*run)(void*), void* context) {
  const CardGuard card(stream_of(handle).device);
  check_work(cudaLaunchHostFunc(stream_of(handle).stream, run, context), "cudaLaunchHostFunc", &stream_of(handle));
}

Queue CudaDriver::queue(StreamHandle handle, const char* op, Site site) {
  CardStream& stream = stream_of(handle);
  stream.op = op;
  stream.site = site;
  check(cudaSetDevice(stream.device), "cudaSetDevice");  // a launch goes to the current card, whatever its stream
  Queue queue;
  queue.stream = stream.stream;
  queue.late = stream.status;
  queue.op = op;
  queue.site = site;
  queue.device = stream.device;
  return queue;
}

}  // namespace tandem::runtime::cuda_cards
