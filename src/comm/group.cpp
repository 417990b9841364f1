// Collectives of one rank take turns: the n-th begins when the one before is done, wherever they run. A caller that finds its turn has come
// runs its part itself. Asynchronous ones of the CPU run on a thread of the group; those of virtual GPUs are tasks of a stream.
#include "comm/group.h"

#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>

#include "base/error.h"
#include "base/futex.h"
#include "base/thread.h"
#include "base/wait_hook.h"
#include "base/work_site.h"
#include "comm/progress.h"
#include "comm/stream_part.h"
#include "ops/launch.h"
#include "runtime/observer.h"
#include "runtime/stream.h"
#include "runtime/stream_record.h"
#include "tensor/tensor_impl.h"

namespace tandem::comm {
namespace {

/// Jobs run one after another by a thread that starts with the first. Ends when it is destroyed, after those it has.
class Lane {
 public:
  Lane() = default;
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  ~Lane() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_one();
    if (thread_.joinable()) thread_.join();
  }
  void add(std::function<void()> job) {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    if (!thread_.joinable()) thread_ = tandem::detail::start_thread("td-comm", [this] { work(); });
    changed_.notify_one();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return ending_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      const std::function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
      lock.lock();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool ending_ = false;
  std::thread thread_;
};

/// An asynchronous collective on the CPU, or a message.
class HostWork : public Work::State {
 public:
  void wait(bool /*on_host*/, Site site) override {
    using runtime::facts::Wait;
    const runtime::Telling told([&] { return Wait{.kind = Wait::Collective, .op = "Work.wait", .site = site}; });
    wait_done();
  }
  bool is_completed() override {
    const std::lock_guard lock(mutex_);
    return done_;
  }
  /// Whether it has failed, and nobody has been told.
  [[nodiscard]] std::exception_ptr untold_error() {
    const std::lock_guard lock(mutex_);
    return told_ ? nullptr : error_;
  }
  /// Until it is done; throws what went wrong.
  void wait_done() {
    std::unique_lock lock(mutex_);
    if (!done_) {
      lock.unlock();
      const tandem::detail::HookedWait hooked;
      const tandem::detail::MayEndWaits may_end;  // the job keeps what it works on
      lock.lock();
      hooked.until(changed_, lock, [&] { return done_; });
    }
    told_ = true;
    if (error_) std::rethrow_exception(error_);
  }
  void done(std::exception_ptr error) {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
      error_ = std::move(error);
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false, told_ = false;
  std::exception_ptr error_;
};

/// A message of a virtual GPU's tensor. No stream stands at it but those that wait for it. `side` is the stream that observers are told of
/// in place of the one that moves the bytes.
class DeviceMessage final : public HostWork, public std::enable_shared_from_this<DeviceMessage> {
 public:
  DeviceMessage(const Call& call, int device, const runtime::StreamRecord& side) : call_(call), device_(device), side_(side) {}
  void wait(bool on_host, Site site) override {
    if (on_host) {
      const runtime::Telling told(
          [&] { return runtime::facts::Wait{.kind = runtime::facts::Wait::Collective, .op = "Work.wait", .site = site}; });
      struct Seen {
        const runtime::StreamRecord& side;
        ~Seen() {
          runtime::tell([&] { return runtime::facts::Order{.earlier = &side}; });
        }
      } const seen{side_};  // also where it ends with an error
      return wait_done();
    }
    const runtime::StreamRecord& current = *runtime::current_stream(device_);
    runtime::Driver& driver = runtime::require_driver();
    if (driver.capturing(current.handle)) fail("[Work.wait] a message cannot be waited for in a graph: it would not come at a replay");
    queue_part(
        driver, current, call_, {}, {}, [self = shared_from_this()](const std::string*) { self->wait_done(); }, nullptr);
    runtime::tell([&] { return runtime::facts::Order{&side_, &current, tandem::detail::site_of_work(site)}; });
  }

 private:
  const Call call_;
  const int device_;
  const runtime::StreamRecord& side_;
};

/// A collective in a stream: an event behind it.
class DeviceWork final : public Work::State {
 public:
  DeviceWork(const runtime::StreamRecord& stream, Site site) : stream_(stream) {
    event_.record(cuda::Stream(const_cast<runtime::StreamRecord*>(&stream)), site);
  }
  void wait(bool on_host, Site site) override {
    if (on_host) event_.synchronize(site);
    else event_.wait(cuda::current_stream(gpu(stream_.device)), site);
  }
  bool is_completed() override { return event_.query(); }

 private:
  const runtime::StreamRecord& stream_;
  cuda::Event event_;
};

/// What an observer is told of a call. `stream` is nullptr on the CPU.
runtime::facts::Collective collective_fact(const Call& call, const runtime::StreamRecord* stream, std::span<const Tensor> reads,
                                           std::span<const Tensor> writes, int rank, bool waits) {
  runtime::facts::Collective fact{.op = name(call.kind),
                                  .site = call.site,
                                  .device = stream ? gpu(stream->device) : Device(),
                                  .stream = stream,
                                  .rank = rank,
                                  .number = call.number,
                                  .waits = waits};
  const ops::launching::AccessList list{fact.accesses};
  for (const Tensor& x : reads) list.add(ops::ReadView(x));
  for (const Tensor& x : writes) list.add(ops::ChangedView(x));
  return fact;
}

}  // namespace

struct Group::State {
  std::unique_ptr<Backend> host, device;
  Recorder recorder{nullptr};
  std::unique_ptr<std::byte[]> own_recorder;
  const void* recorder_memory = nullptr;
  std::atomic<bool> aborted{false}, left{false};
  std::atomic<uint64_t> numbers{0};

  std::mutex mutex;  // numbers are given and work is queued under it
  uint64_t next = 0, next_message = 0;
  std::map<int, runtime::StreamRecord*> streams;  // for asynchronous collectives, by device
  // For asynchronous messages, by kind, peer (-1 where one serves all) and device.
  std::map<std::tuple<Collective, int, int>, runtime::StreamRecord*> message_streams;
  std::unique_ptr<Lane> lane;
  std::unique_ptr<Progress> progress;                        // of asynchronous messages that no stream runs
  std::map<int, const runtime::StreamRecord*> last_streams;  // where the last collective was queued, by device

  std::mutex messages_mutex;  // of what follows
  std::condition_variable message_ended;
  int sends = 0, receives = 0;                          // asynchronous ones that are not done
  std::vector<std::shared_ptr<HostWork>> failed_sends;  // of GPUs' tensors

  std::atomic<uint32_t> done{0};  // collectives that are done: the low bits of the last one's number
  std::atomic<uint32_t> sleepers{0};

  // After the last of its work, which holds it.
  ~State() {
    lane.reset();
    progress.reset();
    if (!left.load()) {
      host->leave();
      if (device) device->leave();
    }
    for (const auto& [device, stream] : streams) runtime::give_own_stream(stream);
    for (const auto& [key, stream] : message_streams) runtime::give_own_stream(stream);
  }

  // Until all collectives before `number` are done. They end by themselves, by their time limits at the latest.
  void wait_turn(uint64_t number) {
    const auto before = static_cast<uint32_t>(number - 1);
    for (int i = 0; i < 1000; ++i) {
      if (done.load(std::memory_order_acquire) == before) return;
      tandem::detail::cpu_pause();
    }
    sleepers.fetch_add(1);
    for (uint32_t seen = 0; (seen = done.load()) != before;) tandem::detail::futex_wait(done, seen);
    sleepers.fetch_sub(1);
  }
  void end_turn(uint64_t number) {
    done.store(static_cast<uint32_t>(number));
    if (sleepers.load() != 0) tandem::detail::futex_wake(done, INT32_MAX);
  }

  // Of the next call of this sort; under the mutex.
  uint64_t number_of(const Call& call) { return point_to_point(call.kind) ? ++next_message : ++next; }

  /// While it lives, the call has its turn. Told to the recorder as failed unless `well`.
  struct Turn {
    Turn(State& on, const Call& of, uint64_t at) : state(on), call(of), place(at) {
      if (!point_to_point(call.kind)) state.wait_turn(call.number);
    }
    ~Turn() {
      state.recorder.ended(place, well);
      if (!point_to_point(call.kind)) state.end_turn(call.number);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    State& state;
    const Call& call;
    const uint64_t place;
    mutable bool well = false;
  };

  // Runs a queued call on this thread; what goes wrong is thrown.
  void run(Backend& backend, const Call& call, uint64_t place, Device device, runtime::StreamHandle stream, const std::string* spoiled,
           std::chrono::milliseconds limit) {
    const Turn turn(*this, call, place);
    recorder.started(place);
    backend.run(Context{call, device, stream, Clock::now() + limit, &aborted, spoiled});
    turn.well = true;
  }

  // The stream for asynchronous calls of this sort, which no other rank's work stands in.
  runtime::StreamRecord* side_stream(const Call& call, int device) {
    return own_stream(point_to_point(call.kind) ? message_streams[{call.kind, call.root, device}] : streams[device], device);
  }
  static runtime::StreamRecord* own_stream(runtime::StreamRecord*& stream, int device) {
    if (!stream) stream = runtime::take_own_stream(device);
    return stream;
  }

  // --- Asynchronous messages

  void begin_message(const Call& call) {
    const std::lock_guard lock(messages_mutex);
    ++(call.kind == Collective::Send ? sends : receives);
  }
  /// One is over; `work` has been told, and is kept where leaving has to tell of it.
  void end_message(const Call& call, std::shared_ptr<HostWork> failed) {
    {
      const std::lock_guard lock(messages_mutex);
      --(call.kind == Collective::Send ? sends : receives);
      if (failed && call.kind == Collective::Send) failed_sends.push_back(std::move(failed));
    }
    message_ended.notify_all();
  }
  void wait_messages(const int& count) {
    std::unique_lock lock(messages_mutex);
    message_ended.wait(lock, [&] { return count == 0; });
  }

  /// Gives a message to the thread that moves all of them.
  void move_message(const Call& call, uint64_t place, const Tensor& tensor, std::chrono::milliseconds limit, const std::string* spoiled,
                    const std::shared_ptr<HostWork>& work) {
    AsyncMessage message{.call = call,
                         .device = tensor.device(),
                         .deadline = Clock::now() + limit,
                         .aborted = &aborted,
                         .spoiled = spoiled ? std::optional(*spoiled) : std::nullopt,
                         .tensor = tensor,
                         .started = [this, place] { recorder.started(place); },
                         .done = {}};
    message.done = [this, call, place, work, why = message.spoiled, on_device = tensor.is_cuda()](std::exception_ptr error) {
      // The elements of a failed stream are not there, though the message was taken.
      if (!error && why) error = std::make_exception_ptr(SpoiledError(*why));
      recorder.ended(place, !error);
      const bool keep = error && on_device;
      work->done(std::move(error));
      end_message(call, keep ? work : nullptr);
    };
    progress->add(std::move(message));
  }
};

Group::Group(std::unique_ptr<Backend> host, std::unique_ptr<Backend> device, std::vector<int> ranks, std::chrono::milliseconds timeout)
    : ranks_(std::move(ranks)), timeout_(timeout), state_(std::make_shared<State>()) {
  state_->host = std::move(host);
  state_->device = std::move(device);
  void* memory = state_->host->recorder_memory();
  if (!memory) {
    state_->own_recorder = std::make_unique<std::byte[]>(recorder_bytes());
    memory = state_->own_recorder.get();
  }
  state_->recorder_memory = memory;
  state_->recorder = Recorder(memory);
}

Group::~Group() = default;

int Group::rank() const { return state_->host->rank(); }
int Group::size() const { return state_->host->size(); }
bool Group::takes(Device device) const { return state_->host->takes(device) || (state_->device && state_->device->takes(device)); }
uint64_t Group::next_number() { return state_->numbers.fetch_add(1) + 1; }
const char* Group::backend_name() const { return (state_->device ? state_->device : state_->host)->name(); }

std::string Group::describe(int rank) const { return state_->host->describe(rank); }
const void* Group::recorder_of(int rank) const {
  return rank == this->rank() ? state_->recorder_memory : state_->host->recorder_memory_of(rank);
}

Group::State& Group::state_for(Call& call) const {
  call.site = tandem::detail::site_of_work(call.site);
  if (state_->left.load()) fail('[', name(call.kind), "] this rank has left the group: destroy_process_group was called");
  return *state_;
}

Call with_buffers(Call call, std::span<const Tensor> reads, std::span<const Tensor> writes) {
  if (!reads.empty()) call.in = reads[0].impl().data;
  if (!writes.empty()) call.out = writes[0].impl().data;
  return call;
}

Work Group::run(Call call, std::span<const Tensor> reads, std::span<const Tensor> writes, bool async_op, std::chrono::milliseconds limit) {
  const auto on_device = [](std::span<const Tensor> tensors) { return !tensors.empty() && tensors[0].is_cuda(); };
  call = with_buffers(std::move(call), reads, writes);
  if (async_op || on_device(reads) || on_device(writes)) return queue(std::move(call), reads, writes, async_op, limit);
  run_here(std::move(call), writes, limit, [](Backend& backend, const Context& context) { backend.run(context); });
  return {};
}

template <class Part>
void Group::run_here(Call call, std::span<const Tensor> writes, std::chrono::milliseconds limit, Part part) {
  State& state = state_for(call);
  const auto now = Clock::now();
  std::unique_lock lock(state.mutex);
  call.number = state.number_of(call);
  const uint64_t place = state.recorder.queued(call, now, true);
  lock.unlock();
  const runtime::Telling told([&] { return collective_fact(call, nullptr, {}, writes, state.host->rank(), true); });
  const State::Turn turn(state, call, place);
  part(*state.host, Context{call, Device(), nullptr, now + (limit.count() ? limit : timeout_), &state.aborted, nullptr});
  for (const Tensor& tensor : writes) tensor.impl().bump_version();
  turn.well = true;
}

Work Group::queue(Call call, std::span<const Tensor> reads, std::span<const Tensor> writes, bool async_op,
                  std::chrono::milliseconds limit) {
  State& state = state_for(call);
  if (limit.count() == 0) limit = timeout_;
  const Tensor* const any = !writes.empty() ? &writes[0] : !reads.empty() ? &reads[0] : nullptr;
  const Device device = any ? any->device() : Device();
  Backend& backend = state.device && state.device->takes(device) ? *state.device : *state.host;
  const bool messages = point_to_point(call.kind);

  if (device.is_cpu()) {
    const std::lock_guard lock(state.mutex);
    call.number = state.number_of(call);
    const runtime::Telling told([&] { return collective_fact(call, nullptr, reads, writes, backend.rank(), false); });
    const uint64_t place = state.recorder.queued(call, Clock::now(), false);
    for (const Tensor& tensor : writes) tensor.impl().bump_version();
    auto work = std::make_shared<HostWork>();
    if (messages) {
      if (!state.progress) state.progress = std::make_unique<Progress>(*state.host);
      state.begin_message(call);
      state.move_message(call, place, *any, limit, nullptr, work);
      return Work(std::move(work));
    }
    if (!state.lane) state.lane = std::make_unique<Lane>();
    std::vector<Tensor> held(reads.begin(), reads.end());
    held.insert(held.end(), writes.begin(), writes.end());
    // The lane ends with the state, so the job may use it.
    state.lane->add([&state, &backend, call, place, work, limit, held = std::move(held)]() mutable {
      std::exception_ptr error;
      try {
        state.run(backend, call, place, Device(), nullptr, nullptr, limit);
      } catch (...) {
        error = std::current_exception();
      }
      held.clear();
      work->done(std::move(error));
    });
    return Work(std::move(work));
  }

  runtime::Driver& driver = runtime::require_driver();
  const runtime::StreamRecord& current = *runtime::current_stream(device.index());
  if (driver.capturing(current.handle))
    fail('[', name(call.kind), "] a collective cannot be captured in a graph: its ranks would not meet at a replay");
  const std::unique_lock lock(state.mutex);
  if (messages && async_op && !backend.queues_on_streams()) {
    const runtime::StreamRecord& side = *state.own_stream(state.message_streams[{call.kind, -1, device.index()}], device.index());
    runtime::tell([&] { return runtime::facts::Order{&current, &side, call.site}; });
    any->record_stream(cuda::Stream(const_cast<runtime::StreamRecord*>(&side)));
    call.number = state.number_of(call);
    const runtime::Telling told([&] { return collective_fact(call, &side, reads, writes, backend.rank(), false); });
    const uint64_t place = state.recorder.queued(call, Clock::now(), false);
    for (const Tensor& tensor : writes) tensor.impl().bump_version();
    if (!state.progress) state.progress = std::make_unique<Progress>(*state.host);
    state.begin_message(call);
    auto work = std::make_shared<DeviceMessage>(call, device.index(), side);
    // The stream begins it where it gets there, and goes on.
    queue_part(
        driver, current, call, reads, writes,
        [keep = shared_from_this(), &state, call, place, tensor = *any, limit, work](const std::string* spoiled) {
          state.move_message(call, place, tensor, limit, spoiled, work);
        },
        [keep = shared_from_this(), &state, &backend, call, work] {
          const std::string why = tandem::str(str(call), " was dropped: the program of rank ", backend.rank(), " is ending");
          backend.abort(why);
          work->done(std::make_exception_ptr(Error(why)));
          state.end_message(call, nullptr);
        });
    return Work(std::move(work));
  }
  const runtime::StreamRecord* stream = &current;
  if (async_op) {
    stream = state.side_stream(call, device.index());
    runtime::order_streams(current, *stream, call.site);
    for (const auto& list : {reads, writes})
      for (const Tensor& tensor : list) tensor.record_stream(cuda::Stream(const_cast<runtime::StreamRecord*>(stream)));
  }
  // The order of the group's collectives is the order of their streams too: errors of one are those of the next.
  if (!messages) {
    const runtime::StreamRecord*& last = state.last_streams[device.index()];
    if (last && last != stream) runtime::order_streams(*last, *stream, call.site);
    last = stream;
  }
  call.number = state.number_of(call);
  const runtime::Telling told([&] { return collective_fact(call, stream, reads, writes, backend.rank(), false); });
  const uint64_t place = state.recorder.queued(call, Clock::now(), false);
  for (const Tensor& tensor : writes) tensor.impl().bump_version();
  // Queued work keeps the group, so that leaving waits for it even where nobody has a handle any more.
  const auto run = [keep = shared_from_this(), &state, &backend, call, place, device, handle = stream->handle,
                    limit](const std::string* spoiled) { state.run(backend, call, place, device, handle, spoiled, limit); };
  if (backend.queues_on_streams()) run(nullptr);
  else
    queue_part(driver, *stream, call, reads, writes, run, [keep = shared_from_this(), &state, &backend, call] {
      // The program is ending, or memory is: partners are not to wait for a part that never comes.
      backend.abort(tandem::str(str(call), " was dropped: the program of rank ", backend.rank(), " is ending"));
      if (!point_to_point(call.kind)) state.end_turn(call.number);
    });
  return Work(std::make_shared<DeviceWork>(*stream, call.site));
}

std::shared_ptr<void> Group::shared_memory(size_t bytes) const { return state_->host->shared_memory(bytes); }

std::shared_ptr<Group> Group::sub_group(std::span<const int> ranks, std::chrono::milliseconds timeout, Site site) {
  Call call;
  call.kind = Collective::NewGroup;
  for (const int rank : ranks) call.sizes.push_back(rank);
  call.site = site;
  std::unique_ptr<Backend> host, device;
  run_here(std::move(call), {}, {}, [&](Backend&, const Context& context) {
    host = state_->host->sub_group(context, ranks);
    if (state_->device) device = state_->device->sub_group(context, ranks);
  });
  if (!host) return nullptr;
  std::vector<int> global;
  for (const int rank : ranks) global.push_back(ranks_[static_cast<size_t>(rank)]);
  return std::make_shared<Group>(std::move(host), std::move(device), std::move(global), timeout);
}

void Group::abort(const std::string& reason) noexcept {
  state_->host->abort(reason);
  if (state_->device) state_->device->abort(reason);
  state_->aborted.store(true);
}

void Group::leave(Site site) {
  if (state_->left.exchange(true)) return;
  uint64_t last = 0;
  std::vector<runtime::StreamRecord*> streams, receiving;
  {
    const std::lock_guard lock(state_->mutex);
    last = state_->next;
    for (const auto& [device, stream] : state_->streams) streams.push_back(stream);
    for (const auto& [key, stream] : state_->message_streams)
      (std::get<0>(key) == Collective::Send ? streams : receiving).push_back(stream);
  }
  state_->wait_turn(last + 1);
  state_->wait_messages(state_->sends);
  // Whoever gets the streams next is not to be told of what went wrong here.
  std::exception_ptr first;
  for (const auto& send : state_->failed_sends)
    if (!first) first = send->untold_error();
  for (const runtime::StreamRecord* stream : streams) {
    try {
      drain(*stream, site);
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  state_->host->leave();
  if (state_->device) state_->device->leave();
  state_->aborted.store(true);  // messages that never came are not waited for any more
  state_->host->ring();
  state_->wait_messages(state_->receives);
  for (const runtime::StreamRecord* stream : receiving) {
    try {
      drain(*stream, site);
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): that they did not come
    }
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace tandem::comm
