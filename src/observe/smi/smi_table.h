// The table of GPUs for a terminal: of its width, with bars and colours. For the program.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "observe/smi/smi.h"

namespace tandem::smi::detail {

/// What there is room for.
struct TableStyle {
  size_t width = 93;  // columns, at least 36; what is not as important is left out before a line would be longer
  bool bars = false, unicode = false, color = false;
};

[[nodiscard]] std::string table(std::span<const Gpu> gpus, const TableStyle& style);

}  // namespace tandem::smi::detail
