#include "golden.h"

namespace golden {
namespace {

using AddProduct = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const Scalar&, const Scalar&, Site);
using Product = Tensor (*)(const Tensor&, const Tensor&, Site);

void add_products(Table& table) {
  const auto two = [&](const char* signature, Product f) {
    table.add(signature, [f](Call& c) { return f(c.input(), c.tensor("other"), Site::here()); });
  };
  two("mm(input, other)", mm);
  two("bmm(input, other)", bmm);
  two("matmul(input, other)", matmul);
  two("mv(input, other)", mv);
  two("dot(input, other)", dot);
  two("vdot(input, other)", vdot);
  two("inner(input, other)", inner);
  two("outer(input, other)", outer);
  two("kron(input, other)", kron);
  const auto three = [&](const std::string& name, AddProduct f) {
    table.add((name + "(input, a, b, *, beta=1, alpha=1)").c_str(),
              [f](Call& c) { return f(c.input(), c.tensor("a"), c.tensor("b"), c.number("beta"), c.number("alpha"), Site::here()); });
  };
  three("addmm", addmm);
  three("addmv", addmv);
  three("addr", addr);
  three("addbmm", addbmm);
  three("baddbmm", baddbmm);
  table.add("cross(input, other, dim=None)", [](Call& c) { return cross(c.input(), c.tensor("other"), c.integer_or_none("dim")); });
  table.add("tensordot(input, other, dims: int=2)", [](Call& c) { return tensordot(c.input(), c.tensor("other"), c.integer("dims")); });
  table.add("tensordot(input, other, dims)", [](Call& c) {
    std::vector<Shape> lists;
    for (const Json& list : c.json("dims")) lists.emplace_back(list.get<std::vector<int64_t>>());
    return tensordot(c.input(), c.tensor("other"), lists.at(0), lists.at(lists.size() - 1));
  });
  table.add("einsum(operands: Tensors, equation: str)", [](Call& c) { return einsum(c.text("equation"), c.tensors("operands")); });
  table.add("einsum(equation: str, *operands)", [](Call& c) { return einsum(c.text("equation"), c.tensors("operands")); });
  table.add("chain_matmul(*matrices)", [](Call& c) { return chain_matmul(c.tensors("matrices")); });
  table.add("nn.functional.linear(input, weight, bias=None)",
            [](Call& c) { return linear(c.input(), c.tensor("weight"), c.tensor_or_none("bias")); });
  table.add("nn.functional.bilinear(input, input2, weight, bias=None)",
            [](Call& c) { return bilinear(c.input(), c.tensor("input2"), c.tensor("weight"), c.tensor_or_none("bias")); });
  table.add("cdist(input, x2, p=2.0, compute_mode='use_mm_for_euclid_dist_if_necessary')",
            [](Call& c) { return cdist(c.input(), c.tensor("x2"), c.real("p"), c.text("compute_mode")); });
}

/// Calls f with the tolerance of a case.
template <class F>
Results tolerant(Call& c, F f) {
  linalg::Tolerance tolerance{.hermitian = c.flag("hermitian")};
  Tensor atol, rtol;  // operands refer to them
  const auto set = [&](const char* name, Tensor& held, std::optional<Operand>& to) {
    if (!c.has(name)) return;
    if (c.is_tensor(name)) to.emplace(held = c.tensor(name));
    else to.emplace(c.number(name));
  };
  set("atol", atol, tolerance.atol);
  set("rtol", rtol, tolerance.rtol);
  return f(c.input(), tolerance);
}

void add_decompositions(Table& table) {
  table.add("linalg.cholesky(input, *, upper=False)", [](Call& c) { return linalg::cholesky(c.input(), c.flag("upper")); });
  table.add("linalg.qr(input, mode='reduced')", [](Call& c) {
    const auto [Q, R] = linalg::qr(c.input(), c.text("mode"));
    return Results{Q, R};
  });
  table.add("linalg.eigh(input, UPLO='L')", [](Call& c) {
    const auto [values, vectors] = linalg::eigh(c.input(), c.text("UPLO"));
    return Results{values, vectors};
  });
  table.add("linalg.eigvalsh(input, UPLO='L')", [](Call& c) { return linalg::eigvalsh(c.input(), c.text("UPLO")); });
  table.add("linalg.svd(input, full_matrices=True)", [](Call& c) {
    const auto [U, S, Vh] = linalg::svd(c.input(), c.flag("full_matrices"));
    return Results{U, S, Vh};
  });
  table.add("linalg.svdvals(input)", [](Call& c) { return linalg::svdvals(c.input()); });
  table.add("linalg.pinv(input, *, atol=None, rtol=None, hermitian=False)",
            [](Call& c) { return tolerant(c, [](const Tensor& A, const linalg::Tolerance& t) { return linalg::pinv(A, t); }); });
  // PyTorch's second list of samples gives two factors of a matrix of low rank.
  table.add("linalg.pinv(a: Tensor, b: Tensor)", [](Call& c) { return linalg::pinv(matmul(c.tensor("a"), c.tensor("b").mT())); });
  table.add("linalg.matrix_rank(input, *, atol=None, rtol=None, hermitian=False)",
            [](Call& c) { return tolerant(c, [](const Tensor& A, const linalg::Tolerance& t) { return linalg::matrix_rank(A, t); }); });
}

void add_equations(Table& table) {
  table.add("linalg.det(input)", [](Call& c) { return linalg::det(c.input()); });
  table.add("linalg.slogdet(input)", [](Call& c) {
    const auto [sign, logabsdet] = linalg::slogdet(c.input());
    return Results{sign, logabsdet};
  });
  table.add("linalg.inv(input)", [](Call& c) { return linalg::inv(c.input()); });
  table.add("linalg.solve(input, B, *, left=True)", [](Call& c) { return linalg::solve(c.input(), c.tensor("B"), c.flag("left")); });
  table.add("linalg.solve_triangular(input, B, *, upper, left=True, unitriangular=False)", [](Call& c) {
    return linalg::solve_triangular(c.input(), c.tensor("B"), c.flag("upper"), c.flag("left"), c.flag("unitriangular"));
  });
  table.add("linalg.lstsq(input, B, rcond=None)", [](Call& c) {
    const auto rcond = c.number_or_none("rcond");
    const auto [solution, residuals, rank, values] =
        linalg::lstsq(c.input(), c.tensor("B"), rcond ? std::optional(rcond->to<double>()) : std::nullopt);
    return Results{solution, residuals, rank, values};
  });
  table.add("linalg.matrix_power(input, n)", [](Call& c) { return linalg::matrix_power(c.input(), c.integer("n")); });
  table.add("linalg.multi_dot(tensors)", [](Call& c) { return linalg::multi_dot(c.tensors("tensors")); });
  table.add("linalg.vecdot(x, y, *, dim=-1)", [](Call& c) { return linalg::vecdot(c.tensor("x"), c.tensor("y"), c.integer("dim")); });
  table.add("linalg.cross(input, other, *, dim=-1)", [](Call& c) { return linalg::cross(c.input(), c.tensor("other"), c.integer("dim")); });
  table.add("linalg.diagonal(A, *, offset=0, dim1=-2, dim2=-1)",
            [](Call& c) { return linalg::diagonal(c.tensor("A"), c.integer("offset"), c.integer("dim1"), c.integer("dim2")); });
}

}  // namespace

void add_linalg(Table& table) {
  add_products(table);
  add_decompositions(table);
  add_equations(table);
}

}  // namespace golden
