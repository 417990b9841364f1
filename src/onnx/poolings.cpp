// Pooling.
#include <cmath>
#include <limits>

#include "onnx/windows.h"
#include "ops/convolution.h"
#include "ops/creation.h"
#include "ops/operators.h"
#include "ops/pooling.h"
#include "ops/reduce.h"
#include "ops/scatter.h"
#include "ops/view.h"

namespace tandem::onnx {
namespace {

Windows pooling_windows(Call& call, const Tensor& x) { return windows_of(call, x, call.list("kernel_shape", {})); }

/// Pads at the back so that each window has all its elements; no windows more than there are.
Shape filled_back(const Tensor& x, const Windows& windows, bool ceil) {
  Shape back;
  for (size_t i = 0; i < windows.dims(); ++i) {
    const int64_t size = x.size(static_cast<int64_t>(i) + 2), count = window_count(size, windows, i, ceil);
    if (count < 1) fail("its windows of ", windows.kernel, " do not fit into the sizes ", x.sizes());
    const int64_t end = (count - 1) * windows.stride[i] + (windows.kernel[i] - 1) * windows.dilation[i] + 1;
    back.push_back(std::max(windows.back[i], end - size - windows.front[i]));
  }
  return back;
}

/// Whether the library's own pooling has such pads: the same at both ends, and no more than half a window.
bool is_plain(const Windows& windows) {
  bool plain = windows.is_symmetric();
  for (size_t i = 0; i < windows.dims(); ++i) plain = plain && windows.front[i] >= 0 && 2 * windows.front[i] <= windows.kernel[i];
  return plain;
}

[[noreturn]] void fail_dims(size_t dims) { fail("it has ", dims, " spatial dimensions: tandem has 1, 2 and 3"); }

/// The sum of each window; x is padded already.
Tensor window_sum(const Tensor& x, const Windows& windows, Site site) {
  Shape apart{x.size(0) * x.size(1), 1}, ones_sizes{1, 1};
  for (size_t i = 0; i < windows.dims(); ++i) {
    apart.push_back(x.size(static_cast<int64_t>(i) + 2));
    ones_sizes.push_back(windows.kernel[i]);
  }
  const ConvOptions options{.stride = windows.stride, .dilation = windows.dilation};
  const Tensor ones = tandem::ones(ones_sizes, {.dtype = x.dtype(), .device = x.device()}, site), in = x.reshape(apart, site);
  const Tensor y = windows.dims() == 1   ? conv1d(in, ones, {}, options, site)
                   : windows.dims() == 2 ? conv2d(in, ones, {}, options, site)
                                         : conv3d(in, ones, {}, options, site);
  Shape sizes{x.size(0), x.size(1)};
  for (int64_t i = 2; i < y.dim(); ++i) sizes.push_back(y.size(i));
  return y.reshape(sizes, site);
}

void average_pool(Call& call) {
  const Site site = call.site();
  const Tensor x = call.in(0);
  const Windows windows = pooling_windows(call, x);
  if (windows.dims() > 3) fail_dims(windows.dims());
  const bool ceil = call.integer("ceil_mode", 0) != 0, count_pads = call.integer("count_include_pad", 0) != 0;
  bool plain = is_plain(windows);
  for (const int64_t dilation : windows.dilation) plain = plain && dilation == 1;
  if (plain) {
    const AvgPoolOptions options{.stride = windows.stride, .padding = windows.front, .ceil_mode = ceil, .count_include_pad = count_pads};
    switch (windows.dims()) {
      case 1: return call.give(avg_pool1d(x, windows.kernel, options, site));
      case 2: return call.give(avg_pool2d(x, windows.kernel, options, site));
      default: return call.give(avg_pool3d(x, windows.kernel, options, site));
    }
  }
  const Shape back = filled_back(x, windows, ceil);
  const Tensor total = window_sum(padded_with(call, x, windows.front, back, 0), windows, site);
  // How many elements count in each window: the input's, and where asked for the pads', but none that lies past them.
  Shape sizes{1, 1};
  for (int64_t i = 2; i < x.dim(); ++i) sizes.push_back(x.size(i));
  Tensor counted = ones(sizes, {.dtype = x.dtype(), .device = x.device()}, site);
  Shape rest = back;
  if (count_pads) {
    counted = padded_with(call, counted, windows.front, windows.back, 1);
    Shape none;
    for (size_t i = 0; i < rest.size(); ++i) {
      rest[i] -= windows.back[i];
      none.push_back(0);
    }
    counted = padded_with(call, counted, none, rest, 0);
  } else {
    counted = padded_with(call, counted, windows.front, rest, 0);
  }
  call.give(div(total, window_sum(counted, windows, site), site));
}

void lp_pool(Call& call) {
  const Site site = call.site();
  const Tensor x = call.in(0);
  const Windows windows = pooling_windows(call, x);
  if (windows.dims() > 3) fail_dims(windows.dims());
  const double p = call.version() < 2 ? call.real("p", 2) : static_cast<double>(call.integer("p", 2));
  const Shape back = filled_back(x, windows, call.integer("ceil_mode", 0) != 0);
  const Tensor powers = pow(abs(padded_with(call, x, windows.front, back, 0), site), p, site);
  call.give(pow(window_sum(powers, windows, site), 1 / p, site));
}

/// From places in each padded plane to places in the whole input.
Tensor whole_indices(Call& call, const Tensor& indices, const Tensor& x, const Shape& padded, const Shape& front) {
  const Site site = call.site();
  const auto dims = static_cast<size_t>(x.dim()) - 2;
  const bool column_major = call.integer("storage_order", 0) != 0;
  Tensor rest = indices, place;
  int64_t factor = 1, plane = 1;
  for (size_t i = 0; i < dims; ++i) plane *= x.size(static_cast<int64_t>(i) + 2);
  int64_t column_factor = plane;
  for (size_t i = dims; i-- > 0;) {
    const int64_t size = x.size(static_cast<int64_t>(i) + 2);
    const Tensor at = sub(remainder(rest, padded[i], site), front[i], site);
    rest = floor_divide(rest, padded[i], site);
    column_factor /= std::max<int64_t>(size, 1);
    const Tensor part = mul(at, column_major ? column_factor : factor, site);
    place = place.defined() ? add(place, part, site) : part;
    factor *= size;
  }
  Shape sizes{x.size(0), x.size(1)};
  for (size_t i = 0; i < dims; ++i) sizes.push_back(1);
  const Tensor planes = arange(x.size(0) * x.size(1), {.dtype = kInt64, .device = x.device()}, site).reshape(sizes, site);
  return add(place, mul(planes, plane, site), site);
}

void max_pool(Call& call) {
  const Site site = call.site();
  const Tensor given = call.in(0);
  // Small whole numbers are exact in float32.
  Tensor x = is_floating(given.dtype()) ? given : given.to(given.element_size() < 4 ? kFloat32 : kFloat64, {}, site);
  const Windows windows = pooling_windows(call, x);
  if (windows.dims() > 3) fail_dims(windows.dims());
  const bool ceil = call.integer("ceil_mode", 0) != 0;
  MaxPoolOptions options{.stride = windows.stride, .padding = windows.front, .dilation = windows.dilation, .ceil_mode = ceil};
  Shape front;
  for (size_t i = 0; i < windows.dims(); ++i) front.push_back(0);
  const Tensor original = x;
  if (!is_plain(windows)) {
    const Shape back = filled_back(x, windows, ceil);
    x = padded_with(call, x, windows.front, back, -std::numeric_limits<double>::infinity());
    options.padding = front;
    options.ceil_mode = false;
    front = windows.front;
  }
  const auto pool = [&](auto one, auto two, auto three) {
    return windows.dims() == 1   ? one(x, windows.kernel, options, site)
           : windows.dims() == 2 ? two(x, windows.kernel, options, site)
                                 : three(x, windows.kernel, options, site);
  };
  if (!call.wants(1)) return call.give(pool(max_pool1d, max_pool2d, max_pool3d).to(given.dtype(), {}, site));
  const ValuesIndices found = pool(max_pool1d_with_indices, max_pool2d_with_indices, max_pool3d_with_indices);
  call.give(found.values.to(given.dtype(), {}, site));
  Shape padded;
  for (int64_t i = 2; i < x.dim(); ++i) padded.push_back(x.size(i));
  call.give(whole_indices(call, found.indices, original, padded, front));
}

void max_unpool(Call& call) {
  const Site site = call.site();
  const Tensor x = call.in(0), indices = call.in(1);
  const Windows windows = pooling_windows(call, x);
  Shape sizes = x.sizes(), given = call.has(2) ? call.ints(2) : Shape();
  for (size_t i = 0; i < windows.dims(); ++i)
    sizes[i + 2] = (sizes[i + 2] - 1) * windows.stride[i] - windows.front[i] - windows.back[i] + windows.kernel[i];
  const Shape whole = sizes;
  if (!given.empty()) {
    if (given.size() != sizes.size()) fail("its output_shape is ", given, ", for ", sizes.size(), " dimensions");
    sizes = given;
  }
  // Places are those in the result that the pooling was made of; a larger one keeps it in its corner.
  const Tensor empty_plane = zeros({whole.numel()}, call.place(whole, x.dtype()), site);
  const Tensor flat = scatter(empty_plane, 0, indices.reshape({-1}, site), x.reshape({-1}, site), site);
  Shape none, back;
  for (size_t i = 0; i < windows.dims(); ++i) {
    none.push_back(0);
    back.push_back(sizes[i + 2] - whole[i + 2]);
  }
  call.give(padded_with(call, flat.reshape(whole, site), none, back, 0));
}

template <class F>
void global_pool(Call& call, F f) {
  const Tensor x = call.in(0);
  Shape dims;
  for (int64_t i = 2; i < x.dim(); ++i) dims.push_back(i);
  call.give(dims.empty() ? x : f(x, dims));
}
void global_average(Call& call) {
  global_pool(call, [&](const Tensor& x, const Shape& dims) { return mean(x, dims, true, {}, call.site()); });
}
void global_max(Call& call) {
  global_pool(call, [&](const Tensor& x, const Shape& dims) { return amax(x, dims, true, call.site()); });
}
void global_lp(Call& call) {
  const double p = call.version() < 2 ? call.real("p", 2) : static_cast<double>(call.integer("p", 2));
  global_pool(call, [&](const Tensor& x, const Shape& dims) {
    return pow(sum(pow(abs(x, call.site()), p, call.site()), dims, true, {}, call.site()), 1 / p, call.site());
  });
}

constexpr OperatorRow kRows[] = {
    {"AveragePool", 1, average_pool}, {"GlobalAveragePool", 1, global_average},
    {"GlobalLpPool", 1, global_lp},   {"GlobalMaxPool", 1, global_max},
    {"LpPool", 1, lp_pool},           {"MaxPool", 1, max_pool},
    {"MaxUnpool", 9, max_unpool},
};

}  // namespace

std::span<const OperatorRow> pooling_operators() { return kRows; }

}  // namespace tandem::onnx
