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
[[nodiscard]] Tensor mv(const Tensor& a, const Tensor& b, Site site = Site::here());
[[nodiscard]] Tensor dot(const Tensor& a, const Tensor& b, Site site = Site::here());
/// beta * input + alpha * a b; `input` broadcasts to (n, m).
[[nodiscard]] Tensor addmm(const Tensor& input, const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1,
                           Site site = Site::here());
/// x Wᵀ + bias over the last dimension; `weight` is (out, in), `bias` may be undefined. As torch.nn.functional.linear.
[[nodiscard]] Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = Tensor(), Site site = Site::here());
/// linear followed by relu, in one kernel.
[[nodiscard]] Tensor linear_relu(const Tensor& x, const Tensor& weight, const Tensor& bias = Tensor(), Site site = Site::here());
/// Einstein's sum. As torch.einsum.
[[nodiscard]] Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands, Site site = Site::here());

}  // namespace tandem
