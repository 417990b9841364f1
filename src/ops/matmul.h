// Products of matrices, vectors and batches of them.
#pragma once

#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace tandem {

/// (n, k) by (k, m).
[[nodiscard]] Tensor mm(const Tensor& a, const Tensor& b, Site site = Site::here());
/// (b, n, k) by (b, k, m).
[[nodiscard]] Tensor bmm(const Tensor& a, const Tensor& b, Site site = Site::here());
/// By PyTorch's rules: vectors, matrices, and batches that broadcast. As torch.matmul.
[[nodiscard]] Tensor matmul(const Tensor& a, const Tensor& b, Site site = Site::here());
/// A matrix times a vector. As torch.mv.
[[nodiscard]] Tensor mv(const Tensor& a, const Tensor& b, Site site = Site::here());
/// The sum of products of two vectors. As torch.dot.
[[nodiscard]] Tensor dot(const Tensor& a, const Tensor& b, Site site = Site::here());
/// beta * input + alpha * a b; `input` broadcasts to (n, m), and is not read where beta is 0. For integer tensors beta and alpha must be
/// integers here; baddbmm, addbmm and addmv cut them off.
[[nodiscard]] Tensor addmm(const Tensor& input, const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1,
                           Site site = Site::here());
/// The same of batches: (b, n, k) by (b, k, m).
[[nodiscard]] Tensor baddbmm(const Tensor& input, const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1,
                             Site site = Site::here());
/// beta * input + alpha * the sum of all products of a batch.
[[nodiscard]] Tensor addbmm(const Tensor& input, const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1,
                            Site site = Site::here());
/// x Wᵀ + bias over the last dimension; `weight` is (out, in), `bias` may be undefined. As torch.nn.functional.linear.
[[nodiscard]] Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = Tensor(), Site site = Site::here());
/// linear followed by relu, in one kernel.
[[nodiscard]] Tensor linear_relu(const Tensor& x, const Tensor& weight, const Tensor& bias = Tensor(), Site site = Site::here());
/// linear followed by gelu(…, "tanh"), in one kernel where no gradient is recorded: the gradient needs what lies between, and half types
/// round it then. Floating dtypes.
[[nodiscard]] Tensor linear_gelu(const Tensor& x, const Tensor& weight, const Tensor& bias = Tensor(), Site site = Site::here());
/// Einstein's sum. As torch.einsum.
/// Letters, upper and lower case, name dimensions; those of one letter must agree or be 1; "..." stands for any further ones, which
/// broadcast.
[[nodiscard]] Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands, Site site = Site::here());

namespace ops {
/// Error where beta or alpha is floating and the tensors are not. For the library.
void check_factors(const char* op, DType dtype, const Scalar& beta, const Scalar& alpha);
}  // namespace ops

}  // namespace tandem
