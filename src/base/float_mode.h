// The processor's word that says how a thread rounds floating-point numbers, and what it does with subnormal ones: those below 1.2e-38 in
// float and 2.3e-308 in double, which have fewer digits, and which Intel's processors take a hundred times as long for.
#pragma once

#include <cstdint>

namespace tandem::detail {

/// The calling thread's; without the flags that exceptions leave. Always 0 where the processor is none that this knows.
inline uint64_t float_mode() {
#if defined(__x86_64__)
  return __builtin_ia32_stmxcsr() & ~uint32_t{0x3f};
#elif defined(__aarch64__)
  uint64_t word;
  asm volatile("mrs %0, fpcr" : "=r"(word));
  return word;
#else
  return 0;
#endif
}
inline void set_float_mode(uint64_t word) {
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr(static_cast<uint32_t>(word));
#elif defined(__aarch64__)
  asm volatile("msr fpcr, %0" ::"r"(word));
#else
  (void)word;
#endif
}
/// A mode in which subnormal numbers, read or computed, are 0.
inline uint64_t flushing(uint64_t word) {
#if defined(__x86_64__)
  return word | 0x8040;
#elif defined(__aarch64__)
  return word | uint64_t{1} << 24;
#else
  return word;
#endif
}

/// The calling thread computes in another mode until the end of the scope; so do threads that help it by `parallel_for`.
class FloatModeScope {
 public:
  explicit FloatModeScope(uint64_t mode) : before_(float_mode()), changed_(mode != before_) {
    if (changed_) set_float_mode(mode);
  }
  ~FloatModeScope() {
    if (changed_) set_float_mode(before_);
  }
  FloatModeScope(const FloatModeScope&) = delete;
  FloatModeScope& operator=(const FloatModeScope&) = delete;

 private:
  uint64_t before_;
  bool changed_;
};

}  // namespace tandem::detail
