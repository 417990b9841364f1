// The control register of floating-point arithmetic (MXCSR on x86-64, FPCR on AArch64): how a thread rounds, and what it does with
// subnormal numbers. Those are below 1.2e-38 in float and 2.2e-308 in double; they have fewer digits, and Intel's processors take a hundred
// times as long for them.
#pragma once

#include <cstdint>

namespace tandem::detail {

/// The calling thread's mode, without the flags of exceptions that have happened. 0 on other processors.
inline uint64_t float_mode() {
#if defined(__x86_64__)
  return __builtin_ia32_stmxcsr() & ~uint32_t{0x3f};
#elif defined(__aarch64__)
  uint64_t mode;
  asm volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
#else
  return 0;
#endif
}
/// Sets the calling thread's mode. The flags of exceptions that have happened stay.
inline void set_float_mode(uint64_t mode) {
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr(static_cast<uint32_t>(mode) | (__builtin_ia32_stmxcsr() & uint32_t{0x3f}));
#elif defined(__aarch64__)
  asm volatile("msr fpcr, %0" ::"r"(mode) : "memory");
#else
  (void)mode;
#endif
}
/// `mode`, with subnormal numbers, read or computed, taken as 0.
inline uint64_t flushing(uint64_t mode) {
#if defined(__x86_64__)
  return mode | 0x8040;  // FTZ and DAZ
#elif defined(__aarch64__)
  return mode | uint64_t{1} << 24;  // FZ
#else
  return mode;
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
