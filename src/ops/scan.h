// Running totals along a dimension, differences, and integrals made of them.
#pragma once

#include "tensor/tensor.h"

namespace tandem {

/// Running sums and products; integers and bools are int64 unless `dtype` says otherwise. As torch.cumsum, torch.cumprod.
[[nodiscard]] Tensor cumsum(const Tensor& x, int64_t dim, std::optional<DType> dtype = {}, Site site = Site::here());
[[nodiscard]] Tensor cumprod(const Tensor& x, int64_t dim, std::optional<DType> dtype = {}, Site site = Site::here());
/// The largest (smallest) element so far and the latest index at which it was; nan wins. As torch.cummax, torch.cummin.
[[nodiscard]] ValuesIndices cummax(const Tensor& x, int64_t dim, Site site = Site::here());
[[nodiscard]] ValuesIndices cummin(const Tensor& x, int64_t dim, Site site = Site::here());
/// log(cumsum(exp(x))) that does not overflow. Floating dtypes. As torch.logcumsumexp.
[[nodiscard]] Tensor logcumsumexp(const Tensor& x, int64_t dim, Site site = Site::here());

/// Each element minus the one before it, `n` times over; `prepend` and `append`, where defined, are joined to x first. Of bools: whether
/// they differ. As torch.diff.
[[nodiscard]] Tensor diff(const Tensor& x, int64_t n = 1, int64_t dim = -1, const Tensor& prepend = Tensor(),
                          const Tensor& append = Tensor(), Site site = Site::here());
/// The integral of y by the trapezoidal rule, with points `dx` apart, or at `x` (of y's sizes, or a vector along `dim`). As
/// torch.trapezoid, which is torch.trapz too.
[[nodiscard]] Tensor trapezoid(const Tensor& y, double dx = 1, int64_t dim = -1, Site site = Site::here());
[[nodiscard]] Tensor trapezoid(const Tensor& y, const Tensor& x, int64_t dim = -1, Site site = Site::here());
[[nodiscard]] Tensor trapz(const Tensor& y, double dx = 1, int64_t dim = -1, Site site = Site::here());
[[nodiscard]] Tensor trapz(const Tensor& y, const Tensor& x, int64_t dim = -1, Site site = Site::here());

}  // namespace tandem
