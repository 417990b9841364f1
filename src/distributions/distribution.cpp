#include "distributions/distribution.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <ostream>

#include "autograd/autograd.h"
#include "base/error.h"
#include "base/work_site.h"
#include "distributions/numeric.h"
#include "ops/creation.h"
#include "ops/operators.h"
#include "ops/view.h"

namespace tandem::distributions {
namespace {

std::atomic<bool> default_validate_args{true};

/// A number without the sign of nan.
std::string text_of(double number) { return std::isnan(number) ? "nan" : str(number); }

/// "-1 at [2], and 3 more": the first value that is not allowed, and where.
std::string wrong_values(const Tensor& value, const Constraint& constraint, const Tensor& allowed) {
  const Shape event =
      value.sizes().slice(static_cast<size_t>(value.dim() - constraint.event_dim()), static_cast<size_t>(constraint.event_dim()));
  const Tensor facts = allowed.cpu().contiguous();
  const bool* const begin = facts.data_ptr<bool>();
  const bool* const end = begin + facts.numel();
  const int64_t first = std::find(begin, end, false) - begin;
  const Tensor all = value.detach().expand(detail::joined(allowed.sizes(), event)).reshape({allowed.numel(), event.numel()});
  const Tensor one = all.select(0, first).cpu().to(kFloat64).contiguous();
  constexpr int64_t kMost = 8;
  std::string text = event.empty() ? "" : "[";
  for (int64_t i = 0; i < std::min(one.numel(), kMost); ++i) text += str(i > 0 ? ", " : "", text_of(one.data_ptr<double>()[i]));
  if (one.numel() > kMost) text += ", …";
  if (!event.empty()) text += "]";
  if (allowed.dim() > 0) {
    Shape place = allowed.sizes();
    for (int64_t dim = allowed.dim() - 1, rest = first; dim >= 0; --dim) {
      const int64_t size = allowed.size(dim);
      place[static_cast<size_t>(dim)] = rest % size;
      rest /= size;
    }
    text += str(" at ", place);
  }
  const int64_t more = std::count(begin, end, false) - 1;
  return more > 0 ? str(text, ", and ", more, " more") : text;
}

}  // namespace

void Distribution::set_default_validate_args(Flag value) { default_validate_args = value; }

Distribution::Distribution(const char* name, std::vector<Parameter> parameters, const Shape& event_shape,
                           const std::optional<bool>& validate_args, Site site)
    : Distribution(name, std::move(parameters), {}, event_shape, validate_args, site) {
  const Shape& sizes = parameters_.front().value.sizes();
  batch_shape_ = sizes.slice(0, sizes.size() - static_cast<size_t>(parameters_.front().constraint.event_dim()));
}

Distribution::Distribution(const char* name, std::vector<Parameter> parameters, const Shape& batch_shape, const Shape& event_shape,
                           const std::optional<bool>& validate_args, Site site)
    : name_(name),
      parameters_(std::move(parameters)),
      batch_shape_(batch_shape),
      event_shape_(event_shape),
      validate_args_(validate_args.value_or(default_validate_args)) {
  if (!validate_args_) return;
  for (size_t i = 0; i < parameters_.size(); ++i) require(i, parameters_[i].constraint, site);
}

Distribution::Distribution(const Distribution&) = default;
Distribution& Distribution::operator=(const Distribution&) = default;

void Distribution::require(size_t i, const Constraint& constraint, Site site) const {
  const tandem::detail::ComposedAt line(site);
  const Parameter& each = parameters_[i];
  const Tensor allowed = constraint.check(each.value);
  if (!allowed.all())
    fail<ValueError>("[", name_, "] Expected parameter ", each.name, " (Tensor of sizes ", each.value.sizes(), ") of distribution ",
                     Distribution::repr(), " to satisfy the constraint ", constraint.text(),
                     ", but found invalid values: ", wrong_values(each.value, constraint, allowed));
}

void Distribution::check_value(const Tensor& value, const Constraint& support) const {
  const Shape whole = extended_shape();
  const auto dims = static_cast<size_t>(value.dim());
  const size_t own = event_shape_.size();
  if (dims < own || value.sizes().slice(dims - own, own) != event_shape_)
    fail<ValueError>("[", name_, "] The right-most size of value must match event_shape: ", value.sizes(), " vs ", event_shape_);
  for (size_t i = 1; i <= std::min(dims, whole.size()); ++i) {
    const int64_t have = value.sizes()[dims - i], want = whole[whole.size() - i];
    if (have != 1 && want != 1 && have != want)
      fail<ValueError>("[", name_, "] Value is not broadcastable with batch_shape+event_shape: ", value.sizes(), " vs ", whole);
  }
  const Tensor allowed = support.check(value);
  if (!allowed.all())
    fail<ValueError>("[", name_, "] Expected value argument (Tensor of sizes ", value.sizes(), ") to be within the support (",
                     support.text(), ") of the distribution ", repr(),
                     ", but found invalid values: ", wrong_values(value, support, allowed));
}

void Distribution::missing(const char* what) const { fail<NotImplementedError>("[", name_, "] has no ", what, "()"); }

std::string Distribution::repr() const {
  std::string text = str(name_, "(");
  for (const Parameter& each : parameters_) {
    if (text.back() != '(') text += ", ";
    if (each.value.numel() == 1) text += str(each.name, ": ", text_of(each.value.item<double>()));
    else text += str(each.name, ": ", each.value.sizes());
  }
  return text + ")";
}

Shape Distribution::extended_shape(const Shape& sample_shape) const {
  return detail::joined(detail::joined(sample_shape, batch_shape_), event_shape_);
}

Tensor Distribution::mean(Site site) const {
  const tandem::detail::ComposedAt line(site);
  return do_mean();
}
Tensor Distribution::mode(Site site) const {
  const tandem::detail::ComposedAt line(site);
  return do_mode();
}
Tensor Distribution::variance(Site site) const {
  const tandem::detail::ComposedAt line(site);
  return do_variance();
}
Tensor Distribution::stddev(Site site) const {
  const tandem::detail::ComposedAt line(site);
  return do_variance().sqrt();
}

void Distribution::check_samples(const char* what) const {
  for (const Parameter& each : parameters_)
    if (!is_floating(each.value.dtype()))
      fail<TypeError>("[", name_, "] ", what, " needs parameters of a floating dtype, but ", each.name, " is ", each.value.dtype());
}

Tensor Distribution::sample(const Shape& sample_shape, Site site) const {
  const tandem::detail::ComposedAt line(site);
  const NoGradGuard no_grad;
  check_samples("sample");
  return do_sample(extended_shape(sample_shape));
}
Tensor Distribution::rsample(const Shape& sample_shape, Site site) const {
  const tandem::detail::ComposedAt line(site);
  check_samples("rsample");
  return do_rsample(extended_shape(sample_shape));
}

Tensor Distribution::as_value(const Operand& value) const {
  return detail::as_tensor(value, parameters_.empty() ? Tensor() : parameters_.front().value);
}

Tensor Distribution::log_prob(const Operand& value, Site site) const {
  const tandem::detail::ComposedAt line(site);
  const Tensor given = as_value(value);
  if (validate_args_) check_value(given, support());
  return do_log_prob(given);
}
Tensor Distribution::cdf(const Operand& value, Site site) const {
  const tandem::detail::ComposedAt line(site);
  const Tensor given = as_value(value);
  if (validate_args_) check_value(given, cdf_support());
  return do_cdf(given);
}
Tensor Distribution::icdf(const Operand& value, Site site) const {
  const tandem::detail::ComposedAt line(site);
  return do_icdf(as_value(value));
}
Tensor Distribution::entropy(Site site) const {
  const tandem::detail::ComposedAt line(site);
  return do_entropy();
}
Tensor Distribution::perplexity(Site site) const {
  const tandem::detail::ComposedAt line(site);
  return do_entropy().exp();
}
Tensor Distribution::enumerate_support(Flag expand, Site site) const {
  const tandem::detail::ComposedAt line(site);
  const Tensor values = do_enumerate_support();
  return expand ? values.expand(detail::joined({values.size(0)}, extended_shape())) : values;
}

void Distribution::do_expand(const Shape& batch_shape) {
  for (Parameter& each : parameters_) {
    const auto own = static_cast<size_t>(each.constraint.event_dim());
    const Shape& sizes = each.value.sizes();
    each.value = each.value.expand(detail::joined(batch_shape, sizes.slice(sizes.size() - own, own)));
  }
}

void Distribution::expand_here(const Shape& batch_shape, Site site) {
  const tandem::detail::ComposedAt line(site);
  // -1 keeps a size, as in Tensor::expand.
  const Tensor sizes = zeros({}).expand(batch_shape_).expand(batch_shape);
  do_expand(sizes.sizes());
  batch_shape_ = sizes.sizes();
}

std::unique_ptr<Distribution> Distribution::expand(const Shape& batch_shape, Site site) const {
  std::unique_ptr<Distribution> made = clone();
  made->expand_here(batch_shape, site);
  return made;
}

std::ostream& operator<<(std::ostream& out, const Distribution& distribution) { return out << distribution.repr(); }

Tensor detail::as_tensor(const Operand& value, const Tensor& like) {
  if (value.is_tensor()) return value.tensor();
  const bool floating = like.defined() && is_floating(like.dtype());
  return full({}, value.number(),
              {.dtype = floating ? like.dtype() : get_default_dtype(), .device = like.defined() ? like.device() : Device()});
}

std::vector<Parameter> detail::broadcast_all(const char* distribution, std::initializer_list<Given> given, Site site) {
  const tandem::detail::ComposedAt line(site);
  const Given* const first = std::find_if(given.begin(), given.end(), [](const Given& each) { return each.value.is_tensor(); });
  const Tensor like = first == given.end() ? Tensor() : first->value.tensor();
  std::vector<Tensor> tensors;
  for (const Given& each : given) {
    tensors.push_back(as_tensor(each.value, like));
    if (like.defined() && tensors.back().device() != like.device())
      fail("[", distribution, "] ", first->name, " is on ", like.device(), ", but ", each.name, " is on ", tensors.back().device(),
           ": move one of them");
  }
  tensors = broadcast_tensors(tensors);
  std::vector<Parameter> parameters;
  for (const Given& each : given) parameters.push_back({each.name, tensors[parameters.size()], each.constraint});
  return parameters;
}

}  // namespace tandem::distributions
