// The choice of an instruction set, once a process: the best that the processor has, or the one that TANDEM_ISA names (which tests use).
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "kernels/cpu/isa/isa.h"

namespace tandem::kernels::cpu {

// TD_FOR_EACH_ISA(X) is X(set) for each set that is built: cmake/library.cmake defines it.
#define TD_DECLARE(set)            \
  namespace set {                  \
  void add_unary_float(Isa& isa);  \
  void add_unary_double(Isa& isa); \
  void add_arithmetic(Isa& isa);   \
  void add_binary(Isa& isa);       \
  void add_parameters(Isa& isa);   \
  void add_conversions(Isa& isa);  \
  void add_reductions(Isa& isa);   \
  }
TD_FOR_EACH_ISA(TD_DECLARE)
#undef TD_DECLARE

namespace {

#define TD_MAKE(set)              \
  const Isa& isa_##set() {        \
    static const Isa made = [] {  \
      Isa isa{};                  \
      isa.name = #set;            \
      set::add_unary_float(isa);  \
      set::add_unary_double(isa); \
      set::add_arithmetic(isa);   \
      set::add_binary(isa);       \
      set::add_parameters(isa);   \
      set::add_conversions(isa);  \
      set::add_reductions(isa);   \
      return isa;                 \
    }();                          \
    return made;                  \
  }
TD_FOR_EACH_ISA(TD_MAKE)
#undef TD_MAKE

bool processor_has(const char* name) {
  if (std::strcmp(name, "baseline") == 0) return true;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  if (std::strcmp(name, "avx2") == 0) return v3;
  return v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
#else
  return false;
#endif
}

/// The set of that name, or nothing where the processor or the build lacks it.
const Isa* find(const char* name) {
#define TD_FIND(set) \
  if (std::strcmp(name, #set) == 0) return processor_has(#set) ? &isa_##set() : nullptr;
  TD_FOR_EACH_ISA(TD_FIND)
#undef TD_FIND
  return nullptr;
}

const Isa& choose() {
  const char* wish = std::getenv("TANDEM_ISA");  // a wish that can't be granted gets the best there is
  const Isa* set = wish ? find(wish) : nullptr;
  for (const char* best : {"avx512", "avx2"})
    if (!set) set = find(best);
  return set ? *set : isa_baseline();
}

std::atomic<const Isa*> chosen{nullptr};

}  // namespace

const Isa& isa() {
  if (const Isa* set = chosen.load(std::memory_order_acquire)) return *set;
  const Isa& first = choose();
  chosen.store(&first, std::memory_order_release);
  return first;
}

bool use_isa(const char* name) {
  const Isa* set = find(name);
  if (set) chosen.store(set, std::memory_order_release);
  return set != nullptr;
}

}  // namespace tandem::kernels::cpu
