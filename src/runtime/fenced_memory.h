// Host memory that ends at a page nobody may touch, for TANDEM_FENCE=1: who reads or writes behind it is stopped there. For the library.
#pragma once

#include <cstddef>

namespace tandem::runtime {

inline constexpr size_t kLeastFenced = 2048;  // smaller blocks have no fence: each takes two pages

/// Whether TANDEM_FENCE asks for it. What it says counts for the whole process.
[[nodiscard]] bool fences_memory();
/// `bytes` rounded up to whole cache lines; nullptr where the system gives none.
[[nodiscard]] void* allocate_fenced(size_t bytes) noexcept;
/// Gives back what allocate_fenced gave for as many bytes.
void free_fenced(void* data, size_t bytes) noexcept;

}  // namespace tandem::runtime
