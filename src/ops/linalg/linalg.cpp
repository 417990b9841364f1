#include "ops/linalg/linalg.h"

#include <algorithm>
#include <limits>

#include "autograd/history.h"
#include "base/error.h"
#include "ops/activation.h"
#include "ops/autocasting.h"
#include "ops/creation.h"
#include "ops/join.h"
#include "ops/linalg/linalg_calls.h"
#include "ops/matmul.h"
#include "ops/moving.h"
#include "ops/operators.h"
#include "ops/reduce.h"
#include "ops/view.h"
#include "tensor/dims.h"

namespace tandem::linalg {
namespace {

using autograd::record;

/// Which of the values (…, k) are more than zero by the tolerance.
Tensor more_than_zero(const Tensor& magnitudes, const Tolerance& given, int64_t longer, Site site) {
  const double epsilon = magnitudes.dtype() == kFloat32 ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  const double usual = epsilon * static_cast<double>(longer);
  const Options like{.dtype = magnitudes.dtype(), .device = magnitudes.device()};
  const auto as_tensor = [&](const Operand& x) {
    return x.is_tensor() ? x.tensor().to(magnitudes.device(), {}, site) : full({}, x.number(), like, site);
  };
  const Tensor atol = given.atol ? as_tensor(*given.atol) : zeros({}, like, site);
  const Tensor rtol = given.rtol   ? as_tensor(*given.rtol)
                      : given.atol ? where(gt(atol, 0, site), 0.0, usual, site)
                                   : full({}, usual, like, site);
  if (magnitudes.size(-1) == 0) return gt(magnitudes, 0, site);
  const Tensor largest = magnitudes.amax({-1}, false, site);
  return gt(magnitudes, maximum(atol, mul(rtol, largest, site), site).unsqueeze(-1, site), site);
}

Tensor pinv_values(const Tensor& A, const Tolerance& tolerance, Site site) {
  const int64_t longer = std::max(A.size(-2), A.size(-1));
  if (tolerance.hermitian) {
    const EighResult parts = eigh(A, "L", site);
    const Tensor kept = more_than_zero(abs(parts.eigenvalues, site), tolerance, longer, site);
    const Tensor inverted = where(kept, reciprocal(parts.eigenvalues, site), 0, site);
    return matmul(mul(parts.eigenvectors, inverted.unsqueeze(-2, site), site), parts.eigenvectors.mT(site), site);
  }
  const SvdResult parts = svd(A, false, site);
  const Tensor inverted = where(more_than_zero(parts.S, tolerance, longer, site), reciprocal(parts.S, site), 0, site);
  return matmul(mul(parts.Vh.mT(site), inverted.unsqueeze(-2, site), site), parts.U.mT(site), site);
}

}  // namespace

Tensor pinv(const Tensor& A, const Tolerance& tolerance, Site site) {
  if (const ops::Cast cast("pinv", site, A); cast) return pinv(cast(A), tolerance, site);
  if (tolerance.hermitian) ops::check_square("linalg.pinv", A);
  else ops::check_matrix("linalg.pinv", A);
  Tensor P;
  {
    const NoGradGuard no_grad;
    P = pinv_values(A, tolerance, site);
  }
  // After Golub and Pereyra, "The differentiation of pseudo-inverses" (1973).
  return record("LinalgPinvBackward0", P, {A}, site,
                [A = autograd::saved(A), P = autograd::saved_output(P)](const Tensor& g, autograd::Wanted, const autograd::Node* node) {
                  const Tensor matrix = A.get(), inverse = P.get(node), turned = inverse.mT(), gT = g.mT();
                  const Tensor columns = matmul(gT, matmul(inverse, turned)), rows = matmul(matmul(turned, inverse), gT);
                  return columns - matmul(matrix, matmul(inverse, columns)) + rows - matmul(matmul(rows, inverse), matrix) -
                         matmul(turned, matmul(g, turned));
                });
}

Tensor matrix_rank(const Tensor& A, const Tolerance& tolerance, Site site) {
  if (const ops::Cast cast("decomposition", site, A); cast) return matrix_rank(cast(A), tolerance, site);
  if (tolerance.hermitian) ops::check_square("linalg.matrix_rank", A);
  else ops::check_matrix("linalg.matrix_rank", A);
  const NoGradGuard no_grad;
  const Tensor magnitudes = tolerance.hermitian ? abs(eigvalsh(A, "L", site), site) : svdvals(A, site);
  return more_than_zero(magnitudes, tolerance, std::max(A.size(-2), A.size(-1)), site).sum(-1, false, {}, site);
}

LstsqResult lstsq(const Tensor& A, const Tensor& B, std::optional<double> rcond, Site site) {
  if (const ops::Cast cast("decomposition", site, A, B); cast) return lstsq(cast(A), cast(B), rcond, site);
  ops::check_matrix("linalg.lstsq", A);
  const bool vectors = B.dim() == A.dim() - 1;
  const Tensor right = vectors ? B.unsqueeze(-1, site) : B;
  ops::check_matrix("linalg.lstsq", right, "B");
  if (A.dtype() != B.dtype())
    fail("[linalg.lstsq] torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's dtype ",
         scalar_name(A.dtype()), " and other's dtype ", scalar_name(B.dtype()));
  if (A.size(-2) != right.size(-2))
    fail("[linalg.lstsq] torch.linalg.lstsq: input.size(-2) should match other.size(-", vectors ? 1 : 2, "), but got ", A.size(-2), " and ",
         right.size(-2));
  Tolerance tolerance;
  if (rcond) tolerance.rtol = Operand(*rcond);
  LstsqResult result;
  const Tensor solution = matmul(pinv(A, tolerance, site), right, site);
  result.solution = vectors ? solution.squeeze(-1, site) : solution;
  result.rank = matrix_rank(A, tolerance, site);
  const Options like{.dtype = A.dtype(), .device = A.device()};
  result.residuals = result.singular_values = empty({0}, like, site);
  return result;
}

Tensor matrix_power(const Tensor& A, int64_t n, Site site) {
  if (A.dim() < 2 || A.size(-1) != A.size(-2))
    fail("[linalg.matrix_power] linalg.matrix_power: A must be batches of square matrices, but has sizes ", A.sizes());
  if (n == 0)
    return record("LinalgMatrixPowerBackward0", ops::identities(A, A.size(-1), site).clone(site), {A}, site,
                  [](const Tensor& g) { return zeros_like(g); });
  if (n < 0) ops::check_square("linalg.matrix_power", A);
  Tensor factor = n < 0 ? inv(A, site) : A, power;
  for (uint64_t rest = n < 0 ? -static_cast<uint64_t>(n) : static_cast<uint64_t>(n); rest != 0; rest >>= 1) {
    if (rest & 1) power = power.defined() ? matmul(power, factor, site) : factor;
    if (rest > 1) factor = matmul(factor, factor, site);
  }
  return power.is_same(A) ? A.clone(site) : power;
}

Tensor multi_dot(const std::vector<Tensor>& tensors, Site site) {
  if (const ops::Cast cast("multi_dot", site, tensors); cast) return multi_dot(cast(tensors), site);
  if (tensors.size() < 2) fail("[linalg.multi_dot] multi_dot(): expected at least 2 tensors but got ", tensors.size());
  // Vectors at the ends are a row and a column.
  std::vector<Tensor> all = tensors;
  const size_t last = all.size() - 1;
  const bool row = all[0].dim() == 1, column = all[last].dim() == 1;
  if (row) all[0] = all[0].unsqueeze(0, site);
  if (column) all[last] = all[last].unsqueeze(1, site);
  for (size_t i = 0; i <= last; ++i) {
    if (all[i].dim() != 2)
      fail("[linalg.multi_dot] multi_dot(): tensor ", i, " must be ", i == 0 || i == last ? "1D or 2D" : "2D", " but got ",
           tensors[i].dim(), "D");
    if (all[i].dtype() != all[0].dtype() || all[i].device() != all[0].device())
      fail("[linalg.multi_dot] multi_dot(): all tensors must have the same dtype and device, but tensor 0 is ", all[0].dtype(), " on ",
           all[0].device(), " and tensor ", i, " ", all[i].dtype(), " on ", all[i].device());
    if (i > 0 && all[i - 1].size(1) != all[i].size(0))
      fail("[linalg.multi_dot] multi_dot(): tensors ", i - 1, " and ", i, " with shapes ", all[i - 1].sizes(), " and ", all[i].sizes(),
           " cannot be multiplied");
  }
  // The usual table: the cost of the cheapest way from i to j, and where it is split.
  const size_t n = all.size();
  std::vector<double> cost(n * n, 0);
  std::vector<size_t> cut(n * n, 0);
  const auto rows = [&](size_t i) { return static_cast<double>(all[i].size(0)); };
  for (size_t length = 1; length < n; ++length)
    for (size_t i = 0; i + length < n; ++i) {
      const size_t j = i + length;
      cost[i * n + j] = std::numeric_limits<double>::infinity();
      for (size_t k = i; k < j; ++k) {
        const double here = cost[i * n + k] + cost[(k + 1) * n + j] + rows(i) * rows(k + 1) * static_cast<double>(all[j].size(1));
        if (here < cost[i * n + j]) {
          cost[i * n + j] = here;
          cut[i * n + j] = k;
        }
      }
    }
  const auto product = [&](const auto& self, size_t i, size_t j) -> Tensor {
    if (i == j) return all[i];
    const size_t k = cut[i * n + j];
    return mm(self(self, i, k), self(self, k + 1, j), site);
  };
  Tensor y = product(product, 0, last);
  if (column) y = y.squeeze(1, site);
  return row ? y.squeeze(0, site) : y;
}

Tensor vecdot(const Tensor& x, const Tensor& y, int64_t dim, Site site) {
  if (const ops::Cast cast("vecdot", site, x, y); cast) return vecdot(cast(x), cast(y), dim, site);
  if (x.dtype() != y.dtype())
    fail("[linalg.vecdot] linalg.vecdot: Expected x and y to have the same dtype, but found x of type ", scalar_name(x.dtype()),
         " and y of type ", scalar_name(y.dtype()), " instead");
  return mul(x, y, site).sum(dim, false, {}, site).to(x.dtype(), {}, site);
}

Tensor cross(const Tensor& input, const Tensor& other, int64_t dim, Site site) {
  if (const ops::Cast cast("linalg_cross", site, input, other); cast) return cross(cast(input), cast(other), dim, site);
  if (input.dim() != other.dim()) fail("[linalg.cross] linalg.cross: inputs must have the same number of dimensions.");
  const int64_t at = wrap_dim(dim, input.dim());
  if (input.dim() == 0 || input.size(at) != 3 || other.size(at) != 3)
    fail("[linalg.cross] linalg.cross: inputs dimension ", dim, " must have length 3. Got ", input.dim() ? input.size(at) : 0, " and ",
         other.dim() ? other.size(at) : 0);
  const auto turned = [&](const Tensor& x, int64_t by) { return roll(x, {by}, {at}, site); };
  return sub(mul(turned(input, -1), turned(other, -2), site), mul(turned(input, -2), turned(other, -1), site), site);
}

Tensor diagonal(const Tensor& A, int64_t offset, int64_t dim1, int64_t dim2, Site site) { return A.diagonal(offset, dim1, dim2, site); }

}  // namespace tandem::linalg

namespace tandem {

Tensor Tensor::matrix_power(int64_t n, Site site) const { return linalg::matrix_power(*this, n, site); }

}  // namespace tandem
