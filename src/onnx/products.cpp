// Products of matrices.
#include "onnx/call.h"
#include "ops/linalg/linalg.h"
#include "ops/matmul.h"
#include "ops/operators.h"
#include "ops/view.h"

namespace tandem::onnx {
namespace {

void matrix_product(Call& call) {
  const Site site = call.site();
  const Tensor a = call.in(0), b = call.in(1);
  call.give(matmul(a, b, site));
}

void gemm(Call& call) {
  const Site site = call.site();
  Tensor a = call.in(0), b = call.in(1);
  const Tensor c = call.in_or_none(2);
  const double alpha = call.real("alpha", 1), beta = call.real("beta", 1);
  const bool b_transposed = call.integer("transB", 0) != 0;
  if (call.integer("transA", 0) != 0) a = a.t(site);
  if (a.dim() > 2 && call.version() < 7) a = a.flatten(1, -1, site);
  // A linear layer, as most of them are.
  if (b_transposed && alpha == 1 && is_floating(a.dtype()) && (!c.defined() || (beta == 1 && c.dim() == 1 && c.size(0) == b.size(0))))
    return call.give(linear(a, b, c, site));
  if (b_transposed) b = b.t(site);
  Tensor y = mm(a, b, site);
  if (alpha != 1) y = is_floating(y.dtype()) ? mul(y, alpha, site) : mul(y, static_cast<int64_t>(alpha), site);
  if (!c.defined() || beta == 0) return call.give(y);
  call.give(add(y, beta == 1 ? c : is_floating(c.dtype()) ? mul(c, beta, site) : mul(c, static_cast<int64_t>(beta), site), site));
}

void einstein(Call& call) {
  std::vector<Tensor> operands;
  for (size_t i = 0; i < call.inputs(); ++i) operands.push_back(call.in(i));
  call.give(einsum(call.text("equation", ""), operands, call.site()));
}

void determinant(Call& call) { call.give(linalg::det(call.in(0), call.site())); }

/// A product of small whole numbers, which float64 holds exactly.
void integer_product(Call& call) {
  const Site site = call.site();
  Tensor a = call.in(0).to(kFloat64, {}, site), b = call.in(1).to(kFloat64, {}, site);
  if (Tensor zero = call.in_or_none(2); zero.defined()) {
    zero = zero.to(kFloat64, {}, site);
    if (zero.dim() == 1 && zero.numel() > 1) zero = zero.unsqueeze(-1, site);
    a = sub(a, zero.numel() == 1 ? zero.reshape({}, site) : zero, site);
  }
  if (Tensor zero = call.in_or_none(3); zero.defined()) b = sub(b, zero.to(kFloat64, {}, site), site);
  call.give(matmul(a, b, site).to(kInt32, {}, site));
}

constexpr OperatorRow kRows[] = {
    {"Det", 11, determinant},
    {"Einsum", 12, einstein},
    {"Gemm", 1, gemm},
    {"MatMul", 1, matrix_product},
    {"MatMulInteger", 10, integer_product},
};

}  // namespace

std::span<const OperatorRow> product_operators() { return kRows; }

}  // namespace tandem::onnx
