// Loops that say what the machine can do: the plain ones over memory, multiply-adds in registers (loops.cpp), and what the compiler makes
// of functions (functions.cpp). Both are compiled once for each instruction set, as kernels/cpu/isa is.
#pragma once

#include <cstdint>
#include <span>

namespace tandem::bench {

struct Loops {
  /// out[i] = a[i] + b[i].
  void (*add)(float* out, const float* a, const float* b, int64_t n);
  /// out[i] = a[i] + 1.
  void (*copy)(float* out, const float* a, int64_t n);
  void (*fill)(float* out, int64_t n);
  /// Reads n words; what it returns keeps the reading alive.
  uint32_t (*read)(const uint32_t* a, int64_t n);
  /// Multiply-adds of floats in registers, `rounds` times as many as `per_round` says; two operations each.
  float (*multiply_add)(int64_t rounds);
  int64_t per_round;
};

/// out[i] = f(a[i]), or f(a[i], b[i]), for the operation of that name.
struct FunctionLoop {
  const char* name;
  int operands;
  void (*run)(float* out, const float* a, const float* b, int64_t n);
};
struct Functions {
  std::span<const FunctionLoop> pointwise;
  float (*sum)(const float* a, int64_t n);
  /// The sum of (a[i] - center)^2.
  float (*squares)(const float* a, float center, int64_t n);
};

/// Those of the instruction set that the library has chosen.
[[nodiscard]] const Loops& loops();
[[nodiscard]] const Functions& function_loops();

}  // namespace tandem::bench
