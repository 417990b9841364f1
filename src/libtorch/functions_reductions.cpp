#include "libtorch/functions_reductions.h"

namespace torch {

Tensor norm(const Tensor& x, const Scalar& p, IntArrayRef dims, bool keepdim, Site site) {
  return tandem::norm(x, p.to<double>(), dims, keepdim, {}, site);
}

Tensor frobenius_norm(const Tensor& x, IntArrayRef dims, bool keepdim, Site site) { return tandem::norm(x, 2, dims, keepdim, {}, site); }

Tensor renorm(const Tensor& x, const Scalar& p, int64_t dim, const Scalar& maxnorm, Site site) {
  tandem::Shape others;
  for (int64_t d = 0; d < x.dim(site); ++d)
    if (d != (dim < 0 ? dim + x.dim(site) : dim)) others.push_back(d);
  const Tensor norms = tandem::norm(x, p.to<double>(), others, true, {}, site);
  const Tensor factor = norms.add(1e-7, site).reciprocal(site).mul(maxnorm, site).clamp_max(1, site);
  return x.mul(factor, site);
}

std::tuple<Tensor, Tensor, Tensor> _unique2(const Tensor& x, bool sorted, bool return_inverse, bool return_counts, Site site) {
  auto found = tandem::unique(x, {.sorted = sorted, .return_inverse = return_inverse, .return_counts = return_counts}, site);
  return {found.output, found.inverse_indices, found.counts};
}

std::tuple<Tensor, Tensor> _unique(const Tensor& x, bool sorted, bool return_inverse, Site site) {
  auto found = tandem::unique(x, {.sorted = sorted, .return_inverse = return_inverse}, site);
  return {found.output, found.inverse_indices};
}

std::tuple<Tensor, Tensor, Tensor> unique_dim(const Tensor& x, int64_t dim, bool sorted, bool return_inverse, bool return_counts,
                                              Site site) {
  auto found = tandem::unique(x, {.sorted = sorted, .return_inverse = return_inverse, .return_counts = return_counts, .dim = dim}, site);
  return {found.output, found.inverse_indices, found.counts};
}

std::vector<Tensor> split_with_sizes(const Tensor& x, IntArrayRef sizes, int64_t dim, Site site) {
  return x.split_with_sizes(sizes, dim, site);
}

Tensor slice(const Tensor& x, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step, Site site) {
  return x.slice(dim, start, end, step, site);
}

Tensor index(const Tensor& x, const std::vector<tandem::Index>& indices, Site site) { return x.index(indices, site); }

Tensor clone(const Tensor& x, Site site) { return x.clone(site); }

Tensor detach(const Tensor& x) { return x.detach(); }

Tensor expand_as(const Tensor& x, const Tensor& other, Site site) { return x.expand_as(other, site); }

int64_t numel(const Tensor& x) { return x.numel(); }

int64_t size(const Tensor& x, int64_t dim, Site site) { return x.size(dim, site); }

bool is_floating_point(const Tensor& x) { return x.is_floating_point(); }

bool is_nonzero(const Tensor& x, Site site) { return x.item(site).to<bool>(); }

Scalar item(const Tensor& x, Site site) { return x.item(site); }

}  // namespace torch
