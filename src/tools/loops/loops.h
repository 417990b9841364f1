// Loops that say what the machine can do: the plain ones over memory, and multiply-adds in registers. loops.cpp is compiled once for each
// instruction set, as kernels/cpu/isa is.
#pragma once

#include <cstdint>

namespace tandem::tools {

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

/// Those of the instruction set that the library has chosen.
[[nodiscard]] const Loops& loops();

}  // namespace tandem::tools
