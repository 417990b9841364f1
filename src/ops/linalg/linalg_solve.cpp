// What follows from an LU factorization - determinants, inverses, solutions of equations - and triangular equations.
#include <algorithm>
#include <limits>

#include "autograd/history.h"
#include "base/error.h"
#include "ops/activation.h"
#include "ops/autocasting.h"
#include "ops/creation.h"
#include "ops/indexing.h"
#include "ops/linalg/linalg.h"
#include "ops/linalg/linalg_calls.h"
#include "ops/matmul.h"
#include "ops/operators.h"
#include "ops/view.h"

namespace tandem::linalg {
namespace {

using autograd::needs_grad;
using autograd::record;
using kernels::Decomposition;
using kernels::Solver;

/// P L U = A.
struct Lu {
  Tensor factors, pivots, sign;  // L and U in one matrix; the rows swapped; the determinant of P
};

Lu factorize(const char* op, const Tensor& A, bool strict, Site site) {
  const int64_t n = A.size(-1);
  const Lu lu{ops::part_of(A, {n, n}, site), ops::part_of(A, {n}, site, kInt32), ops::part_of(A, {}, site)};
  if (lu.sign.numel()) ops::decompose(op, Decomposition::Lu, lu.factors, lu.pivots, lu.sign, A, strict, site);
  return lu;
}

/// The inverse; of a singular matrix an error where `strict`, else infinities.
Tensor inverse(const char* op, const Tensor& A, bool strict, Site site) {
  Tensor y;
  {
    const NoGradGuard no_grad;
    const Lu lu = factorize(op, A, strict, site);
    y = ops::solve(op, Solver::Lu, lu.factors, lu.pivots, ops::identities(A, A.size(-1), site), site);
  }
  return record("LinalgInvExBackward0", y, {A}, site,
                [y = autograd::saved_output(y), site](const Tensor& g, autograd::Wanted, const autograd::Node* node) {
                  const Tensor turned = y.get(node).mT();
                  return -matmul(turned, matmul(g, turned, site), site);
                });
}

/// A, moved away from singular ones by no more than rounding would: its singular values are at least epsilon times the largest. The
/// determinant is a polynomial, so its gradient there is as good as at A.
Tensor nudged(const Tensor& A) {
  const NoGradGuard no_grad;
  const SvdResult parts = svd(A.detach(), false);
  const double epsilon = A.dtype() == kFloat32 ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  const Tensor least = maximum(parts.S.narrow(-1, 0, 1), 1.0) * epsilon;
  const Tensor raised = maximum(parts.S, least) - parts.S;
  return matmul(parts.U * raised.unsqueeze(-2), parts.Vh);
}

/// B as matrices, whether it is vectors, and its batch with that of A.
struct Sides {
  Tensor A, B;
  bool vectors;
};

Sides arranged(const char* op, const Tensor& A, const Tensor& B, bool left, bool vectors, Site site) {
  if (A.dtype() != B.dtype())
    fail("[", op, "] ", op, ": Expected A and B to have the same dtype, but found A of type ", scalar_name(A.dtype()), " and B of type ",
         scalar_name(B.dtype()), " instead");
  const Tensor right = vectors ? B.unsqueeze(-1, site) : B;
  ops::check_matrix(op, right, "B");
  if (A.size(-2) != right.size(left ? -2 : -1))
    fail("[", op, "] ", op, ": Incompatible shapes of A and B for the equation ", left ? "AX = B" : "XA = B", " (", A.size(-2), "x",
         A.size(-1), " and ", right.size(-2), "x", right.size(-1), ")");
  const Shape batch = broadcast_shapes(ops::batch_of(A), ops::batch_of(right));
  return {ops::expand_batch(A, batch, site), ops::expand_batch(right, batch, site), vectors};
}

}  // namespace

Tensor det(const Tensor& A, Site site) {
  ops::check_square("linalg.det", A);
  Tensor y;
  {
    const NoGradGuard no_grad;
    const Lu lu = factorize("linalg.det", A, false, site);
    y = mul(lu.factors.diagonal(0, -2, -1, site).prod(-1, false, {}, site), lu.sign, site);
  }
  return record("LinalgDetBackward0", y, {A}, site, [A = autograd::saved(A), site](const Tensor& g) {
    const Tensor matrix = A.get();
    if (matrix.numel() == 0) return zeros_like(matrix);
    const Tensor regular = matrix + nudged(matrix);
    return inverse("linalg.det", regular, false, site).mT() * (g * det(regular, site)).unsqueeze(-1).unsqueeze(-1);
  });
}

SlogdetResult slogdet(const Tensor& A, Site site) {
  ops::check_square("linalg.slogdet", A);
  Tensor signs, logarithm;
  {
    const NoGradGuard no_grad;
    const Lu lu = factorize("linalg.slogdet", A, false, site);
    const Tensor diagonal = lu.factors.diagonal(0, -2, -1, site);
    signs = mul(sign(diagonal, site).prod(-1, false, {}, site), lu.sign, site);
    logarithm = log(abs(diagonal, site), site).sum(-1, false, {}, site);
  }
  return {signs, record("LinalgSlogdetBackward0", logarithm, {A}, site, [A = autograd::saved(A), site](const Tensor& g) {
            return inverse("linalg.slogdet", A.get(), false, site).mT() * g.unsqueeze(-1).unsqueeze(-1);
          })};
}

Tensor inv(const Tensor& A, Site site) {
  if (const ops::Cast cast("decomposition", site, A); cast) return inv(cast(A), site);
  ops::check_square("linalg.inv", A);
  return inverse("linalg.inv", A, true, site);
}

Tensor solve(const Tensor& A, const Tensor& B, Flag left, Site site) {
  if (const ops::Cast cast("decomposition", site, A, B); cast) return solve(cast(A), cast(B), left, site);
  ops::check_square("linalg.solve", A);
  const Shape rows(A.sizes().data(), A.sizes().size() - 1);
  const bool vectors = B.dim() == 1 || (B.dim() == A.dim() - 1 && B.sizes() == rows);
  if (vectors && !left) fail("[linalg.solve] linalg.solve: Vector broadcasting of the left hand side is not supported for left=False");
  const Sides sides = arranged("linalg.solve", A, B, left, vectors, site);
  if (!left) return solve(sides.A.mT(site), sides.B.mT(site), true, site).mT(site);
  Tensor X;
  {
    const NoGradGuard no_grad;
    const Lu lu = factorize("linalg.solve", sides.A, true, site);
    X = ops::solve("linalg.solve", Solver::Lu, lu.factors, lu.pivots, sides.B, site);
  }
  X = record("LinalgSolveExBackward0", X, {sides.A, sides.B}, site,
             [A = autograd::saved(sides.A), X = autograd::saved_output(X), site](const Tensor& g, autograd::Wanted wanted,
                                                                                 const autograd::Node* node) {
               std::array<Tensor, 2> gradients;
               gradients[1] = solve(A.get().mT(), g, true, site);
               if (wanted[0]) gradients[0] = -matmul(gradients[1], X.get(node).mT(), site);
               return gradients;
             });
  return vectors ? X.squeeze(-1, site) : X;
}

Tensor solve_triangular(const Tensor& A, const Tensor& B, Flag upper, Flag left, Flag unitriangular, Site site) {
  constexpr const char* op = "linalg.solve_triangular";
  ops::check_square(op, A);
  const Sides sides = arranged(op, A, B, left, false, site);
  if (!left) return solve_triangular(sides.A.mT(site), sides.B.mT(site), !upper, true, unitriangular, site).mT(site);
  const Solver kind = upper ? (unitriangular ? Solver::UpperUnitTriangle : Solver::UpperTriangle)
                            : (unitriangular ? Solver::LowerUnitTriangle : Solver::LowerTriangle);
  const Tensor X = ops::solve(op, kind, sides.A, {}, sides.B, site);
  return record("LinalgSolveTriangularBackward0", X, {sides.A, sides.B}, site,
                [A = autograd::saved(sides.A), X = autograd::saved_output(X), upper, unitriangular, site](
                    const Tensor& g, autograd::Wanted wanted, const autograd::Node* node) {
                  std::array<Tensor, 2> gradients;
                  gradients[1] = solve_triangular(A.get().mT(), g, !upper, true, unitriangular, site);
                  if (wanted[0]) {
                    const Tensor whole = -matmul(gradients[1], X.get(node).mT(), site);
                    gradients[0] = upper ? whole.triu(unitriangular) : whole.tril(-static_cast<int64_t>(unitriangular));
                  }
                  return gradients;
                });
}

}  // namespace tandem::linalg

namespace tandem {

Tensor Tensor::det(Site site) const { return linalg::det(*this, site); }
Tensor Tensor::inverse(Site site) const { return linalg::inv(*this, site); }

}  // namespace tandem
