// Reductions and parts of tensors: the forms that only libtorch has.
#pragma once

#include <concepts>
#include <tuple>
#include <vector>

#include "libtorch/types.h"
#include "ops/counting.h"
#include "ops/linalg/norms.h"
#include "ops/reduce.h"
#include "ops/sort.h"
#include "ops/view.h"

namespace torch {

using tandem::Site;

/// With `unbiased` false, of all elements as the whole population.
[[nodiscard]] Tensor var(const Tensor& x, std::same_as<bool> auto unbiased, Site site = Site::here()) {
  return tandem::var(x, {}, unbiased, false, site);
}
[[nodiscard]] Tensor std(const Tensor& x, std::same_as<bool> auto unbiased, Site site = Site::here()) {
  return tandem::std(x, {}, unbiased, false, site);
}
[[nodiscard]] auto var_mean(const Tensor& x, std::same_as<bool> auto unbiased, Site site = Site::here()) {
  return tandem::var_mean(x, {}, unbiased, false, site);
}
[[nodiscard]] auto std_mean(const Tensor& x, std::same_as<bool> auto unbiased, Site site = Site::here()) {
  return tandem::std_mean(x, {}, unbiased, false, site);
}
[[nodiscard]] Tensor norm(const Tensor& x, const Scalar& p, IntArrayRef dims, bool keepdim = false, Site site = Site::here());
/// The norms of lists along `dim`.
[[nodiscard]] Tensor frobenius_norm(const Tensor& x, IntArrayRef dims = {}, bool keepdim = false, Site site = Site::here());
/// Each sub-tensor along `dim` brought to a norm of at most `maxnorm`.
[[nodiscard]] Tensor renorm(const Tensor& x, const Scalar& p, int64_t dim, const Scalar& maxnorm, Site site = Site::here());

/// The different elements: values, for each element the place of its value, how often each value stands.
[[nodiscard]] std::tuple<Tensor, Tensor, Tensor> _unique2(const Tensor& x, bool sorted = true, bool return_inverse = false,
                                                          bool return_counts = false, Site site = Site::here());
[[nodiscard]] std::tuple<Tensor, Tensor> _unique(const Tensor& x, bool sorted = true, bool return_inverse = false,
                                                 Site site = Site::here());
[[nodiscard]] std::tuple<Tensor, Tensor, Tensor> unique_dim(const Tensor& x, int64_t dim, bool sorted = true, bool return_inverse = false,
                                                            bool return_counts = false, Site site = Site::here());
[[nodiscard]] inline std::tuple<Tensor, Tensor, Tensor> unique_consecutive(const Tensor& x, std::same_as<bool> auto return_inverse,
                                                                           bool return_counts = false, std::optional<int64_t> dim = {},
                                                                           Site site = Site::here()) {
  auto found = tandem::unique_consecutive(x, {.return_inverse = return_inverse, .return_counts = return_counts, .dim = dim}, site);
  return {found.output, found.inverse_indices, found.counts};
}

[[nodiscard]] inline Tensor searchsorted(const Tensor& sorted_sequence, const tandem::Operand& values, std::same_as<bool> auto out_int32,
                                         bool right = false, Site site = Site::here()) {
  return tandem::searchsorted(sorted_sequence, values, {.out_int32 = out_int32, .right = right}, site);
}

/// The sizes of each part.
[[nodiscard]] std::vector<Tensor> split_with_sizes(const Tensor& x, IntArrayRef sizes, int64_t dim = 0, Site site = Site::here());
[[nodiscard]] Tensor slice(const Tensor& x, int64_t dim = 0, std::optional<int64_t> start = {}, std::optional<int64_t> end = {},
                           int64_t step = 1, Site site = Site::here());
[[nodiscard]] Tensor index(const Tensor& x, const std::vector<tandem::Index>& indices, Site site = Site::here());
[[nodiscard]] Tensor clone(const Tensor& x, Site site = Site::here());
[[nodiscard]] Tensor detach(const Tensor& x);
[[nodiscard]] Tensor expand_as(const Tensor& x, const Tensor& other, Site site = Site::here());
[[nodiscard]] int64_t numel(const Tensor& x);
[[nodiscard]] int64_t size(const Tensor& x, int64_t dim, Site site = Site::here());
[[nodiscard]] bool is_floating_point(const Tensor& x);
[[nodiscard]] bool is_nonzero(const Tensor& x, Site site = Site::here());
/// One number.
[[nodiscard]] Scalar item(const Tensor& x, Site site = Site::here());

}  // namespace torch
