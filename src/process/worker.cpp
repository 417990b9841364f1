// Starting a worker, and what becomes of it. The other side is in process/init.cpp.
#include "process/worker.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "base/cores.h"
#include "base/env.h"
#include "base/error.h"
#include "base/process_seed.h"
#include "process/init.h"
#include "process/socket.h"
#include "process/watcher.h"
#include "runtime/driver.h"

extern char** environ;  // NOLINT: POSIX declares it nowhere

namespace tandem::multiprocessing::detail {
namespace {

/// "SIGKILL".
std::string signal_name(int number) {
  const char* const name = sigabbrev_np(number);
  return name ? str("SIG", name) : str("signal ", number);
}

/// The program's environment without what belongs to this process alone, and with what a worker needs.
std::vector<std::string> environment_of_worker(int share) {
  static std::atomic<uint64_t> started = 0;
  const auto seed = tandem::detail::seed_from_environment();
  std::vector<std::string> variables;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text(*entry);
    const auto is = [&](std::string_view start) { return text.starts_with(start); };
    // A launcher's ranks are processes that it has started: a worker that took itself for one would wait for ever.
    if (is("OMPI_") || is("PMIX_") || is("PMI_") || is(kWorkerVariable)) continue;
    if (is("TANDEM_VIRTUAL_GPUS=") && runtime::virtual_gpus_asked_for()) continue;
    if (is("TANDEM_SEED=") && seed) continue;
    variables.emplace_back(text);
  }
  variables.push_back(str(kWorkerVariable, "=", kWorkerSocket));
  // No two workers draw the same numbers.
  if (seed) variables.push_back(str("TANDEM_SEED=", tandem::detail::split_seed(*seed, tandem::detail::SeedOf::Worker, ++started)));
  if (const auto virtual_gpus = runtime::virtual_gpus_asked_for()) variables.push_back("TANDEM_VIRTUAL_GPUS=" + *virtual_gpus);
  if (!environment("TANDEM_NUM_THREADS"))
    variables.push_back(str("TANDEM_NUM_THREADS=", std::max(tandem::detail::usable_cores() / share, 1)));
  return variables;
}

/// posix_spawn's settings.
struct SpawnSettings {
  explicit SpawnSettings(int socket) {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    // Nothing but the standard streams and its socket: a worker that held this process's files would keep others from seeing them closed.
    posix_spawn_file_actions_adddup2(&files, socket, kWorkerSocket);
    posix_spawn_file_actions_addclosefrom_np(&files, kWorkerSocket + 1);
    // The thread that starts it may have signals blocked, which would be for the worker's life.
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

/// What the worker has sent; on the watching thread, after its end.
void read_reports(Worker& worker) {
  Peers none;
  for (;;) {
    try {
      auto received = receive(worker.socket.get(), Deadline(std::chrono::nanoseconds(0)), none, "worker");
      if (!received) return;
      const auto report = received->take<Report>();
      worker.said_hello |= report == Report::Hello;
      worker.returned |= report == Report::Returned;
      worker.threw |= report == Report::Threw;
      worker.type = received->take_text();
      worker.text = received->take_text();
    } catch (const ConnectionClosed&) {
      return;
    } catch (const Error& e) {
      worker.text = e.what();
      worker.threw = true;
      return;
    }
  }
}

void end(const std::shared_ptr<Worker>& worker) {
  siginfo_t status{};
  int waited;
  while ((waited = waitid(P_PIDFD, static_cast<id_t>(worker->pidfd.get()), &status, WEXITED)) != 0 && errno == EINTR) {
  }
  std::vector<std::shared_ptr<Peers>> lost;
  {
    const std::lock_guard lock(worker->mutex);
    read_reports(*worker);
    if (waited == 0) worker->exitcode = status.si_code == CLD_EXITED ? status.si_status : -status.si_status;
    else worker->exitcode = worker->threw ? 1 : 0;  // somebody else has read it
    worker->exitcode_known = waited == 0 || worker->threw || worker->returned;
    worker->ended = true;
    if (worker->has_failed()) lost = worker->given;
    worker->changed.notify_all();
  }
  for (const auto& peers : lost) peers->lose();
  worker->leave();
}

}  // namespace

bool Worker::wait_ended(const Deadline& deadline) {
  std::unique_lock lock(mutex);
  const auto is_over = [&] { return ended; };
  if (deadline.forever()) {
    changed.wait(lock, is_over);
    return true;
  }
  return changed.wait_until(lock, *deadline.end(), is_over);
}

void Worker::signal(int number) {
  const std::lock_guard lock(mutex);
  if (!ended) (void)syscall(SYS_pidfd_send_signal, pidfd.get(), number, nullptr, 0);
}

std::optional<ProcessError> Worker::failure(const char* op) {
  const std::lock_guard lock(mutex);
  if (!has_failed()) return std::nullopt;
  const std::string who = str('[', op, "] ", name, " (process ", pid, ") ");
  if (threw) return ProcessError(str(who, "ended with an error: ", type, type.empty() ? "" : ": ", text), exitcode, type, text);
  if (!said_hello && exitcode >= 0)
    return ProcessError(str(who, "ended with exit code ", exitcode,
                            " before it called multiprocessing::init: main must call init(argc, argv) before anything else"),
                        exitcode);
  if (!exitcode_known)
    return ProcessError(str(who, "has ended, but not how is known: the program ignores SIGCHLD, or waits for processes it did not start"));
  if (exitcode < 0) return ProcessError(str(who, "was ended by ", signal_name(-exitcode)), exitcode);
  return ProcessError(str(who, "ended with exit code ", exitcode), exitcode);
}

bool Worker::has_failed() const { return ended && (exitcode != 0 || !exitcode_known || !said_hello); }

bool Worker::set_reported() {
  bool first;
  {
    const std::lock_guard lock(mutex);
    first = !std::exchange(reported, true);
  }
  leave();
  return first;
}

void Worker::leave() {
  std::vector<std::shared_ptr<Peers>> left;
  {
    const std::lock_guard lock(mutex);
    if (ended && (reported || !has_failed())) left = std::move(given);
  }
  for (const auto& peers : left) peers->remove(*this);
}

std::shared_ptr<Worker> start_worker(const std::string& name, const Message& message, int share, const char* op) {
  check_initialised(op);
  auto [here, there] = socket_pair(op);
  Peers none;
  if (!send(here.get(), message, Deadline(std::chrono::nanoseconds(0)), none, op)) fail('[', op, "] the arguments cannot be sent");

  auto worker = std::make_shared<Worker>();
  worker->name = name;
  worker->owner = getpid();
  std::vector<std::string> arguments = program_arguments(), variables = environment_of_worker(share);
  const SpawnSettings settings(there.get());
  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, "/proc/self/exe", &settings.files, &settings.attributes, pointers(arguments).data(), pointers(variables).data());
  if (error != 0) fail('[', op, "] ", name, " cannot be started: ", std::strerror(error));
  worker->pid = pid;
  worker->pidfd = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  const int pidfd_error = errno;
  worker->socket = std::move(here);
  worker->given = message.given;
  try {
    if (!worker->pidfd) fail('[', op, "] ", name, " cannot be watched: ", std::strerror(pidfd_error));
    for (const auto& peers : message.given) peers->add(worker);
    watch(worker->pidfd.get(), [worker] { end(worker); });
  } catch (...) {
    ::kill(pid, SIGKILL);
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    for (const auto& peers : message.given) peers->remove(*worker);
    throw;
  }
  return worker;
}

}  // namespace tandem::multiprocessing::detail
