#include "libtorch/functions_factories.h"

namespace torch {

Tensor scalar_tensor(const Scalar& value, const tandem::Options& options, Site site) { return tandem::full({}, value, options, site); }

Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides, const tandem::Options& options, Site site) {
  int64_t last = 0;
  for (size_t i = 0; i < sizes.size() && i < strides.size(); ++i) {
    if (sizes[i] == 0) return tandem::empty({0}, options, site).as_strided(sizes, strides, {}, site);
    last += (sizes[i] - 1) * strides[i];
  }
  return tandem::empty({last + 1}, options, site).as_strided(sizes, strides, {}, site);
}

Tensor empty(IntArrayRef sizes, const tandem::Options& options, MemoryFormat, Site site) { return tandem::empty(sizes, options, site); }

Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const tandem::Options& options, Site site) {
  return tandem::from_blob(data, sizes, strides, {}, options, site);
}

Tensor range(const Scalar& start, const Scalar& end, const Scalar& step, const tandem::Options& options, Site site) {
  const double width = step.to<double>();
  const auto steps = static_cast<int64_t>((end.to<double>() - start.to<double>()) / width);
  const tandem::Options counted{.dtype = tandem::kInt64, .device = options.device};
  const Tensor numbers = tandem::arange(steps + 1, counted, site).to(options.dtype.value_or(tandem::get_default_dtype()), {}, site);
  return numbers.mul(step, site).add(start, site);
}

}  // namespace torch
