// Where workers begin.
#pragma once

#include <string>
#include <vector>

namespace tandem::multiprocessing {

/// To be called first in main, with its arguments. A worker is the same program started again: in one, this runs its function and ends the
/// process, with exit code 0, or 1 where the function threw. In the program itself it only notes that it was called.
void init(int argc, char** argv);

namespace detail {
/// What main was given.
[[nodiscard]] std::vector<std::string> program_arguments();
}  // namespace detail

}  // namespace tandem::multiprocessing
