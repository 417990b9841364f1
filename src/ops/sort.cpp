#include "ops/sort.h"

#include <limits>

#include "autograd/history.h"
#include "base/error.h"
#include "ops/activation.h"
#include "ops/autocasting.h"
#include "ops/creation.h"
#include "ops/elementwise.h"
#include "ops/join.h"
#include "ops/launch.h"
#include "ops/operators.h"
#include "ops/reduce.h"
#include "ops/reduction.h"
#include "ops/scan.h"
#include "ops/scatter.h"
#include "ops/view.h"
#include "tensor/dims.h"

namespace tandem {
namespace {

using autograd::needs_grad;
using autograd::record;

/// What stands at first … first + count - 1 of the order along a dimension. Without history.
ValuesIndices ordered(const char* op, const Tensor& x, int64_t at, int64_t first, int64_t count, bool descending, Site site) {
  Shape sizes = x.sizes();
  if (x.dim()) sizes[static_cast<size_t>(at)] = count;
  ValuesIndices y{empty(sizes, {.dtype = x.dtype(), .device = x.device()}, site),
                  empty(sizes, {.dtype = kInt64, .device = x.device()}, site)};
  if (y.values.numel() == 0) return y;
  const kernels::View in = ops::last(ops::view(x), at);
  const kernels::Out values{ops::last(ops::view(y.values), at)}, indices{ops::last(ops::view(y.indices), at)};
  ops::launch(x, op, site, &kernels::Table::sort_part, values, indices, in, descending, first, ops::kernels_of(x).sort_workspace(in));
  return y;
}

int64_t length_along(const Tensor& x, int64_t at) { return x.dim() ? x.size(at) : 1; }

/// Without the dimension, unless it is to be kept.
void drop_dim(ValuesIndices& y, const Tensor& x, int64_t at, bool keepdim, Site site) {
  if (keepdim || x.dim() == 0) return;
  y.values = y.values.squeeze(at, site);
  y.indices = y.indices.squeeze(at, site);
}

void check_reduced(const char* op, const Tensor& x, int64_t at) {
  if (x.dtype() == kBool) fail<NotImplementedError>("[", op, "] not implemented for ", scalar_name(x.dtype()));
  if (x.dim() && x.size(at) == 0) fail<IndexError>("[", op, "] ", op, "(): Expected reduction dim ", at, " to have non-zero size.");
}

/// The median along a dimension, which stays. Without history.
ValuesIndices median_along(const char* op, const Tensor& x, int64_t at, bool without_nan, Site site) {
  const NoGradGuard no_grad;
  const int64_t size = length_along(x, at);
  const auto middle = [&] { return ordered(op, x, at, (size - 1) / 2, 1, false, site); };
  if (!is_floating(x.dtype()) || x.numel() == 0) return middle();
  if (!without_nan) {
    ValuesIndices y = middle();
    const ValuesIndices most = max(x, at, true, site);  // nan, and where, if there is one
    const Tensor spoilt = isnan(most.values, site);
    return {where(spoilt, most.values, y.values, site), where(spoilt, most.indices, y.indices, site)};
  }
  const Tensor line = x.dim() ? x : x.view({1}, site);
  const ValuesIndices all = ordered(op, line, at, 0, size, false, site);
  const Tensor numbers = sum(logical_not(isnan(line, site), site), {at}, true, {}, site);
  const Tensor place = floor_divide(sub(maximum(numbers, 1, site), 1, site), 2, site);
  ValuesIndices y{gather(all.values, at, place, site), gather(all.indices, at, place, site)};
  if (x.dim() == 0) return {y.values.view({}, site), y.indices.view({}, site)};
  return y;
}

ValuesIndices median_dim(const char* op, const char* grad_fn, const Tensor& x, int64_t dim, bool keepdim, bool without_nan, Site site) {
  const int64_t at = wrap_dim(dim, x.dim());
  check_reduced(op, x, at);
  ValuesIndices y = median_along(op, x, at, without_nan, site);
  drop_dim(y, x, at, keepdim, site);
  y.values = ops::record_chosen(grad_fn, y.values, y.indices, x, at, keepdim, site);
  return y;
}

Tensor median_all(const char* op, const char* grad_fn, const Tensor& x, bool without_nan, Site site) {
  if (x.dtype() == kBool) fail<NotImplementedError>("[", op, "] not implemented for ", scalar_name(x.dtype()));
  if (x.numel() == 0) return full({}, std::numeric_limits<double>::quiet_NaN(), {.dtype = x.dtype(), .device = x.device()}, site);
  const Tensor y = median_along(op, x.detach().reshape({-1}, site), 0, without_nan, site).values.view({}, site);
  if (!needs_grad(x)) return y;
  return record(grad_fn, y, {x}, site,
                [x = autograd::saved(x), y = autograd::saved_output(y)](const Tensor& g, autograd::Wanted, const autograd::Node* node) {
                  const Tensor in = x.get();
                  return ops::spread_to_equal(g, in, y.get(node), ops::all_dims(in), false);
                });
}

Tensor quantiles(const char* op, const Tensor& x, const Operand& given, std::optional<int64_t> dim, bool keepdim,
                 std::string_view interpolation, bool without_nan, Site site) {
  if (const ops::Cast cast("quantile", site, x, given); cast) {
    Tensor held;
    return quantiles(op, cast(x), cast(given, held), dim, keepdim, interpolation, without_nan, site);
  }
  if (x.numel() == 0) fail("[", op, "] ", op, "() input tensor must be non-empty");
  if (x.dtype() != kFloat32 && x.dtype() != kFloat64)
    fail("[", op, "] ", op, "() input tensor must be either float or double dtype, not ", x.dtype());
  const auto is = [&](const char* name) { return interpolation == name; };
  if (!is("linear") && !is("lower") && !is("higher") && !is("midpoint") && !is("nearest"))
    fail("[", op, "] ", op, "() interpolation must be one of linear, lower, higher, midpoint or nearest, but got ", interpolation);
  if (given.is_tensor() && given.tensor().dtype() != x.dtype())
    fail("[", op, "] ", op, "() q tensor must be same dtype as the input tensor, but got ", given.tensor().dtype(), " and ", x.dtype());
  if (given.is_tensor() && given.tensor().dim() > 1)
    fail("[", op, "] ", op, "() q must be a scalar or 1D tensor, not ", given.tensor().sizes());
  const Tensor q = given.is_tensor() ? given.tensor() : full({}, given.number(), {.dtype = x.dtype(), .device = x.device()}, site);
  ops::check_same_device(op, x, "self", q, "q");
  {
    const NoGradGuard no_grad;
    if (q.is_cpu() && !all(logical_and(ge(q, 0, site), le(q, 1, site), site), site).item<bool>(site))
      fail("[", op, "] ", op, "() q must be in the range [0, 1]", given.is_tensor() ? "" : str(" but got ", given.number().to<double>()));
  }
  const int64_t at = dim ? wrap_dim(*dim, x.dim()) : 0;
  const Tensor lines = !dim || x.dim() == 0 ? x.reshape({-1}, site) : movedim(x, at, -1, site);
  const Tensor sorted = sort(lines, -1, false, site).values;
  const int64_t size = sorted.size(-1);
  // The place of each quantile among the n (not nan) elements of its line.
  const Tensor nans = isnan(sorted.detach(), site);
  Tensor places;
  if (without_nan) places = mul(q, sub(sum(logical_not(nans, site), {-1}, true, {}, site), 1, site).to(x.dtype(), {}, site), site);
  else places = where(any(nans, {-1}, true, site), static_cast<double>(size - 1), mul(q, static_cast<double>(size - 1), site), site);
  places = maximum(places, 0, site);
  if (is("lower")) places = floor(places, site);
  if (is("higher")) places = ceil(places, site);
  if (is("nearest")) places = round(places, site);
  const Tensor below = places.detach().to(kInt64, {}, site);
  Tensor y = gather(sorted, -1, below, site);
  if (is("linear") || is("midpoint")) {
    const Tensor above = gather(sorted, -1, ceil(places.detach(), site).to(kInt64, {}, site), site);
    y = lerp(y, above, is("midpoint") ? full_like(places.detach(), 0.5, {}, site) : sub(places, below, site), site);
  }
  if (q.dim() == 0) y = y.squeeze(-1, site);
  else y = movedim(y, -1, 0, site);
  if (!keepdim || x.dim() == 0) return y;
  const int64_t lead = q.dim();
  if (dim) return y.unsqueeze(lead + at, site);
  for (int64_t d = 0; d < x.dim(); ++d) y = y.unsqueeze(lead, site);
  return y;
}

}  // namespace

ValuesIndices sort(const Tensor& x, int64_t dim, Flag descending, Site site) {
  const int64_t at = wrap_dim(dim, x.dim());
  ValuesIndices y = ordered("sort", x, at, 0, length_along(x, at), descending, site);
  y.values = ops::record_chosen("SortBackward0", y.values, y.indices, x, at, true, site);
  return y;
}

Tensor argsort(const Tensor& x, int64_t dim, Flag descending, Site site) { return sort(x.detach(), dim, descending, site).indices; }
Tensor msort(const Tensor& x, Site site) { return sort(x, 0, false, site).values; }

ValuesIndices topk(const Tensor& x, int64_t k, int64_t dim, Flag largest, Flag, Site site) {
  const int64_t at = wrap_dim(dim, x.dim()), size = length_along(x, at);
  if (k < 0 || k > size)
    fail("[topk] selected index k out of range: k is ", k, ", but dimension ", at, " has size ", size, ": give 0 to ", size);
  ValuesIndices y = ordered("topk", x, at, 0, k, largest, site);
  y.values = ops::record_chosen("TopkBackward0", y.values, y.indices, x, at, true, site);
  return y;
}

ValuesIndices kthvalue(const Tensor& x, int64_t k, int64_t dim, Flag keepdim, Site site) {
  const int64_t at = wrap_dim(dim, x.dim()), size = length_along(x, at);
  check_reduced("kthvalue", x, at);
  if (k < 1 || k > size) fail("[kthvalue] kthvalue(): selected number k out of range for dimension ", at, ": k is ", k, " of ", size);
  ValuesIndices y = ordered("kthvalue", x, at, k - 1, 1, false, site);
  drop_dim(y, x, at, keepdim, site);
  y.values = ops::record_chosen("KthvalueBackward0", y.values, y.indices, x, at, keepdim, site);
  return y;
}

Tensor median(const Tensor& x, Site site) { return median_all("median", "MedianBackward0", x, false, site); }
ValuesIndices median(const Tensor& x, int64_t dim, Flag keepdim, Site site) {
  return median_dim("median", "MedianBackward1", x, dim, keepdim, false, site);
}
Tensor nanmedian(const Tensor& x, Site site) { return median_all("nanmedian", "NanmedianBackward0", x, true, site); }
ValuesIndices nanmedian(const Tensor& x, int64_t dim, Flag keepdim, Site site) {
  return median_dim("nanmedian", "NanmedianBackward1", x, dim, keepdim, true, site);
}

ValuesIndices mode(const Tensor& x, int64_t dim, Flag keepdim, Site site) {
  const int64_t at = wrap_dim(dim, x.dim());
  if (x.dim() && x.size(at) == 0) fail<IndexError>("[mode] mode(): Expected reduction dim ", at, " to have non-zero size.");
  ValuesIndices y;
  {
    const NoGradGuard no_grad;
    const Tensor line = x.dim() ? x.detach() : x.detach().view({1}, site);
    const ValuesIndices all = ordered("mode", line, at, 0, line.size(at), false, site);
    // Counting along runs of equal elements: the longest run so far ends where the count is highest.
    const int64_t size = line.size(at);
    const Tensor begins = ne(all.values.slice(at, 1, size, 1, site), all.values.slice(at, 0, size - 1, 1, site), site);
    Shape sizes(std::vector<int64_t>(static_cast<size_t>(line.dim()), 1));
    sizes[static_cast<size_t>(at)] = size - 1;
    const Tensor places = arange(1, size, {.dtype = kInt64, .device = x.device()}, site).view(sizes, site);
    const Tensor starts = cummax(where(begins, places, 0, site), at, site).values;  // of the run that each belongs to, from the second on
    const Tensor counts = sub(places, starts, site);
    Shape first = line.sizes();
    first[static_cast<size_t>(at)] = 1;
    const Tensor longest = argmax(cat({zeros(first, {.dtype = kInt64, .device = x.device()}, site), counts}, at, site), at, true, site);
    y = {gather(all.values, at, longest, site), gather(all.indices, at, longest, site)};
    if (x.dim() == 0) y = {y.values.view({}, site), y.indices.view({}, site)};
    drop_dim(y, x, at, keepdim, site);
  }
  y.values = ops::record_chosen("ModeBackward0", y.values, y.indices, x, at, keepdim, site);
  return y;
}

Tensor quantile(const Tensor& x, const Operand& q, std::optional<int64_t> dim, Flag keepdim, std::string_view interpolation, Site site) {
  return quantiles("quantile", x, q, dim, keepdim, interpolation, false, site);
}
Tensor nanquantile(const Tensor& x, const Operand& q, std::optional<int64_t> dim, Flag keepdim, std::string_view interpolation, Site site) {
  return quantiles("nanquantile", x, q, dim, keepdim, interpolation, true, site);
}

// --- The same as methods
ValuesIndices Tensor::sort(int64_t dim, Flag descending, Site site) const { return tandem::sort(*this, dim, descending, site); }
Tensor Tensor::argsort(int64_t dim, Flag descending, Site site) const { return tandem::argsort(*this, dim, descending, site); }
Tensor Tensor::msort(Site site) const { return tandem::msort(*this, site); }
ValuesIndices Tensor::topk(int64_t k, int64_t dim, Flag largest, Flag sorted, Site site) const {
  return tandem::topk(*this, k, dim, largest, sorted, site);
}
ValuesIndices Tensor::kthvalue(int64_t k, int64_t dim, Flag keepdim, Site site) const {
  return tandem::kthvalue(*this, k, dim, keepdim, site);
}
Tensor Tensor::median(Site site) const { return tandem::median(*this, site); }
ValuesIndices Tensor::median(int64_t dim, Flag keepdim, Site site) const { return tandem::median(*this, dim, keepdim, site); }
Tensor Tensor::nanmedian(Site site) const { return tandem::nanmedian(*this, site); }
ValuesIndices Tensor::nanmedian(int64_t dim, Flag keepdim, Site site) const { return tandem::nanmedian(*this, dim, keepdim, site); }
ValuesIndices Tensor::mode(int64_t dim, Flag keepdim, Site site) const { return tandem::mode(*this, dim, keepdim, site); }
Tensor Tensor::quantile(const Operand& q, std::optional<int64_t> dim, Flag keepdim, std::string_view interpolation, Site site) const {
  return tandem::quantile(*this, q, dim, keepdim, interpolation, site);
}
Tensor Tensor::nanquantile(const Operand& q, std::optional<int64_t> dim, Flag keepdim, std::string_view interpolation, Site site) const {
  return tandem::nanquantile(*this, q, dim, keepdim, interpolation, site);
}

}  // namespace tandem
