// How many files this process may have open: the soft limit, which a process may raise up to its hard one.
#pragma once

#include <sys/resource.h>

#include <cstddef>

namespace tandem::detail {

/// Sees to it that `count` files can be open at once, besides the few that every program has: raises the soft limit where it is lower, and
/// never lowers it. Error where the hard limit is too low; its text begins with `who`, such as "[launch] 3 ranks".
void require_files(size_t count, const char* who);

/// The soft limit from before `require_files` raised it, for programs that this one starts: with a high limit some wait by other calls than
/// select(), and some close all descriptors up to it one by one.
class FirstFileLimit {
 public:
  /// Sets it for the whole process until the end of the scope: meanwhile other threads may fail to open files. By one thread at a time.
  FirstFileLimit();
  ~FirstFileLimit();
  FirstFileLimit(const FirstFileLimit&) = delete;
  FirstFileLimit& operator=(const FirstFileLimit&) = delete;

 private:
  rlimit raised_{};  // to be set again; 0 where nothing was changed
};

}  // namespace tandem::detail
