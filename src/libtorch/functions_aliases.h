// Second names of functions.
#pragma once

#include <vector>

#include "libtorch/functions_list.h"
#include "libtorch/types.h"

namespace torch {

using tandem::Input;
using tandem::Operand;
using tandem::Site;

// New of one tensor, as the function of tandem's that it is called with.
#define TANDEM_ALIAS(name, real) \
  [[nodiscard]] inline Tensor name(const Input& x, Site site = Site::here()) { return tandem::real(x, site); }
TANDEM_ALIAS(absolute, abs)
TANDEM_ALIAS(arccos, acos)
TANDEM_ALIAS(arccosh, acosh)
TANDEM_ALIAS(arcsin, asin)
TANDEM_ALIAS(arcsinh, asinh)
TANDEM_ALIAS(arctan, atan)
TANDEM_ALIAS(arctanh, atanh)
TANDEM_ALIAS(fix, trunc)
TANDEM_ALIAS(log_sigmoid, logsigmoid)
TANDEM_ALIAS(negative, neg)
#undef TANDEM_ALIAS

#define TANDEM_ALIAS(name, real) \
  [[nodiscard]] inline Tensor name(const Operand& a, const Operand& b, Site site = Site::here()) { return tandem::real(a, b, site); }
TANDEM_ALIAS(arctan2, atan2)
TANDEM_ALIAS(divide, div)
TANDEM_ALIAS(greater, gt)
TANDEM_ALIAS(greater_equal, ge)
TANDEM_ALIAS(less, lt)
TANDEM_ALIAS(less_equal, le)
TANDEM_ALIAS(multiply, mul)
TANDEM_ALIAS(not_equal, ne)
TANDEM_ALIAS(subtract, sub)
#undef TANDEM_ALIAS

/// scale * x where x > 0, else scale * alpha * (exp(input_scale * x) - 1).
[[nodiscard]] Tensor elu(const Tensor& x, double alpha = 1, double scale = 1, double input_scale = 1, Site site = Site::here());
[[nodiscard]] Tensor clip(const Input& x, std::optional<Scalar> min, std::optional<Scalar> max = {}, Site site = Site::here());
[[nodiscard]] Tensor concat(const std::vector<Tensor>& tensors, int64_t dim = 0, Site site = Site::here());
[[nodiscard]] Tensor concatenate(const std::vector<Tensor>& tensors, int64_t dim = 0, Site site = Site::here());
[[nodiscard]] Tensor row_stack(const std::vector<Tensor>& tensors, Site site = Site::here());
[[nodiscard]] Tensor moveaxis(const Tensor& x, int64_t source, int64_t destination, Site site = Site::here());
[[nodiscard]] Tensor moveaxis(const Tensor& x, IntArrayRef source, IntArrayRef destination, Site site = Site::here());
[[nodiscard]] Tensor swapdims(const Tensor& x, int64_t dim0, int64_t dim1, Site site = Site::here());
/// Writes `values` into x at the positions that the indices name, as x.index_put_ does.
const Tensor& index_put_(const Tensor& x, const std::vector<indexing::TensorIndex>& indices, const Operand& values, bool accumulate = false,
                         Site site = Site::here());
[[nodiscard]] Tensor ger(const Tensor& a, const Tensor& b, Site site = Site::here());

}  // namespace torch
