#include "runtime/graph.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "runtime/allocators.h"
#include "runtime/capture.h"
#include "runtime/memory.h"
#include "runtime/observer.h"

namespace tandem {
namespace runtime {

namespace detail {
constinit thread_local Capture* capture = nullptr;
}

Capture* capture_of_current_stream(Device device) {
  Capture* const capture = capture_on(device.index());
  return capture && require_driver().capturing(current_stream(device.index())->handle) ? capture : nullptr;
}

namespace {
/// Captures under way, so that asking costs one load where there is none.
std::atomic<int> captures{0};
}  // namespace

void refuse_capture(const StreamRecord& stream, const char* op) {
  if (captures.load(std::memory_order_relaxed) != 0 && require_driver().capturing(stream.handle))
    fail('[', op,
         "] would wait for a stream that is being captured, whose work is recorded, not run: do it before or after the capture (a copy: ",
         "from pinned memory, with non_blocking)");
}

namespace {
std::atomic<uint64_t> pools{0};
}

PoolHolder::PoolHolder() : number_(pools.fetch_add(1) + 1) {}

PoolHolder::~PoolHolder() {
  for (int device = 0; device < kMaxDevices; ++device)
    if (CachingAllocator* const allocator = detail::device_allocator_or_null(device)) allocator->release_pool(number_, replays_);
}

void PoolHolder::replayed_on(const StreamRecord* stream) {
  const std::lock_guard lock(mutex_);
  if (std::find(replays_.begin(), replays_.end(), stream) == replays_.end()) replays_.push_back(stream);
}

struct GraphState {
  Capture capture;
  std::shared_ptr<PoolHolder> pool;
  GraphHandle graph = nullptr;
  bool capturing = false;
  std::mutex mutex;  // one replay at a time is queued
  int64_t replays = 0;

  ~GraphState() { clear(); }
  void clear() {
    if (capturing) abandon();
    if (graph) tell([&] { return facts::CaptureMark{.kind = facts::CaptureMark::Gone, .graph = this}; });
    if (Driver* const driver = graph ? own_driver() : nullptr) driver->destroy_graph(graph);
    graph = nullptr;
    pool.reset();
    capture = {};
    replays = 0;
  }
  void begin(Site site) {
    require_driver().begin_capture(capture.stream->handle);
    tell([&] { return facts::CaptureMark{facts::CaptureMark::Began, this, capture.stream, site}; });
    captures.fetch_add(1);
    capturing = true;
    detail::capture = &capture;
  }
  void end() {
    if (detail::capture == &capture) detail::capture = nullptr;
    capturing = false;
    const Ended ended;
    tell([&] { return facts::CaptureMark{.kind = facts::CaptureMark::Ended, .graph = this, .stream = capture.stream}; });
    graph = require_driver().end_capture(capture.stream->handle);
  }
  void abandon() noexcept {
    try {
      end();
    } catch (const std::exception&) {  // it held nothing that could be used
    }
  }

 private:
  struct Ended {
    ~Ended() { captures.fetch_sub(1); }
  };
};

}  // namespace runtime

namespace cuda {

GraphPool graph_pool_handle() { return GraphPool(std::make_shared<runtime::PoolHolder>()); }

Graph::Graph() : state_(std::make_shared<runtime::GraphState>()) {}

void Graph::capture_begin(const GraphPool& pool, Site site) {
  if (state_->graph || state_->capturing) fail("[capture_begin] the graph holds a capture already: call reset first");
  if (runtime::detail::capture) fail("[capture_begin] this thread is capturing another graph: end that capture first");
  const Stream stream = current_stream();
  if (stream.id() == 0)
    fail("[capture_begin] graphs must be captured on a non-default stream (but after that they can be replayed on any): ",
         Hint("use StreamGuard, or cuda::graph", "use cuda.stream(), or cuda.graph"));
  state_->pool = pool.holder() ? pool.holder() : graph_pool_handle().holder();
  state_->capture.stream = stream.record();
  state_->capture.pool = state_->pool->number();
  state_->begin(site);
}

void Graph::capture_end(Site /*site*/) {
  if (!state_->capturing) fail("[capture_end] no capture has begun");
  if (runtime::detail::capture != &state_->capture) fail("[capture_end] must be called by the thread that began the capture");
  try {
    state_->end();
  } catch (...) {
    state_->clear();
    throw;
  }
}

void Graph::replay(Site site) {
  if (!state_->graph) fail("[replay] the graph holds no capture: call capture_begin and capture_end, or cuda::graph");
  if (runtime::detail::capture) fail("[replay] a graph cannot be replayed while this thread captures one");
  runtime::refuse_forked();
  const std::lock_guard lock(state_->mutex);
  const int device = state_->capture.stream->device;
  const runtime::StreamRecord& stream = *runtime::current_stream(device);
  const runtime::Telling told([&] { return runtime::facts::Replay{.site = site, .graph = state_.get(), .stream = &stream}; });
  for (const auto& use : state_->capture.uses) use(current_stream(gpu(device)));
  state_->pool->replayed_on(&stream);
  if (state_->capture.before_replay.empty()) {
    runtime::require_driver().launch_graph(state_->graph, stream.handle, nullptr, site);
  } else {
    Replay values;
    values.steps = state_->replays;
    for (const auto& prepare : state_->capture.before_replay) prepare(values);
    runtime::require_driver().launch_graph(state_->graph, stream.handle, &values, site);
  }
  ++state_->replays;
}

void Graph::reset() {
  if (state_->capturing) fail("[reset] the graph is being captured: call capture_end first");
  state_->clear();
}

GraphPool Graph::pool() const {
  if (!state_->pool) fail("[pool] the graph has no memory before a capture: make a pool with graph_pool_handle");
  return GraphPool(state_->pool);
}

namespace {
/// One for all captures of a GPU, so that graphs of one pool use each other's memory.
Stream capture_stream(int device) {
  static std::mutex mutex;
  static std::array<std::optional<Stream>, runtime::kMaxDevices> streams;
  const std::lock_guard lock(mutex);
  auto& stream = streams[static_cast<size_t>(device)];
  if (!stream) stream.emplace(gpu(device));
  return *stream;
}
}  // namespace

void graph(Graph& graph, const std::function<void()>& work, const GraphOptions& options, Site site) {
  const Stream stream = options.stream ? *options.stream : capture_stream(current_device());
  const StreamGuard guard(stream);
  synchronize(stream.device(), site);
  empty_cache(site);  // what lies idle there could not be used in the capture
  graph.capture_begin(options.pool, site);
  try {
    work();
  } catch (...) {
    try {
      graph.capture_end(site);
    } catch (const std::exception&) {  // the first error is the one to tell
    }
    graph.reset();
    throw;
  }
  graph.capture_end(site);
}

bool is_current_stream_capturing() {
  const runtime::Capture* const capture = runtime::detail::capture;
  return capture && runtime::capture_of_current_stream(gpu(current_device()));
}

}  // namespace cuda
}  // namespace tandem
