// How work touches memory.
#pragma once

#include <cstdint>

namespace tandem {

/// Changed: what was there before counts.
enum class Touch : uint8_t { Read, Written, Changed, Scratch };

}  // namespace tandem
