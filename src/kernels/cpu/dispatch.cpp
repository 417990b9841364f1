// The registry of instruction sets, and the choice of one, once a process: the best that the processor has, or the one that TANDEM_ISA
// names.
#include <atomic>

#include "base/env.h"
#include "base/error.h"
#include "kernels/cpu/instruction_set.h"

namespace tandem::kernels::cpu {

// TD_FOR_EACH_ISA(X) is X(set) for each set that is built: cmake/library.cmake defines it.
#define TD_DECLARE(set)              \
  namespace set {                    \
  void add_unary_float(Isa& isa);    \
  void add_unary_double(Isa& isa);   \
  void add_arithmetic(Isa& isa);     \
  void add_binary(Isa& isa);         \
  void add_parameters(Isa& isa);     \
  void add_conversions(Isa& isa);    \
  void add_reductions(Isa& isa);     \
  void add_random(Dense& dense);     \
  void add_rows(Dense& dense);       \
  void add_optimizers(Dense& dense); \
  void add_products(Dense& dense);   \
  void add_windows(Dense& dense);    \
  }
TD_FOR_EACH_ISA(TD_DECLARE)
#undef TD_DECLARE

namespace {

#define TD_MAKE(set)                        \
  const InstructionSet& tables_##set() {    \
    static const InstructionSet made = [] { \
      InstructionSet all{};                 \
      all.isa.name = #set;                  \
      set::add_unary_float(all.isa);        \
      set::add_unary_double(all.isa);       \
      set::add_arithmetic(all.isa);         \
      set::add_binary(all.isa);             \
      set::add_parameters(all.isa);         \
      set::add_conversions(all.isa);        \
      set::add_reductions(all.isa);         \
      set::add_random(all.dense);           \
      set::add_rows(all.dense);             \
      set::add_optimizers(all.dense);       \
      set::add_products(all.dense);         \
      set::add_windows(all.dense);          \
      return all;                           \
    }();                                    \
    return made;                            \
  }
TD_FOR_EACH_ISA(TD_MAKE)
#undef TD_MAKE

struct Built {
  std::string_view name;
  const InstructionSet& (*tables)();
};
#define TD_BUILT(set) {#set, tables_##set},
constexpr Built kBuilt[] = {TD_FOR_EACH_ISA(TD_BUILT)};  // baseline and up
#undef TD_BUILT

bool processor_has(std::string_view name) {
  if (name == "baseline") return true;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  if (name == "avx2") return v3;
  return v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
#else
  return false;
#endif
}

std::string listed(const std::vector<std::string_view>& names) {
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

constinit std::atomic<const InstructionSet*> chosen{nullptr};

const InstructionSet& current() {
  if (const InstructionSet* set = chosen.load(std::memory_order_acquire)) return *set;
  const InstructionSet& first = wanted_instruction_set(environment("TANDEM_ISA"));
  chosen.store(&first, std::memory_order_release);
  return first;
}

}  // namespace

std::vector<std::string_view> instruction_sets() {
  std::vector<std::string_view> names;
  for (const Built& built : kBuilt)
    if (processor_has(built.name)) names.push_back(built.name);
  return names;
}

const InstructionSet* instruction_set(std::string_view name) {
  for (const Built& built : kBuilt)
    if (built.name == name) return processor_has(name) ? &built.tables() : nullptr;
  return nullptr;
}

const InstructionSet& wanted_instruction_set(const std::optional<std::string>& wish) {
  const std::vector<std::string_view> usable = instruction_sets();
  const InstructionSet* set = instruction_set(wish ? std::string_view(*wish) : usable.back());
  if (set) return *set;
  std::vector<std::string_view> names;
  for (const Built& built : kBuilt) names.push_back(built.name);
  for (const std::string_view name : names)
    if (name == *wish) fail("TANDEM_ISA='", *wish, "': this processor does not have it; it has ", listed(usable));
  fail("TANDEM_ISA='", *wish, "' is no instruction set: this library has ", listed(names));
}

const Isa& isa() { return current().isa; }
const Dense& dense() { return current().dense; }

bool use_isa(const char* name) {
  const InstructionSet* set = instruction_set(name);
  if (set) chosen.store(set, std::memory_order_release);
  return set != nullptr;
}

}  // namespace tandem::kernels::cpu
