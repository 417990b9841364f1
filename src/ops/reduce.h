// Reductions over all elements or over dimensions, running sums, sorting.
#pragma once

#include "tensor/tensor.h"

namespace tandem {

[[nodiscard]] Tensor sum(const Tensor& x, Site site = Site::here());
[[nodiscard]] Tensor sum(const Tensor& x, const Shape& dims, bool keepdim = false, Site site = Site::here());
[[nodiscard]] Tensor mean(const Tensor& x, Site site = Site::here());
[[nodiscard]] Tensor mean(const Tensor& x, const Shape& dims, bool keepdim = false, Site site = Site::here());
[[nodiscard]] Tensor prod(const Tensor& x, Site site = Site::here());
[[nodiscard]] Tensor max(const Tensor& x, Site site = Site::here());
[[nodiscard]] ValuesIndices max(const Tensor& x, int64_t dim, bool keepdim = false, Site site = Site::here());
[[nodiscard]] Tensor min(const Tensor& x, Site site = Site::here());
[[nodiscard]] ValuesIndices min(const Tensor& x, int64_t dim, bool keepdim = false, Site site = Site::here());
[[nodiscard]] Tensor amax(const Tensor& x, const Shape& dims = {}, bool keepdim = false, Site site = Site::here());
[[nodiscard]] Tensor amin(const Tensor& x, const Shape& dims = {}, bool keepdim = false, Site site = Site::here());
[[nodiscard]] Tensor argmax(const Tensor& x, std::optional<int64_t> dim = {}, bool keepdim = false, Site site = Site::here());
[[nodiscard]] Tensor argmin(const Tensor& x, std::optional<int64_t> dim = {}, bool keepdim = false, Site site = Site::here());
[[nodiscard]] Tensor all(const Tensor& x, Site site = Site::here());
[[nodiscard]] Tensor any(const Tensor& x, Site site = Site::here());
[[nodiscard]] Tensor var(const Tensor& x, const Shape& dims, double correction = 1, bool keepdim = false, Site site = Site::here());
[[nodiscard]] Tensor std(const Tensor& x, const Shape& dims, double correction = 1, bool keepdim = false, Site site = Site::here());
/// The p-norm over all elements (p = 2: Frobenius). p may be infinity.
[[nodiscard]] Tensor norm(const Tensor& x, double p = 2, Site site = Site::here());
[[nodiscard]] Tensor norm(const Tensor& x, double p, const Shape& dims, bool keepdim = false, Site site = Site::here());
[[nodiscard]] Tensor cumsum(const Tensor& x, int64_t dim, Site site = Site::here());
[[nodiscard]] ValuesIndices sort(const Tensor& x, int64_t dim = -1, bool descending = false, Site site = Site::here());
[[nodiscard]] Tensor argsort(const Tensor& x, int64_t dim = -1, bool descending = false, Site site = Site::here());
[[nodiscard]] ValuesIndices topk(const Tensor& x, int64_t k, int64_t dim = -1, bool largest = true, bool sorted = true,
                                 Site site = Site::here());

/// Whether both have the same sizes and the same values. Waits for the devices. As torch.equal.
[[nodiscard]] bool equal(const Tensor& a, const Tensor& b, Site site = Site::here());
/// Whether |a - b| <= atol + rtol * |b| everywhere. Waits for the devices. As torch.allclose.
[[nodiscard]] bool allclose(const Tensor& a, const Tensor& b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false,
                            Site site = Site::here());

}  // namespace tandem
