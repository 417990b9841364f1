#include "cuda/fake_cuda.h"

#include <cuda_runtime.h>

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "runtime/cuda/check.h"
#include "runtime/cuda/nvml.h"
#include "runtime/cuda/replay.h"

using tandem::testing::fake_cuda;

namespace {

struct Capture {
  unsigned long long id;
  bool good = true;
};
struct Graph {
  int running = 0;  // replays that no stream has got to yet
};
}  // namespace

struct CUstream_st {
  int device;
  Capture* capture = nullptr;
  std::map<Graph*, int> replays{};
  bool held = false;  // its work is not done
};
struct CUevent_st {
  int device;
  CUstream_st* stream = nullptr;
  Capture* capture = nullptr;
};

namespace {

std::recursive_mutex mutex;
std::condition_variable_any released;
thread_local int current = 0;
std::map<void*, int> memory;  // of devices
// For good, as the driver's streams are; and events name the captures that have ended.
auto& streams = *new std::set<CUstream_st*>;
auto& captures = *new std::vector<Capture*>;
auto& host_memory = *new std::set<void*>;

/// A call that needs the current device's context.
int device() {
  fake_cuda().contexts.insert(current);
  return current;
}
void expect_device(int owner) {
  if (device() != owner) ++fake_cuda().wrong_device;
}
cudaError_t spoil(Capture* capture, cudaError_t error) {
  if (capture->good) ++fake_cuda().spoilt;
  capture->good = false;
  return error;
}
void wait_until_released(CUstream_st* stream) {
  std::unique_lock lock(mutex);
  released.wait(lock, [stream] { return !stream || !stream->held; });
}
void reach_end(CUstream_st* stream) {
  for (const auto& [graph, count] : stream->replays) graph->running -= count;
  stream->replays.clear();
}

}  // namespace

tandem::testing::FakeCuda& tandem::testing::fake_cuda() {
  static FakeCuda state;
  return state;
}

void tandem::testing::hold(CUstream_st* stream) {
  const std::lock_guard lock(mutex);
  stream->held = true;
}
void tandem::testing::release(CUstream_st* stream) {
  const std::lock_guard lock(mutex);
  stream->held = false;
  released.notify_all();
}
int tandem::testing::device_of(CUstream_st* stream) { return stream->device; }

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  *count = fake_cuda().devices;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* out) {
  *out = current;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int index) {
  const std::lock_guard lock(mutex);
  current = index;
  (void)device();
  return cudaSuccess;
}
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t) { return "a fake error"; }
const char* cudaGetErrorName(cudaError_t) { return "cudaErrorFake"; }
cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  *properties = {};
  properties->uuid.bytes[0] = static_cast<char>(device);
  std::strcpy(properties->name, "a fake GPU");
  properties->multiProcessorCount = 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char*, int, int) { return cudaErrorNotSupported; }
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return cudaErrorNotSupported; }
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -1;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** out, size_t bytes) {
  const std::lock_guard lock(mutex);
  *out = std::malloc(bytes);
  memory[*out] = device();
  return cudaSuccess;
}
cudaError_t cudaFree(void* address) {
  const std::lock_guard lock(mutex);
  expect_device(memory[address]);
  memory.erase(address);
  std::free(address);
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** out, size_t bytes, unsigned) {
  const std::lock_guard lock(mutex);
  (void)device();
  *out = std::malloc(bytes);
  host_memory.insert(*out);
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* address) {
  const std::lock_guard lock(mutex);
  (void)device();
  host_memory.erase(address);
  std::free(address);
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  *free = *total = 1 << 20;
  return cudaSuccess;
}
cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  ++fake_cuda().on_legacy_stream;
  std::memset(to, value, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  if (!stream) ++fake_cuda().on_legacy_stream;
  std::memset(to, value, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  wait_until_released(stream);
  std::memcpy(to, from, bytes);
  if (fake_cuda().copied) fake_cuda().copied();
  return cudaSuccess;
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes, cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream);
}
cudaError_t cudaMallocAsync(void** out, size_t bytes, cudaStream_t stream) {
  const std::lock_guard lock(mutex);
  expect_device(stream->device);
  return cudaMalloc(out, bytes);
}
cudaError_t cudaFreeAsync(void* address, cudaStream_t) { return cudaFree(address); }
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t*, void*) { return cudaErrorNotSupported; }
cudaError_t cudaIpcOpenMemHandle(void**, cudaIpcMemHandle_t, unsigned) { return cudaErrorNotSupported; }
cudaError_t cudaIpcCloseMemHandle(void*) { return cudaErrorNotSupported; }
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t*, cudaEvent_t) { return cudaErrorNotSupported; }
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t*, cudaIpcEventHandle_t) { return cudaErrorNotSupported; }

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* out, unsigned, int) {
  const std::lock_guard lock(mutex);
  *out = new CUstream_st{device()};
  streams.insert(*out);
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  const std::lock_guard lock(mutex);
  if (stream->capture) return spoil(stream->capture, cudaErrorStreamCaptureUnsupported);
  if (fake_cuda().failing) return cudaErrorUnknown;
  return stream->replays.empty() && !stream->held ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  wait_until_released(stream);
  const std::lock_guard lock(mutex);
  if (stream->capture) return spoil(stream->capture, cudaErrorStreamCaptureUnsupported);
  reach_end(stream);
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  const std::lock_guard lock(mutex);
  ++fake_cuda().waits_for_a_device;
  cudaError_t error = cudaSuccess;
  for (CUstream_st* stream : streams) {
    if (stream->device != device()) continue;
    if (stream->capture) error = spoil(stream->capture, cudaErrorStreamCaptureUnsupported);
    else reach_end(stream);
  }
  return error;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t, void*) { return cudaErrorNotSupported; }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* out, unsigned) {
  *out = new CUevent_st{device()};
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  expect_device(event->device);
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const std::lock_guard lock(mutex);
  event->stream = stream;
  event->capture = stream->capture;
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  const std::lock_guard lock(mutex);
  if (event->capture) return spoil(event->capture, cudaErrorCapturedEvent);
  return event->stream && event->stream->held ? cudaErrorNotReady : cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  wait_until_released(event->stream);
  const std::lock_guard lock(mutex);
  if (event->capture) return spoil(event->capture, cudaErrorCapturedEvent);
  if (event->stream) reach_end(event->stream);
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t, cudaEvent_t) {
  *ms = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const std::lock_guard lock(mutex);
  if (event->capture) stream->capture = event->capture;
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  const std::lock_guard lock(mutex);
  static unsigned long long last = 0;
  stream->capture = captures.emplace_back(new Capture{++last});
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const std::lock_guard lock(mutex);
  *status = !stream->capture        ? cudaStreamCaptureStatusNone
            : stream->capture->good ? cudaStreamCaptureStatusActive
                                    : cudaStreamCaptureStatusInvalidated;
  return cudaSuccess;
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t*,
                                     const cudaGraphNode_t**, const cudaGraphEdgeData**, size_t*) {
  const std::lock_guard lock(mutex);
  *id = stream->capture ? stream->capture->id : 0;
  return cudaStreamIsCapturing(stream, status);
}
cudaError_t cudaStreamEndCapture(cudaStream_t origin, cudaGraph_t* graph) {
  const std::lock_guard lock(mutex);
  const Capture* const capture = origin->capture;
  for (CUstream_st* stream : streams)
    if (stream->capture == capture) stream->capture = nullptr;
  *graph = nullptr;
  return capture->good ? cudaSuccess : cudaErrorStreamCaptureInvalidated;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t, unsigned long long) {
  *exec = reinterpret_cast<cudaGraphExec_t>(new Graph);
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t) { return cudaSuccess; }
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  const std::lock_guard lock(mutex);
  auto* const graph = reinterpret_cast<Graph*>(exec);
  ++graph->running;
  ++stream->replays[graph];
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  const std::lock_guard lock(mutex);
  auto* const graph = reinterpret_cast<Graph*>(exec);
  if (graph->running != 0) ++fake_cuda().freed_in_use;
  else delete graph;
  return cudaSuccess;
}

}  // extern "C"

namespace tandem::runtime::cuda_gpu {

int devices_per_gpu() { return 1; }
int gpu_behind(int device) { return device; }
bool has_context(int device) noexcept { return fake_cuda().contexts.contains(device); }
cuda::DeviceFigures nvml_figures(const char*) { return {}; }
cudaError_t write_replay(Replay* to, const Replay& values, cudaStream_t) {
  *to = values;
  return cudaSuccess;
}

}  // namespace tandem::runtime::cuda_gpu
