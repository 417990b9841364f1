#include "ops/matmul.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "autograd/history.h"
#include "base/error.h"
#include "ops/activation.h"
#include "ops/autocasting.h"
#include "ops/creation.h"
#include "ops/launch.h"
#include "ops/operators.h"
#include "ops/reduce.h"
#include "ops/view.h"

namespace tandem {
namespace {

using autograd::needs_grad;
using autograd::record;
using kernels::Activation;
using kernels::Epilogue;

void check_dtypes(const char* op, const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype())
    fail("[", op, "] expected both tensors to have the same dtype, but got ", scalar_name(a.dtype()), " and ", scalar_name(b.dtype()),
         "; convert one with to()");
  if (a.dtype() == kBool) fail<NotImplementedError>("[", op, "] is not implemented for 'Bool'");
}

/// out = activation(alpha * a b + beta * bias), one kernel call. Views of any batch dimensions.
void product(const char* op, const Tensor& out, const kernels::View& a, const kernels::View& b, const kernels::View& bias,
             Epilogue epilogue, Site site) {
  if (out.numel() == 0) return;
  const kernels::Out to = ops::out(out);
  ops::launch(out, op, site, &kernels::Table::matmul, to, a, b, bias, epilogue,
              ops::kernels_of(out).matmul_workspace(to, a, b, bias, epilogue));
}

/// The last two dimensions of a view, swapped.
kernels::View transposed(kernels::View v) {
  std::swap(v.sizes[v.ndim - 1], v.sizes[v.ndim - 2]);
  std::swap(v.strides[v.ndim - 1], v.strides[v.ndim - 2]);
  return v;
}

/// A view of x expanded to `sizes`, with stride 0 where it is repeated. As it is where x is undefined or has no memory.
kernels::View expanded(const Tensor& x, const Shape& sizes) {
  kernels::View v = ops::view(x);
  if (!v.data) return v;
  kernels::View wide = v;
  wide.ndim = static_cast<int32_t>(sizes.size());
  const int lead = wide.ndim - v.ndim;
  for (int d = 0; d < wide.ndim; ++d) {
    wide.sizes[d] = sizes[static_cast<size_t>(d)];
    wide.strides[d] = d < lead || v.sizes[d - lead] == 1 ? 0 : v.strides[d - lead];
  }
  return wide;
}

/// All dimensions but the last as one.
Tensor as_rows(const Tensor& x, Site site) {
  int64_t rows = 1;
  for (int64_t d = 0; d + 1 < x.dim(); ++d) rows *= x.size(d);
  return x.reshape({rows, x.size(-1)}, site);
}

/// The product of two matrices, of the dtype and device of `like`; records nothing.
Tensor plain_mm(const char* op, const kernels::View& a, const kernels::View& b, const Tensor& like, Site site) {
  Tensor y(TensorImpl::make({a.sizes[0], b.sizes[1]}, like.dtype(), like.device(), /*pinned=*/false, site));
  product(op, y, a, b, {}, {}, site);
  return y;
}

void check_mm(const char* op, const Tensor& a, const Tensor& b) {
  if (a.dim() != 2) fail("[", op, "] mat1 must be a matrix, got ", a.dim(), "-D tensor; matmul() takes tensors of any dimension");
  if (b.dim() != 2) fail("[", op, "] mat2 must be a matrix, got ", b.dim(), "-D tensor; matmul() takes tensors of any dimension");
  if (a.size(1) != b.size(0))
    fail("[", op, "] ", op, ": mat1 and mat2 shapes cannot be multiplied (", a.size(0), "x", a.size(1), " and ", b.size(0), "x", b.size(1),
         "): the first's columns must be as many as the second's rows; transpose one with t(), or reshape it");
}

void check_bmm(const char* op, const Tensor& a, const Tensor& b) {
  if (a.dim() != 3 || b.dim() != 3) fail("[", op, "] batch1 and batch2 must be 3D tensors, but have sizes ", a.sizes(), " and ", b.sizes());
  if (a.size(0) != b.size(0) || a.size(2) != b.size(1))
    fail("[", op, "] Expected size for first two dimensions of batch2 tensor to be: [", a.size(0), ", ", a.size(2), "] but got: [",
         b.size(0), ", ", b.size(1), "]. Transpose one with transpose(1, 2), or reshape it");
}

/// Products with batch dimensions that broadcast, in one kernel call.
Tensor batched(const char* op, const char* grad_fn, const Tensor& a, const Tensor& b, Site site) {
  const auto batch = [](const Tensor& x) { return Shape(x.sizes().data(), x.sizes().size() - 2); };
  const Shape lead = broadcast_shapes(batch(a), batch(b));
  const auto sizes_with = [&lead](int64_t rows, int64_t columns) {
    Shape sizes = lead;
    sizes.push_back(rows);
    sizes.push_back(columns);
    return sizes;
  };
  const int64_t m = a.size(-2), k = a.size(-1), n = b.size(-1);
  Tensor y = empty(sizes_with(m, n), {.dtype = a.dtype(), .device = a.device()}, site);
  product(op, y, expanded(a, sizes_with(m, k)), expanded(b, sizes_with(k, n)), {}, {}, site);
  if (!needs_grad(a, b)) return y;
  return record(grad_fn, y, {a, b}, site, [a = autograd::saved(a), b = autograd::saved(b), site](const Tensor& g, autograd::Wanted wanted) {
    std::array<Tensor, 2> gradients;
    const Tensor left = a.get(), right = b.get();
    if (wanted[0]) gradients[0] = sum_to_size(matmul(g, right.transpose(-1, -2), site), left.sizes());
    if (wanted[1]) gradients[1] = sum_to_size(matmul(left.transpose(-1, -2), g, site), right.sizes());
    return gradients;
  });
}

/// activation(x weightᵀ + bias), for x (n, k) and weight (m, k). Gradients are right for relu and for no activation: with gelu the caller
/// must see to it that none is recorded.
Tensor linear_matrix(const Tensor& x, const Tensor& weight, const Tensor& bias, Activation activation, Site site) {
  const char* op = bias.defined() ? "addmm" : "mm";
  ops::check_same_device(op, x, "mat1", weight, "mat2");
  if (bias.defined()) ops::check_same_device(op, bias, "self", weight, "mat2");
  check_dtypes("linear", x, weight);
  if (weight.dim() != 2) fail("[linear] weight must be a matrix (out_features, in_features), but has sizes ", weight.sizes());
  if (x.size(1) != weight.size(1))
    fail("[linear] ", op, ": mat1 and mat2 shapes cannot be multiplied (", x.size(0), "x", x.size(1), " and ", weight.size(1), "x",
         weight.size(0), "): the last size of the input must be in_features, ", weight.size(1));
  const Shape sizes{x.size(0), weight.size(0)};
  if (bias.defined()) {
    check_dtypes("linear", x, bias);
    if (!(broadcast_shapes(bias.sizes(), sizes) == sizes))
      fail("[linear] bias of sizes ", bias.sizes(), " does not fit the result ", sizes);
  }
  Tensor y(TensorImpl::make(sizes, x.dtype(), x.device(), /*pinned=*/false, site));
  product(op, y, ops::view(x), transposed(ops::view(weight)), bias.defined() ? expanded(bias, sizes) : kernels::View{},
          {.activation = activation}, site);
  if (!needs_grad(x, weight, bias)) return y;
  const bool relu = activation == Activation::Relu;
  return record(relu             ? "ReluBackward0"
                : bias.defined() ? "AddmmBackward0"
                                 : "MmBackward0",
                y, {x, weight, bias}, site,
                [x = autograd::saved(x), weight = autograd::saved(weight), y = relu ? autograd::saved_output(y) : autograd::SavedTensor(),
                 bias_sizes = bias.defined() ? bias.sizes() : Shape(),
                 site](const Tensor& gradient, autograd::Wanted wanted, const autograd::Node* node) {
                  std::array<Tensor, 3> gradients;
                  const Tensor g = y.defined() ? threshold_backward(gradient, y.get(node), 0, site) : gradient;
                  if (wanted[0]) gradients[0] = mm(g, weight.get(), site);
                  if (wanted[1]) gradients[1] = mm(g.t(), x.get(), site);
                  if (wanted[2]) gradients[2] = sum_to_size(g, bias_sizes, site);
                  return gradients;
                });
}

/// The same for x (…, k) of any number of dimensions but 0.
Tensor linear_any(const Tensor& x, const Tensor& weight, const Tensor& bias, Activation activation, Site site) {
  if (x.dim() == 2) return linear_matrix(x, weight, bias, activation, site);
  if (x.dim() == 0) fail("[linear] input must have at least one dimension");
  Shape sizes = x.sizes();
  const Tensor y = linear_matrix(as_rows(x, site), weight, bias, activation, site);
  sizes[sizes.size() - 1] = y.size(1);
  return y.view(sizes, site);
}

}  // namespace

Tensor mm(const Tensor& a, const Tensor& b, Site site) {
  if (const ops::Cast cast("mm", site, a, b); cast) return mm(cast(a), cast(b), site);
  ops::check_same_device("mm", a, "self", b, "mat2");
  check_mm("mm", a, b);
  check_dtypes("mm", a, b);
  Tensor y = plain_mm("mm", ops::view(a), ops::view(b), a, site);
  if (!needs_grad(a, b)) return y;
  return record("MmBackward0", y, {a, b}, site,
                [a = autograd::saved(a), b = autograd::saved(b), site](const Tensor& g, autograd::Wanted wanted) {
                  std::array<Tensor, 2> gradients;
                  if (wanted[0]) gradients[0] = mm(g, b.get().t(), site);
                  if (wanted[1]) gradients[1] = mm(a.get().t(), g, site);
                  return gradients;
                });
}

Tensor bmm(const Tensor& a, const Tensor& b, Site site) {
  if (const ops::Cast cast("bmm", site, a, b); cast) return bmm(cast(a), cast(b), site);
  ops::check_same_device("bmm", a, "self", b, "mat2");
  check_bmm("bmm", a, b);
  check_dtypes("bmm", a, b);
  return batched("bmm", "BmmBackward0", a, b, site);
}

Tensor matmul(const Tensor& a, const Tensor& b, Site site) {
  if (const ops::Cast cast("matmul", site, a, b); cast) return matmul(cast(a), cast(b), site);
  if (a.dim() == 0 || b.dim() == 0)
    fail("[matmul] both arguments to matmul need to be at least 1D, but they are ", a.dim(), "D and ", b.dim(), "D");
  if (a.dim() == 2 && b.dim() == 2) return mm(a, b, site);
  ops::check_same_device("matmul", a, "self", b, "mat2");
  check_dtypes("matmul", a, b);
  const int64_t inner = b.dim() == 1 ? b.size(0) : b.size(-2);
  if (a.size(-1) != inner) {
    if (a.dim() == 1 && b.dim() == 1)
      fail("[matmul] inconsistent tensor size, expected tensor [", a.numel(), "] and src [", b.numel(),
           "] to have the same number of elements, but got ", a.numel(), " and ", b.numel(), " elements respectively");
    if (a.dim() == 2 && b.dim() == 1)
      fail("[matmul] size mismatch, got input (", a.size(0), "), mat (", a.size(0), "x", a.size(1), "), vec (", b.size(0), ")");
    if (a.dim() <= 2 && b.dim() <= 2)
      fail("[matmul] mm: mat1 and mat2 shapes cannot be multiplied (", a.dim() == 1 ? 1 : a.size(0), "x", a.size(-1), " and ", inner, "x",
           b.dim() == 1 ? 1 : b.size(1), ")");
    fail("[matmul] Last dimension of first input with shape ", a.sizes(),
         " must match second to last dimension of second input with shape ", b.sizes());
  }
  if (a.dim() == 1 && b.dim() == 1) return dot(a, b, site);
  if (a.dim() == 1) return matmul(a.unsqueeze(0, site), b, site).squeeze(-2, site);
  if (b.dim() == 1) {
    const Tensor y = matmul(a, b.unsqueeze(1, site), site).squeeze(-1, site);
    return a.dim() == 2 ? autograd::called(y, "MvBackward0") : y;
  }
  if (b.dim() == 2 && a.is_contiguous()) {  // all rows of the batch times one matrix: a single product
    Shape sizes = a.sizes();
    sizes[sizes.size() - 1] = b.size(1);
    return mm(as_rows(a, site), b, site).view(sizes, site);
  }
  return batched("matmul", "UnsafeViewBackward0", a, b, site);
}

Tensor mv(const Tensor& a, const Tensor& b, Site site) {
  if (const ops::Cast cast("mv", site, a, b); cast) return mv(cast(a), cast(b), site);
  if (a.dim() != 2 || b.dim() != 1) fail("[mv] vector + matrix @ vector expected, got ", a.dim(), ", ", b.dim());
  return matmul(a, b, site);
}

Tensor dot(const Tensor& a, const Tensor& b, Site site) {
  if (const ops::Cast cast("dot", site, a, b); cast) return dot(cast(a), cast(b), site);
  if (a.dim() != 1 || b.dim() != 1) fail("[dot] 1D tensors expected, but got ", a.dim(), "D and ", b.dim(), "D tensors");
  if (a.numel() != b.numel())
    fail("[dot] inconsistent tensor size, expected tensor [", a.numel(), "] and src [", b.numel(),
         "] to have the same number of elements, but got ", a.numel(), " and ", b.numel(), " elements respectively");
  return autograd::called(mm(a.unsqueeze(0, site), b.unsqueeze(1, site), site).view({}, site), "DotBackward0");
}

namespace {

/// Records y = beta * input + alpha * a b. a and b may have a batch dimension that y has not: y is then the sum over it.
Tensor recorded_sum(const char* grad_fn, const Tensor& y, const Tensor& input, const Tensor& a, const Tensor& b, double beta, double alpha,
                    Site site) {
  if (!needs_grad(input, a, b)) return y;
  return record(
      grad_fn, y, {input, a, b}, site,
      [from = input.sizes(), a = autograd::saved(a), b = autograd::saved(b), alpha, beta, site](const Tensor& g, autograd::Wanted wanted) {
        const auto times = [](const Tensor& x, double factor) { return factor == 1 ? x : x * factor; };
        std::array<Tensor, 3> gradients;
        if (wanted[0]) gradients[0] = sum_to_size(times(g, beta), from);
        if (wanted[1]) gradients[1] = times(matmul(g, b.get().mT(), site), alpha);
        if (wanted[2]) gradients[2] = times(matmul(a.get().mT(), g, site), alpha);
        return gradients;
      });
}

/// beta or alpha as a number; for integer dtypes its fraction is cut off.
double factor_of(DType dtype, const Scalar& given) { return is_floating(dtype) ? given.to<double>() : std::trunc(given.to<double>()); }

/// beta * input + alpha * a b of matrices, or of batches of them with the same leading sizes; `input` broadcasts to the result.
Tensor add_product(const char* op, const char* grad_fn, const Tensor& input, const Tensor& a, const Tensor& b, const Scalar& beta_given,
                   const Scalar& alpha_given, Site site) {
  ops::check_same_device(op, input, "self", a, "mat1");
  check_dtypes(op, a, b);
  check_dtypes(op, input, a);
  const double beta = factor_of(a.dtype(), beta_given), alpha = factor_of(a.dtype(), alpha_given);
  Shape sizes = a.sizes();
  sizes[sizes.size() - 1] = b.size(-1);
  if (!(broadcast_shapes(input.sizes(), sizes) == sizes))
    fail("[", op, "] The expanded size of the tensor must match: input of sizes ", input.sizes(), " does not broadcast to ", sizes);
  Tensor y = empty(sizes, {.dtype = a.dtype(), .device = a.device()}, site);
  product(op, y, ops::view(a), ops::view(b), beta == 0 ? kernels::View{} : expanded(input, sizes), {.alpha = alpha, .beta = beta}, site);
  return recorded_sum(grad_fn, y, input, a, b, beta, alpha, site);
}

}  // namespace

void ops::check_factors(const char* op, DType dtype, const Scalar& beta, const Scalar& alpha) {
  if (is_floating(dtype)) return;
  for (const auto& [name, factor] : {std::pair("beta", beta), std::pair("alpha", alpha)})
    if (factor.is_floating()) fail("[", op, "] For integral input tensors, argument ", name, " must not be a floating point number.");
}

Tensor addmm(const Tensor& input, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha, Site site) {
  if (const ops::Cast cast("addmm", site, input, a, b); cast) return addmm(cast(input), cast(a), cast(b), beta, alpha, site);
  ops::check_same_device("addmm", a, "mat1", b, "mat2");
  check_mm("addmm", a, b);
  ops::check_factors("addmm", a.dtype(), beta, alpha);
  return add_product("addmm", "AddmmBackward0", input, a, b, beta, alpha, site);
}

Tensor addbmm(const Tensor& input, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha, Site site) {
  if (const ops::Cast cast("addbmm", site, input, a, b); cast) return addbmm(cast(input), cast(a), cast(b), beta, alpha, site);
  ops::check_same_device("addbmm", a, "batch1", b, "batch2");
  check_bmm("addbmm", a, b);
  const double times_input = factor_of(a.dtype(), beta), times_product = factor_of(a.dtype(), alpha);
  Tensor y;
  {
    const NoGradGuard no_grad;
    // The matrices beside and below each other: one product sums over the batch too.
    const Tensor wide = a.transpose(0, 1, site).reshape({a.size(1), a.size(0) * a.size(2)}, site);
    const Tensor tall = b.reshape({b.size(0) * b.size(1), b.size(2)}, site);
    y = add_product("addbmm", "", input, wide, tall, times_input, times_product, site);
  }
  return recorded_sum("AddbmmBackward0", y, input, a, b, times_input, times_product, site);
}

Tensor baddbmm(const Tensor& input, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha, Site site) {
  if (const ops::Cast cast("baddbmm", site, input, a, b); cast) return baddbmm(cast(input), cast(a), cast(b), beta, alpha, site);
  ops::check_same_device("baddbmm", a, "batch1", b, "batch2");
  check_bmm("baddbmm", a, b);
  return add_product("baddbmm", "BaddbmmBackward0", input, a, b, beta, alpha, site);
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, Site site) {
  if (const ops::Cast cast("linear", site, x, weight, bias); cast) return linear(cast(x), cast(weight), cast(bias), site);
  if (weight.dim() != 1) return linear_any(x, weight, bias, Activation::None, site);
  const Tensor y = matmul(x, weight, site);  // a single output, without a dimension of its own
  return bias.defined() ? add(y, bias, site) : y;
}
Tensor linear_relu(const Tensor& x, const Tensor& weight, const Tensor& bias, Site site) {
  if (const ops::Cast cast("linear_relu", site, x, weight, bias); cast) return linear_relu(cast(x), cast(weight), cast(bias), site);
  return linear_any(x, weight, bias, Activation::Relu, site);
}
Tensor linear_gelu(const Tensor& x, const Tensor& weight, const Tensor& bias, Site site) {
  if (const ops::Cast cast("linear_gelu", site, x, weight, bias); cast) return linear_gelu(cast(x), cast(weight), cast(bias), site);
  if (!is_floating(x.dtype()))
    fail<NotImplementedError>("[linear_gelu] is not implemented for '", scalar_name(x.dtype()), "'; convert with to(kFloat32)");
  if (needs_grad(x, weight, bias)) return gelu(linear(x, weight, bias, site), "tanh", site);
  return linear_any(x, weight, bias, Activation::Gelu, site);
}

Tensor Tensor::matmul(const Tensor& other, Site site) const { return tandem::matmul(*this, other, site); }
Tensor Tensor::mm(const Tensor& other, Site site) const { return tandem::mm(*this, other, site); }
Tensor Tensor::bmm(const Tensor& other, Site site) const { return tandem::bmm(*this, other, site); }
Tensor Tensor::mv(const Tensor& other, Site site) const { return tandem::mv(*this, other, site); }
Tensor Tensor::dot(const Tensor& other, Site site) const { return tandem::dot(*this, other, site); }

}  // namespace tandem
