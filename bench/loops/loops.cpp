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

/// Ten chains, so that a processor with two units of a latency of four or five is never idle. They start at different numbers: of equal
/// ones a compiler makes one.
float multiply_add(int64_t rounds) {
  constexpr int kChains = 10;
  const Vector x = Vector{} + 0.9999f, y = Vector{} + 1e-4f;
  Vector chains[kChains];
  for (int i = 0; i < kChains; ++i) chains[i] = y * static_cast<float>(i);
  for (int64_t round = 0; round < rounds; ++round)
    for (Vector& chain : chains) chain = chain * x + y;
  Vector sum = y;
  for (const Vector& chain : chains) sum += chain;
  return sum[0];
}

}  // namespace

extern const Loops kLoops;
const Loops kLoops = {add, copy, fill, read, multiply_add, 10 * kBytes / int64_t(sizeof(float))};

}  // namespace tandem::bench::TD_ISA
