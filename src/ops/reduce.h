// Reductions over all elements or over dimensions. `dims` may be left empty for all of them; keepdim leaves them at size 1.
#pragma once

#include "tensor/tensor.h"

namespace tandem {

// What the templates below stand for.
namespace detail {
Tensor sum(const Tensor& x, DType dtype, Site site);
Tensor mean(const Tensor& x, DType dtype, Site site);
Tensor prod(const Tensor& x, DType dtype, Site site);
}  // namespace detail

/// Integers and bools are added up as int64, unless `dtype` says otherwise. As torch.sum.
[[nodiscard]] Tensor sum(const Tensor& x, Site site = Site::here());
[[nodiscard]] Tensor sum(const Tensor& x, ExactlyDType auto dtype, Site site = Site::here()) { return detail::sum(x, dtype, site); }
[[nodiscard]] Tensor sum(const Tensor& x, const Shape& dims, Flag keepdim = false, std::optional<DType> dtype = {},
                         Site site = Site::here());
/// The sum of the elements that are not nan. As torch.nansum.
[[nodiscard]] Tensor nansum(const Tensor& x, const Shape& dims = {}, Flag keepdim = false, std::optional<DType> dtype = {},
                            Site site = Site::here());
/// Error for integers, unless a floating `dtype` is given. As torch.mean.
[[nodiscard]] Tensor mean(const Tensor& x, Site site = Site::here());
[[nodiscard]] Tensor mean(const Tensor& x, ExactlyDType auto dtype, Site site = Site::here()) { return detail::mean(x, dtype, site); }
[[nodiscard]] Tensor mean(const Tensor& x, const Shape& dims, Flag keepdim = false, std::optional<DType> dtype = {},
                          Site site = Site::here());
/// The mean of the elements that are not nan. As torch.nanmean.
[[nodiscard]] Tensor nanmean(const Tensor& x, const Shape& dims = {}, Flag keepdim = false, std::optional<DType> dtype = {},
                             Site site = Site::here());
/// The product of all elements, or along a dimension. As torch.prod.
[[nodiscard]] Tensor prod(const Tensor& x, Site site = Site::here());
[[nodiscard]] Tensor prod(const Tensor& x, ExactlyDType auto dtype, Site site = Site::here()) { return detail::prod(x, dtype, site); }
[[nodiscard]] Tensor prod(const Tensor& x, int64_t dim, Flag keepdim = false, std::optional<DType> dtype = {}, Site site = Site::here());
/// log(sum(exp(x))), taken from the maximum so that it cannot overflow. As torch.logsumexp.
[[nodiscard]] Tensor logsumexp(const Tensor& x, const Shape& dims, Flag keepdim = false, Site site = Site::here());
/// The sum of the diagonal of a matrix. As torch.trace.
[[nodiscard]] Tensor trace(const Tensor& x, Site site = Site::here());

/// Whether all (any) of the elements are not zero: bool, or uint8 of uint8. As torch.all, torch.any.
[[nodiscard]] Tensor all(const Tensor& x, Site site = Site::here());
[[nodiscard]] Tensor all(const Tensor& x, const Shape& dims, Flag keepdim = false, Site site = Site::here());
[[nodiscard]] Tensor any(const Tensor& x, Site site = Site::here());
[[nodiscard]] Tensor any(const Tensor& x, const Shape& dims, Flag keepdim = false, Site site = Site::here());
/// How many elements are not zero, int64. As torch.count_nonzero.
[[nodiscard]] Tensor count_nonzero(const Tensor& x, const Shape& dims = {}, Site site = Site::here());

/// The sum of squared distances to the mean, divided by max(0, n - correction). Floating dtypes. As torch.var.
[[nodiscard]] Tensor var(const Tensor& x, const Shape& dims = {}, double correction = 1, Flag keepdim = false, Site site = Site::here());
/// The square root of var. As torch.std.
[[nodiscard]] Tensor std(const Tensor& x, const Shape& dims = {}, double correction = 1, Flag keepdim = false, Site site = Site::here());
/// What var_mean() gives.
struct VarMean {
  Tensor var, mean;
  template <class A, class B>
  operator std::tuple<A, B>() {  // NOLINT: std::tie(…) = result
    return {detail::tied<A>(var), detail::tied<B>(mean)};
  }
};
/// What std_mean() gives.
struct StdMean {
  Tensor std, mean;
  template <class A, class B>
  operator std::tuple<A, B>() {  // NOLINT: std::tie(…) = result
    return {detail::tied<A>(std), detail::tied<B>(mean)};
  }
};
/// Both from one kernel. As torch.var_mean, torch.std_mean.
[[nodiscard]] VarMean var_mean(const Tensor& x, const Shape& dims = {}, double correction = 1, Flag keepdim = false,
                               Site site = Site::here());
[[nodiscard]] StdMean std_mean(const Tensor& x, const Shape& dims = {}, double correction = 1, Flag keepdim = false,
                               Site site = Site::here());

/// The largest (smallest) element; nan wins. Along a dimension with the index of the first such. As torch.max, torch.min.
[[nodiscard]] Tensor max(const Tensor& x, Site site = Site::here());
[[nodiscard]] ValuesIndices max(const Tensor& x, int64_t dim, Flag keepdim = false, Site site = Site::here());
/// The larger (smaller) of each two elements: maximum, minimum.
[[nodiscard]] Tensor max(const Tensor& x, const Tensor& other, Site site = Site::here());
[[nodiscard]] Tensor min(const Tensor& x, Site site = Site::here());
[[nodiscard]] ValuesIndices min(const Tensor& x, int64_t dim, Flag keepdim = false, Site site = Site::here());
[[nodiscard]] Tensor min(const Tensor& x, const Tensor& other, Site site = Site::here());
/// The same over any dimensions; gradients go in equal parts to all that tie. As torch.amax, torch.amin.
[[nodiscard]] Tensor amax(const Tensor& x, const Shape& dims = {}, Flag keepdim = false, Site site = Site::here());
[[nodiscard]] Tensor amin(const Tensor& x, const Shape& dims = {}, Flag keepdim = false, Site site = Site::here());
/// What aminmax() gives.
struct MinMax {
  Tensor min, max;
  template <class A, class B>
  operator std::tuple<A, B>() {  // NOLINT: std::tie(…) = result
    return {detail::tied<A>(min), detail::tied<B>(max)};
  }
};
/// amin and amax, of all or along one dimension. As torch.aminmax.
[[nodiscard]] MinMax aminmax(const Tensor& x, std::optional<int64_t> dim = {}, Flag keepdim = false, Site site = Site::here());
/// The index of the first largest (smallest) element, in the flattened tensor or along a dimension; nan wins. As torch.argmax.
[[nodiscard]] Tensor argmax(const Tensor& x, std::optional<int64_t> dim = {}, Flag keepdim = false, Site site = Site::here());
/// The index of the first smallest element. As torch.argmin.
[[nodiscard]] Tensor argmin(const Tensor& x, std::optional<int64_t> dim = {}, Flag keepdim = false, Site site = Site::here());

/// Whether both have the same sizes and the same values. Waits for the devices. As torch.equal.
[[nodiscard]] bool equal(const Tensor& a, const Tensor& b, Site site = Site::here());
/// Whether |a - b| <= atol + rtol * |b| everywhere. Waits for the devices. As torch.allclose.
[[nodiscard]] bool allclose(const Tensor& a, const Tensor& b, double rtol = 1e-5, double atol = 1e-8, Flag equal_nan = false,
                            Site site = Site::here());

}  // namespace tandem
