// Several tensors into one, and copies that repeat one.
#pragma once

#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace tandem {

/// Joined along an existing dimension; the other sizes must agree.
[[nodiscard]] Tensor cat(const std::vector<Tensor>& tensors, int64_t dim = 0, Site site = Site::here());
/// Joined along a new dimension; all sizes must agree.
[[nodiscard]] Tensor stack(const std::vector<Tensor>& tensors, int64_t dim = 0, Site site = Site::here());
/// Joined sideways (along the second dimension, vectors along their own), downwards (the first), and in depth (the third); column_stack
/// takes vectors as columns. As torch.hstack and so on.
[[nodiscard]] Tensor hstack(const std::vector<Tensor>& tensors, Site site = Site::here());
/// Joined downwards. As torch.vstack.
[[nodiscard]] Tensor vstack(const std::vector<Tensor>& tensors, Site site = Site::here());
/// Joined in depth. As torch.dstack.
[[nodiscard]] Tensor dstack(const std::vector<Tensor>& tensors, Site site = Site::here());
[[nodiscard]] Tensor column_stack(const std::vector<Tensor>& tensors, Site site = Site::here());
/// Matrices of up to two dimensions along the diagonal of one that is zero elsewhere.
[[nodiscard]] Tensor block_diag(const std::vector<Tensor>& tensors, Site site = Site::here());
/// Each vector spread over a grid of all of them: views. `indexing` "xy" swaps the first two dimensions. As torch.meshgrid.
[[nodiscard]] std::vector<Tensor> meshgrid(const std::vector<Tensor>& tensors, std::string_view indexing = "ij", Site site = Site::here());
/// All combinations of one element of each vector, (count, vectors); one vector comes back as it is.
[[nodiscard]] Tensor cartesian_prod(const std::vector<Tensor>& tensors, Site site = Site::here());
/// Copies laid behind each other, `repeats[i]` times along dimension i; more repeats than dimensions add leading ones.
[[nodiscard]] Tensor repeat(const Tensor& x, const Shape& repeats, Site site = Site::here());
/// The same, fewer repeats than dimensions standing for the last ones. As torch.tile.
[[nodiscard]] Tensor tile(const Tensor& x, const Shape& dims, Site site = Site::here());

}  // namespace tandem
