// The instruction sets that kernels are compiled for, by name: baseline, and on x86-64 avx2 and avx512.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/processor.h"

namespace tandem::kernels::cpu {

/// The names of those that this library was built for and the processor has, the lowest first.
[[nodiscard]] std::vector<std::string_view> instruction_sets();
/// The tables of one of them; nullptr where the library or the processor lacks it.
[[nodiscard]] const Isa* instruction_set(std::string_view name);
/// The set that `wish` names (TANDEM_ISA's value), the best one without a wish. Error where there is no such set, the processor lacks
/// some of it, or lacks what the lowest needs.
[[nodiscard]] const Isa& wanted_instruction_set(const std::optional<std::string>& wish);
/// The same for a processor that need not be this one: its errors. What it gives runs only where this one has it, too.
[[nodiscard]] const Isa& wanted_instruction_set(const std::optional<std::string>& wish, const Processor& processor);
/// Makes another set the one that isa() gives, for tests; false where the processor or the build does not have it. No kernel may be
/// running.
bool use_isa(std::string_view name);

}  // namespace tandem::kernels::cpu
