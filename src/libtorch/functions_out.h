// The forms that write into a tensor of the caller's: torch::add_out(out, a, b). They save no memory here: what is computed is copied.
#pragma once

#include <optional>
#include <vector>

#include "libtorch/types.h"
#include "ops/arithmetic.h"
#include "ops/matmul.h"
#include "ops/pointwise.h"

namespace torch {

namespace detail {
/// Writes `result` into `out`, which gets its sizes. Error where `out` is on another device, has a dtype that cannot hold it, or where
/// gradients are recorded: there is no derivative of what is overwritten.
Tensor& write_out(const char* op, Tensor& out, const Tensor& result, tandem::Site site);
}  // namespace detail

#define TANDEM_OUT(name)                                                                              \
  inline Tensor& name##_out(Tensor& out, const Tensor& x, tandem::Site site = tandem::Site::here()) { \
    return detail::write_out(#name "_out", out, tandem::name({x, site}, site), site);                 \
  }
TANDEM_OUT(abs)
TANDEM_OUT(ceil)
TANDEM_OUT(cos)
TANDEM_OUT(erf)
TANDEM_OUT(exp)
TANDEM_OUT(floor)
TANDEM_OUT(log)
TANDEM_OUT(neg)
TANDEM_OUT(reciprocal)
TANDEM_OUT(round)
TANDEM_OUT(rsqrt)
TANDEM_OUT(sigmoid)
TANDEM_OUT(sign)
TANDEM_OUT(sin)
TANDEM_OUT(sqrt)
TANDEM_OUT(tanh)
#undef TANDEM_OUT

#define TANDEM_OUT(name)                                                                                                        \
  inline Tensor& name##_out(Tensor& out, const Tensor& a, const tandem::Operand& b, tandem::Site site = tandem::Site::here()) { \
    return detail::write_out(#name "_out", out, tandem::name(a, b, site), site);                                                \
  }
TANDEM_OUT(div)
TANDEM_OUT(eq)
TANDEM_OUT(ge)
TANDEM_OUT(gt)
TANDEM_OUT(le)
TANDEM_OUT(lt)
TANDEM_OUT(maximum)
TANDEM_OUT(minimum)
TANDEM_OUT(mul)
TANDEM_OUT(ne)
TANDEM_OUT(pow)
#undef TANDEM_OUT

#define TANDEM_OUT(name)                                                                                               \
  inline Tensor& name##_out(Tensor& out, const Tensor& a, const Tensor& b, tandem::Site site = tandem::Site::here()) { \
    return detail::write_out(#name "_out", out, tandem::name(a, b, site), site);                                       \
  }
TANDEM_OUT(bmm)
TANDEM_OUT(matmul)
TANDEM_OUT(mm)
#undef TANDEM_OUT

Tensor& add_out(Tensor& out, const Tensor& a, const tandem::Operand& b, const Scalar& alpha = 1, tandem::Site site = tandem::Site::here());
Tensor& sub_out(Tensor& out, const Tensor& a, const tandem::Operand& b, const Scalar& alpha = 1, tandem::Site site = tandem::Site::here());
Tensor& clamp_out(Tensor& out, const Tensor& x, const std::optional<Scalar>& min, const std::optional<Scalar>& max = {},
                  tandem::Site site = tandem::Site::here());

Tensor& linear_out(Tensor& out, const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias = {},
                   tandem::Site site = tandem::Site::here());

Tensor& cat_out(Tensor& out, const std::vector<Tensor>& tensors, int64_t dim = 0, tandem::Site site = tandem::Site::here());
Tensor& stack_out(Tensor& out, const std::vector<Tensor>& tensors, int64_t dim = 0, tandem::Site site = tandem::Site::here());
Tensor& sum_out(Tensor& out, const Tensor& x, IntArrayRef dims, bool keepdim = false, tandem::Site site = tandem::Site::here());
Tensor& mean_out(Tensor& out, const Tensor& x, IntArrayRef dims, bool keepdim = false, tandem::Site site = tandem::Site::here());

/// Numbers of `out`'s own dtype, on its device.
Tensor& zeros_out(Tensor& out, IntArrayRef sizes, tandem::Site site = tandem::Site::here());
Tensor& ones_out(Tensor& out, IntArrayRef sizes, tandem::Site site = tandem::Site::here());
Tensor& full_out(Tensor& out, IntArrayRef sizes, const Scalar& value, tandem::Site site = tandem::Site::here());
Tensor& arange_out(Tensor& out, const Scalar& start, const Scalar& end, const Scalar& step = 1, tandem::Site site = tandem::Site::here());

}  // namespace torch
