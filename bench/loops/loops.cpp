#include "bench/loops/loops.h"

namespace tandem::bench::TD_ISA {
namespace {

void add(float* __restrict out, const float* __restrict a, const float* __restrict b, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
}
void copy(float* __restrict out, const float* __restrict a, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = a[i] + 1;
}
void fill(float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = 1;
}
uint32_t read(const uint32_t* a, int64_t n) {
  uint32_t sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += a[i];
  return sum;
}

constexpr int kBytes = TD_VECTOR_BYTES;
using Vector = float __attribute__((vector_size(kBytes)));

/// Ten chains, so that a processor with two units of a latency of four or five is never idle.
float multiply_add(int64_t rounds) {
  const Vector x = Vector{} + 0.9999f, y = Vector{} + 1e-4f;
  Vector a = y, b = y, c = y, d = y, e = y, f = y, g = y, h = y, i = y, j = y;
  for (int64_t round = 0; round < rounds; ++round) {
    a = a * x + y, b = b * x + y, c = c * x + y, d = d * x + y, e = e * x + y;
    f = f * x + y, g = g * x + y, h = h * x + y, i = i * x + y, j = j * x + y;
  }
  const Vector sum = a + b + c + d + e + f + g + h + i + j;
  return sum[0];
}

}  // namespace

extern const Loops kLoops;
const Loops kLoops = {add, copy, fill, read, multiply_add, 10 * kBytes / int64_t(sizeof(float))};

}  // namespace tandem::bench::TD_ISA
