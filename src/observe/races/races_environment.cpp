// TANDEM_RACES: a checker from the program's start to its end.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/env.h"
#include "base/error.h"
#include "observe/races/races.h"

namespace tandem::races {
namespace {

struct Watch {
  Checker checker;
  bool fails = false;
  pid_t owner = getpid();  // a forked child has nothing of its own to report
};

void tell(int code, void* argument) {
  Watch& watch = *static_cast<Watch*>(argument);
  if (getpid() != watch.owner) return;
  const auto reports = watch.checker.reports();
  std::string text;
  for (const Report& report : reports)
    text += str("tandem: ", report.text, report.count > 1 ? str(" (", report.count, " times)") : std::string(), '\n');
  if (const int64_t forgotten = watch.checker.forgotten())
    text += str("tandem: too much memory was in use to look at all of it: races on ", forgotten, " ranges may be missing here\n");
  if (!reports.empty()) text += str("tandem: ", reports.size(), reports.size() == 1 ? " race" : " races", " (TANDEM_RACES)\n");
  (void)std::fputs(text.c_str(), stderr);
  if (!watch.fails || reports.empty() || code != 0) return;
  (void)std::fflush(nullptr);
  _exit(1);
}

// Work may be queued before anything of the library's is called by name. Where the variable is not set, this is all that it costs.
[[gnu::constructor]] void start() {
  if (!environment_flag("TANDEM_RACES")) return;
  auto* const watch = new Watch;  // not destroyed: static objects may still do something
  watch->fails = environment("TANDEM_RACES") == "fail";
  (void)on_exit(tell, watch);
}

}  // namespace
}  // namespace tandem::races
