#include "distributions/constraint.h"

#include "autograd/autograd.h"
#include "base/error.h"
#include "base/work_site.h"
#include "distributions/numeric.h"
#include "ops/indexing.h"
#include "ops/linalg/linalg.h"
#include "ops/operators.h"

namespace tandem::distributions {
namespace {

/// The number, or the sizes of the tensor; a single number of a GPU would have to be waited for.
std::string text_of(const TensorOrNumber& bound) {
  const Operand operand = bound.operand();
  if (!operand.is_tensor()) return str(operand.number().to<double>());
  const Tensor& tensor = operand.tensor();
  return tensor.numel() == 1 && tensor.is_cpu() ? str(tensor.item<double>()) : str(tensor.sizes());
}

Tensor is_whole(const Tensor& value) { return (value % 1) == 0; }

Tensor all_of_matrix(const Tensor& facts) { return facts.all({-2, -1}); }

}  // namespace

Tensor Constraint::check(const Tensor& value, Site site) const {
  const tandem::detail::ComposedAt line(site);
  const NoGradGuard no_grad;
  if (value.dim() < event_dim_)
    fail<ValueError>("[", text_, "] values have ", event_dim_, " dimensions or more, but the tensor has sizes ", value.sizes());
  return check_(value.detach());
}

namespace constraints {

Constraint real() {
  return {"Real()", [](const Tensor& x) { return x == x; }};
}
Constraint real_vector() { return independent(real(), 1); }
Constraint positive() { return greater_than(0); }
Constraint nonnegative() { return greater_than_eq(0); }
Constraint unit_interval() { return interval(0, 1); }
Constraint boolean() {
  return {"Boolean()", [](const Tensor& x) { return (x == 0) | (x == 1); }, 0, true};
}
Constraint nonnegative_integer() {
  return {"IntegerGreaterThan(lower_bound=0)", [](const Tensor& x) { return is_whole(x) & (x >= 0); }, 0, true};
}

Constraint greater_than(const TensorOrNumber& lower_bound) {
  return {"GreaterThan(lower_bound=" + text_of(lower_bound) + ")", [lower_bound](const Tensor& x) { return x > lower_bound.operand(); }};
}
Constraint greater_than_eq(const TensorOrNumber& lower_bound) {
  return {"GreaterThanEq(lower_bound=" + text_of(lower_bound) + ")", [lower_bound](const Tensor& x) { return x >= lower_bound.operand(); }};
}
Constraint less_than(const TensorOrNumber& upper_bound) {
  return {"LessThan(upper_bound=" + text_of(upper_bound) + ")", [upper_bound](const Tensor& x) { return x < upper_bound.operand(); }};
}
Constraint interval(const TensorOrNumber& lower_bound, const TensorOrNumber& upper_bound) {
  return {"Interval(lower_bound=" + text_of(lower_bound) + ", upper_bound=" + text_of(upper_bound) + ")",
          [lower_bound, upper_bound](const Tensor& x) { return (x >= lower_bound.operand()) & (x <= upper_bound.operand()); }};
}
Constraint integer_interval(const TensorOrNumber& lower_bound, const TensorOrNumber& upper_bound) {
  const Constraint base = interval(lower_bound, upper_bound);
  return {"Integer" + base.text(), [base](const Tensor& x) { return is_whole(x) & base.check(x); }, 0, true};
}

Constraint simplex() {
  return {"Simplex()",
          [](const Tensor& x) {
            // A sum of 16-bit numbers is no closer to 1 than their rounding.
            const double tolerance = is_half(x.dtype()) ? detail::epsilon(x.dtype()) : 1e-6;
            return (x >= 0).all(-1) & ((x.sum(-1) - 1).abs() < tolerance);
          },
          1};
}
Constraint one_hot() {
  return {"OneHot()", [](const Tensor& x) { return boolean().check(x).all(-1) & (x.sum(-1) == 1); }, 1, true};
}
Constraint multinomial(int64_t upper_bound) {
  return {str("Multinomial(upper_bound=", upper_bound, ")"),
          [upper_bound](const Tensor& x) { return (x >= 0).all(-1) & (x.sum(-1) <= upper_bound); }, 1, true};
}
Constraint lower_cholesky() {
  return {"LowerCholesky()", [](const Tensor& x) { return all_of_matrix(tril(x) == x) & (x.diagonal(0, -2, -1) > 0).all(-1); }, 2};
}
Constraint positive_definite() {
  return {"PositiveDefinite()",
          [](const Tensor& x) {
            if (x.size(-1) != x.size(-2)) return (x != x).all({-2, -1}) & false;
            const Tensor symmetric = all_of_matrix((x - x.mT()).abs() <= x.mT().abs() * 1e-5 + 1e-6);
            if (!symmetric.all()) return symmetric;  // and maybe not finite, of which there are no eigenvalues
            return (linalg::eigvalsh(x) > 0).all(-1);
          },
          2};
}
Constraint independent(const Constraint& base, int64_t reinterpreted_batch_ndims) {
  return {str("IndependentConstraint(", base.text(), ", ", reinterpreted_batch_ndims, ")"),
          [base, reinterpreted_batch_ndims](const Tensor& x) {
            Tensor result = base.check(x);
            for (int64_t i = 0; i < reinterpreted_batch_ndims; ++i) result = result.all(-1);
            return result;
          },
          base.event_dim() + reinterpreted_batch_ndims, base.is_discrete()};
}

}  // namespace constraints
}  // namespace tandem::distributions
