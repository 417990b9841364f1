#include "base/file_limit.h"

#include <atomic>

#include "base/error.h"

namespace tandem::detail {
namespace {

constexpr size_t kFew = 64;                // standard streams, and what a program and its libraries open beside
std::atomic<rlim_t> first{RLIM_INFINITY};  // the soft limit before it was raised; infinity where it never was

}  // namespace

void require_files(size_t count, const char* who) {
  rlimit limit{};
  const rlim_t needed = count + kFew;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
  if (limit.rlim_max < needed)
    fail(who, " need ", needed, " open files, but a process may have ", limit.rlim_max,
         " here at most: raise the hard limit (`ulimit -Hn`, /etc/security/limits.conf, or LimitNOFILE= of the service)");
  rlim_t never = RLIM_INFINITY;
  first.compare_exchange_strong(never, limit.rlim_cur);
  limit.rlim_cur = needed;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) fail(who, " need ", needed, " open files, but the system does not allow as many");
}

FirstFileLimit::FirstFileLimit() {
  if (first.load() == RLIM_INFINITY || getrlimit(RLIMIT_NOFILE, &raised_) != 0) return;
  const rlimit before{first.load(), raised_.rlim_max};
  (void)setrlimit(RLIMIT_NOFILE, &before);
}

FirstFileLimit::~FirstFileLimit() {
  if (raised_.rlim_cur != 0) (void)setrlimit(RLIMIT_NOFILE, &raised_);
}

}  // namespace tandem::detail
