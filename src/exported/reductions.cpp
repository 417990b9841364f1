// Reductions, running totals, softmax, and what orders elements.
#include "exported/call.h"
#include "ops/creation.h"
#include "ops/linalg/norms.h"
#include "ops/reduce.h"
#include "ops/scan.h"
#include "ops/softmax.h"
#include "ops/sort.h"

namespace tandem::exported {
namespace {

Tensor converted(const Tensor& x, std::optional<DType> dtype, Site site) {
  return dtype && *dtype != x.dtype() ? x.to(*dtype, {}, site) : x;
}

template <Tensor (*Reduce)(const Tensor&, const Shape&, Flag, std::optional<DType>, Site)>
void typed(Call& call) {
  call.give(Reduce(call.tensor("self"), call.ints("dim", {}), call.truth("keepdim", false), call.dtype(), call.site()));
}
template <Tensor (*Reduce)(const Tensor&, const Shape&, Flag, Site)>
void plain(Call& call) {
  call.give(Reduce(call.tensor("self"), call.ints("dim", {}), call.truth("keepdim", false), call.site()));
}
void product(Call& call) {
  const Tensor x = converted(call.tensor("self"), call.dtype(), call.site());
  call.give(call.has("dim") ? prod(x, call.integer("dim"), call.truth("keepdim", false), {}, call.site()) : prod(x, call.site()));
}
void count(Call& call) { call.give(count_nonzero(call.tensor("self"), call.ints("dim", {}), call.site())); }

/// By how much the divisor of a variance is less than the count of elements.
double correction(Call& call) {
  if (call.has("unbiased")) return call.truth("unbiased", true) ? 1 : 0;
  return call.real("correction", 1);
}
template <Tensor (*Reduce)(const Tensor&, const Shape&, double, Flag, Site)>
void spread(Call& call) {
  call.give(Reduce(call.tensor("self"), call.ints("dim", {}), correction(call), call.truth("keepdim", false), call.site()));
}
void spread_and_mean(Call& call) {
  const VarMean both = var_mean(call.tensor("self"), call.ints("dim", {}), correction(call), call.truth("keepdim", false), call.site());
  call.give(both.var);
  call.give(both.mean);
}

/// max, min: of all elements, of a dimension with where it stands, or of two tensors.
template <bool kMax>
void extreme(Call& call) {
  const Tensor x = call.tensor("self");
  const Site site = call.site();
  if (call.has("other")) {
    const Tensor other = call.tensor("other");
    return call.give(kMax ? max(x, other, site) : min(x, other, site));
  }
  if (!call.has("dim")) return call.give(kMax ? max(x, site) : min(x, site));
  const int64_t dim = call.integer("dim");
  const bool keep = call.truth("keepdim", false);
  call.give(kMax ? max(x, dim, keep, site) : min(x, dim, keep, site));
}
void both_extremes(Call& call) {
  const MinMax both = aminmax(call.tensor("self"), call.integer_or_none("dim"), call.truth("keepdim", false), call.site());
  call.give(both.min);
  call.give(both.max);
}
template <Tensor (*Find)(const Tensor&, std::optional<int64_t>, Flag, Site)>
void place_of(Call& call) {
  call.give(Find(call.tensor("self"), call.integer_or_none("dim"), call.truth("keepdim", false), call.site()));
}

template <Tensor (*Scan)(const Tensor&, int64_t, std::optional<DType>, Site)>
void running(Call& call) {
  call.give(Scan(call.tensor("self"), call.integer("dim"), call.dtype(), call.site()));
}

template <Tensor (*Softmax)(const Tensor&, int64_t, Site)>
void soft(Call& call) {
  Tensor x = converted(call.tensor("self"), call.dtype(), call.site());
  if (call.truth("half_to_float", false)) x = x.to(kFloat32, {}, call.site());
  call.give(Softmax(x, call.integer("dim"), call.site()));
}

void in_order(Call& call) {
  (void)call.has("stable");  // ours always is
  call.give(sort(call.tensor("self"), call.integer("dim", -1), call.truth("descending", false), call.site()));
}
void places_in_order(Call& call) {
  (void)call.has("stable");
  call.give(argsort(call.tensor("self"), call.integer("dim", -1), call.truth("descending", false), call.site()));
}
void largest(Call& call) {
  call.give(topk(call.tensor("self"), call.integer("k"), call.integer("dim", -1), call.truth("largest", true), call.truth("sorted", true),
                 call.site()));
}

void length(Call& call) {
  call.give(linalg::vector_norm(call.tensor("self"), call.real("ord", 2), call.ints("dim", {}), call.truth("keepdim", false), call.dtype(),
                                call.site()));
}
void norm_of(Call& call) {
  call.give(norm(call.tensor("self"), call.real("p", 2), call.ints("dim", {}), call.truth("keepdim", false), call.dtype(), call.site()));
}

constexpr OperatorRow kRows[] = {
    {"_log_softmax", soft<log_softmax>},
    {"_softmax", soft<softmax>},
    {"all", plain<all>},
    {"amax", plain<amax>},
    {"amin", plain<amin>},
    {"aminmax", both_extremes},
    {"any", plain<any>},
    {"argmax", place_of<argmax>},
    {"argmin", place_of<argmin>},
    {"argsort", places_in_order},
    {"count_nonzero", count},
    {"cumprod", running<cumprod>},
    {"cumsum", running<cumsum>},
    {"linalg_vector_norm", length},
    {"log_softmax", soft<log_softmax>},
    {"logsumexp", plain<logsumexp>},
    {"max", extreme<true>},
    {"mean", typed<mean>},
    {"min", extreme<false>},
    {"nanmean", typed<nanmean>},
    {"nansum", typed<nansum>},
    {"norm", norm_of},
    {"prod", product},
    {"softmax", soft<softmax>},
    {"sort", in_order},
    {"std", spread<std>},
    {"sum", typed<sum>},
    {"topk", largest},
    {"var", spread<var>},
    {"var_mean", spread_and_mean},
};

}  // namespace

std::span<const OperatorRow> reduction_operators() { return kRows; }

}  // namespace tandem::exported
