// One tensor into several views along a dimension.
#include <algorithm>

#include "autograd/history.h"
#include "base/error.h"
#include "ops/view.h"
#include "tensor/dims.h"
#include "tensor/host_values.h"

namespace tandem {
namespace {

/// The size of a dimension that is to be cut up.
int64_t length_of(const Tensor& x, int64_t dim) {
  if (x.dim() == 0) fail<IndexError>("Dimension specified as ", dim, " but tensor has no dimensions");
  return x.size(dim);
}

void check_dims(const char* op, const Tensor& x, int64_t needed) {
  if (x.dim() < needed)
    fail("[", op, "] torch.", op, " requires a tensor with at least ", needed, " dimension, but got a tensor with ", x.dim(),
         " dimensions!");
}

/// Equal parts, for hsplit, vsplit and dsplit.
std::vector<Tensor> equal_parts(const char* op, const Tensor& x, int64_t needed, int64_t dim, int64_t sections, Site site) {
  check_dims(op, x, needed);
  const int64_t whole = x.size(dim);
  if (sections <= 0 || whole % sections != 0)
    fail("[", op, "] torch.", op, " attempted to split along dimension ", dim, ", but the size of the dimension ", whole,
         " is not divisible by the split_size ", sections, "!");
  return x.tensor_split(sections, dim, site);
}

}  // namespace

std::vector<Tensor> Tensor::split(const Shape& lengths, int64_t dim, Site site) const {
  const int64_t whole = length_of(*this, dim);
  int64_t total = 0;
  for (const int64_t length : lengths) {
    if (length < 0) fail("[split] split_with_sizes expects split_sizes have only non-negative entries, but got ", lengths);
    if (__builtin_add_overflow(total, length, &total)) total = -1;
    if (total < 0) break;
  }
  if (total != whole)
    fail("[split] split_with_sizes expects split_sizes to sum exactly to ", whole, " (input tensor's size at dimension ", dim,
         "), but got ", lengths);
  std::vector<Tensor> parts;
  int64_t start = 0;
  for (const int64_t length : lengths) {
    parts.push_back(autograd::called(slice(dim, start, start + length, 1, site), "SplitWithSizesBackward0"));
    start += length;
  }
  return parts;
}

std::vector<Tensor> Tensor::split_every(int64_t length, int64_t dim, Site site) const {
  const int64_t whole = length_of(*this, dim);
  if (length < 0 || (length == 0 && whole > 0)) fail("[split] split expects split_size be positive, but got ", length);
  std::vector<Tensor> parts;
  const auto part = [&](int64_t start, int64_t end) {
    parts.push_back(autograd::called(slice(dim, start, end, 1, site), "SplitBackward0"));
  };
  if (whole == 0) part(0, 0);
  const int64_t step = std::min(length, whole);
  for (int64_t start = 0; start < whole; start += step) part(start, std::min(start + step, whole));
  return parts;
}

std::vector<Tensor> Tensor::chunk(int64_t chunks, int64_t dim, Site site) const {
  if (chunks <= 0) fail("[chunk] chunk expects `chunks` to be greater than 0, got: ", chunks);
  const int64_t whole = length_of(*this, dim);
  if (whole == 0) return std::vector<Tensor>(static_cast<size_t>(chunks), slice(dim, 0, 0, 1, site));
  return split(whole / chunks + (whole % chunks != 0), dim, site);
}

std::vector<Tensor> Tensor::split_into(int64_t sections, int64_t dim, Site site) const {
  if (sections <= 0) fail("[tensor_split] number of sections must be larger than 0, got ", sections);
  const int64_t whole = length_of(*this, dim);
  std::vector<Tensor> parts;
  int64_t start = 0;
  for (int64_t i = 0; i < sections; ++i) {
    const int64_t length = whole / sections + (i < whole % sections);
    parts.push_back(slice(dim, start, start + length, 1, site));
    start += length;
  }
  return parts;
}

std::vector<Tensor> Tensor::tensor_split(const Shape& indices, int64_t dim, Site site) const {
  length_of(*this, dim);
  std::vector<Tensor> parts;
  int64_t start = 0;
  for (const int64_t end : indices) {
    parts.push_back(slice(dim, start, end, 1, site));
    start = end;
  }
  parts.push_back(slice(dim, start, {}, 1, site));
  return parts;
}

std::vector<Tensor> Tensor::tensor_split(const Tensor& indices_or_sections, int64_t dim, Site site) const {
  const Tensor& given = indices_or_sections;
  if (given.dim() > 1 || given.dtype() != kInt64)
    fail("[tensor_split] expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional int64 tensor, but got sizes ",
         given.sizes(), " and dtype ", given.dtype());
  const HostValues values = read_values(given, -1, "tensor_split", site);
  return given.dim() == 0 ? tensor_split(values.integers[0], dim, site) : tensor_split(Shape(values.integers), dim, site);
}

std::vector<Tensor> Tensor::unbind(int64_t dim, Site site) const {
  const int64_t whole = length_of(*this, dim);
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < whole; ++i) parts.push_back(autograd::called(select(dim, i, site), "UnbindBackward0"));
  return parts;
}

std::vector<Tensor> chunk(const Tensor& x, int64_t chunks, int64_t dim, Site site) { return x.chunk(chunks, dim, site); }
std::vector<Tensor> split(const Tensor& x, const Shape& sizes, int64_t dim, Site site) { return x.split(sizes, dim, site); }
std::vector<Tensor> tensor_split(const Tensor& x, const Shape& indices, int64_t dim, Site site) {
  return x.tensor_split(indices, dim, site);
}
std::vector<Tensor> tensor_split(const Tensor& x, const Tensor& indices_or_sections, int64_t dim, Site site) {
  return x.tensor_split(indices_or_sections, dim, site);
}
std::vector<Tensor> unbind(const Tensor& x, int64_t dim, Site site) { return x.unbind(dim, site); }

std::vector<Tensor> detail::hsplit(const Tensor& x, int64_t sections, Site site) {
  return equal_parts("hsplit", x, 1, x.dim() == 1 ? 0 : 1, sections, site);
}
std::vector<Tensor> hsplit(const Tensor& x, const Shape& indices, Site site) {
  check_dims("hsplit", x, 1);
  return x.tensor_split(indices, x.dim() == 1 ? 0 : 1, site);
}
std::vector<Tensor> detail::vsplit(const Tensor& x, int64_t sections, Site site) { return equal_parts("vsplit", x, 2, 0, sections, site); }
std::vector<Tensor> vsplit(const Tensor& x, const Shape& indices, Site site) {
  check_dims("vsplit", x, 2);
  return x.tensor_split(indices, 0, site);
}
std::vector<Tensor> detail::dsplit(const Tensor& x, int64_t sections, Site site) { return equal_parts("dsplit", x, 3, 2, sections, site); }
std::vector<Tensor> dsplit(const Tensor& x, const Shape& indices, Site site) {
  check_dims("dsplit", x, 3);
  return x.tensor_split(indices, 2, site);
}

}  // namespace tandem
