// Products of matrices and vectors.
#include "ops/linalg/products.h"

#include "exported/call.h"
#include "ops/matmul.h"

namespace tandem::exported {
namespace {

/// The second operand has a name in each operation.
Tensor second(Call& call) {
  for (const char* name : {"other", "mat2", "tensor", "vec", "vec2"})
    if (call.has(name)) return call.tensor(name);
  return call.tensor("other");
}
template <Tensor (*Multiply)(const Tensor&, const Tensor&, Site)>
void product(Call& call) {
  call.give(Multiply(call.tensor("self"), second(call), call.site()));
}
template <Tensor (*Multiply)(const Tensor&, const Tensor&, const Tensor&, const Scalar&, const Scalar&, Site)>
void sum_and_product(Call& call) {
  const bool batched = call.has("batch1"), vectors = call.has("vec");
  const Tensor a = call.tensor(batched ? "batch1" : vectors ? "mat" : "mat1");
  const Tensor b = call.tensor(batched ? "batch2" : vectors ? "vec" : "mat2");
  call.give(Multiply(call.tensor("self"), a, b, call.number("beta", 1), call.number("alpha", 1), call.site()));
}
void layer(Call& call) { call.give(linear(call.tensor("input"), call.tensor("weight"), call.tensor_or_none("bias"), call.site())); }
void by_equation(Call& call) { call.give(einsum(call.text("equation", ""), call.tensors("tensors"), call.site())); }
void between_pairs(Call& call) {
  (void)call.has("compute_mode");
  call.give(cdist(call.tensor("x1"), call.tensor("x2"), call.real("p", 2), "use_mm_for_euclid_dist_if_necessary", call.site()));
}
void two_inputs(Call& call) {
  call.give(bilinear(call.tensor("input1"), call.tensor("input2"), call.tensor("weight"), call.tensor_or_none("bias"), call.site()));
}

constexpr OperatorRow kRows[] = {
    {"addbmm", sum_and_product<addbmm>},
    {"addmm", sum_and_product<addmm>},
    {"addmv", sum_and_product<addmv>},
    {"baddbmm", sum_and_product<baddbmm>},
    {"bilinear", two_inputs},
    {"bmm", product<bmm>},
    {"cdist", between_pairs},
    {"dot", product<dot>},
    {"einsum", by_equation},
    {"linear", layer},
    {"matmul", product<matmul>},
    {"mm", product<mm>},
    {"mv", product<mv>},
    {"outer", product<outer>},
};

}  // namespace

std::span<const OperatorRow> product_operators() { return kRows; }

}  // namespace tandem::exported
