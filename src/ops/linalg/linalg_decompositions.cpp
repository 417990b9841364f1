// Cholesky, QR, eigenvalues, singular values. Their gradients are written in operations, so that they can be differentiated again.
#include <algorithm>
#include <memory>

#include "autograd/function.h"
#include "autograd/history.h"
#include "base/error.h"
#include "ops/activation.h"
#include "ops/autocasting.h"
#include "ops/creation.h"
#include "ops/indexing.h"
#include "ops/join.h"
#include "ops/linalg/linalg.h"
#include "ops/linalg/linalg_calls.h"
#include "ops/matmul.h"
#include "ops/operators.h"
#include "ops/view.h"

namespace tandem::linalg {
namespace {

using autograd::Context;
using autograd::needs_grad;
using kernels::Decomposition;
using Tensors = std::vector<Tensor>;

/// Records a decomposition with several results; backward is given their gradients, undefined where none came.
Tensors record(const char* name, const Tensor& A, Tensors results, Tensors saved, autograd::detail::BackwardFunction backward, Site site) {
  if (!needs_grad(A)) return results;
  const auto context = std::make_shared<Context>();
  context->save_for_backward(std::move(saved));
  return autograd::detail::record_custom(name, context, {A}, std::move(results), backward, site);
}

/// x with its columns, or rows, scaled.
Tensor scale_columns(const Tensor& x, const Tensor& by) { return x * by.unsqueeze(-2); }
Tensor scale_rows(const Tensor& x, const Tensor& by) { return x * by.unsqueeze(-1); }

/// by[j] - by[i], with ones on the diagonal, where nothing is divided by it.
Tensor gaps(const Tensor& by) {
  const Tensor apart = by.unsqueeze(-2) - by.unsqueeze(-1);
  return where(ops::identities(apart, by.size(-1), Site::here()) != 0, 1, apart);
}

/// tril(x) with its mirror image in the other triangle.
Tensor mirrored(const Tensor& x) { return x.tril() + x.tril(-1).mT(); }

/// For Q R = A with at least as many rows as columns.
Tensor qr_backward_tall(const Tensor& gQ, const Tensor& gR, const Tensor& Q, const Tensor& R) {
  Tensor inner;
  if (gR.defined()) inner = matmul(R, gR.mT());
  if (gQ.defined()) inner = inner.defined() ? inner - matmul(gQ.mT(), Q) : -matmul(gQ.mT(), Q);
  Tensor sum = matmul(Q, mirrored(inner));
  if (gQ.defined()) sum = sum + gQ;
  return solve_triangular(R.mT(), sum, false, false);
}

Tensors qr_backward(Context& context, const Tensors& gradients) {
  const Tensors saved = context.saved();
  const Tensor &Q = saved[0], &R = saved[1], &gQ = gradients[0], &gR = gradients[1];
  if (!gQ.defined() && !gR.defined()) return {Tensor()};
  const int64_t m = R.size(-2), n = R.size(-1);
  if (Q.numel() == 0 && R.numel() != 0)
    fail("[linalg.qr] The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use mode='reduced'");
  if (Q.size(-1) > n)
    fail("[linalg.qr] The QR decomposition is not differentiable when mode='complete' and nrows > ncols: use mode='reduced'");
  if (m >= n) return {qr_backward_tall(gQ, gR, Q, R)};
  // A = [X Y] = Q [U V]: X = Q U is square, and Y = Q V follows.
  const Tensor U = R.narrow(-1, 0, m), V = R.narrow(-1, m, n - m);
  if (!gR.defined()) {
    const Tensor gX = qr_backward_tall(gQ, Tensor(), Q, U);
    return {cat({gX, zeros_like(V)}, -1)};
  }
  const Tensor gV = gR.narrow(-1, m, n - m);
  const Tensor through = matmul(matmul(Q, V), gV.mT());
  const Tensor gX = qr_backward_tall(gQ.defined() ? gQ + through : through, gR.narrow(-1, 0, m), Q, U);
  return {cat({gX, matmul(Q, gV)}, -1)};
}

Tensors eigh_backward(Context& context, const Tensors& gradients) {
  const Tensors saved = context.saved();
  const Tensor &L = saved[0], &V = saved[1], &gL = gradients[0], &gV = gradients[1];
  if (!gV.defined()) return {gL.defined() ? matmul(scale_columns(V, gL), V.mT()) : Tensor()};
  const Tensor turned = matmul(V.mT(), gV);
  Tensor inner = (turned - diag_embed(turned.diagonal(0, -2, -1))) / gaps(L);
  if (gL.defined()) inner = inner + diag_embed(gL);
  return {matmul(V, matmul(inner, V.mT()))};
}

Tensors svd_backward(Context& context, const Tensors& gradients) {
  const Tensors saved = context.saved();
  const Tensor& S = saved[1];
  const int64_t k = S.size(-1), m = saved[0].size(-2), n = saved[2].size(-1);
  // Only the first k columns of U and rows of Vh hang on A in a way that has a derivative.
  const auto columns = [k](const Tensor& x) { return x.defined() ? x.narrow(-1, 0, k) : x; };
  const auto rows = [k](const Tensor& x) { return x.defined() ? x.narrow(-2, 0, k) : x; };
  const Tensor U = columns(saved[0]), Vh = rows(saved[2]);
  const Tensor gU = columns(gradients[0]), gVh = rows(gradients[2]);
  const Tensor& gS = gradients[1];
  if (!gU.defined() && !gVh.defined()) return {gS.defined() ? matmul(scale_columns(U, gS), Vh) : Tensor()};
  const auto skew = [](const Tensor& x) { return x - x.mT(); };
  const Tensor gap = gaps(S * S);
  Tensor inner = gS.defined() ? diag_embed(gS) : zeros_like(gap);
  if (gU.defined()) inner = inner + scale_columns(skew(matmul(U.mT(), gU)) / gap, S);
  if (gVh.defined()) inner = inner + scale_rows(skew(matmul(Vh, gVh.mT())) / gap, S);
  Tensor gA = matmul(U, matmul(inner, Vh));
  if (gU.defined() && m > k) {  // what leaves the space of U
    const Tensor scaled = scale_columns(gU, 1 / S);
    gA = gA + matmul(scaled - matmul(U, matmul(U.mT(), scaled)), Vh);
  }
  if (gVh.defined() && n > k) {
    const Tensor scaled = scale_rows(gVh, 1 / S);
    gA = gA + matmul(U, scaled - matmul(matmul(scaled, Vh.mT()), Vh));
  }
  return {gA};
}

/// LAPACK counts the elements of its scratch memory, some squares of the shorter side, in 32 bits.
void check_scratch(const char* op, const Tensor& A, int64_t squares) {
  const int64_t side = std::min(A.size(-1), A.size(-2));
  if (squares * side * (side + 8) > INT32_MAX) fail("[", op, "] ", op, ": a matrix of sizes ", A.sizes(), " is too large");
}

bool lower_triangle(const char* op, std::string_view UPLO) {
  if (UPLO == "L" || UPLO == "l") return true;
  if (UPLO != "U" && UPLO != "u") fail("[", op, "] Expected UPLO argument to be 'L' or 'U', but got ", UPLO);
  return false;
}

}  // namespace

Tensor cholesky(const Tensor& A, Flag upper, Site site) {
  if (const ops::Cast cast("decomposition", site, A); cast) return cholesky(cast(A), upper, site);
  ops::check_square("linalg.cholesky", A);
  if (upper) return cholesky(A.mT(site), false, site).mT(site);
  const Tensor L = ops::part_of(A, {A.size(-1), A.size(-1)}, site);
  if (L.numel()) ops::decompose("linalg.cholesky", Decomposition::Cholesky, L, {}, {}, A, true, site);
  return autograd::record("LinalgCholeskyExBackward0", L, {A}, site,
                          [L = autograd::saved_output(L)](const Tensor& g, autograd::Wanted, const autograd::Node* node) {
                            const Tensor factor = L.get(node);
                            const Tensor inner = mirrored(matmul(factor.mT(), g.tril())) / 2;
                            return solve_triangular(factor, solve_triangular(factor.mT(), inner, true), false, false);
                          });
}

QrResult qr(const Tensor& A, std::string_view mode, Site site) {
  if (const ops::Cast cast("decomposition", site, A); cast) return qr(cast(A), mode, site);
  ops::check_matrix("linalg.qr", A);
  if (mode != "reduced" && mode != "complete" && mode != "r")
    fail("[linalg.qr] qr received unrecognized mode '", mode, "' but expected one of 'reduced' (default), 'r', or 'complete'");
  const int64_t m = A.size(-2), n = A.size(-1), width = mode == "complete" ? m : std::min(m, n);
  Tensor Q = ops::part_of(A, {m, width}, site);
  const Tensor R = ops::part_of(A, {width, n}, site);
  if (Q.numel()) ops::decompose("linalg.qr", Decomposition::Qr, Q, R, {}, A, true, site);
  if (mode == "r") Q = empty({0}, {.dtype = A.dtype(), .device = A.device()}, site);
  const Tensors both = record("LinalgQrBackward0", A, {Q, R}, {Q, R}, qr_backward, site);
  return {both[0], both[1]};
}

EighResult eigh(const Tensor& A, std::string_view UPLO, Site site) {
  if (const ops::Cast cast("decomposition", site, A); cast) return eigh(cast(A), UPLO, site);
  ops::check_square("linalg.eigh", A);
  check_scratch("linalg.eigh", A, 2);
  const bool lower = lower_triangle("linalg.eigh", UPLO);
  const int64_t n = A.size(-1);
  const Tensor L = ops::part_of(A, {n}, site), V = ops::part_of(A, {n, n}, site);
  if (V.numel()) ops::decompose("linalg.eigh", Decomposition::Eigh, L, V, {}, lower ? A : A.mT(site), true, site);
  const Tensors both = record("LinalgEighBackward0", A, {L, V}, {L, V}, eigh_backward, site);
  return {both[0], both[1]};
}

Tensor eigvalsh(const Tensor& A, std::string_view UPLO, Site site) {
  if (const ops::Cast cast("decomposition", site, A); cast) return eigvalsh(cast(A), UPLO, site);
  ops::check_square("linalg.eigvalsh", A);
  check_scratch("linalg.eigvalsh", A, 2);
  if (needs_grad(A)) return eigh(A, UPLO, site).eigenvalues;  // backward needs the vectors
  const bool lower = lower_triangle("linalg.eigvalsh", UPLO);
  const Tensor L = ops::part_of(A, {A.size(-1)}, site);
  if (A.numel()) ops::decompose("linalg.eigvalsh", Decomposition::Eigh, L, {}, {}, lower ? A : A.mT(site), true, site);
  return L;
}

SvdResult svd(const Tensor& A, Flag full_matrices, Site site) {
  if (const ops::Cast cast("decomposition", site, A); cast) return svd(cast(A), full_matrices, site);
  ops::check_matrix("linalg.svd", A);
  check_scratch("linalg.svd", A, 4);
  const int64_t m = A.size(-2), n = A.size(-1), k = std::min(m, n);
  const Tensor U = ops::part_of(A, {m, full_matrices ? m : k}, site), S = ops::part_of(A, {k}, site),
               Vh = ops::part_of(A, {full_matrices ? n : k, n}, site);
  if (U.numel() || Vh.numel()) ops::decompose("linalg.svd", Decomposition::Svd, U, S, Vh, A, true, site);
  const Tensors all = record("LinalgSvdBackward0", A, {U, S, Vh}, {U, S, Vh}, svd_backward, site);
  return {all[0], all[1], all[2]};
}

Tensor svdvals(const Tensor& A, Site site) {
  if (const ops::Cast cast("decomposition", site, A); cast) return svdvals(cast(A), site);
  ops::check_matrix("linalg.svdvals", A);
  check_scratch("linalg.svdvals", A, 4);
  if (needs_grad(A)) return svd(A, false, site).S;  // backward needs the vectors
  const Tensor S = ops::part_of(A, {std::min(A.size(-2), A.size(-1))}, site);
  if (A.numel()) ops::decompose("linalg.svdvals", Decomposition::Svd, {}, S, {}, A, true, site);
  return S;
}

}  // namespace tandem::linalg
