// Searching in what is sorted.
#include <array>
#include <limits>

#include "autograd/history.h"
#include "base/error.h"
#include "ops/creation.h"
#include "ops/indexing.h"
#include "ops/launch.h"
#include "ops/operators.h"
#include "ops/promotion.h"
#include "ops/sort.h"
#include "ops/view.h"

namespace tandem {
namespace {

/// The tensor, or the number as a 0-dim one on a device.
Tensor as_tensor(const Operand& value, Device device, Site site) {
  if (value.is_tensor()) return value.tensor().detach();
  return full({}, value.number(), {.dtype = value.number().dtype(), .device = device}, site);
}

Tensor search(const char* op, const Tensor& sorted_sequence, const Operand& given, const Tensor& sorter, bool out_int32, bool right,
              Site site) {
  const NoGradGuard no_grad;
  if (sorted_sequence.dim() == 0) fail("[", op, "] boundaries tensor should have positive dimension, but got 0 dimension");
  Tensor values = as_tensor(given, sorted_sequence.device(), site), sorted = sorted_sequence.detach();
  ops::check_same_device(op, sorted, "sorted_sequence", values, "input");
  const Operand a(sorted), b = given.is_tensor() ? Operand(values) : given;
  const std::array<const Operand*, 2> both{&a, &b};
  const DType dtype = ops::result_type(both);
  values = values.to(dtype, {}, site);
  sorted = sorted.to(dtype, {}, site);
  const int64_t length = sorted.size(-1);
  if (out_int32 && length > std::numeric_limits<int32_t>::max())
    fail("[", op, "] the size of boundaries' last dimension should be less than 2147483647, but we got ", length);
  bool fits = sorted.dim() == 1 || sorted.dim() == values.dim();
  for (int64_t d = 0; fits && sorted.dim() > 1 && d + 1 < sorted.dim(); ++d) fits = sorted.size(d) == values.size(d);
  if (!fits)
    fail(
        "[", op,
        "] boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and input value tensor must match, but "
        "we got boundaries tensor ",
        sorted.sizes(), " and input value tensor ", values.sizes());
  if (sorter.defined()) {
    ops::check_same_device(op, sorted, "sorted_sequence", sorter, "sorter");
    if (!(sorter.sizes() == sorted.sizes()))
      fail("[", op, "] boundary and sorter must have the same size, but got boundary tensor ", sorted.sizes(), " and got sorter tensor ",
           sorter.sizes());
    if (sorter.dtype() != kInt64) fail("[", op, "] sorter must be a tensor of long dtype but got dtype ", scalar_name(sorter.dtype()));
  }
  Tensor y = empty(values.sizes(), {.dtype = out_int32 ? kInt32 : kInt64, .device = sorted.device()}, site);
  if (y.numel() == 0) return y;
  const auto over_values = [&](const Tensor& t) {  // a vector serves every row
    if (t.dim() > 1 || values.dim() == 0) return t;
    Shape sizes = values.sizes();
    sizes[sizes.size() - 1] = t.size(0);
    return t.expand(sizes, site);
  };
  ops::launch(sorted, op, site, &kernels::Table::searchsorted, y, over_values(sorted), values,
              sorter.defined() ? ops::view(over_values(sorter)) : kernels::View{}, right);
  return y;
}

}  // namespace

Tensor searchsorted(const Tensor& sorted_sequence, const Operand& values, const SearchOptions& options, Site site) {
  if (options.side && *options.side != "left" && *options.side != "right")
    fail("[searchsorted] torch.searchsorted(): side can only be 'left' or 'right' but got ", *options.side);
  if (options.side && *options.side == "left" && options.right)
    fail("[searchsorted] torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True");
  const bool right = options.right || (options.side && *options.side == "right");
  return search("searchsorted", sorted_sequence, values, options.sorter, options.out_int32, right, site);
}

Tensor bucketize(const Operand& x, const Tensor& boundaries, bool out_int32, Flag right, Site site) {
  if (boundaries.dim() != 1) fail("[bucketize] boundaries tensor must be 1 dimension, but got dim(", boundaries.dim(), ")");
  return search("bucketize", boundaries, x, Tensor(), out_int32, right, site);
}

Tensor isin(const Operand& elements, const Operand& test_elements, Flag, Flag invert, Site site) {
  const NoGradGuard no_grad;
  const Device device = elements.is_tensor()        ? elements.tensor().device()
                        : test_elements.is_tensor() ? test_elements.tensor().device()
                                                    : Device();
  const std::array<const Operand*, 2> both{&elements, &test_elements};
  const DType dtype = ops::result_type(both);
  const Tensor x = as_tensor(elements, device, site).to(dtype, {}, site);
  const Tensor tests = as_tensor(test_elements, device, site).to(dtype, {}, site).reshape({-1}, site);
  ops::check_same_device("isin", x, "elements", tests, "test_elements");
  if (tests.numel() == 0) return full(x.sizes(), bool(invert), {.dtype = kBool, .device = device}, site);
  const Tensor sorted = sort(tests, 0, false, site).values;
  const Tensor place = minimum(search("isin", sorted, x, Tensor(), false, false, site), tests.numel() - 1, site);
  const Tensor found = sorted.index({place}, site);
  return invert ? ne(found, x, site) : eq(found, x, site);
}

}  // namespace tandem
