// Other processes of this program: Process runs one function in one, spawn runs one in several and waits for them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "process/deadline.h"
#include "process/error.h"
#include "process/signature.h"

namespace tandem::multiprocessing {

namespace detail {
struct Worker;

/// A message that says which function is to run, and with which arguments.
template <class R, class... P, class... A>
Message call_of(const char* op, R (*function)(P...), const A&... arguments) {
  static_assert(sizeof...(A) == sizeof...(P), "as many arguments as the function takes");
  static_assert((std::is_convertible_v<const A&, std::decay_t<P>> && ...), "arguments that the function can be called with");
  static_assert((Sendable<std::decay_t<P>> && ...), "arguments that can be sent to another process: see multiprocessing::Codec");
  Parcel parcel(op);
  put_function(parcel, reinterpret_cast<AnyFunction>(function), signature_of<R, P...>);
  (Codec<std::decay_t<P>>::put(parcel, static_cast<const std::decay_t<P>&>(arguments)), ...);
  return parcel.finish();
}

/// How many processes, and the line that says so: behind arguments of any number no other can stand.
struct ProcessCount {
  ProcessCount(int count_, Site = Site::here()) : count(count_) {}
  int count;
};

/// Starts `nprocs` workers with the messages that `call` makes for each rank, and waits for all of them.
void spawn(int nprocs, const std::function<Message(int rank)>& call);
}  // namespace detail

/// One function in a process of its own: this program, started again, with nothing of this process's memory but what the arguments share.
/// Any thread may use it. As torch.multiprocessing.Process, started by "spawn".
class Process {
 public:
  /// `function` is a plain function, of the program or of a library that it is linked with; its arguments are sent as they are now (see
  /// Codec). Nothing is started yet. Error where multiprocessing::init was not called, and what sending the arguments throws.
  template <class R, class... P, class... A>
  explicit Process(R (*function)(P...), const A&... arguments) : Process(detail::call_of("Process", function, arguments...)) {}
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  /// A process that is still running is killed: join it before.
  ~Process();

  /// Starts it. Error where the system refuses, or it was started before.
  void start(Site = Site::here());
  /// Waits until it has ended, at most for `timeout`; whether it has. What its function threw is told by error(), not thrown. Error where
  /// it was not started.
  bool join(Timeout timeout = {});
  /// 0 where its function returned, 1 where it threw, else what it exited with; minus the signal that ended it. Nothing before it has
  /// ended.
  [[nodiscard]] std::optional<int> exitcode() const;
  /// Whether it runs.
  [[nodiscard]] bool is_alive() const;
  /// Why it failed: the type and text of what its function threw, the signal that ended it, or its exit code. Nothing where it did not, or
  /// has not ended.
  [[nodiscard]] std::optional<ProcessError> error() const;
  /// Asks it to end, by SIGTERM; it may catch that. Nothing where it has ended. Error where it was not started.
  void terminate();
  /// Ends it, by SIGKILL.
  void kill();
  /// The system's number of the process; 0 before it was started.
  [[nodiscard]] int pid() const;
  /// "Process-1" unless set; errors say it.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Before start().
  void set_name(std::string name) { name_ = std::move(name); }

 private:
  explicit Process(detail::Message call);
  [[nodiscard]] detail::Worker& worker(const char* op) const;
  void end() noexcept;

  std::string name_;
  std::unique_ptr<detail::Message> call_;  // until it is started
  std::shared_ptr<detail::Worker> worker_;
};

/// Runs `function(rank, arguments…)` in `nprocs` processes, the ranks 0 to nprocs - 1, and waits for them. They divide the cores among
/// themselves. ProcessError with the text and type of what a function threw, or the signal or exit code that a process ended with; the
/// others are ended first. Arguments and errors as for Process. As torch.multiprocessing.spawn.
template <class R, class... P, class... A>
void spawn(R (*function)(int, P...), detail::ProcessCount nprocs, const A&... arguments) {
  detail::spawn(nprocs.count, [&](int rank) { return detail::call_of("spawn", function, rank, arguments...); });
}

}  // namespace tandem::multiprocessing
