#include <algorithm>
#include <string_view>

#include "kernels/cuda/entries.h"

namespace tandem::kernels::cuda {
namespace {

/// Entries that have no kernel here. These are left to NVIDIA's libraries (vendor/).
constexpr std::string_view kLeftOut[] = {"sort_workspace", "sort_part", "decompose", "decompose_workspace"};

constexpr bool is_own(std::string_view name) { return std::ranges::find(kLeftOut, name) == std::end(kLeftOut); }

}  // namespace

void fill_own(Table& table) {
#define TD_ENTRY(name, ...) \
  if constexpr (is_own(#name)) table.name = name;
#include "kernels/entries.def"
}

}  // namespace tandem::kernels::cuda
