// Puts the parts of the virtual GPUs together behind the interface `Driver`.
#include "runtime/virtual/driver.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>

#include "base/env.h"
#include "base/error.h"
#include "base/format.h"
#include "base/splitmix.h"
#include "runtime/shutdown.h"
#include "runtime/stream_record.h"
#include "runtime/virtual/explain.h"
#include "runtime/visible_devices.h"

namespace tandem::runtime::virtual_gpu {
namespace {

constexpr int64_t kStopMs = 5000;  // how long the end of the program waits for a kernel that is running
constexpr size_t kPageBytes = 4096;

// When a stream passed a timed record: nanoseconds of the steady clock.
using Stamp = std::atomic<int64_t>;

// A record names a stream and how much had been queued there: no task, and nothing that could outlive it. One made in a capture names the
// capture and what it had kept.
struct Event {
  Event(int on_device, bool with_timing) : device(on_device), timing(with_timing) {}
  const int device;
  const bool timing;
  std::mutex mutex;
  Point point;
  std::shared_ptr<Stamp> stamp;
  std::weak_ptr<Recording> recording;
  Recording::Seen seen;
  bool captured = false;
  std::shared_ptr<SharedClock> clock;  // of an event that processes share: all that counts then

  // What a caller can wait for or ask about.
  Point now(const char* op) {
    const std::lock_guard lock(mutex);
    if (captured) fail('[', op, "] the event was recorded in a capture: it has no time of its own");
    return point;
  }
};

struct Graph {
  std::shared_ptr<const Recording> recording;
};

Stream& stream_of(StreamHandle handle) { return *static_cast<Stream*>(handle); }
Event& event_of(EventHandle handle) { return *static_cast<Event*>(handle); }

Graph& graph_of(GraphHandle handle) { return *static_cast<Graph*>(handle); }

void refuse_lost(const Point& point, const char* op) {
  if (point.number >= point.stream->lost())
    fail('[', op, "] a copy to the host was dropped, since the program is ending: wait for it before main returns");
}

bool passed(const Point& point, const char* op) {
  if (!point.stream->done(point.number)) return false;
  refuse_lost(point, op);
  return true;
}

void refuse_own_stream(const Stream& stream) {
  if (Stream::of_this_thread() == &stream) fail("[synchronize] a function that runs on a stream cannot wait for that stream");
}

/// As CUDA, which ends the capture besides.
void refuse_captured(Stream& stream, const char* op) {
  if (stream.recording()) fail('[', op, "] the stream is being captured: its work is recorded, not run");
}

std::vector<std::string> uuids(int count) {
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i) all.push_back(uuid_of(i));
  return all;
}

}  // namespace

std::string uuid_of(int index) {
  uint64_t words[2];
  uint64_t state = 0x74616e64656d0000U + static_cast<uint64_t>(index);
  for (uint64_t& word : words) word = tandem::detail::splitmix64(state);
  return tandem::detail::uuid_text(words[0], words[1]);
}

VirtualDriver::VirtualDriver(const Options& options, std::span<const int> visible)
    : machine_(options), engines_(machine_, static_cast<int>(visible.size())) {
  const bool asked = environment_flag("TANDEM_EXPLAIN_FAULTS"), explain = asked || !environment("TANDEM_EXPLAIN_FAULTS");
  for (const int index : visible) {
    Device& device = devices_.emplace_back();
    device.properties.name = "tandem virtual GPU";
    device.properties.uuid = uuid_of(index);
    device.properties.total_memory = options.memory;
    device.properties.multi_processor_count = machine_.share();
    device.properties.is_virtual = true;
    device.arena = std::make_unique<Arena>(index, options.memory);
    if (explain) explain_faults(device_count() - 1, device.arena->user_base(), device.arena->kernels_base(), device.arena->span(), asked);
  }
}

VirtualDriver::~VirtualDriver() { stop(-1); }

void VirtualDriver::stop(int64_t most_ms) noexcept {
  machine_.stopping.store(true);
  std::vector<Stream*> all;
  for (int i = 0; i < device_count(); ++i) {
    for (Stream* stream : streams_of(i)) all.push_back(stream);
  }
  for (Stream* stream : all) stream->request_stop();
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(most_ms);
  for (Stream* stream : all) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    stream->join(most_ms < 0 ? -1 : std::max<int64_t>(left, 0));
  }
}

bool VirtualDriver::can_access_peer(int device, int peer) const { return machine_.options.peer && device != peer; }

// --- Memory

void* VirtualDriver::allocate(int device, size_t bytes) {
  void* const address = at(device).arena->allocate(bytes);
  if (address) machine_.faults.forget(address, bytes);
  return address;
}

void VirtualDriver::free(int device, void* address, size_t bytes) noexcept {
  if (!address) return;
  machine_.faults.forget(address, bytes);
  at(device).arena->free(address, bytes);
}

std::pair<size_t, size_t> VirtualDriver::memory_info(int device) const {
  const Arena& arena = *at(device).arena;
  return {arena.free_bytes(), arena.total_bytes()};
}

void* VirtualDriver::user_address(int device, void* address) const {
  if (!address) return nullptr;
  const Arena& arena = *at(device).arena;
  if (arena.offset_of(address) < arena.span()) return arena.user_address(address);
  const std::lock_guard lock(opened_mutex_);
  for (const auto& memory : opened_) {
    const auto offset = static_cast<size_t>(static_cast<char*>(address) - memory->kernels());
    if (offset < memory->bytes()) return memory->user() + offset;
  }
  return address;
}

void* VirtualDriver::kernel_address(int device, void* address) const {
  const Arena& arena = *at(device).arena;
  const uintptr_t offset = reinterpret_cast<uintptr_t>(address) - arena.user_base();
  if (offset < arena.span()) return reinterpret_cast<void*>(arena.kernels_base() + offset);
  const std::lock_guard lock(opened_mutex_);
  for (const auto& memory : opened_) {
    const auto inside = static_cast<size_t>(static_cast<char*>(address) - memory->user());
    if (inside < memory->bytes()) return memory->kernels() + inside;
  }
  return address;
}

// Busy with kernels and copies, of its busiest stream: at least that the GPU was.
cuda::DeviceFigures VirtualDriver::figures(int device) const {
  cuda::DeviceFigures figures = Driver::figures(device);
  double busiest = 0;
  for (const Stream* stream : streams_of(device)) busiest = std::max(busiest, stream->busy());
  figures.utilization = static_cast<int>(std::lround(100 * busiest));
  return figures;
}

ShareHandle VirtualDriver::share_memory(int device, void* address, size_t bytes) {
  const Arena& arena = *at(device).arena;
  return share_file(arena.file(), arena.offset_of(address), bytes, at(device).properties.uuid);
}

void* VirtualDriver::open_memory(int device, const ShareHandle& handle) {
  auto memory = std::make_unique<OpenedMemory>(handle, at(device).properties.uuid);
  const std::lock_guard lock(opened_mutex_);
  return opened_.emplace_back(std::move(memory))->kernels();
}

void VirtualDriver::close_memory(int device, void* address) noexcept {
  for (Stream* stream : streams_of(device)) stream->wait_done(stream->queued());  // what is queued may use it
  const std::lock_guard lock(opened_mutex_);
  std::erase_if(opened_, [&](const auto& memory) { return memory->kernels() == address; });
}

void* VirtualDriver::allocate_pinned(size_t bytes) {
  return std::aligned_alloc(kPageBytes, (std::max<size_t>(bytes, 1) + kPageBytes - 1) / kPageBytes * kPageBytes);
}

void VirtualDriver::free_pinned(void* address, size_t /*bytes*/) noexcept { std::free(address); }

// --- Streams

std::vector<Stream*> VirtualDriver::streams_of(int device) const {
  const std::lock_guard lock(streams_mutex_);
  std::vector<Stream*> all;
  for (const auto& stream : at(device).streams) all.push_back(stream.get());
  return all;
}

StreamHandle VirtualDriver::create_stream(int device, int priority) {
  const std::lock_guard lock(streams_mutex_);
  auto& streams = devices_[static_cast<size_t>(device)].streams;
  return streams.emplace_back(std::make_unique<Stream>(machine_, device, static_cast<int>(streams.size()), priority)).get();
}

bool VirtualDriver::query_stream(StreamHandle handle) {
  Stream& stream = stream_of(handle);
  refuse_captured(stream, "query");
  return passed({&stream, stream.queued()}, "query");
}

// Throws the first error of the streams, once, and at the end of the program what did not reach the host, to whoever asks.
void VirtualDriver::wait_for(std::span<const Point> points) {
  if (!std::all_of(points.begin(), points.end(), [](const Point& point) { return point.stream->done(point.number); })) {
    const tandem::detail::HookedWait hooked;
    for (const Point& point : points) point.stream->wait_done(point.number, &hooked);
  }
  const auto poisoned = [](const Point& point) { return point.stream->poison().any.load(std::memory_order_acquire); };
  if (std::any_of(points.begin(), points.end(), poisoned)) machine_.faults.throw_first(points);
  for (const Point& point : points) refuse_lost(point, "synchronize");
}

void VirtualDriver::synchronize_stream(StreamHandle handle, Site /*site*/) {
  Stream& stream = stream_of(handle);
  refuse_own_stream(stream);
  refuse_captured(stream, "synchronize");
  const Point point{&stream, stream.queued()};
  wait_for({&point, 1});
}

void VirtualDriver::synchronize_device(int device, Site /*site*/) {
  std::vector<Point> points;
  for (Stream* stream : streams_of(device)) {
    if (stream->recording()) continue;
    refuse_own_stream(*stream);
    points.push_back({stream, stream->queued()});
  }
  wait_for(points);
}

// --- Events

EventHandle VirtualDriver::create_event(int device, bool timing) { return new Event(device, timing); }

EventHandle VirtualDriver::create_shared_event(int device) {
  auto event = std::make_unique<Event>(device, false);
  event->clock = std::make_shared<SharedClock>(at(device).properties.uuid);
  return event.release();
}

ShareHandle VirtualDriver::share_event(EventHandle event) { return event_of(event).clock->share(); }

EventHandle VirtualDriver::open_event(int device, const ShareHandle& handle) {
  auto event = std::make_unique<Event>(device, false);
  event->clock = std::make_shared<SharedClock>(handle, at(device).properties.uuid);
  return event.release();
}

void VirtualDriver::destroy_event(EventHandle event) noexcept { delete static_cast<Event*>(event); }

namespace {
/// A record outside of captures: what one keeps that begins meanwhile does not count.
void record(VirtualDriver& driver, Event& event, StreamHandle on) {
  const std::lock_guard lock(event.mutex);
  event.captured = false;
  event.recording.reset();
  event.stamp.reset();
  if (event.clock) {
    enqueue(
        driver.queue(on, "record_event", Site::none()),
        [clock = event.clock, number = event.clock->record()](const Queue& on_worker) {
          // Else they are told that this process has ended.
          if (!static_cast<Stream*>(on_worker.stream)->machine().dropped.load()) clock->pass(number);
        },
        {}, {}, Kind::Always);
    return;
  }
  if (event.timing) {
    event.stamp = std::make_shared<Stamp>(0);
    enqueue(
        driver.queue(on, "record_event", Site::none()),
        [stamp = event.stamp](const Queue&) {
          const auto now = std::chrono::steady_clock::now().time_since_epoch();
          stamp->store(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count(), std::memory_order_release);
        },
        {}, {}, Kind::Always);
  }
  event.point = {&stream_of(on), stream_of(on).queued()};
}
}  // namespace

void VirtualDriver::record_event(EventHandle handle, StreamHandle on) {
  Event& event = event_of(handle);
  const std::shared_ptr<Recording> recording = stream_of(on).recording();
  if (!recording) return record(*this, event, on);
  const std::lock_guard lock(event.mutex);
  event.captured = true;
  event.recording = recording;
  event.stamp.reset();
  event.seen = recording->mark(stream_of(on));
}

bool VirtualDriver::record_event_outside_capture(EventHandle handle, StreamHandle on) {
  if (stream_of(on).recording()) return false;
  record(*this, event_of(handle), on);
  return true;
}

void VirtualDriver::wait_event(StreamHandle on, EventHandle handle) {
  Stream& stream = stream_of(on);
  Event& event = event_of(handle);
  const std::shared_ptr<Recording> own = stream.recording();
  const std::lock_guard lock(event.mutex);
  if (!event.captured) {
    if (own) fail("[wait_event] a stream that is being captured cannot wait for work from before the capture: wait for it first");
    if (!event.clock) return stream.wait_for(event.point);
    const uint64_t number = event.clock->recorded();
    if (event.clock->passed(number)) return;
    return enqueue(
        queue(on, "wait_event", Site::none()),
        [clock = event.clock, number, machine = &machine_](const Queue&) {
          clock->wait(number, &machine->stopping);
          if (!clock->passed(number)) machine->dropped.store(true);
        },
        {}, {}, Kind::Always);
  }
  const std::shared_ptr<Recording> recording = event.recording.lock();
  if (!recording || !recording->origin().recording()) fail("[wait_event] the event was recorded in a capture that has ended");
  if (own && own != recording) fail("[wait_event] the event was recorded in another capture");
  recording->wait(stream, event.seen);
  if (!own) stream.record_into(recording);
}

bool VirtualDriver::query_event(EventHandle event) {
  if (const SharedClock* clock = event_of(event).clock.get()) return clock->passed(clock->recorded());
  const Point point = event_of(event).now("query");
  return !point.stream || passed(point, "query");
}

void VirtualDriver::synchronize_event(EventHandle event, Site /*site*/) {
  if (const SharedClock* clock = event_of(event).clock.get()) return clock->wait(clock->recorded(), nullptr);
  const Point point = event_of(event).now("synchronize");
  if (!point.stream) return;
  if (!point.stream->done(point.number)) refuse_own_stream(*point.stream);
  wait_for({&point, 1});
}

double VirtualDriver::elapsed_ms(EventHandle began, EventHandle ended) {
  int64_t times[2];
  for (int i = 0; i < 2; ++i) {
    Event& event = event_of(i ? ended : began);
    const std::lock_guard lock(event.mutex);
    if (!event.stamp || !event.point.stream->done(event.point.number))
      fail("[elapsed_time] both events need timing and must have been passed: record them, then synchronize");
    times[i] = event.stamp->load(std::memory_order_acquire);
  }
  return static_cast<double>(times[1] - times[0]) * 1e-6;
}

// --- Work

void VirtualDriver::copy(void* to, int to_device, const void* from, int from_device, size_t bytes, StreamHandle stream, const char* op,
                         Site site) {
  if (bytes == 0) return;
  const Range written{to, bytes}, read{from, bytes};
  enqueue(
      queue(stream, op, site), [=, this](const Queue&) { engines_.copy(to, to_device, from, from_device, bytes); },
      std::span(&written, to_device >= 0 ? 1 : 0), std::span(&read, from_device >= 0 ? 1 : 0),
      to_device >= 0 ? Kind::Kernel : Kind::ToHost);
}

void VirtualDriver::copy_to_host(void* to, const void* from, int from_device, size_t bytes, StreamHandle handle, const char* op,
                                 Site site) {
  Stream& stream = stream_of(handle);
  refuse_own_stream(stream);
  if (stream.recording()) fail('[', op, "] the stream is being captured by another thread: copy on another stream, or after the capture");
  const Range read{from, bytes};
  bool arrived = false;
  enqueue(
      queue(handle, op, site),
      [=, this, &arrived](const Queue&) {
        engines_.copy(to, -1, from, from_device, bytes);
        arrived = true;
      },
      {}, {&read, 1}, Kind::ToHost);
  synchronize_stream(handle, site);
  if (!arrived)
    fail('[', op,
         "] the values did not reach the host: the copy was skipped after an error in earlier work, which another thread was told of");
}

void VirtualDriver::host_function(StreamHandle stream, void (*run)(void*), void* context) {
  enqueue(
      queue(stream, "host_function", Site::none()), [run, context](const Queue&) { run(context); }, {}, {}, Kind::Always);
}

void VirtualDriver::begin_capture(StreamHandle handle) {
  Stream& stream = stream_of(handle);
  if (stream.recording()) fail("[capture_begin] the stream is being captured already");
  stream.record_into(std::make_shared<Recording>(stream));
}

bool VirtualDriver::capturing(StreamHandle stream) { return stream_of(stream).recording() != nullptr; }

GraphHandle VirtualDriver::end_capture(StreamHandle handle) {
  Stream& stream = stream_of(handle);
  const std::shared_ptr<Recording> recording = stream.recording();
  if (!recording || &recording->origin() != &stream) fail("[capture_end] no capture began on this stream");
  stream.record_into(nullptr);
  for (Stream* joined : recording->joined()) {
    if (joined != &stream) joined->record_into(nullptr);
  }
  if (!recording->all_waited_for())
    fail("[capture_end] a stream that joined the capture has work that the capturing stream has not waited for: call wait_stream first");
  return new Graph{recording};
}

void VirtualDriver::launch_graph(GraphHandle graph, StreamHandle stream, const Replay* replay, Site site) {
  enqueue(
      queue(stream, "replay", site),
      [recording = graph_of(graph).recording, values = replay ? *replay : Replay{}](const Queue& on_worker) {
        recording->run(*static_cast<Stream*>(on_worker.stream), &values);
      },
      {}, {}, Kind::Always);
}

void VirtualDriver::destroy_graph(GraphHandle graph) noexcept { delete &graph_of(graph); }

Queue VirtualDriver::queue(StreamHandle stream, const char* op, Site site) {
  return {stream, nullptr, op, site, 1, stream_of(stream).device()};
}

void VirtualDriver::check_readable(int /*device*/, const void* address, size_t bytes) { machine_.faults.check_readable(address, bytes); }

void VirtualDriver::forget(int /*device*/, const void* address, size_t bytes) noexcept { machine_.faults.forget(address, bytes); }

// --- The process's driver

Driver* start_driver(const Options& options) {
  static constinit VirtualDriver* the_driver = nullptr;
  // Set to nothing means no GPUs, unlike not set.
  const char* list = std::getenv("CUDA_VISIBLE_DEVICES");  // NOLINT(concurrency-mt-unsafe): the library never sets one
  const std::vector<int> visible = visible_devices(list ? std::optional<std::string_view>(list) : std::nullopt, uuids(options.count));
  the_driver = new VirtualDriver(options, visible);  // not destroyed: static objects may free memory after us
  stop_at_exit([] { the_driver->stop(kStopMs); });
  return the_driver;
}

}  // namespace tandem::runtime::virtual_gpu
