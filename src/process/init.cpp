#include "process/init.h"

#include <cxxabi.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>

#include "base/env.h"
#include "base/error.h"
#include "base/thread.h"
#include "base/type_name.h"
#include "process/socket.h"
#include "process/worker.h"
#include "runtime/driver.h"

namespace tandem::multiprocessing {
namespace detail {
namespace {

constexpr size_t kMostText = size_t{8} << 10;

struct Program {
  std::mutex mutex;
  std::optional<std::vector<std::string>> arguments;  // once init has been called
};
Program& program() {
  static auto* the_program = new Program;
  return *the_program;
}

/// The parent's end is closed when it has ended, however that came about.
void end_with_parent() {
  pollfd parent{kWorkerSocket, POLLRDHUP, 0};
  for (;;) {
    if (poll(&parent, 1, -1) == 1 && (parent.revents & (POLLHUP | POLLRDHUP | POLLERR | POLLNVAL))) _exit(1);
  }
}

/// The number in the variable is a socket whose other end is this process's parent.
void check_parent(const std::string& number) {
  ucred parent{};
  socklen_t size = sizeof parent;
  if (number != str(kWorkerSocket) || getsockopt(kWorkerSocket, SOL_SOCKET, SO_PEERCRED, &parent, &size) != 0)
    fail("[init] ", kWorkerVariable, " is set to ", number, ", but this process was not started by Process or spawn: unset it");
  check_socket(kWorkerSocket, "init");
  if (parent.pid != getppid()) _exit(1);  // it has ended already
}

void tell(Report report, const std::string& type = {}, const std::string& text = {}) {
  Parcel parcel("init");
  parcel.put(report);
  parcel.put_text(std::string_view(type).substr(0, kMostText));
  parcel.put_text(std::string_view(text).substr(0, kMostText));
  Peers none;
  send(kWorkerSocket, parcel.finish(), Deadline(std::nullopt), none, "init");
}

/// How the function ended. From here on the parent can see that this process is leaving.
void tell_end(Report report, const std::string& type = {}, const std::string& text = {}) {
  tell(report, type, text);
  shutdown(kWorkerSocket, SHUT_WR);
}

std::string type_at_hand() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  return type ? type_name(*type) : "";
}

/// Errors of work that is still queued on GPUs belong to the function, too.
void finish_queued_work() {
  if (runtime::Driver* const driver = runtime::own_driver()) {
    for (int i = 0; i < driver->device_count(); ++i) driver->synchronize_device(i, Site::none());
  }
}

int run() {
  Peers none;
  auto received = receive(kWorkerSocket, Deadline(std::nullopt), none, "init");
  tell(Report::Hello);
  try {
    const auto [function, signature] = take_function(*received);
    signature->run(function, *received);
    finish_queued_work();
  } catch (const std::exception& e) {
    tell_end(Report::Threw, type_at_hand(), e.what());
    return 1;
  } catch (...) {
    tell_end(Report::Threw, type_at_hand(), "it is no std::exception");
    return 1;
  }
  tell_end(Report::Returned);
  return 0;
}

}  // namespace

void check_initialised(const char* op) {
  const std::lock_guard lock(program().mutex);
  if (program().arguments) return;
  fail('[', op, "] ", environment(kWorkerVariable) ? "this is a worker, and its" : "", environment(kWorkerVariable) ? " " : "",
       "main must call multiprocessing::init(argc, argv) before anything else");
}

std::vector<std::string> program_arguments() {
  const std::lock_guard lock(program().mutex);
  return program().arguments.value_or(std::vector<std::string>{});
}

}  // namespace detail

void init(int argc, char** argv) {
  using namespace detail;
  {
    const std::lock_guard lock(program().mutex);
    program().arguments.emplace(argv, argv + argc);
  }
  const auto socket = environment(kWorkerVariable);
  if (!socket) return;
  unsetenv(kWorkerVariable);  // NOLINT(concurrency-mt-unsafe): main has just begun; what this process starts is no worker
  check_parent(*socket);
  fcntl(kWorkerSocket, F_SETFD, FD_CLOEXEC);
  tandem::detail::start_thread("tandem-parent", end_with_parent).detach();
  int code = 1;
  try {
    code = run();
  } catch (const ConnectionClosed&) {
    // The parent has ended: nobody is left to be told.
  }
  std::exit(code);  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace tandem::multiprocessing
