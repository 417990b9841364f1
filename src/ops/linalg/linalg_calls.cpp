#include "ops/linalg/linalg_calls.h"

#include <limits>

#include "base/error.h"
#include "ops/creation.h"
#include "ops/launch.h"
#include "runtime/capture.h"

namespace tandem::ops {

void check_matrix(const char* op, const Tensor& x, const char* name) {
  if (x.dim() < 2) fail("[", op, "] ", op, ": The input tensor ", name, " must have at least 2 dimensions, but has sizes ", x.sizes());
  if (!is_floating(x.dtype()))
    fail<NotImplementedError>("[", op, "] ", op, ": Expected a floating point or complex tensor as input. Got ", scalar_name(x.dtype()));
  if (x.dtype() != kFloat32 && x.dtype() != kFloat64)
    fail("[", op, "] ", op, ": Low precision dtypes not supported. Got ", scalar_name(x.dtype()));
  constexpr int64_t most = std::numeric_limits<int32_t>::max();  // LAPACK counts in 32 bits
  if (x.size(-1) > most || x.size(-2) > most) fail("[", op, "] ", op, ": a matrix of sizes ", x.sizes(), " is too large");
}

void check_square(const char* op, const Tensor& x, const char* name) {
  check_matrix(op, x, name);
  if (x.size(-1) != x.size(-2))
    fail("[", op, "] ", op, ": ", name, " must be batches of square matrices, but they are ", x.size(-2), " by ", x.size(-1), " matrices");
}

Shape batch_of(const Tensor& x) { return Shape(x.sizes().data(), x.sizes().size() - 2); }

Tensor expand_batch(const Tensor& x, const Shape& batch, Site site) {
  Shape sizes = batch;
  sizes.push_back(x.size(-2));
  sizes.push_back(x.size(-1));
  return x.expand(sizes, site);
}

Tensor part_of(const Tensor& x, const Shape& sizes, Site site, std::optional<DType> dtype) {
  Shape all = batch_of(x);
  for (const int64_t size : sizes) all.push_back(size);
  return empty(all, {.dtype = dtype.value_or(x.dtype()), .device = x.device()}, site);
}

Tensor identities(const Tensor& x, int64_t n, Site site) {
  return expand_batch(eye(n, {}, {.dtype = x.dtype(), .device = x.device()}, site), batch_of(x), site);
}

void decompose(const char* op, kernels::Decomposition kind, const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& in,
               bool strict, Site site) {
  if (in.is_cuda()) runtime::refuse_capture(*runtime::current_stream(in.device().index()), op);  // cuSOLVER waits for its stream
  const kernels::Out first = out(a), second = out(b), third = out(c);
  const kernels::View from = view(in);
  launch(in, op, site, &kernels::Table::decompose, kind, first, second, third, from, strict,
         kernels_of(in).decompose_workspace(kind, first, third, from));
}

Tensor solve(const char* op, kernels::Solver kind, const Tensor& a, const Tensor& pivots, const Tensor& b, Site site) {
  Tensor x = empty(b.sizes(), {.dtype = b.dtype(), .device = b.device()}, site);
  if (x.numel() == 0) return x;
  const kernels::View left = view(a), right = view(b);
  launch(x, op, site, &kernels::Table::solve, kind, x, left, pivots, right, kernels_of(x).solve_workspace(left, right));
  return x;
}

}  // namespace tandem::ops
