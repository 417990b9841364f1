// Streams and events over the driver's: pools of 32, the calling thread's current streams, guards.
#include "runtime/stream.h"

#include <array>
#include <atomic>
#include <ostream>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/wait_hook.h"
#include "base/work_site.h"
#include "runtime/capture.h"
#include "runtime/observer.h"
#include "runtime/shutdown.h"
#include "runtime/stream_record.h"

namespace tandem {
namespace runtime {

namespace detail {
namespace {
constinit StreamRecord* no_streams[kMaxDevices] = {};  // never written: what threads have that use no GPU
}
constinit thread_local StreamRecord** current_streams = no_streams;
}  // namespace detail

namespace {

constexpr int kPoolSize = 32;
constexpr int kPriorities = 2;  // 0 normal, 1 high

// The streams of one GPU. Made when first asked for, never destroyed.
struct Streams {
  std::mutex mutex;
  StreamRecord standard;
  std::unique_ptr<StreamRecord> copies;
  std::vector<std::unique_ptr<StreamRecord>> own;  // by take_own_stream
  std::vector<StreamRecord*> idle_own;
  std::array<std::array<std::unique_ptr<StreamRecord>, kPoolSize>, kPriorities> pools;
  std::array<unsigned, kPriorities> next = {};
  std::vector<EventHandle> events;  // for order_streams: an event can be used again as soon as a wait for it is queued
};

Streams& streams_of(int device) {
  static constinit std::atomic<Streams*> all[kMaxDevices] = {};
  static std::mutex mutex;
  auto& slot = all[device];
  if (Streams* streams = slot.load(std::memory_order_acquire)) return *streams;
  const std::lock_guard lock(mutex);
  if (Streams* streams = slot.load()) return *streams;
  auto streams = std::make_unique<Streams>();
  streams->standard = {device, 0, 0, require_driver().create_stream(device, 0)};
  slot.store(streams.get(), std::memory_order_release);
  return *streams.release();
}

// As PyTorch: the 33rd is the first again.
StreamRecord* pooled_stream(int device, int priority) {
  Streams& streams = streams_of(device);
  const auto pool = static_cast<size_t>(priority < 0);
  const std::lock_guard lock(streams.mutex);
  const unsigned i = streams.next[pool]++ % kPoolSize;
  auto& record = streams.pools[pool][i];
  if (!record) {
    const int level = priority < 0 ? -1 : 0;
    const int id = 1 + static_cast<int>(pool) * kPoolSize + static_cast<int>(i);
    record.reset(new StreamRecord{device, id, level, require_driver().create_stream(device, level)});
  }
  return record.get();
}

}  // namespace

StreamRecord** detail::own_current_streams() {
  struct ThreadEnd {
    bool armed = false;
    ~ThreadEnd() { delete[] std::exchange(current_streams, no_streams); }
  };
  if (current_streams == no_streams) {
    current_streams = new StreamRecord* [kMaxDevices] {};
    thread_local ThreadEnd end;
    end.armed = true;  // makes it, and so its destructor runs
  }
  return current_streams;
}

StreamRecord* copy_stream(int device) {
  Streams& streams = streams_of(device);
  const std::lock_guard lock(streams.mutex);
  if (!streams.copies)
    streams.copies.reset(new StreamRecord{device, 1 + kPriorities * kPoolSize, 0, require_driver().create_stream(device, 0)});
  return streams.copies.get();
}

StreamRecord* take_own_stream(int device) {
  Streams& streams = streams_of(device);
  Driver& driver = require_driver();
  std::unique_lock lock(streams.mutex);
  if (!streams.idle_own.empty()) {
    StreamRecord* const stream = streams.idle_own.back();
    streams.idle_own.pop_back();
    lock.unlock();
    try {
      if (driver.may_wait()) {
        driver.synchronize_stream(stream->handle, Site::none());
        tell([&] { return facts::Order{.earlier = stream}; });
      }
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): what went wrong for its last owner concerns nobody here
    }
    return stream;
  }
  const int id = 2 + kPriorities * kPoolSize + static_cast<int>(streams.own.size());
  return streams.own.emplace_back(new StreamRecord{device, id, 0, driver.create_stream(device, 0)}).get();
}

void give_own_stream(StreamRecord* stream) {
  Streams& streams = streams_of(stream->device);
  const std::lock_guard lock(streams.mutex);
  streams.idle_own.push_back(stream);
}

StreamRecord* detail::first_current_stream(int device) {
  StreamRecord* stream = &streams_of(device).standard;
  watch_exit();
  own_current_streams()[device] = stream;
  return stream;
}

EventState::~EventState() {
  if (handle) tell([&] { return facts::EventMark{.kind = facts::EventMark::Gone, .event = this}; });
  if (Driver* const driver = handle ? own_driver() : nullptr) driver->destroy_event(handle);
}

void order_streams(const StreamRecord& earlier, const StreamRecord& later, Site site) {
  if (&earlier == &later) return;
  Driver& driver = require_driver();
  Streams& streams = streams_of(earlier.device);
  EventHandle event = nullptr;
  {
    const std::lock_guard lock(streams.mutex);
    if (!streams.events.empty()) {
      event = streams.events.back();
      streams.events.pop_back();
    }
  }
  if (!event) event = driver.create_event(earlier.device, false);
  driver.record_event(event, earlier.handle);
  driver.wait_event(later.handle, event);
  tell([&] { return facts::Order{&earlier, &later, tandem::detail::site_of_work(site)}; });
  const std::lock_guard lock(streams.mutex);
  streams.events.push_back(event);
}

}  // namespace runtime

namespace cuda {

using runtime::require_driver;
using runtime::facts::EventMark;
using runtime::facts::Wait;

Stream::Stream(Device device, int priority) : record_(runtime::pooled_stream(runtime::device_index(device, "Stream"), priority)) {}

Device Stream::device() const { return gpu(record_->device); }
int Stream::id() const { return record_->id; }
int Stream::priority() const { return record_->priority; }
void Stream::wait_event(const Event& event, Site site) const { event.wait(*this, site); }
void Stream::wait_stream(const Stream& other, Site site) const { runtime::order_streams(*other.record_, *record_, site); }
void Stream::synchronize(Site site) const {
  runtime::refuse_capture(*record_, "synchronize");
  const runtime::Telling told(
      [&] { return Wait{.kind = Wait::Stream, .op = "synchronize", .site = site, .device = device(), .stream = record_}; });
  const tandem::detail::MayEndWaits may_end;
  require_driver().synchronize_stream(record_->handle, site);
}
bool Stream::query() const {
  runtime::refuse_capture(*record_, "query");
  if (!require_driver().query_stream(record_->handle)) return false;
  runtime::tell([&] { return runtime::facts::Order{.earlier = record_}; });
  return true;
}

std::ostream& operator<<(std::ostream& out, const Stream& stream) {
  out << "Stream(device=" << stream.device() << ", id=" << stream.id();
  if (stream.priority() != 0) out << ", priority=" << stream.priority();
  return out << ')';
}

Event::Event(EventOptions options, Site /*site*/)
    : state_(std::make_shared<runtime::EventState>(options.enable_timing, options.interprocess)) {
  if (options.enable_timing && options.interprocess) fail("[Event] an event between processes has no timing: leave enable_timing off");
}

namespace {
std::unique_lock<std::mutex> locked(runtime::EventState& state) {
  runtime::refuse_forked();
  return std::unique_lock(state.mutex);
}
/// Makes the driver's event where there is none yet. Under the state's lock.
void make_event(runtime::EventState& state, int device) {
  if (state.handle) return;
  runtime::Driver& driver = require_driver();
  state.handle = state.interprocess ? driver.create_shared_event(device) : driver.create_event(device, state.timing);
  state.device = device;
}
}  // namespace

runtime::ShareHandle Event::ipc_handle(Site /*site*/) {
  if (!state_->interprocess) fail("[ipc_handle] the event must be made with ", Hint("interprocess = true", "interprocess=True"));
  const int device = current_stream().record()->device;
  const auto lock = locked(*state_);
  make_event(*state_, device);
  return require_driver().share_event(state_->handle);
}

Event Event::from_ipc_handle(Device device, const runtime::ShareHandle& handle) {
  Event event({.interprocess = true});
  event.state_->device = runtime::device_index(device, "from_ipc_handle");
  event.state_->handle = require_driver().open_event(event.state_->device, handle);
  return event;
}

void Event::record(Site site) { record(current_stream(), site); }

void Event::record(const Stream& stream, Site site) {
  const auto lock = locked(*state_);
  make_event(*state_, stream.record()->device);
  if (state_->device != stream.record()->device)
    fail("[record] an event of ", gpu(state_->device), " cannot be recorded on a stream of ", stream.device(), ": make another event");
  require_driver().record_event(state_->handle, stream.record()->handle);
  runtime::tell([&] { return EventMark{EventMark::Recorded, state_.get(), stream.record(), site}; });
}

void Event::wait(const Stream& stream, Site site) const {
  const auto lock = locked(*state_);
  if (!state_->handle) return;
  require_driver().wait_event(stream.record()->handle, state_->handle);
  runtime::tell([&] { return EventMark{EventMark::WaitedFor, state_.get(), stream.record(), site}; });
}

namespace {
// The driver's event, which stays as long as the state does; nullptr before the first record.
runtime::EventHandle handle_of(runtime::EventState& state) {
  const auto lock = locked(state);
  return state.handle;
}
}  // namespace

bool Event::query() const {
  const runtime::EventHandle handle = handle_of(*state_);
  if (!handle) return true;
  if (!require_driver().query_event(handle)) return false;
  runtime::tell([&] { return EventMark{.kind = EventMark::Passed, .event = state_.get()}; });
  return true;
}

void Event::synchronize(Site site) const {
  const runtime::EventHandle handle = handle_of(*state_);
  if (!handle) return;
  const runtime::Telling told(
      [&] { return Wait{.kind = Wait::Event, .op = "synchronize", .site = site, .device = gpu(state_->device), .event = state_.get()}; });
  const tandem::detail::MayEndWaits may_end;
  require_driver().synchronize_event(handle, site);
}

double Event::elapsed_time(const Event& end, Site /*site*/) const {
  if (!state_->timing || !end.state_->timing)
    fail("[elapsed_time] both events must be made with ", Hint("enable_timing = true", "enable_timing=True"));
  const runtime::EventHandle first = handle_of(*state_), last = handle_of(*end.state_);
  if (!first || !last) fail("[elapsed_time] both events must be recorded before the time between them can be taken");
  if (!require_driver().query_event(first) || !require_driver().query_event(last))
    fail("[elapsed_time] both events must have been passed: synchronize the second one first");
  return require_driver().elapsed_ms(first, last);
}

Stream current_stream(Device device) { return Stream(runtime::current_stream(runtime::device_index(device, "current_stream"))); }

Stream default_stream(Device device) { return Stream(&runtime::streams_of(runtime::device_index(device, "default_stream")).standard); }

void set_stream(const Stream& stream) {
  runtime::watch_exit();
  runtime::detail::own_current_streams()[stream.record()->device] = stream.record();
}

StreamGuard::StreamGuard(const Stream& stream) : device_(stream.device()), before_(current_stream(stream.device())) { set_stream(stream); }

StreamGuard::~StreamGuard() { set_stream(before_); }

}  // namespace cuda
}  // namespace tandem
