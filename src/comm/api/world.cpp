#include "comm/api/world.h"

#include <exception>
#include <thread>

#include "base/error.h"
#include "base/wait_scope.h"
#include "comm/api/distributed.h"
#include "comm/launched.h"
#include "comm/local/backend.h"
#include "comm/stream_part.h"
#include "runtime/capture.h"
#include "runtime/driver.h"
#include "runtime/stream.h"
#include "runtime/stream_record.h"
#include "runtime/thread_devices.h"

namespace tandem::comm {
namespace {

constinit std::mutex process_mutex;
std::shared_ptr<World>& the_process_world() {
  static auto* world = new std::shared_ptr<World>;  // not destroyed: threads may outlive static objects
  return *world;
}
/// Of a thread of run_ranks.
thread_local std::shared_ptr<World>* own_world = nullptr;

std::vector<int> first_ranks(int count) {
  std::vector<int> ranks;
  for (int i = 0; i < count; ++i) ranks.push_back(i);
  return ranks;
}

void set_world(std::shared_ptr<World> world) {
  if (own_world) {
    *own_world = std::move(world);
    return;
  }
  const std::lock_guard lock(process_mutex);
  the_process_world() = std::move(world);
}

/// The back end that is asked for, or that started this process.
BackendFactory choose(std::string_view name) {
  std::string known;
  if (!name.empty()) (void)runtime::driver();  // the plug-in of real GPUs brings one along
  const std::vector<BackendFactory> all = backends();
  for (const BackendFactory& factory : all) {
    if (name.empty() ? factory.started_by_it && factory.started_by_it() : factory.name == name) return factory;
    known += tandem::str(known.empty() ? "" : ", ", factory.name);
  }
  if (name.empty()) return all.back();  // local: one rank alone
  fail("[init_process_group] there is no back end ", name, "; there are ", known);
}

}  // namespace

std::shared_ptr<World> process_world() {
  const std::lock_guard lock(process_mutex);
  return the_process_world();
}

std::shared_ptr<World> world() { return own_world ? *own_world : process_world(); }

std::shared_ptr<World> require_world(const char* call) {
  std::shared_ptr<World> found = world();
  if (!found) fail('[', call, "] there is no process group: call init_process_group first");
  return found;
}

}  // namespace tandem::comm

namespace tandem::distributed {

using namespace comm;  // NOLINT(google-build-using-namespace): the room's own words

void init_process_group(std::string_view backend, const InitOptions& options, Site /*site*/) {
  if (world()) fail("[init_process_group] there is a process group already: call destroy_process_group first");
  if (options.timeout.count() <= 0) fail("[init_process_group] timeout must be positive, but is ", options.timeout.count(), " ms");
  const BackendFactory factory = choose(backend);
  const BackendFactory host_factory = factory.for_devices ? choose("") : factory;
  Start start;
  start.timeout = options.timeout;
  start.init_method = options.init_method;
  if (host_factory.ranks) host_factory.ranks(start.rank, start.size);
  if (options.world_size >= 0) start.size = options.world_size;
  if (options.rank >= 0) start.rank = options.rank;
  if (start.size < 1 || start.rank < 0 || start.rank >= start.size)
    fail("[init_process_group] rank ", start.rank, " is not one of a program of ", start.size,
         " ranks: give .rank and .world_size, or set RANK ", "and WORLD_SIZE");
  if (!own_world) choose_device();
  std::unique_ptr<Backend> host = host_factory.make(start), device;
  if (factory.for_devices) {
    start.rank = host->rank();
    start.size = host->size();
    start.host = host.get();
    start.device = cuda::device_count() > 0 ? gpu(cuda::current_device()) : cpu();
    device = factory.make(start);
  }
  auto made = std::make_shared<World>();
  std::vector<int> ranks = first_ranks(host->size());
  made->everyone = std::make_shared<Group>(std::move(host), std::move(device), std::move(ranks), options.timeout);
  const int rank = made->everyone->rank(), size = made->everyone->size();
  set_world(std::move(made));
  if (!own_world) listen_to_launcher(rank, size);
}

namespace {

/// The rank leaves all its groups; the first error of work that nobody has waited for comes out.
void leave_all(World& world, Site site) {
  std::vector<std::weak_ptr<Group>> others;
  {
    const std::lock_guard lock(world.mutex);
    others.swap(world.others);
  }
  std::exception_ptr first;
  const auto leave = [&](Group& group) {
    try {
      group.leave(site);
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  };
  for (const auto& other : others)
    if (const auto group = other.lock()) leave(*group);
  leave(*world.everyone);
  if (first) std::rethrow_exception(first);
}

}  // namespace

void destroy_process_group(Site site) {
  const std::shared_ptr<World> leaving = require_world("destroy_process_group");
  set_world(nullptr);
  leave_all(*leaving, site);
}

bool is_initialized() { return world() != nullptr; }

void run_ranks(int count, const std::function<void(int)>& f, const InitOptions& options) {
  if (count < 1) fail("[run_ranks] there must be a rank at least, but count is ", count);
  const std::shared_ptr<Team> team = make_thread_team(count);
  const int devices = runtime::driver() ? cuda::device_count() : 0;
  const runtime::ThreadDevices devices_of_caller;  // of the calling thread, whose work comes before
  std::mutex mutex;
  std::exception_ptr first;  // by which the others were ended
  const tandem::detail::WaitScope wait_scope = tandem::detail::wait_scope;
  const auto work = [&](int rank) {
    const tandem::detail::WithWaitScope waits(wait_scope);
    auto own = std::make_shared<World>();
    std::shared_ptr<World> mine = own;
    own_world = &mine;
    std::vector<runtime::StreamRecord*> streams;
    try {
      own->everyone = std::make_shared<Group>(std::make_unique<LocalBackend>(team, rank), nullptr, first_ranks(count), options.timeout);
      devices_of_caller.adopt();
      for (int device = 0; device < devices; ++device) {
        // A rank that waits in a stream must not stand before another rank's work.
        streams.push_back(runtime::take_own_stream(device));
        runtime::order_streams(*runtime::current_stream(device), *streams.back());
        runtime::detail::own_current_streams()[device] = streams.back();
      }
      if (devices > 0) cuda::set_device(rank % devices);
      f(rank);
      for (const runtime::StreamRecord* stream : streams) drain(*stream, Site::none());
    } catch (...) {
      {
        const std::lock_guard lock(mutex);
        if (!first) first = std::current_exception();
      }
      std::string why = "an exception";
      try {
        throw;
      } catch (const std::exception& error) {
        why = error.what();
      } catch (...) {  // NOLINT(bugprone-empty-catch)
      }
      if (own->everyone) own->everyone->abort(tandem::str("rank ", rank, " ended with an error: ", why));
    }
    own_world = nullptr;
    if (mine) {
      try {
        if (mine->everyone) leave_all(*mine, Site::none());
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!first) first = std::current_exception();
      }
    }
    for (runtime::StreamRecord* stream : streams) {
      try {
        drain(*stream, Site::none());
      } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the rank has ended with an error already
      }
      runtime::give_own_stream(stream);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int rank = 1; rank < count; ++rank) threads.emplace_back(work, rank);
    std::jthread(work, 0).join();
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace tandem::distributed
