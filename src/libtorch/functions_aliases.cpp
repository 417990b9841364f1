#include "libtorch/functions_aliases.h"

namespace torch {

Tensor elu(const Tensor& x, double alpha, double scale, double input_scale, Site site) {
  const Tensor unscaled = input_scale == 1 ? tandem::elu({x, site}, alpha, site)
                                           : tandem::where(x.gt(0, site), x, x.mul(input_scale, site).expm1(site).mul(alpha, site), site);
  return scale == 1 ? unscaled : unscaled.mul(scale, site);
}

Tensor clip(const Input& x, std::optional<Scalar> min, std::optional<Scalar> max, Site site) { return tandem::clamp(x, min, max, site); }

Tensor concat(const std::vector<Tensor>& tensors, int64_t dim, Site site) { return tandem::cat(tensors, dim, site); }

Tensor concatenate(const std::vector<Tensor>& tensors, int64_t dim, Site site) { return tandem::cat(tensors, dim, site); }

Tensor row_stack(const std::vector<Tensor>& tensors, Site site) { return tandem::vstack(tensors, site); }

Tensor moveaxis(const Tensor& x, int64_t source, int64_t destination, Site site) { return tandem::movedim(x, source, destination, site); }

Tensor moveaxis(const Tensor& x, IntArrayRef source, IntArrayRef destination, Site site) {
  return tandem::movedim(x, source, destination, site);
}

Tensor swapdims(const Tensor& x, int64_t dim0, int64_t dim1, Site site) { return tandem::transpose(x, dim0, dim1, site); }

const Tensor& index_put_(const Tensor& x, const std::vector<indexing::TensorIndex>& indices, const Operand& values, bool accumulate,
                         Site site) {
  return x.index_put_(indices, values, accumulate, site);
}

Tensor ger(const Tensor& a, const Tensor& b, Site site) { return tandem::outer(a, b, site); }

}  // namespace torch
