// The table of a profile that is summed up. For the library and the program.
#pragma once

#include <cstddef>
#include <string>

#include "observe/profiler/key_averages.h"

namespace tandem::profiler::detail {

/// As PyTorch prints it; `by_shape`: with the shapes of what the rows are grouped by. Where it would be wider than `width` columns the
/// least important are left out, then names are cut; 0: there is room for all.
[[nodiscard]] std::string table(const KeyAverages& averages, const TableOptions& options, bool by_shape, size_t width);

/// Whether a GPU worked.
[[nodiscard]] bool any_device_time(const KeyAverages& averages);

}  // namespace tandem::profiler::detail
