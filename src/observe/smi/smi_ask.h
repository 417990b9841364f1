// Asking the other programs of this user what GPUs they use. For the library.
#pragma once

#include <chrono>
#include <vector>

#include "runtime/answer.h"

namespace tandem::smi::detail {

/// What every other process of this user that uses GPUs says, by pid. Those that say nothing within `most`, or something else, are left
/// out.
[[nodiscard]] std::vector<runtime::ProgramUse> ask_programs(std::chrono::milliseconds most);

}  // namespace tandem::smi::detail
