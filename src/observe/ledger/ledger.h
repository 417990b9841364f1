// Every copy between devices and every wait for one, with the line of the user's program that asked for it.
//
//   ledger::Recorder recorder;
//   train_epoch();
//   std::cout << recorder.report();  // lines, the one that lost most time first, and what to do about each
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/site.h"
#include "base/wait_scope.h"  // ForbiddenError
#include "runtime/device.h"

namespace tandem::ledger {

/// What an entry is. docs/ledger.md has the advice for each.
enum class Kind : uint8_t {
  Copy,         // between GPUs, or between page-locked memory and a GPU without waiting
  Upload,       // from the host to a GPU, waited for
  Pageable,     // to or from a GPU, asked not to wait, but its memory on the host is not page-locked: waited for
  Download,     // from a GPU to the host, waited for: cpu(), to(cpu())
  Item,         // item()
  Printing,     // << of a tensor
  Condition,    // a tensor as a truth value: `if (tensor)`
  Values,       // an operation that reads values to know its result's sizes, or what to do: a mask as an index, nonzero, unique
  Synchronize,  // synchronize() of a GPU, a stream or an event
  FullQueue,    // of a virtual GPU's stream: the host was too far ahead
  Memory,       // for memory to become free
  Collective,   // for the other ranks
};

/// The kind as a word of reports: "item", "printing", "mask or sizes".
[[nodiscard]] std::string_view name(Kind kind);
/// What to do about entries of the kind, one line.
[[nodiscard]] std::string_view advice(Kind kind);

/// A copy between devices, or a wait. Text in it stays good for ever.
struct Entry {
  Kind kind = Kind::Copy;
  std::string_view op{};  // "item", "cpu", "to", "print", "nonzero", "synchronize"
  Device from{}, to{};    // both the device waited for, where nothing is copied
  size_t bytes = 0;       // copied
  bool pinned = false;    // the memory of the host is page-locked
  bool blocking = true;   // the calling thread waited
  bool asked_non_blocking = false;
  std::chrono::nanoseconds waited{};  // 0 where it did not
  std::string_view file{};            // of the user's program
  int line = 0;
  bool behind_line =
      false;        // it happened at this line or a later one: an `if` cannot tell its own, so this is where the thread worked last
  int stream = -1;  // its id; -1: none, or all of the GPU's
  std::thread::id thread{};
  std::string_view reason{};  // as the Guard around it, or the library, gives it
  bool own = false;           // the library's own work, `reason` says which, ordered by that line
};

/// The lines of the entries as a table, the one that lost most time first: time, count, bytes, line, what it was, what to do about it.
[[nodiscard]] std::string report(const std::vector<Entry>& entries);

/// Keeps all entries of all threads while it lives, about 150 bytes each. There may be several, and each gets all.
class Recorder {
 public:
  Recorder();
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// In the order in which they ended.
  [[nodiscard]] std::vector<Entry> entries() const;
  /// The entries as a table.
  [[nodiscard]] std::string report() const { return ledger::report(entries()); }
  void clear();

 private:
  struct State;
  const std::unique_ptr<State> state_;
  friend class Book;
};

/// What happens where the host is about to wait for a device.
enum class Mode : uint8_t {
  allow,   // waits happen
  log,     // and stand in the program's log (log_report)
  forbid,  // a wait is a ForbiddenError, and does not begin
};

/// How waits are treated, until the end of the scope: by the calling thread and by threads that work for it (a DataLoader's workers, ranks
/// that are threads, replicas of DataParallel). The innermost guard counts. Without one, TANDEM_LEDGER does, else they are allowed. What
/// does not wait is never forbidden, nor is what the library does for itself, what a virtual GPU's full queue makes a thread wait for, or a
/// collective, whose other ranks would wait for this one. As torch.cuda.set_sync_debug_mode.
class Guard {
 public:
  /// `reason` stands in entries and reports: why waiting is right here.
  explicit Guard(Mode mode, std::string_view reason = {}, Site site = Site::here());

 private:
  struct Watching {  // while one lives, the ledger is told of waits
    explicit Watching(bool needed);
    ~Watching();
    Watching(const Watching&) = delete;
    Watching& operator=(const Watching&) = delete;
    const bool needed;
  };
  const Watching watching_;
  const tandem::detail::WithWaitScope scope_;
};

/// Calls `f` on every thread that is about to wait for a device, with what it waits for; `waited` is 0. Not before waits for a collective
/// or a full queue. What it throws reaches the user's call, and the wait does not begin. An empty function ends it. `f` must not wait
/// itself.
void call_before_waits(std::function<void(const Entry&)> f);

/// The report of what has happened under Mode::log, and, under TANDEM_LEDGER=log, of everything; "" where nothing has. The library writes
/// it at the end of a program that TANDEM_LEDGER=log asks it of, and never else.
[[nodiscard]] std::string log_report();

/// For tests: calls `work` and gives the report of what its user waited for, "" where that was nothing. The library's own work, full
/// queues and copies that do not wait are left out:
///   EXPECT_EQ(ledger::waits([&] { train_step(); }), "");
template <class Work>
[[nodiscard]] std::string waits(Work&& work);

namespace detail {
/// Of these, the waits that a user can do something about.
[[nodiscard]] std::string report_of_waits(const Recorder& recorder);
/// As TANDEM_LEDGER says. Error for a value that is none.
void begin_from_environment();
}  // namespace detail

template <class Work>
std::string waits(Work&& work) {
  const Recorder recorder;
  std::forward<Work>(work)();
  return detail::report_of_waits(recorder);
}

}  // namespace tandem::ledger
