// Views: other sizes and strides over the same storage. No element moves, except where reshape must copy.
#pragma once

#include "tensor/tensor.h"

namespace tandem {

[[nodiscard]] Tensor reshape(const Tensor& x, const Shape& sizes, Site site = Site::here());
[[nodiscard]] Tensor flatten(const Tensor& x, int64_t start_dim = 0, int64_t end_dim = -1, Site site = Site::here());
[[nodiscard]] Tensor squeeze(const Tensor& x, Site site = Site::here());
[[nodiscard]] Tensor squeeze(const Tensor& x, int64_t dim, Site site = Site::here());
[[nodiscard]] Tensor unsqueeze(const Tensor& x, int64_t dim, Site site = Site::here());
[[nodiscard]] Tensor transpose(const Tensor& x, int64_t dim0, int64_t dim1, Site site = Site::here());
[[nodiscard]] Tensor t(const Tensor& x, Site site = Site::here());
[[nodiscard]] Tensor permute(const Tensor& x, const Shape& dims, Site site = Site::here());
[[nodiscard]] Tensor movedim(const Tensor& x, int64_t source, int64_t destination, Site site = Site::here());
[[nodiscard]] Tensor broadcast_to(const Tensor& x, const Shape& sizes, Site site = Site::here());
[[nodiscard]] Tensor narrow(const Tensor& x, int64_t dim, int64_t start, int64_t length, Site site = Site::here());
[[nodiscard]] Tensor select(const Tensor& x, int64_t dim, int64_t index, Site site = Site::here());
[[nodiscard]] Tensor diagonal(const Tensor& x, int64_t offset = 0, int64_t dim1 = 0, int64_t dim2 = 1, Site site = Site::here());
[[nodiscard]] Tensor as_strided(const Tensor& x, const Shape& sizes, const Shape& strides, std::optional<int64_t> offset = {},
                                Site site = Site::here());
[[nodiscard]] std::vector<Tensor> chunk(const Tensor& x, int64_t chunks, int64_t dim = 0, Site site = Site::here());
[[nodiscard]] std::vector<Tensor> split(const Tensor& x, int64_t size, int64_t dim = 0, Site site = Site::here());
[[nodiscard]] std::vector<Tensor> split(const Tensor& x, const Shape& sizes, int64_t dim = 0, Site site = Site::here());
[[nodiscard]] std::vector<Tensor> unbind(const Tensor& x, int64_t dim = 0, Site site = Site::here());

/// The sizes two broadcast to, by PyTorch's rules. Error names both sizes and the dimension.
[[nodiscard]] Shape broadcast_shapes(const Shape& a, const Shape& b);
/// Sums `x` down to `sizes`, which broadcast to its own: the gradient of broadcasting.
[[nodiscard]] Tensor sum_to_size(const Tensor& x, const Shape& sizes, Site site = Site::here());
/// g at a slice of a tensor of `sizes` that is zero elsewhere: the gradient of slicing.
[[nodiscard]] Tensor slice_backward(const Tensor& g, const Shape& sizes, int64_t dim, std::optional<int64_t> start,
                                    std::optional<int64_t> end, int64_t step, Site site = Site::here());
/// g added at the view `part` of a tensor of `sizes` that is zero elsewhere: the gradient of any view.
[[nodiscard]] Tensor scatter_view(const Tensor& g, const Shape& sizes, const std::function<Tensor(const Tensor&)>& part);

}  // namespace tandem
