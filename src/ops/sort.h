// Sorting, order statistics, and searching in what is sorted. nan is greater than any number.
#pragma once

#include <string_view>

#include "tensor/tensor.h"

namespace tandem {

/// The elements along a dimension in order and where each was. Always stable. As torch.sort.
[[nodiscard]] ValuesIndices sort(const Tensor& x, int64_t dim = -1, Flag descending = false, Site site = Site::here());
/// The indices alone. As torch.argsort.
[[nodiscard]] Tensor argsort(const Tensor& x, int64_t dim = -1, Flag descending = false, Site site = Site::here());
/// Sorted along dimension 0. As torch.msort.
[[nodiscard]] Tensor msort(const Tensor& x, Site site = Site::here());
/// The k largest (smallest) elements along a dimension, in order whether `sorted` or not. As torch.topk.
[[nodiscard]] ValuesIndices topk(const Tensor& x, int64_t k, int64_t dim = -1, Flag largest = true, Flag sorted = true,
                                 Site site = Site::here());
/// The k-th smallest element along a dimension, k counted from 1. As torch.kthvalue.
[[nodiscard]] ValuesIndices kthvalue(const Tensor& x, int64_t k, int64_t dim = -1, Flag keepdim = false, Site site = Site::here());
/// The middle element, of two the lower; nan where there is one. nanmedian: of those that are not nan. As torch.median, torch.nanmedian.
[[nodiscard]] Tensor median(const Tensor& x, Site site = Site::here());
[[nodiscard]] ValuesIndices median(const Tensor& x, int64_t dim, Flag keepdim = false, Site site = Site::here());
[[nodiscard]] Tensor nanmedian(const Tensor& x, Site site = Site::here());
[[nodiscard]] ValuesIndices nanmedian(const Tensor& x, int64_t dim, Flag keepdim = false, Site site = Site::here());
/// The most frequent element along a dimension, of several the smallest, and the last index at which it is. As torch.mode.
[[nodiscard]] ValuesIndices mode(const Tensor& x, int64_t dim = -1, Flag keepdim = false, Site site = Site::here());
/// The q-quantiles, of all elements or along a dimension; a vector of q gives a first dimension. Between two elements `interpolation`
/// decides: linear, lower, higher, midpoint or nearest. float32 and float64. As torch.quantile, torch.nanquantile.
[[nodiscard]] Tensor quantile(const Tensor& x, const Operand& q, std::optional<int64_t> dim = {}, Flag keepdim = false,
                              std::string_view interpolation = "linear", Site site = Site::here());
[[nodiscard]] Tensor nanquantile(const Tensor& x, const Operand& q, std::optional<int64_t> dim = {}, Flag keepdim = false,
                                 std::string_view interpolation = "linear", Site site = Site::here());

/// How searchsorted finds places.
struct SearchOptions {
  bool out_int32 = false;
  bool right = false;                         // the last of the possible places, not the first
  std::optional<std::string_view> side = {};  // "left" or "right": the same by name
  Tensor sorter = Tensor();                   // the order of an unsorted sequence, as argsort gives it
};
/// Where in the last dimension of `sorted_sequence` (a vector, or of the same leading sizes) each value would keep the order. As
/// torch.searchsorted.
[[nodiscard]] Tensor searchsorted(const Tensor& sorted_sequence, const Operand& values, const SearchOptions& options = {},
                                  Site site = Site::here());
/// The same in a vector. As torch.bucketize.
[[nodiscard]] Tensor bucketize(const Operand& x, const Tensor& boundaries, bool out_int32 = false, Flag right = false,
                               Site site = Site::here());
/// Whether each element is one of `test_elements`; the other way round with `invert`. As torch.isin.
[[nodiscard]] Tensor isin(const Operand& elements, const Operand& test_elements, Flag assume_unique = false, Flag invert = false,
                          Site site = Site::here());

}  // namespace tandem
