#include "distributions/numeric.h"

#include <limits>

#include "base/error.h"
#include "ops/arithmetic.h"

namespace tandem::distributions::detail {
namespace {

void check_floating(DType dtype) {
  if (!is_floating(dtype)) fail<TypeError>("[distributions] parameters of dtype ", dtype, " have no such value: give floating ones");
}

}  // namespace

double epsilon(DType dtype) {
  check_floating(dtype);
  return visit(dtype, [](auto zero) { return Scalar(std::numeric_limits<decltype(zero)>::epsilon()).template to<double>(); });
}

double tiny(DType dtype) {
  check_floating(dtype);
  return visit(dtype, [](auto zero) { return Scalar(std::numeric_limits<decltype(zero)>::min()).template to<double>(); });
}

Tensor sum_rightmost(const Tensor& x, int64_t count) {
  if (count == 0) return x;
  Shape dims;
  for (int64_t dim = -count; dim < 0; ++dim) dims.push_back(dim);
  return x.sum(dims);
}

Shape joined(const Shape& a, const Shape& b) {
  Shape both = a;
  for (const int64_t size : b) both.push_back(size);
  return both;
}

Tensor along_first(const Tensor& x, const Shape& batch) {
  Shape sizes = x.sizes();
  for (size_t i = 0; i < batch.size(); ++i) sizes.insert(1, 1);
  return x.view(sizes);
}

Shape last_size(const Tensor& x) { return x.dim() > 0 ? Shape{x.sizes().back()} : Shape{}; }

Tensor infinite_where(const Tensor& wrong, const Tensor& x) { return where(wrong, std::numeric_limits<double>::infinity(), x); }

}  // namespace tandem::distributions::detail
