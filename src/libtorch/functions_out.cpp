#include "libtorch/functions_out.h"

#include "autograd/autograd.h"
#include "base/error.h"
#include "ops/creation.h"
#include "ops/join.h"
#include "ops/reduce.h"

namespace torch {

Tensor& detail::write_out(const char* op, Tensor& out, const Tensor& result, tandem::Site site) {
  if ((out.requires_grad() || result.requires_grad()) && tandem::is_grad_enabled())
    tandem::fail("[", op, "] functions with out=... arguments don't support automatic differentiation, but one of the arguments requires ",
                 "grad: call the form that returns a tensor, or compute under torch::NoGradGuard");
  if (out.device() != result.device())
    tandem::fail("[", op, "] Expected out tensor to have device ", result.device(), ", but got ", out.device(), " instead");
  if (!tandem::can_cast(result.dtype(), out.dtype()))
    tandem::fail("[", op, "] result type ", tandem::scalar_name(result.dtype()), " can't be cast to the desired output type ",
                 tandem::scalar_name(out.dtype()));
  const tandem::NoGradGuard no_grad;
  if (out.sizes() != result.sizes()) out.resize_(result.sizes(), site);
  out.copy_(result, false, site);
  return out;
}

using detail::write_out;

Tensor& add_out(Tensor& out, const Tensor& a, const tandem::Operand& b, const Scalar& alpha, tandem::Site site) {
  return write_out("add_out", out, a.add(b, alpha, site), site);
}

Tensor& sub_out(Tensor& out, const Tensor& a, const tandem::Operand& b, const Scalar& alpha, tandem::Site site) {
  return write_out("sub_out", out, a.sub(b, alpha, site), site);
}

Tensor& clamp_out(Tensor& out, const Tensor& x, const std::optional<Scalar>& min, const std::optional<Scalar>& max, tandem::Site site) {
  return write_out("clamp_out", out, tandem::clamp({x, site}, min, max, site), site);
}

Tensor& linear_out(Tensor& out, const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias, tandem::Site site) {
  return write_out("linear_out", out, tandem::linear(x, weight, bias.value_or(Tensor()), site), site);
}

Tensor& cat_out(Tensor& out, const std::vector<Tensor>& tensors, int64_t dim, tandem::Site site) {
  return write_out("cat_out", out, tandem::cat(tensors, dim, site), site);
}

Tensor& stack_out(Tensor& out, const std::vector<Tensor>& tensors, int64_t dim, tandem::Site site) {
  return write_out("stack_out", out, tandem::stack(tensors, dim, site), site);
}

Tensor& sum_out(Tensor& out, const Tensor& x, IntArrayRef dims, bool keepdim, tandem::Site site) {
  return write_out("sum_out", out, tandem::sum(x, dims, keepdim, {}, site), site);
}

Tensor& mean_out(Tensor& out, const Tensor& x, IntArrayRef dims, bool keepdim, tandem::Site site) {
  return write_out("mean_out", out, tandem::mean(x, dims, keepdim, {}, site), site);
}

Tensor& zeros_out(Tensor& out, IntArrayRef sizes, tandem::Site site) { return full_out(out, sizes, 0, site); }

Tensor& ones_out(Tensor& out, IntArrayRef sizes, tandem::Site site) { return full_out(out, sizes, 1, site); }

Tensor& full_out(Tensor& out, IntArrayRef sizes, const Scalar& value, tandem::Site site) {
  return write_out("full_out", out, tandem::full(sizes, value, {.dtype = out.dtype(), .device = out.device()}, site), site);
}

Tensor& arange_out(Tensor& out, const Scalar& start, const Scalar& end, const Scalar& step, tandem::Site site) {
  return write_out("arange_out", out, tandem::arange(start, end, step, {.dtype = out.dtype(), .device = out.device()}, site), site);
}

}  // namespace torch
