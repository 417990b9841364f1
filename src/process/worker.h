// A process that this one has started, from its start to its end. For the library.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "process/error.h"
#include "process/parcel.h"
#include "process/peers.h"
#include "process/signature.h"

namespace tandem::multiprocessing::detail {

/// What a worker tells its parent, one message each: that its main has called init, and how its function ended.
enum class Report : uint8_t { Hello, Returned, Threw };

/// The variable that tells a worker that it is one: the number of its socket.
inline constexpr const char* kWorkerVariable = "TANDEM_WORKER_SOCKET";
inline constexpr int kWorkerSocket = 3;

/// A child process. The library's thread waits for its end, so that none is left over as a zombie.
struct Worker : std::enable_shared_from_this<Worker> {
  /// Waits for the end; false when the time is over first.
  bool wait_ended(const Deadline& deadline);
  /// Sends a signal; nothing where it has ended.
  void signal(int number);
  /// What to throw where it failed: its function threw, a signal ended it, or its exit code is not 0. Nothing otherwise, or before it has
  /// ended. `op` begins the text.
  [[nodiscard]] std::optional<ProcessError> failure(const char* op);
  /// Its end is being reported to the user; false where that was done before. Who has been told is not told again by waits.
  bool set_reported();
  /// Takes it from the lists of the objects that it was given, once its end need not be told by them any more.
  void leave();

  std::string name;
  pid_t owner = 0;  // the process that started it
  pid_t pid = 0;
  Descriptor pidfd;
  Descriptor socket;  // its other end is closed for writing once the function has ended

  std::mutex mutex;
  std::condition_variable changed;
  // Guarded by the mutex:
  bool ended = false;
  bool said_hello = false, returned = false, threw = false, reported = false;
  int exitcode = 0;  // minus the signal that ended it
  bool exitcode_known = true;
  std::string type, text;
  std::vector<std::shared_ptr<Peers>> given;
  [[nodiscard]] bool has_failed() const;
};

/// Error unless multiprocessing::init has been called here.
void check_initialised(const char* op);

/// Starts this program again, to run `function` with the arguments of `message`. `share` is how many such workers divide the cores among
/// themselves. Error where the system refuses; nothing is left over then.
[[nodiscard]] std::shared_ptr<Worker> start_worker(const std::string& name, const Message& message, int share, const char* op);

}  // namespace tandem::multiprocessing::detail
