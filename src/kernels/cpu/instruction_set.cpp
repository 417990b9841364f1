// The registry of instruction sets, and the choice of one, once a process: the best that the processor has, or the one that TANDEM_ISA
// names.
#include "kernels/cpu/instruction_set.h"

#include <atomic>

#include "base/env.h"
#include "base/error.h"
#include "kernels/cpu/processor.h"

namespace tandem::kernels::cpu {

// TD_FOR_EACH_ISA(X) is X(set) for each set that is built: cmake/library.cmake defines it.
#define TD_DECLARE(set)           \
  namespace set {                 \
  Isa make_isa(const char* name); \
  }
TD_FOR_EACH_ISA(TD_DECLARE)
#undef TD_DECLARE

namespace {

struct Built {
  std::string_view name;
  const Isa& (*tables)();  // only for a processor that has the set: its own instructions may fill them
};
#define TD_BUILT(set)                             \
  {#set, []() -> const Isa& {                     \
     static const Isa made = set::make_isa(#set); \
     return made;                                 \
   }},
constexpr Built kBuilt[] = {TD_FOR_EACH_ISA(TD_BUILT)};  // baseline and up
#undef TD_BUILT

bool processor_has(std::string_view name) { return lacking(name, this_processor()).empty(); }

std::string listed(const std::vector<std::string_view>& names) {
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

constinit std::atomic<const Isa*> chosen{nullptr};

}  // namespace

std::vector<std::string_view> instruction_sets() {
  std::vector<std::string_view> names;
  for (const Built& built : kBuilt)
    if (processor_has(built.name)) names.push_back(built.name);
  return names;
}

const Isa* instruction_set(std::string_view name) {
  for (const Built& built : kBuilt)
    if (built.name == name) return processor_has(name) ? &built.tables() : nullptr;
  return nullptr;
}

const Isa& wanted_instruction_set(const std::optional<std::string>& wish) { return wanted_instruction_set(wish, this_processor()); }

const Isa& wanted_instruction_set(const std::optional<std::string>& wish, const Processor& processor) {
  std::vector<std::string_view> names, usable;
  for (const Built& built : kBuilt) {
    names.push_back(built.name);
    if (lacking(built.name, processor).empty()) usable.push_back(built.name);
  }
  if (usable.empty()) {
    const std::string needed = names.front() == "baseline" ? "x86-64-v2, as processors since 2009 have"
                                                           : str(names.front(), ", the least that this library was built for");
    fail("this processor cannot run tandem's CPU kernels, which need ", needed, ": it lacks ", listed(lacking(names.front(), processor)),
         ". Use another machine, or an emulator with such a processor");
  }
  const std::string_view name = wish ? std::string_view(*wish) : usable.back();
  for (const Built& built : kBuilt) {
    if (built.name != name) continue;
    if (const auto missing = lacking(name, processor); !missing.empty())
      fail("TANDEM_ISA='", name, "': this processor does not have it: it lacks ", listed(missing), "; it has ", listed(usable));
    return built.tables();
  }
  fail("TANDEM_ISA='", name, "' is no instruction set: this library has ", listed(names));
}

const Isa& isa() {
  if (const Isa* set = chosen.load(std::memory_order_acquire)) return *set;
  const Isa* const first = &wanted_instruction_set(environment("TANDEM_ISA"));
  chosen.store(first, std::memory_order_release);
  return *first;
}

bool use_isa(std::string_view name) {
  const Isa* set = instruction_set(name);
  if (set) chosen.store(set, std::memory_order_release);
  return set != nullptr;
}

}  // namespace tandem::kernels::cpu
