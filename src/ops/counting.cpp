#include "ops/counting.h"

#include <cmath>

#include "autograd/history.h"
#include "base/error.h"
#include "ops/activation.h"
#include "ops/creation.h"
#include "ops/indexing.h"
#include "ops/join.h"
#include "ops/launch.h"
#include "ops/operators.h"
#include "ops/reduce.h"
#include "ops/scan.h"
#include "ops/scatter.h"
#include "ops/sort.h"
#include "ops/view.h"
#include "tensor/dims.h"
#include "tensor/host_values.h"

namespace tandem {
namespace {

/// Runs among n neighbours, of which `differs` (n - 1) says whether each differs from the one before it.
struct Runs {
  Tensor starts;  // where each run begins
  Tensor number;  // which run each belongs to
};
Runs runs_of(const Tensor& differs, int64_t n, Site site) {
  const Tensor first = full({n > 0 ? 1 : 0}, true, {.dtype = kBool, .device = differs.device()}, site);
  const Tensor begins = n > 1 ? cat({first, differs}, 0, site) : first;
  return {nonzero(begins, site).view({-1}, site), sub(cumsum(begins, 0, {}, site), 1, site)};
}

Tensor counts_of(const Tensor& starts, int64_t n, Site site) {
  return diff(starts, 1, 0, {}, full({1}, n, {.dtype = kInt64, .device = starts.device()}, site), site);
}

/// Of slices along a dimension, or of elements. `order` brings equal ones together, or is undefined where only neighbours count.
Unique distinct(const char* op, const Tensor& given, std::optional<int64_t> dim, bool sorts, bool inverse, bool counts, Site site) {
  const NoGradGuard no_grad;
  if (dim && given.dim() == 0) fail<IndexError>("[", op, "] Dimension specified as ", *dim, " but tensor has no dimensions");
  const Tensor x = given.detach();
  const int64_t at = dim ? wrap_dim(*dim, x.dim()) : 0;
  const int64_t n = dim ? x.size(at) : x.numel();
  if (dim && n > 0 && x.numel() == 0)
    fail("[", op, "] There are 0 sized dimensions, and they aren't selected, so unique cannot be applied");
  const Tensor slices = dim ? movedim(x, at, 0, site) : Tensor();
  Tensor line = dim ? slices.reshape({n, n ? x.numel() / n : 0}, site) : x.reshape({-1}, site), order;
  if (sorts && dim) {
    order = empty({n}, {.dtype = kInt64, .device = x.device()}, site);
    ops::launch(x, op, site, &kernels::Table::sort_rows, order, line);
    line = line.index_select(0, order, site);
  } else if (sorts) {
    ValuesIndices both = sort(line, 0, false, site);
    line = both.values;
    order = both.indices;
  }
  Tensor differs = n > 1 ? ne(line.slice(0, 1, n, 1, site), line.slice(0, 0, n - 1, 1, site), site)
                         : Tensor(empty({0}, {.dtype = kBool, .device = x.device()}, site));
  if (dim && n > 1) differs = any(differs, {1}, false, site);
  const Runs runs = runs_of(differs, n, site);
  Unique y;
  y.output = line.index_select(0, runs.starts, site);
  if (dim) {
    Shape sizes = slices.sizes();
    sizes[0] = y.output.size(0);
    y.output = movedim(y.output.view(sizes, site), 0, at, site);
  }
  if (inverse) {
    y.inverse_indices = order.defined() ? scatter(empty_like(order, {}, site), 0, order, runs.number, site) : runs.number;
    if (!dim) y.inverse_indices = y.inverse_indices.view(x.sizes(), site);
  }
  if (counts) y.counts = counts_of(runs.starts, n, site);
  return y;
}

}  // namespace

Unique unique(const Tensor& x, const UniqueOptions& options, Site site) {
  return distinct("unique", x, options.dim, true, options.return_inverse, options.return_counts, site);
}
Unique unique_consecutive(const Tensor& x, const UniqueConsecutiveOptions& options, Site site) {
  return distinct("unique_consecutive", x, options.dim, false, options.return_inverse, options.return_counts, site);
}

Tensor bincount(const Tensor& x, const Tensor& weights, int64_t minlength, Site site) {
  const NoGradGuard no_grad;
  if (!is_integral(x.dtype())) fail<NotImplementedError>("[bincount] not implemented for ", scalar_name(x.dtype()));
  if (minlength < 0) fail("[bincount] minlength should be >= 0, not ", minlength);
  if (x.dim() != 1) fail("[bincount] bincount only supports 1-d non-negative integral inputs, not ", x.sizes());
  if (weights.defined() && !(weights.sizes() == x.sizes()))
    fail("[bincount] weights should be 1-d and have the same length as input, but got ", weights.sizes(), " and ", x.sizes());
  ops::check_same_device("bincount", x, "input", weights, "weights");
  int64_t bins = minlength;
  if (x.numel()) {
    const MinMax range = aminmax(x, {}, false, site);
    if (const auto least = read_value(range.min, "bincount", site).to<int64_t>(); least < 0)
      fail("[bincount] bincount only supports 1-d non-negative integral inputs, but got ", least);
    bins = std::max(minlength, read_value(range.max, "bincount", site).to<int64_t>() + 1);
  }
  const DType dtype = !weights.defined() ? kInt64 : weights.dtype() == kFloat32 ? kFloat32 : kFloat64;
  const Tensor totals = zeros({bins}, {.dtype = dtype, .device = x.device()}, site);
  const Tensor each = weights.defined() ? weights.detach().to(dtype, {}, site)
                                        : ones({1}, {.dtype = dtype, .device = x.device()}, site).expand(x.sizes(), site);
  return totals.scatter_add_(0, x.to(kInt64, {}, site), each, site);
}

Tensor histc(const Tensor& given, int64_t bins, double min, double max, Site site) {
  const NoGradGuard no_grad;
  if (!is_floating(given.dtype())) fail<NotImplementedError>("[histc] not implemented for ", scalar_name(given.dtype()));
  if (bins <= 0) fail("[histc] bins must be > 0, but got ", bins);
  const Tensor x = given.detach().reshape({-1}, site);
  if (min == max && x.numel()) {
    const MinMax range = tandem::aminmax(x, {}, false, site);
    min = read_value(range.min, "histc", site).to<double>();
    max = read_value(range.max, "histc", site).to<double>();
  }
  if (min == max) {
    min -= 1;
    max += 1;
  }
  if (!std::isfinite(min) || !std::isfinite(max)) fail("[histc] torch.histc: range of [", min, ", ", max, "] is not finite");
  if (min > max) fail("[histc] torch.histc: max must be larger than min, but got ", max, " and ", min);
  const Tensor inside = logical_and(ge(x, min, site), le(x, max, site), site);
  const Tensor part = div(mul(sub(x, min, site), static_cast<double>(bins), site), max - min, site);
  const Tensor bin = minimum(where(inside, part, 0, site).to(kInt64, {}, site), bins - 1, site);  // max itself belongs to the last
  return zeros({bins}, {.dtype = x.dtype(), .device = x.device()}, site).scatter_add_(0, bin, inside.to(x.dtype(), {}, site), site);
}

Tensor one_hot(const Tensor& x, int64_t num_classes, Site site) {
  const NoGradGuard no_grad;
  if (x.dtype() != kInt64)
    fail("[one_hot] one_hot is only applicable to index tensor of type LongTensor, not ", scalar_name(x.dtype()),
         "; convert with to(kInt64)");
  int64_t classes = num_classes;
  if (x.numel() == 0) {
    if (num_classes <= 0) fail("[one_hot] Can not infer total number of classes from empty tensor.");
  } else {
    const MinMax range = aminmax(x, {}, false, site);
    if (const auto least = read_value(range.min, "one_hot", site).to<int64_t>(); least < 0)
      fail("[one_hot] Class values must be non-negative, but got ", least);
    const auto most = read_value(range.max, "one_hot", site).to<int64_t>();
    if (num_classes == -1) classes = most + 1;
    else if (num_classes < 1) fail("[one_hot] num_classes should be positive, not ", num_classes);
    else if (most >= num_classes) fail("[one_hot] Class values must be smaller than num_classes, but got ", most, " and ", num_classes);
  }
  Shape sizes = x.sizes();
  sizes.push_back(classes);
  return zeros(sizes, {.dtype = kInt64, .device = x.device()}, site).scatter_(-1, x.unsqueeze(-1, site), 1, site);
}

Tensor Tensor::bincount(const Tensor& weights, int64_t minlength, Site site) const {
  return tandem::bincount(*this, weights, minlength, site);
}
Unique Tensor::unique(Site site) const { return tandem::unique(*this, {}, site); }
Unique Tensor::unique(const UniqueOptions& options, Site site) const { return tandem::unique(*this, options, site); }
Unique Tensor::unique_consecutive(Site site) const { return tandem::unique_consecutive(*this, {}, site); }
Unique Tensor::unique_consecutive(const UniqueConsecutiveOptions& options, Site site) const {
  return tandem::unique_consecutive(*this, options, site);
}
Tensor Tensor::histc(int64_t bins, double min, double max, Site site) const { return tandem::histc(*this, bins, min, max, site); }

}  // namespace tandem
