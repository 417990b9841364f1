// What the memory figures look like to a person: sizes, who holds most, the table of a GPU.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "runtime/free_blocks.h"
#include "runtime/memory.h"

namespace tandem::runtime {

/// As PyTorch's messages have it: "512 bytes", "20.00 MiB".
[[nodiscard]] std::string readable_size(size_t bytes);

/// "memory.cpp:33", as messages name a call site.
[[nodiscard]] std::string line_text(const char* file, int line);

/// " Held by: memory.cpp:33 (100.00 MiB in 5 blocks), …": the five call sites that hold most. Nothing where there are no blocks.
[[nodiscard]] std::string held_by(std::span<const Block* const> blocks);

/// "4000 bytes allocated at file.cpp:12", cut to `size`. Takes no memory.
void write_description(const Block& block, char* out, size_t size) noexcept;

/// The table that torch.cuda.memory_summary prints.
[[nodiscard]] std::string summary_table(const cuda::MemoryStats& stats, int device);

}  // namespace tandem::runtime
