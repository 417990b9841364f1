#include "comm/mpi/engine.h"

#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/error.h"
#include "base/futex.h"

namespace tandem::comm::mpi {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// Polls between two looks at the clock, at limits and at notices.
constexpr int kPollsPerLook = 32;
// Pauses between polls, once patience is over.
constexpr microseconds kShortestPause{20}, kLongestPause{500};
// A notice to a rank that does not take part is given up after this time.
constexpr milliseconds kNoticeTime{100};

std::string text_of(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int size = 0;
  if (MPI_Error_string(code, text.data(), &size) != MPI_SUCCESS) return str("error ", code);
  return {text.data(), static_cast<size_t>(size)};
}

/// A duplicate whose errors come back as codes.
MPI_Comm duplicate(MPI_Comm from) {
  MPI_Comm made = MPI_COMM_NULL;
  check(MPI_Comm_dup(from, &made), "MPI_Comm_dup");
  check(MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return made;
}

}  // namespace

void check(int code, const char* what) {
  if (code != MPI_SUCCESS) fail("[", what, "] MPI failed: ", text_of(code));
}

Engine& Engine::get() {
  static auto* engine = new Engine;  // not destroyed: threads may be in it until the process is gone
  return *engine;
}

Engine::Engine() {
  // OpenMPI opens its components later, which look for its symbols among the global ones.
  if (Dl_info info{}; dladdr(reinterpret_cast<const void*>(&MPI_Init_thread), &info) && info.dli_fname)
    (void)dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
  int initialized = 0, finalized = 0, provided = MPI_THREAD_SINGLE;
  check(MPI_Initialized(&initialized), "MPI_Initialized");
  check(MPI_Finalized(&finalized), "MPI_Finalized");
  if (finalized) fail("[init_process_group] MPI has been finalized, and cannot be used again in this process");
  if (initialized) {
    check(MPI_Query_thread(&provided), "MPI_Query_thread");
  } else {
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread");
    ours_ = true;
  }
  if (provided < MPI_THREAD_SERIALIZED)
    fail(
        "[init_process_group] MPI was initialized for a single thread: call MPI_Init_thread with MPI_THREAD_SERIALIZED or more, or leave "
        "it to "
        "init_process_group");
  world_ = duplicate(MPI_COMM_WORLD);
  notices_ = duplicate(world_);
  check(MPI_Comm_rank(world_, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(world_, &size_), "MPI_Comm_size");
  std::array<char, 80> own{};
  std::array<char, 256> host{};
  (void)gethostname(host.data(), host.size() - 1);
  const std::string text = str("host ", host.data(), ", process ", static_cast<int>(getpid()));
  std::copy_n(text.begin(), std::min(text.size(), own.size() - 1), own.begin());
  std::vector<char> all(own.size() * static_cast<size_t>(size_));
  check(MPI_Allgather(own.data(), static_cast<int>(own.size()), MPI_BYTE, all.data(), static_cast<int>(own.size()), MPI_BYTE, world_),
        "MPI_Allgather");
  for (int i = 0; i < size_; ++i) names_.push_back(str("rank ", i, " (", all.data() + own.size() * static_cast<size_t>(i), ")"));
  if (ours_) std::atexit([] { get().finish(); });
}

Operation::~Operation() {
  if (!engine_) return;
  const std::lock_guard lock(engine_->mutex_);
  --engine_->running_;
}

Operation Engine::start(const Post& post) {
  const std::lock_guard lock(mutex_);
  if (!broken_.empty()) fail(broken_);
  std::vector<MPI_Request> requests(1, MPI_REQUEST_NULL);
  check(post(requests), "comm");
  Operation operation(*this);
  operation.requests_ = std::move(requests);
  ++running_;
  return operation;
}

bool Engine::advance(Operation& operation, Limit* limit) {
  std::unique_lock lock(mutex_);
  if (!broken_.empty()) fail(broken_);
  int done = 0;
  std::vector<MPI_Request>& requests = operation.requests_;
  const int code = MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
  if (done || code != MPI_SUCCESS) {
    check(code, "comm");
    return true;
  }
  if (!limit) return false;
  look_at_notices();
  lock.unlock();
  const std::string why = limit->over();
  if (why.empty()) return false;
  flush();  // what `over` told others
  lock.lock();
  // MPI may write into the operation's buffers whenever it is called, so it is called no more.
  if (broken_.empty()) broken_ = "MPI cannot be used any more in this process, since a collective was given up before its end: " + why;
  fail(why);
}

void Engine::run(const Post& post, Limit& limit, std::chrono::nanoseconds patience) {
  Operation operation = start(post);
  const auto began = Clock::now();
  auto pause = kShortestPause;
  for (int polls = 1;; ++polls) {
    const bool look = polls % kPollsPerLook == 0;
    if (advance(operation, look ? &limit : nullptr)) return;
    if (!look) {
      detail::cpu_pause();
    } else if (Clock::now() - began < patience) {
      sched_yield();
    } else {
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, kLongestPause);
      polls = kPollsPerLook - 1;  // from here on each poll is a look
    }
  }
}

void Engine::look_at_notices() {
  int done = 0;
  outgoing_.remove_if([&](Outgoing& sent) { return MPI_Test(&sent.request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done; });
  for (;;) {
    if (receiving_ == MPI_REQUEST_NULL &&
        MPI_Irecv(&incoming_, sizeof incoming_, MPI_BYTE, MPI_ANY_SOURCE, 0, notices_, &receiving_) != MPI_SUCCESS)
      return;
    if (MPI_Test(&receiving_, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || !done) return;
    incoming_.text[sizeof incoming_.text - 1] = 0;
    const auto listener = listeners_.find(incoming_.group);
    Notice answer;
    if (listener != listeners_.end() && listener->second->notice(incoming_, answer)) send(incoming_.from, answer);
  }
}

void Engine::flush() {
  const auto until = Clock::now() + kNoticeTime;
  while (Clock::now() < until) {
    {
      const std::lock_guard lock(mutex_);
      if (!broken_.empty()) return;
      look_at_notices();
      if (outgoing_.empty()) return;
    }
    std::this_thread::sleep_for(kShortestPause);
  }
}

void Engine::tell(const std::vector<int>& ranks, const Notice& notice) noexcept {
  const std::lock_guard lock(mutex_);
  if (!broken_.empty()) return;
  for (const int rank : ranks)
    if (rank != rank_) send(rank, notice);
}

void Engine::send(int rank, const Notice& notice) {
  outgoing_.push_back({notice, MPI_REQUEST_NULL});
  Outgoing& sent = outgoing_.back();
  if (MPI_Isend(&sent.notice, sizeof sent.notice, MPI_BYTE, rank, 0, notices_, &sent.request) != MPI_SUCCESS) outgoing_.pop_back();
}

void Engine::add(uint64_t group, Listener& listener) {
  const std::lock_guard lock(mutex_);
  listeners_[group] = &listener;
}

void Engine::remove(uint64_t group) {
  const std::lock_guard lock(mutex_);
  listeners_.erase(group);
  if (listeners_.empty()) stop_receiving();  // the program may end MPI now
}

void Engine::stop_receiving() {
  int finalized = 1;
  if (receiving_ == MPI_REQUEST_NULL || !broken_.empty() || MPI_Finalized(&finalized) != MPI_SUCCESS || finalized) return;
  (void)MPI_Cancel(&receiving_);
  (void)MPI_Wait(&receiving_, MPI_STATUS_IGNORE);
}

void Engine::give_up() noexcept {
  const std::lock_guard lock(mutex_);
  given_up_ = true;
}

void Engine::finish() noexcept {
  std::map<uint64_t, Listener*> listeners;
  {
    const std::lock_guard lock(mutex_);
    listeners = listeners_;
  }
  for (const auto& [group, listener] : listeners) listener->ending();
  flush();
  const std::lock_guard lock(mutex_);
  int finalized = 1;
  if (given_up_ || !broken_.empty() || running_ > 0 || MPI_Finalized(&finalized) != MPI_SUCCESS || finalized) return;
  stop_receiving();
  (void)MPI_Finalize();
  broken_ = "MPI has been finalized";
}

}  // namespace tandem::comm::mpi
