// The one place that calls MPI. MPI wants one thread at a time (MPI_THREAD_SERIALIZED), so a mutex stands around every call. It moves data
// only while it is called, by whichever thread: whoever waits polls, each for its own operation, and all of them move everybody's data. So
// a wait costs no other thread's waking. Every operation is a non-blocking one, so that each wait can end: by a time limit, by abort, by a
// word from another rank.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "comm/mpi/library.h"

namespace tandem::comm::mpi {

using Clock = std::chrono::steady_clock;

/// A few words from one rank of a group to another, beside the collectives. Plain bytes: ranks run the same program.
struct Notice {
  enum class Kind : uint32_t { Aborted, Left, WhereAreYou, IAmHere };
  uint64_t group = 0;  // which group it is about
  Kind kind = Kind::Aborted;
  int32_t from = 0;     // the sender's rank in the whole program
  uint64_t number = 0;  // of the sender's last call
  char text[1000] = {};
};

/// Who is told of notices about a group.
class Listener {
 public:
  virtual ~Listener() = default;
  /// By a thread that waits; it holds the engine's lock. Whether `answer` is to be sent back.
  [[nodiscard]] virtual bool notice(const Notice& notice, Notice& answer) = 0;
  /// The program ends: whoever waits for this rank is to be told.
  virtual void ending() noexcept = 0;
};

/// What ends a wait before its operation is done.
class Limit {
 public:
  virtual ~Limit() = default;
  /// Why the wait is over; empty while it is not. Called by the thread that waits, again and again.
  [[nodiscard]] virtual std::string over() = 0;
};

class Engine;

/// An operation that is under way: its requests.
class Operation {
 public:
  Operation(Operation&& other) noexcept : engine_(std::exchange(other.engine_, nullptr)), requests_(std::move(other.requests_)) {}
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  ~Operation();

 private:
  friend class Engine;
  explicit Operation(Engine& engine) : engine_(&engine) {}
  Engine* engine_;
  std::vector<MPI_Request> requests_{1, MPI_REQUEST_NULL};
};

/// Starts an operation, with the lock held: fills in its requests, of which there is one to begin with. Gives MPI's error code.
using Post = std::function<int(std::vector<MPI_Request>&)>;

class Engine {
 public:
  /// Initialises MPI, where the program has not. Waits for all ranks, as MPI does. Error where MPI allows no threads.
  static Engine& get();

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] MPI_Comm world() const { return world_; }
  /// "rank 1 (host node2, process 4711)".
  [[nodiscard]] const std::string& name_of(int rank) const { return names_[static_cast<size_t>(rank)]; }

  /// Runs one operation to its end. `patience` is how long to poll without pause. Error where MPI fails, or `limit` ends the wait; then the
  /// operation may still be under way, and this process makes no call of MPI any more.
  void run(const Post& post, Limit& limit, std::chrono::nanoseconds patience);
  /// The same in steps: starts one; and looks whether it is done, with `limit` whether its wait is over, too.
  [[nodiscard]] Operation start(const Post& post);
  [[nodiscard]] bool advance(Operation& operation, Limit* limit);

  /// Sends a notice to ranks of the whole program, as far as they can be reached, and waits for nothing but a moment.
  void tell(const std::vector<int>& ranks, const Notice& notice) noexcept;
  /// Waits until notices have gone out, at most a moment.
  void flush();
  void add(uint64_t group, Listener& listener);
  void remove(uint64_t group);
  /// After a rank was lost MPI is not ended in order, which would wait for it.
  void give_up() noexcept;

 private:
  friend class Operation;
  struct Outgoing {
    Notice notice;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  Engine();
  void send(int rank, const Notice& notice);
  void look_at_notices();
  void stop_receiving();
  void finish() noexcept;

  int rank_ = 0, size_ = 1;
  bool ours_ = false;  // MPI was initialised here
  MPI_Comm world_ = MPI_COMM_NULL, notices_ = MPI_COMM_NULL;
  std::vector<std::string> names_;

  std::mutex mutex_;    // around every call of MPI, and what follows
  std::string broken_;  // why no call may be made any more
  bool given_up_ = false;
  int running_ = 0;  // operations that are under way
  std::map<uint64_t, Listener*> listeners_;
  std::list<Outgoing> outgoing_;
  Notice incoming_;
  MPI_Request receiving_ = MPI_REQUEST_NULL;
};

/// Error that tells MPI's own text where `code` is not success.
void check(int code, const char* what);

}  // namespace tandem::comm::mpi
