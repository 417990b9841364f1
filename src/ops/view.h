// Views: other sizes and strides over the same storage. No element moves, except where reshape must copy.
#pragma once

#include "tensor/tensor.h"

namespace tandem {

/// Other sizes, of as many elements; one may be -1. A view where the strides allow it, else a copy. As torch.reshape.
[[nodiscard]] Tensor reshape(const Tensor& x, const Shape& sizes, Site site = Site::here());
/// Dimensions start_dim to end_dim as one. As torch.flatten.
[[nodiscard]] Tensor flatten(const Tensor& x, int64_t start_dim = 0, int64_t end_dim = -1, Site site = Site::here());
/// Dimension `dim` as several, of `sizes`; one of them may be -1.
[[nodiscard]] Tensor unflatten(const Tensor& x, int64_t dim, const Shape& sizes, Site site = Site::here());
/// As one dimension.
[[nodiscard]] Tensor ravel(const Tensor& x, Site site = Site::here());
/// With at least one, two or three dimensions. As torch.atleast_1d and so on.
[[nodiscard]] Tensor atleast_1d(const Tensor& x, Site site = Site::here());
[[nodiscard]] Tensor atleast_2d(const Tensor& x, Site site = Site::here());
[[nodiscard]] Tensor atleast_3d(const Tensor& x, Site site = Site::here());
[[nodiscard]] std::vector<Tensor> atleast_1d(const std::vector<Tensor>& tensors, Site site = Site::here());
[[nodiscard]] std::vector<Tensor> atleast_2d(const std::vector<Tensor>& tensors, Site site = Site::here());
[[nodiscard]] std::vector<Tensor> atleast_3d(const std::vector<Tensor>& tensors, Site site = Site::here());
/// Without the dimensions of size 1. As torch.squeeze.
[[nodiscard]] Tensor squeeze(const Tensor& x, Site site = Site::here());
[[nodiscard]] Tensor squeeze(const Tensor& x, Integer auto dim, Site site = Site::here()) { return x.squeeze(dim, site); }
/// Without those of `dims` that have size 1.
[[nodiscard]] Tensor squeeze(const Tensor& x, const Shape& dims, Site site = Site::here());
/// With a new dimension of size 1 at `dim`. As torch.unsqueeze.
[[nodiscard]] Tensor unsqueeze(const Tensor& x, int64_t dim, Site site = Site::here());
/// Two dimensions change places. As torch.transpose.
[[nodiscard]] Tensor transpose(const Tensor& x, int64_t dim0, int64_t dim1, Site site = Site::here());
/// As transpose.
[[nodiscard]] Tensor swapaxes(const Tensor& x, int64_t axis0, int64_t axis1, Site site = Site::here());
/// A matrix transposed; a vector as it is. As torch.t.
[[nodiscard]] Tensor t(const Tensor& x, Site site = Site::here());
/// The dimensions in another order. As torch.permute.
[[nodiscard]] Tensor permute(const Tensor& x, const Shape& dims, Site site = Site::here());
/// Dimensions to other places; the others keep their order. As torch.movedim.
[[nodiscard]] Tensor movedim(const Tensor& x, int64_t source, int64_t destination, Site site = Site::here());
[[nodiscard]] Tensor movedim(const Tensor& x, const Shape& source, const Shape& destination, Site site = Site::here());
/// Dimensions of size 1 repeated to `sizes`, without a copy. As torch.broadcast_to.
[[nodiscard]] Tensor broadcast_to(const Tensor& x, const Shape& sizes, Site site = Site::here());
/// All of them expanded to the sizes they broadcast to.
[[nodiscard]] std::vector<Tensor> broadcast_tensors(const std::vector<Tensor>& tensors, Site site = Site::here());
/// `length` elements of a dimension, from `start`. As torch.narrow.
[[nodiscard]] Tensor narrow(const Tensor& x, int64_t dim, int64_t start, int64_t length, Site site = Site::here());
/// Waits for the device that holds `start`, a 0-dim integer tensor.
[[nodiscard]] Tensor narrow(const Tensor& x, int64_t dim, const Tensor& start, int64_t length, Site site = Site::here());
/// One element of a dimension, which falls away. As torch.select.
[[nodiscard]] Tensor select(const Tensor& x, int64_t dim, int64_t index, Site site = Site::here());
/// The diagonal of two dimensions, as the last one. As torch.diagonal.
[[nodiscard]] Tensor diagonal(const Tensor& x, int64_t offset = 0, int64_t dim1 = 0, int64_t dim2 = 1, Site site = Site::here());
/// New tensors, zero but for x on diagonals: over two new dimensions; a vector's, or a copy of a matrix's diagonal; all of x's elements'.
[[nodiscard]] Tensor diag_embed(const Tensor& x, int64_t offset = 0, int64_t dim1 = -2, int64_t dim2 = -1, Site site = Site::here());
/// A matrix with the vector x on a diagonal; of a matrix the diagonal, copied. As torch.diag.
[[nodiscard]] Tensor diag(const Tensor& x, int64_t diagonal = 0, Site site = Site::here());
/// A matrix with all elements of x on a diagonal. As torch.diagflat.
[[nodiscard]] Tensor diagflat(const Tensor& x, int64_t offset = 0, Site site = Site::here());
/// Sizes and strides of your own over the same storage. Error where they reach outside. As torch.as_strided.
[[nodiscard]] Tensor as_strided(const Tensor& x, const Shape& sizes, const Shape& strides, std::optional<int64_t> offset = {},
                                Site site = Site::here());
/// At most `chunks` parts of the same size along a dimension, the last one smaller. As torch.chunk.
[[nodiscard]] std::vector<Tensor> chunk(const Tensor& x, int64_t chunks, int64_t dim = 0, Site site = Site::here());
/// Parts of `size` elements along a dimension, the last one smaller; or of the given sizes. As torch.split.
[[nodiscard]] std::vector<Tensor> split(const Tensor& x, Integer auto size, int64_t dim = 0, Site site = Site::here()) {
  return x.split(size, dim, site);
}
[[nodiscard]] std::vector<Tensor> split(const Tensor& x, const Shape& sizes, int64_t dim = 0, Site site = Site::here());
/// `sections` parts, the first ones one longer where it does not divide; or cut before each of `indices`. A tensor of either waits for its
/// device. As torch.tensor_split.
[[nodiscard]] std::vector<Tensor> tensor_split(const Tensor& x, Integer auto sections, int64_t dim = 0, Site site = Site::here()) {
  return x.tensor_split(sections, dim, site);
}
[[nodiscard]] std::vector<Tensor> tensor_split(const Tensor& x, const Shape& indices, int64_t dim = 0, Site site = Site::here());
[[nodiscard]] std::vector<Tensor> tensor_split(const Tensor& x, const Tensor& indices_or_sections, int64_t dim = 0,
                                               Site site = Site::here());
namespace detail {
std::vector<Tensor> hsplit(const Tensor& x, int64_t sections, Site site);
std::vector<Tensor> vsplit(const Tensor& x, int64_t sections, Site site);
std::vector<Tensor> dsplit(const Tensor& x, int64_t sections, Site site);
}  // namespace detail
/// tensor_split along columns, rows and depth; `sections` must divide the size.
[[nodiscard]] std::vector<Tensor> hsplit(const Tensor& x, Integer auto sections, Site site = Site::here()) {
  return detail::hsplit(x, int64_t(sections), site);
}
[[nodiscard]] std::vector<Tensor> hsplit(const Tensor& x, const Shape& indices, Site site = Site::here());
/// tensor_split along rows.
[[nodiscard]] std::vector<Tensor> vsplit(const Tensor& x, Integer auto sections, Site site = Site::here()) {
  return detail::vsplit(x, int64_t(sections), site);
}
[[nodiscard]] std::vector<Tensor> vsplit(const Tensor& x, const Shape& indices, Site site = Site::here());
/// tensor_split along depth.
[[nodiscard]] std::vector<Tensor> dsplit(const Tensor& x, Integer auto sections, Site site = Site::here()) {
  return detail::dsplit(x, int64_t(sections), site);
}
[[nodiscard]] std::vector<Tensor> dsplit(const Tensor& x, const Shape& indices, Site site = Site::here());
/// The elements of a dimension, one by one. As torch.unbind.
[[nodiscard]] std::vector<Tensor> unbind(const Tensor& x, int64_t dim = 0, Site site = Site::here());

/// The sizes two broadcast to, by PyTorch's rules. Error names both sizes and the dimension.
[[nodiscard]] Shape broadcast_shapes(const Shape& a, const Shape& b);
/// Whether a tensor of sizes `from` can be expanded to `to`.
[[nodiscard]] bool can_expand(const Shape& from, const Shape& to);
/// Sums `x` down to `sizes`, which broadcast to its own: the gradient of broadcasting.
[[nodiscard]] Tensor sum_to_size(const Tensor& x, const Shape& sizes, Site site = Site::here());
/// g at a slice of a tensor of `sizes` that is zero elsewhere: the gradient of slicing.
[[nodiscard]] Tensor slice_backward(const Tensor& g, const Shape& sizes, int64_t dim, std::optional<int64_t> start,
                                    std::optional<int64_t> end, int64_t step, Site site = Site::here());
/// g added at the view `part` of a tensor of `sizes` that is zero elsewhere: the gradient of a view whose elements lie apart.
[[nodiscard]] Tensor scatter_view(const Tensor& g, const Shape& sizes, const std::function<Tensor(const Tensor&)>& part);

}  // namespace tandem
