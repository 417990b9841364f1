#include "ops/arithmetic.h"

#include <array>
#include <cmath>

#include "autograd/history.h"
#include "base/error.h"
#include "ops/autocasting.h"
#include "ops/creation.h"
#include "ops/elementwise.h"
#include "ops/operand_gradient.h"
#include "ops/operators.h"
#include "ops/pointwise_checks.h"
#include "ops/promotion.h"
#include "ops/reduce.h"

namespace tandem {
namespace {

using autograd::record;
using kernels::PointwiseOp;
using ops::GradientFit;
using ops::in_place;
using ops::KeptOperand;
using ops::Rule;
using ops::tensor_of;
using ops::wants_grad;

/// a + alpha * b.
Tensor add_scaled(const char* op, const Operand& a, const Operand& b, Scalar alpha, Site site) {
  const Operand* const both[] = {&a, &b};
  const DType common = ops::result_type(both);
  if (alpha.is_floating() && !is_floating(common))
    fail("[", op, "] For integral input tensors, argument alpha must not be a floating point number.");
  if (alpha.kind() == Scalar::Kind::Bool && common != kBool) fail("[", op, "] Boolean alpha only supported for Boolean results.");
  if (common == kBool) alpha = alpha.to<bool>();
  const Operand factor(alpha);
  Tensor y = ops::call(PointwiseOp::add_scaled, op, Rule::Same, {&a, &b, &factor}, site);
  const Tensor from_a = tensor_of(a), from_b = tensor_of(b);
  return record("AddBackward0", y, {from_a, from_b}, site,
                [alpha, fit_a = GradientFit(a), fit_b = GradientFit(b)](const Tensor& g, autograd::Wanted wanted) {
                  std::array<Tensor, 2> gradients;
                  if (wanted[0]) gradients[0] = fit_a(g);
                  if (wanted[1]) gradients[1] = fit_b(g * alpha);
                  return gradients;
                });
}
Scalar minus(const Scalar& x) { return x.is_floating() ? Scalar(-x.to<double>()) : Scalar(-x.to<int64_t>()); }

/// The gradients of clamp. A number takes those of the elements it equals; with a tensor they are shared. Of nan, and where a bound is nan,
/// x has all, and a bound without another, too.
std::array<Tensor, 3> clamp_backward(const Tensor& g, const Operand& x, const std::optional<Operand>& min,
                                     const std::optional<Operand>& max, autograd::Wanted wanted) {
  std::array<Tensor, 3> gradients;
  const auto all = [](const Tensor& a, const Tensor& b) { return a.defined() && b.defined() ? logical_and(a, b) : a.defined() ? a : b; };
  if (!(min && min->is_tensor()) && !(max && max->is_tensor())) {
    gradients[0] = where(all(min ? x > *min : Tensor(), max ? x < *max : Tensor()), g, 0);
    return gradients;
  }
  const Tensor open = min && max ? Tensor(*min < *max) : Tensor();
  const Tensor at_min = min ? all(x == *min, open) : Tensor(), at_max = max ? all(x == *max, open) : Tensor();
  const Tensor half = g / 2;
  if (wanted[0]) {
    const Tensor inside = all(min ? logical_not(x < *min) : Tensor(), max ? logical_not(x > *max) : Tensor());
    const Tensor tie = at_min.defined() && at_max.defined() ? logical_or(at_min, at_max) : at_min.defined() ? at_min : at_max;
    gradients[0] = where(inside, where(tie, half, g), 0);
  }
  if (wanted[1]) gradients[1] = where(at_min, half, where(max ? all(x < *min, open) : logical_not(x > *min), g, 0));
  if (wanted[2]) gradients[2] = where(at_max, half, where(min ? logical_or(x > *max, *min > *max) : logical_not(x < *max), g, 0));
  return gradients;
}

/// clamp with bounds of either kind; at least one is there.
Tensor bounded(const char* op, const Operand& in, const std::optional<Operand>& min, const std::optional<Operand>& max, Site site) {
  if (!min && !max) fail("[", op, "] At least one of 'min' or 'max' must not be None");
  const Operand low = ops::lasting(min.value_or(Operand(0))), high = ops::lasting(max.value_or(Operand(0)));
  const bool recording = wants_grad(in) || wants_grad(low) || wants_grad(high);
  const Operand x = ops::lasting(in, recording);
  const auto within = [&](PointwiseOp kernel, std::initializer_list<const Operand*> operands) {
    return ops::pointwise({.op = kernel, .name = op, .rule = Rule::Same, .bounds = true}, {operands.begin(), operands.size()}, site);
  };
  Tensor y = !max   ? within(PointwiseOp::maximum, {&x, &low})
             : !min ? within(PointwiseOp::minimum, {&x, &high})
                    : within(PointwiseOp::clamp, {&x, &low, &high});
  if (!recording) return y;
  const Tensor from_low = tensor_of(low), from_high = tensor_of(high);
  const bool numbers = !low.is_tensor() && !high.is_tensor();
  return record(
      numbers ? "ClampBackward1" : "ClampBackward0", y, {x.tensor(), from_low, from_high}, site,
      [x = KeptOperand(x), low = KeptOperand(low), high = KeptOperand(high), fit_x = GradientFit(x), fit_low = GradientFit(low),
       fit_high = GradientFit(high), has_min = min.has_value(), has_max = max.has_value()](const Tensor& g, autograd::Wanted wanted) {
        const Tensor held[] = {x.get(), low.get(), high.get()};
        auto gradients = clamp_backward(g, x.operand(held[0]), has_min ? std::optional(low.operand(held[1])) : std::nullopt,
                                        has_max ? std::optional(high.operand(held[2])) : std::nullopt, wanted);
        if (wanted[0]) gradients[0] = fit_x(gradients[0]);
        if (wanted[1]) gradients[1] = fit_low(gradients[1]);
        if (wanted[2]) gradients[2] = fit_high(gradients[2]);
        return gradients;
      });
}

std::optional<Operand> bound(const std::optional<Scalar>& number) { return number ? std::optional<Operand>(*number) : std::nullopt; }
std::optional<Operand> bound(const Tensor& x) { return x.defined() ? std::optional<Operand>(x) : std::nullopt; }

/// An operation of three operands and perhaps a number. `slope(g, x, a, b, i)` is the gradient of operand i.
template <class Slope>
Tensor recorded3(const char* grad_fn, PointwiseOp op, const char* name, std::array<const Operand*, 3> in, std::optional<Scalar> factor,
                 Site site, Slope slope) {
  const bool recording = wants_grad(*in[0]) || wants_grad(*in[1]) || wants_grad(*in[2]);
  const Operand x = ops::lasting(*in[0], recording), a = ops::lasting(*in[1], recording), b = ops::lasting(*in[2], recording),
                number(factor.value_or(0));
  const Rule rule = op == PointwiseOp::addcmul ? Rule::NoBool : Rule::Floating;
  Tensor y = factor ? ops::call(op, name, rule, {&x, &a, &b, &number}, site) : ops::call(op, name, rule, {&x, &a, &b}, site);
  if (!recording) return y;
  const Tensor from[] = {tensor_of(x), tensor_of(a), tensor_of(b)};
  const bool first = op == PointwiseOp::lerp && wants_grad(b);  // else x is in no gradient
  return record(grad_fn, y, {from[0], from[1], from[2]}, site,
                [x = KeptOperand(first ? x : Operand(0)), a = KeptOperand(a), b = KeptOperand(b),
                 fit = std::array{GradientFit(x), GradientFit(a), GradientFit(b)}, slope](const Tensor& g, autograd::Wanted wanted) {
                  const Tensor held[] = {x.get(), a.get(), b.get()};
                  const Operand p = x.operand(held[0]), q = a.operand(held[1]), r = b.operand(held[2]);
                  std::array<Tensor, 3> gradients;
                  for (size_t i = 0; i < 3; ++i)
                    if (wanted[i]) gradients[i] = fit[i](slope(g, p, q, r, i));
                  return gradients;
                });
}

}  // namespace

Tensor add(const Operand& a, const Operand& b, const Scalar& alpha, Site site) { return add_scaled("add", a, b, alpha, site); }
Tensor sub(const Operand& a, const Operand& b, const Scalar& alpha, Site site) {
  const Operand* const both[] = {&a, &b};
  ops::refuse_bools(both);
  return add_scaled("sub", a, b, alpha.kind() == Scalar::Kind::Bool ? alpha : minus(alpha), site);
}
Tensor rsub(const Operand& a, const Operand& b, const Scalar& alpha, Site site) { return sub(b, a, alpha, site); }
Tensor Tensor::add(const Operand& other, const Scalar& alpha, Site site) const { return tandem::add(*this, other, alpha, site); }
const Tensor& Tensor::add_(const Operand& other, const Scalar& alpha, Site site) const {
  return in_place("add_", *this, site, [&](const Tensor& x) { return tandem::add(x, other, alpha, site); });
}
Tensor Tensor::sub(const Operand& other, const Scalar& alpha, Site site) const { return tandem::sub(*this, other, alpha, site); }
const Tensor& Tensor::sub_(const Operand& other, const Scalar& alpha, Site site) const {
  return in_place("sub_", *this, site, [&](const Tensor& x) { return tandem::sub(x, other, alpha, site); });
}

Tensor div(const Operand& a, const Operand& b, std::string_view rounding_mode, Site site) {
  const bool down = rounding_mode == "floor";
  if (!down && rounding_mode != "trunc")
    fail("[div] expected rounding_mode to be one of 'trunc' or 'floor' but found '", rounding_mode, "'");
  Tensor y;
  const Operand* const both[] = {&a, &b};
  if (!down && is_half(ops::result_type(both))) {  // it is the rounded quotient that is cut off
    const NoGradGuard no_grad;
    y = trunc(tandem::div(a, b, site), site);
  } else {
    y = ops::call(down ? PointwiseOp::floor_divide : PointwiseOp::div_trunc, "div", Rule::NoBool, {&a, &b}, site);
  }
  const Tensor from_a = tensor_of(a), from_b = tensor_of(b);
  return record("DivBackward1", y, {from_a, from_b}, site, [fit_a = GradientFit(a), fit_b = GradientFit(b)](const Tensor& g) {
    const Tensor zero = zeros_like(g);
    return std::array<Tensor, 2>{fit_a(zero), fit_b(zero)};
  });
}
Tensor Tensor::div(const Operand& other, std::string_view rounding_mode, Site site) const {
  return tandem::div(*this, other, rounding_mode, site);
}
const Tensor& Tensor::div_(const Operand& other, std::string_view rounding_mode, Site site) const {
  return in_place("div_", *this, site, [&](const Tensor& x) { return tandem::div(x, other, rounding_mode, site); });
}

Tensor true_divide(const Operand& a, const Operand& b, Site site) { return div(a, b, site); }

Tensor float_power(const Operand& a, const Operand& b, Site site) {
  // Numbers become tensors of no dimensions where the other side is one: two numbers have no type to be promoted from.
  const auto wide = [&](const Operand& x) { return x.is_tensor() ? x.tensor().to(kFloat64, {}, site) : Tensor(); };
  const Tensor base = wide(a), exponent = wide(b);
  return pow(a.is_tensor() ? Operand(base) : Operand(a.number().to<double>()),
             b.is_tensor() ? Operand(exponent) : Operand(b.number().to<double>()), site);
}
Tensor Tensor::float_power(const Operand& exponent, Site site) const { return tandem::float_power(*this, exponent, site); }
const Tensor& Tensor::float_power_(const Operand& exponent, Site site) const {
  return in_place("float_power_", *this, site, [&](const Tensor& x) { return tandem::float_power(x, exponent, site); });
}

Tensor round(const Input& x, int64_t decimals, Site site) {
  if (!is_floating(x.tensor().dtype()))
    fail<NotImplementedError>("[round] with decimals is not implemented for '", scalar_name(x.tensor().dtype()),
                              "'; convert with to(kFloat32)");
  if (decimals == 0) return round(x, site);
  const double ten = std::pow(10.0, static_cast<double>(std::abs(decimals)));
  return decimals > 0 ? div(round(mul(x, ten, site), site), ten, site) : mul(round(div(x, ten, site), site), ten, site);
}
Tensor Tensor::round(int64_t decimals, Site site) const { return tandem::round(*this, decimals, site); }
const Tensor& Tensor::round_(int64_t decimals, Site site) const {
  return in_place("round_", *this, site, [&](const Tensor& x) { return tandem::round(x, decimals, site); });
}

Tensor positive(const Tensor& x, Site) {
  if (x.dtype() == kBool) fail("[positive] The `+` operator, on a bool tensor is not supported; convert with to(kInt64)");
  return x;
}
Tensor Tensor::positive(Site site) const { return tandem::positive(*this, site); }

Tensor where(const Tensor& condition, const Operand& a, const Operand& b, Site site) {
  if (condition.dtype() != kBool && condition.dtype() != kUInt8)
    fail("[where] expected condition to be a boolean tensor, but got a tensor with dtype ", condition.dtype());
  const Operand mask(condition, site);
  Tensor y = ops::call(PointwiseOp::where, "where", Rule::Same, {&mask, &a, &b}, site, 1);
  if (!wants_grad(a) && !wants_grad(b)) return y;
  const Tensor from_a = tensor_of(a), from_b = tensor_of(b);
  return record(
      "WhereBackward0", y, {from_a, from_b}, site,
      [condition = autograd::saved(condition), fit_a = GradientFit(a), fit_b = GradientFit(b)](const Tensor& g, autograd::Wanted wanted) {
        std::array<Tensor, 2> gradients;
        if (wanted[0]) gradients[0] = fit_a(where(condition.get(), g, 0.0));
        if (wanted[1]) gradients[1] = fit_b(where(condition.get(), 0.0, g));
        return gradients;
      });
}
Tensor Tensor::where(const Tensor& condition, const Operand& other, Site site) const {
  return tandem::where(condition, *this, other, site);
}

Tensor clamp(const Input& x, std::optional<Scalar> min, std::optional<Scalar> max, Site site) {
  return bounded("clamp", x, bound(min), bound(max), site);
}
Tensor clamp(const Input& x, const Tensor& min, const Tensor& max, Site site) { return bounded("clamp", x, bound(min), bound(max), site); }
Tensor clamp_min(const Input& x, const Operand& min, Site site) { return bounded("clamp_min", x, min, {}, site); }
Tensor clamp_max(const Input& x, const Operand& max, Site site) { return bounded("clamp_max", x, {}, max, site); }
Tensor Tensor::clamp(std::optional<Scalar> min, std::optional<Scalar> max, Site site) const { return tandem::clamp(*this, min, max, site); }
const Tensor& Tensor::clamp_(std::optional<Scalar> min, std::optional<Scalar> max, Site site) const {
  return in_place("clamp_", *this, site, [&](const Tensor& x) { return tandem::clamp(x, min, max, site); });
}
Tensor Tensor::clamp(const Tensor& min, const Tensor& max, Site site) const { return tandem::clamp(*this, min, max, site); }
const Tensor& Tensor::clamp_(const Tensor& min, const Tensor& max, Site site) const {
  return in_place("clamp_", *this, site, [&](const Tensor& x) { return tandem::clamp(x, min, max, site); });
}
Tensor Tensor::clamp_min(const Operand& min, Site site) const { return tandem::clamp_min(*this, min, site); }
const Tensor& Tensor::clamp_min_(const Operand& min, Site site) const {
  return in_place("clamp_min_", *this, site, [&](const Tensor& x) { return tandem::clamp_min(x, min, site); });
}
Tensor Tensor::clamp_max(const Operand& max, Site site) const { return tandem::clamp_max(*this, max, site); }
const Tensor& Tensor::clamp_max_(const Operand& max, Site site) const {
  return in_place("clamp_max_", *this, site, [&](const Tensor& x) { return tandem::clamp_max(x, max, site); });
}

Tensor lerp(const Operand& start, const Operand& end, const Operand& weight, Site site) {
  if (start.is_tensor() && end.is_tensor() && start.tensor().dtype() != end.tensor().dtype())
    fail("[lerp] expected dtype ", start.tensor().dtype(), " for `end` but got dtype ", end.tensor().dtype());
  if (start.is_tensor() && weight.is_tensor() && start.tensor().dtype() != weight.tensor().dtype())
    fail("[lerp] expected dtype ", start.tensor().dtype(), " for `weight` but got dtype ", weight.tensor().dtype());
  return recorded3("LerpBackward0", PointwiseOp::lerp, "lerp", {&start, &end, &weight}, {}, site,
                   [](const Tensor& g, const Operand& from, const Operand& to, const Operand& share, size_t i) {
                     return i == 0 ? g * (1 - share) : i == 1 ? g * share : g * (to - from);
                   });
}
Tensor Tensor::lerp(const Operand& end, const Operand& weight, Site site) const { return tandem::lerp(*this, end, weight, site); }
const Tensor& Tensor::lerp_(const Operand& end, const Operand& weight, Site site) const {
  return in_place("lerp_", *this, site, [&](const Tensor& x) { return tandem::lerp(x, end, weight, site); });
}

Tensor addcmul(const Operand& x, const Operand& a, const Operand& b, const Scalar& value, Site site) {
  if (const ops::Cast cast("addcmul", site, x, a, b); cast) {
    Tensor held[3];
    return addcmul(cast(x, held[0]), cast(a, held[1]), cast(b, held[2]), value, site);
  }
  const Operand* const all[] = {&x, &a, &b};
  if (value.is_floating() && !is_floating(ops::result_type(all)))
    fail("[addcmul] For integral input tensors, argument value must not be a floating point number.");
  return recorded3("AddcmulBackward0", PointwiseOp::addcmul, "addcmul", {&x, &a, &b}, value, site,
                   [value](const Tensor& g, const Operand&, const Operand& p, const Operand& q, size_t i) {
                     return i == 0 ? g : i == 1 ? g * (q * value) : g * (p * value);
                   });
}
Tensor Tensor::addcmul(const Operand& a, const Operand& b, const Scalar& value, Site site) const {
  return tandem::addcmul(*this, a, b, value, site);
}
const Tensor& Tensor::addcmul_(const Operand& a, const Operand& b, const Scalar& value, Site site) const {
  return in_place("addcmul_", *this, site, [&](const Tensor& x) { return tandem::addcmul(x, a, b, value, site); });
}

Tensor addcdiv(const Operand& x, const Operand& a, const Operand& b, const Scalar& value, Site site) {
  if (const ops::Cast cast("addcdiv", site, x, a, b); cast) {
    Tensor held[3];
    return addcdiv(cast(x, held[0]), cast(a, held[1]), cast(b, held[2]), value, site);
  }
  const auto integral = [](const Operand& in) { return in.is_tensor() ? !is_floating(in.tensor().dtype()) : !in.number().is_floating(); };
  if (integral(a) && integral(b))
    fail("[addcdiv] Integer division with addcdiv is not supported; use x + value * div(a, b), or convert with to(kFloat32)");
  return recorded3("AddcdivBackward0", PointwiseOp::addcdiv, "addcdiv", {&x, &a, &b}, value, site,
                   [value](const Tensor& g, const Operand&, const Operand& p, const Operand& q, size_t i) {
                     return i == 0 ? g : i == 1 ? g * (value / q) : -g * (p / q * value / q);
                   });
}
Tensor Tensor::addcdiv(const Operand& a, const Operand& b, const Scalar& value, Site site) const {
  return tandem::addcdiv(*this, a, b, value, site);
}
const Tensor& Tensor::addcdiv_(const Operand& a, const Operand& b, const Scalar& value, Site site) const {
  return in_place("addcdiv_", *this, site, [&](const Tensor& x) { return tandem::addcdiv(x, a, b, value, site); });
}

Tensor nan_to_num(const Input& x, double nan, std::optional<double> posinf, std::optional<double> neginf, Site site) {
  const DType dtype = x.tensor().dtype();
  if (!is_floating(dtype)) return x.tensor().clone(site);
  const double largest = dtype == kFloat64   ? std::numeric_limits<double>::max()
                         : dtype == kFloat16 ? 65504.0
                         : dtype == kFloat32 ? static_cast<double>(std::numeric_limits<float>::max())
                                             : 0x1.fep127;
  const Operand missing(nan), highest(posinf.value_or(largest)), lowest(neginf.value_or(-largest));
  Tensor y = ops::call(PointwiseOp::nan_to_num, "nan_to_num", Rule::Floating, {&x, &missing, &highest, &lowest}, site);
  if (!wants_grad(x)) return y;
  return record("NanToNumBackward0", y, {x.tensor()}, site,
                [finite = autograd::saved(isfinite(x, site))](const Tensor& g) { return where(finite.get(), g, 0); });
}
Tensor Tensor::nan_to_num(double nan, std::optional<double> posinf, std::optional<double> neginf, Site site) const {
  return tandem::nan_to_num(*this, nan, posinf, neginf, site);
}
const Tensor& Tensor::nan_to_num_(double nan, std::optional<double> posinf, std::optional<double> neginf, Site site) const {
  return in_place("nan_to_num_", *this, site, [&](const Tensor& x) { return tandem::nan_to_num(x, nan, posinf, neginf, site); });
}

Tensor isclose(const Tensor& a, const Tensor& b, double rtol, double atol, Flag equal_nan, Site site) {
  if (a.dtype() != b.dtype()) fail("[isclose] ", scalar_name(a.dtype()), " did not match ", scalar_name(b.dtype()));
  if (!(rtol >= 0)) fail("[isclose] rtol must be greater than or equal to zero, but got ", rtol);
  if (!(atol >= 0)) fail("[isclose] atol must be greater than or equal to zero, but got ", atol);
  const NoGradGuard no_grad;
  const Operand relative(rtol), absolute(atol);
  if (is_floating(a.dtype())) {
    const Operand x(a), y(b);
    Tensor close = ops::call(PointwiseOp::isclose, "isclose", Rule::Compare, {&x, &y, &relative, &absolute}, site);
    return equal_nan ? logical_or(close, logical_and(isnan(a, site), isnan(b, site), site), site) : close;
  }
  const Tensor wide_a = a.to(get_default_dtype(), {}, site), wide_b = b.to(get_default_dtype(), {}, site);
  const Operand x(wide_a), y(wide_b);
  Tensor same = eq(a, b, site);
  if (rtol == 0 && atol == 0) return same;
  return logical_or(same, ops::call(PointwiseOp::isclose, "isclose", Rule::Compare, {&x, &y, &relative, &absolute}, site), site);
}
Tensor Tensor::isclose(const Tensor& other, double rtol, double atol, Flag equal_nan, Site site) const {
  return tandem::isclose(*this, other, rtol, atol, equal_nan, site);
}

Tensor logit(const Input& x, std::optional<double> eps, Site site) {
  const Operand edge(eps.value_or(-1.0));
  Tensor y = ops::call(PointwiseOp::logit, "logit", Rule::Float, {&x, &edge}, site);
  if (!wants_grad(x)) return y;
  return record("LogitBackward0", y, {x.tensor()}, site, [x = autograd::saved(x.tensor()), eps](const Tensor& g) {
    const Tensor in = x.get(), slope = g / (in * (1 - in));
    const double low = eps.value_or(0.0);
    return where(logical_or(in<low, in> 1 - low), eps ? 0.0 : std::nan(""), slope);  // nan stays
  });
}
Tensor Tensor::logit(std::optional<double> eps, Site site) const { return tandem::logit(*this, eps, site); }
const Tensor& Tensor::logit_(std::optional<double> eps, Site site) const {
  return in_place("logit_", *this, site, [&](const Tensor& x) { return tandem::logit(x, eps, site); });
}

Tensor polygamma(int64_t n, const Input& x, Site site) {
  if (n < 0) fail("[polygamma] polygamma(n, x) does not support negative n, got ", n);
  const Operand order(static_cast<double>(n));
  Tensor y = ops::call(PointwiseOp::polygamma, "polygamma", Rule::Float, {&x, &order}, site);
  if (!wants_grad(x)) return y;
  return record("PolygammaBackward0", y, {x.tensor()}, site,
                [x = autograd::saved(x.tensor()), n](const Tensor& g) { return g * polygamma(n + 1, x.get()); });
}
Tensor Tensor::polygamma(int64_t n, Site site) const { return tandem::polygamma(n, *this, site); }
const Tensor& Tensor::polygamma_(int64_t n, Site site) const {
  return in_place("polygamma_", *this, site, [&](const Tensor& x) { return tandem::polygamma(n, x, site); });
}

}  // namespace tandem
