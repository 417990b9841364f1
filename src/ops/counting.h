// Distinct elements and how often each occurs.
#pragma once

#include "tensor/tensor.h"

namespace tandem {

/// What unique gives beside the distinct elements.
struct UniqueOptions {
  bool sorted = true;  // the result is sorted either way
  bool return_inverse = false, return_counts = false;
  std::optional<int64_t> dim = {};  // compare slices along it, not elements
};
struct UniqueConsecutiveOptions {
  bool return_inverse = false, return_counts = false;
  std::optional<int64_t> dim = {};
};
/// The distinct elements; for each element of x, where it is among them; how often each occurs. Undefined where not asked for.
struct Unique {
  Tensor output, inverse_indices, counts;
  template <class A, class B, class C>
  operator std::tuple<A, B, C>() {  // NOLINT: std::tie(…) = result
    return {detail::tied<A>(output), detail::tied<B>(inverse_indices), detail::tied<C>(counts)};
  }
};
/// Waits for the device: the size depends on the data. As torch.unique.
[[nodiscard]] Unique unique(const Tensor& x, const UniqueOptions& options = {}, Site site = Site::here());
/// One of each run of equal neighbours. Waits for the device. As torch.unique_consecutive.
[[nodiscard]] Unique unique_consecutive(const Tensor& x, const UniqueConsecutiveOptions& options = {}, Site site = Site::here());

/// How often each of 0, 1, … occurs in a vector of integers, or the sum of their weights; at least `minlength` entries. Waits for the
/// device. As torch.bincount.
[[nodiscard]] Tensor bincount(const Tensor& x, const Tensor& weights = Tensor(), int64_t minlength = 0, Site site = Site::here());
/// How many elements lie in each of `bins` equal parts of [min, max], or of the range of x where both are equal. Others are left out.
/// Floating dtypes. As torch.histc.
[[nodiscard]] Tensor histc(const Tensor& x, int64_t bins = 100, double min = 0, double max = 0, Site site = Site::here());
/// A new last dimension of `num_classes` (else the largest plus one; then waits for the device), 1 at each index, else 0. int64. As
/// torch.nn.functional.one_hot.
[[nodiscard]] Tensor one_hot(const Tensor& x, int64_t num_classes = -1, Site site = Site::here());

}  // namespace tandem
