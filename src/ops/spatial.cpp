#include "ops/spatial.h"

#include "base/error.h"
#include "ops/launch.h"

namespace tandem::ops {

Shape per_dim(const char* op, const char* what, const PerDim& given, int64_t spatial) {
  const Shape& values = given.values();
  for (const int64_t value : values)
    if (value > INT32_MAX || value < -INT32_MAX) fail("[", op, "] ", what, " is out of range: ", values);
  if (static_cast<int64_t>(values.size()) == spatial) return values;
  if (values.size() != 1) fail("[", op, "] ", what, " must either be a single int, or a tuple of ", spatial, " ints, but got ", values);
  Shape all;
  for (int64_t d = 0; d < spatial; ++d) all.push_back(values[0]);
  return all;
}

void set_last(int64_t (&three)[3], const Shape& values) {
  for (size_t i = 0; i < values.size(); ++i) three[3 - values.size() + i] = values[i];
}

kernels::View spatial_view(const Tensor& x, int64_t spatial) {
  const kernels::View from = view(x);
  kernels::View to = from;
  to.ndim = 5;
  for (int d = 0; d < 5; ++d) {
    to.sizes[d] = 1;
    to.strides[d] = 0;
  }
  const auto put = [&](int d, int64_t own) {
    to.sizes[d] = from.sizes[own];
    to.strides[d] = from.strides[own];
  };
  const int64_t channels = from.ndim - spatial - 1;
  if (channels == 1) put(0, 0);
  put(1, channels);
  for (int64_t d = 0; d < spatial; ++d) put(static_cast<int>(5 - spatial + d), channels + 1 + d);
  return to;
}

Shape with_spatial(const Tensor& x, const Shape& spatial) {
  Shape sizes = x.sizes();
  for (size_t i = 0; i < spatial.size(); ++i) sizes[sizes.size() - spatial.size() + i] = spatial[i];
  return sizes;
}

Shape spatial_sizes(const Tensor& x, int64_t spatial) {
  const Shape& sizes = x.sizes();
  return Shape(sizes.data() + sizes.size() - static_cast<size_t>(spatial), static_cast<size_t>(spatial));
}

std::string crossed(const Shape& sizes, const char* between) {
  std::string text;
  for (const int64_t size : sizes) text += (text.empty() ? "(" : between) + std::to_string(size);
  return text + ')';
}

}  // namespace tandem::ops
