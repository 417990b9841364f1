#include "observe/profiler/trace_environment.h"

#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "observe/profiler/chrome_trace.h"
#include "observe/profiler/profile_events.h"
#include "observe/profiler/profile_recorder.h"

namespace tandem::profiler {
namespace {

struct WholeRun {
  std::string path;
  pid_t process = getpid();
  Recorder recorder{RecordOptions{.shapes = true, .memory = true, .flops = true}};
};
constinit WholeRun* whole_run = nullptr;

void write_at_exit() {
  if (whole_run->process != getpid()) return;  // a forked child
  try {
    Recorder& recorder = whole_run->recorder;
    recorder.stop(false);
    const std::vector<Event> events = events_of(recorder);
    if (events.empty()) return;
    std::vector<ThreadName> threads;
    for (const ThreadRecords& thread : recorder.threads()) threads.push_back({thread.thread, thread.name});
    write_chrome_trace(kTraceVariable, trace_file_of_this_process(whole_run->path), events, threads, recorder.dropped());
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): nobody is left to be told; `tandem trace` sees that there is no file
  }
}

// Where the variable is set, the run is recorded from when the library is loaded on: there is no earlier call of the program's.
[[gnu::constructor]] void begin_where_asked_for() {
  if (!std::getenv(kTraceVariable)) return;  // NOLINT(concurrency-mt-unsafe): one thread as yet
  const auto path = environment(kTraceVariable);
  if (!path) return;
  whole_run = new WholeRun{.path = *path};  // threads may still be telling it while the program ends
  whole_run->recorder.start();
  (void)std::atexit(write_at_exit);
}

}  // namespace

std::string trace_file_of_this_process(const std::string& path) {
  std::string who;
  for (const char* const variable : {"RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"})
    if (const auto rank = environment(variable); rank && who.empty() && rank->find('/') == std::string::npos) who = ".rank" + *rank;
  if (environment("TANDEM_WORKER_SOCKET")) who += str(".worker", getpid());
  const auto slash = path.rfind('/'), dot = path.rfind('.');
  const bool has_ending = dot != std::string::npos && (slash == std::string::npos || dot > slash + 1) && dot > 0;
  return has_ending ? path.substr(0, dot) + who + path.substr(dot) : path + who;
}

}  // namespace tandem::profiler
