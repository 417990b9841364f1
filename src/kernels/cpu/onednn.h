// Products by oneDNN. The primitives are kept, with memory objects (onednn_cache.h), so that running one again costs about a microsecond.
// Scratch memory is always the caller's: a primitive's own is not safe from two threads. OpenMP has one thread while a primitive is made or
// run: the threads are those of base/parallel.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/table.h"

namespace tandem::kernels::cpu {

/// A product out (m, n) = a (m, k) b (k, n) for oneDNN; strides in elements, one of each pair is 1. The epilogue is
/// not oneDNN's, because its relu makes 0 of nan.
struct DnnlProduct {
  int64_t m, n, k;
  int64_t a_row, a_column, b_row, b_column, out_row;
  DType in, out;  // float32 or bfloat16

  friend bool operator==(const DnnlProduct&, const DnnlProduct&) = default;
};

/// Whether the processor has what oneDNN's bfloat16 products need.
bool dnnl_has_bfloat16();
/// What a row of a must be a multiple of in memory, with zeros behind its k numbers of bfloat16. oneDNN 3 takes rows to AMX by 32 numbers,
/// and what lies behind a row times zero: nan, where that is not finite.
int64_t dnnl_row_unit();
/// Whether oneDNN does it, and the scratch bytes that running it takes.
struct DnnlScratch {
  bool supported;
  size_t bytes;
};
DnnlScratch dnnl_scratch(const DnnlProduct& product);
/// Runs it on the calling thread. Returns oneDNN's status: 0 for success.
int dnnl_run(const DnnlProduct& product, void* out, const void* a, const void* b, void* scratch);

}  // namespace tandem::kernels::cpu
