// How many files this process may have open: the soft limit, which a process may raise up to its hard one.
#pragma once

#include <sys/resource.h>

#include <cstddef>

namespace tandem::detail {

/// Sees to it that `count` files, beside the few that every program has, can be open at once: raises the soft limit where it is lower, and
/// never lowers it. Error that says what `who` needs them for where the hard limit is lower, too.
void require_files(size_t count, const char* who);

/// The soft limit that the process was started with, whatever it was raised to since, for programs that it starts in turn: some of them
/// choose by it how they wait, or go through all descriptors up to it.
class FirstFileLimit {
 public:
  /// From here on to the end of the scope. By one thread at a time.
  FirstFileLimit();
  ~FirstFileLimit();
  FirstFileLimit(const FirstFileLimit&) = delete;
  FirstFileLimit& operator=(const FirstFileLimit&) = delete;

 private:
  rlimit now_{};
};

}  // namespace tandem::detail
