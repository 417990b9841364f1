// Resizing, sampling by a grid, and regions of interest.
#include <algorithm>
#include <cmath>

#include "onnx/call.h"
#include "ops/arithmetic.h"
#include "ops/creation.h"
#include "ops/grid_sample.h"
#include "ops/indexing.h"
#include "ops/interpolate.h"
#include "ops/matmul.h"
#include "ops/operators.h"
#include "ops/view.h"
#include "runtime/tracer.h"

namespace tandem::onnx {
namespace {

/// How one axis is resized.
struct Axis {
  int64_t from = 1, to = 1;
  double scale = 1;
  double roi_start = 0, roi_end = 1;
};

/// What all axes have in common.
struct How {
  std::string mode, place, nearest;
  double cubic = -0.75, outside = 0;
  bool exclude_outside = false, antialias = false;
};

/// Where element i of the result lies among those of the input.
double place_of(int64_t i, const Axis& axis, const How& how) {
  const auto x = static_cast<double>(i), from = static_cast<double>(axis.from), to = static_cast<double>(axis.to);
  if (how.place == "half_pixel") return (x + 0.5) / axis.scale - 0.5;
  if (how.place == "pytorch_half_pixel") return axis.to > 1 ? (x + 0.5) / axis.scale - 0.5 : 0;
  if (how.place == "align_corners") return axis.scale * from > 1 ? x * (from - 1) / (axis.scale * from - 1) : 0;
  if (how.place == "asymmetric") return x / axis.scale;
  if (how.place == "tf_half_pixel_for_nn") return (x + 0.5) / axis.scale;
  if (how.place == "half_pixel_symmetric") {
    const double exact = axis.scale * from, adjusted = to / exact, center = from / 2;
    return center * (1 - adjusted) + (x + 0.5) / axis.scale - 0.5;
  }
  if (how.place == "tf_crop_and_resize")
    return axis.to > 1 ? axis.roi_start * (from - 1) + x * (axis.roi_end - axis.roi_start) * (from - 1) / (to - 1)
                       : 0.5 * (axis.roi_start + axis.roi_end) * (from - 1);
  fail("its coordinate_transformation_mode '", how.place, "' is unknown");
}

int64_t nearest_of(double place, const How& how) {
  if (how.nearest == "round_prefer_floor") return static_cast<int64_t>(std::ceil(place - 0.5));
  if (how.nearest == "round_prefer_ceil") return static_cast<int64_t>(std::floor(place + 0.5));
  if (how.nearest == "floor") return static_cast<int64_t>(std::floor(place));
  if (how.nearest == "ceil") return static_cast<int64_t>(std::ceil(place));
  fail("its nearest_mode '", how.nearest, "' is unknown");
}

double weight_of(double distance, const How& how) {
  const double d = std::abs(distance), a = how.cubic;
  if (how.mode == "linear") return std::max(0.0, 1 - d);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/// One axis: each element of the result is a weighted sum of a few of the input, which this lists, as many for each.
struct Taps {
  size_t each = 1;
  std::vector<int64_t> index;  // tap by tap: all first ones, then all second ones, …
  std::vector<double> weight;
  std::vector<bool> outside;  // results that are `extrapolation_value`
  bool any_outside = false;
};

Taps taps_of(const Axis& axis, const How& how) {
  Taps taps;
  const bool crop = how.place == "tf_crop_and_resize";
  const double squeeze = how.antialias ? std::min(1.0, axis.scale) : 1;  // how far the weights are drawn out
  const auto reach = static_cast<int64_t>(std::ceil((how.mode == "linear" ? 1 : 2) / squeeze));
  taps.each = how.mode == "nearest" ? 1 : static_cast<size_t>(2 * reach);
  const auto count = static_cast<size_t>(axis.to);
  taps.index.resize(taps.each * count);
  taps.weight.assign(taps.each * count, 1);
  taps.outside.assign(count, false);
  for (size_t i = 0; i < count; ++i) {
    const double place = place_of(static_cast<int64_t>(i), axis, how);
    if (crop && (place < 0 || place > static_cast<double>(axis.from - 1))) taps.outside[i] = taps.any_outside = true;
    if (how.mode == "nearest") {
      taps.index[i] = std::clamp<int64_t>(nearest_of(place, how), 0, axis.from - 1);
      continue;
    }
    const auto first = static_cast<int64_t>(std::floor(place)) - reach + 1;
    double total = 0;
    for (size_t k = 0; k < taps.each; ++k) {
      const int64_t at = first + static_cast<int64_t>(k);
      const bool inside = at >= 0 && at < axis.from;
      const double weight = how.exclude_outside && !inside ? 0 : weight_of((static_cast<double>(at) - place) * squeeze, how);
      taps.index[k * count + i] = std::clamp<int64_t>(at, 0, axis.from - 1);
      taps.weight[k * count + i] = weight;
      total += weight;
    }
    if (total != 0)
      for (size_t k = 0; k < taps.each; ++k) taps.weight[k * count + i] /= total;
  }
  return taps;
}

template <class T, class From>
Tensor uploaded(const From& values, Device device, Site site) {
  Tensor host;
  {
    const runtime::TracerGuard guard(nullptr);
    host = empty({static_cast<int64_t>(values.size())}, {.dtype = tandem::dtype_of<T>()}, site);
    std::copy(values.begin(), values.end(), host.data_ptr<T>());
  }
  return brought(host, device, site);
}

Tensor resized_axis(const Tensor& x, int64_t dim, const Axis& axis, const How& how, Site site) {
  const Taps taps = taps_of(axis, how);
  const auto count = static_cast<size_t>(axis.to);
  const Device device = x.device();
  Tensor y;
  Shape along;
  for (int64_t i = 0; i < x.dim(); ++i) along.push_back(i == dim ? axis.to : 1);
  for (size_t k = 0; k < taps.each; ++k) {
    const std::vector<int64_t> index(taps.index.begin() + static_cast<std::ptrdiff_t>(k * count),
                                     taps.index.begin() + static_cast<std::ptrdiff_t>((k + 1) * count));
    Tensor part = index_select(x, dim, uploaded<int64_t>(index, device, site), site);
    if (taps.each > 1) {
      const std::vector<double> weight(taps.weight.begin() + static_cast<std::ptrdiff_t>(k * count),
                                       taps.weight.begin() + static_cast<std::ptrdiff_t>((k + 1) * count));
      part = mul(part, uploaded<double>(weight, device, site).to(x.dtype(), {}, site).reshape(along, site), site);
    }
    y = y.defined() ? add(y, part, site) : part;
  }
  if (!taps.any_outside) return y;
  return where(uploaded<bool>(taps.outside, device, site).reshape(along, site), Scalar(how.outside), y, site);
}

/// By the library's own resize, where it does the same: the usual ways of pictures.
bool resized_at_once(Call& call, const Tensor& x, const std::vector<Axis>& axes, const How& how) {
  if (x.dim() < 3 || x.dim() > 5 || !is_floating(x.dtype()) || how.antialias || how.place == "tf_crop_and_resize") return false;
  for (int64_t i = 0; i < 2; ++i)
    if (axes[static_cast<size_t>(i)].from != axes[static_cast<size_t>(i)].to) return false;
  Shape size;
  for (size_t i = 2; i < axes.size(); ++i) {
    size.push_back(axes[i].to);
    if (axes[i].to < 1 || std::abs(axes[i].scale * static_cast<double>(axes[i].from) - static_cast<double>(axes[i].to)) > 1e-6)
      return false;
  }
  InterpolateOptions options{.size = size};
  if (how.mode == "nearest" && how.place == "asymmetric" && how.nearest == "floor") {
    options.mode = "nearest";
  } else if (how.mode == "linear" && (how.place == "half_pixel" || how.place == "align_corners")) {
    options.mode = x.dim() == 3 ? "linear" : x.dim() == 4 ? "bilinear" : "trilinear";
    options.align_corners = how.place == "align_corners";
  } else {
    return false;
  }
  call.give(interpolate(x, options, call.site()));
  return true;
}

void resize_by(Call& call, const std::vector<double>& scales, const Shape& sizes, const How& how) {
  Tensor x = call.in(0);
  Shape dims = call.list("axes", {});
  if (dims.empty())
    for (int64_t i = 0; i < x.dim(); ++i) dims.push_back(i);
  const bool by_sizes = !sizes.empty();
  if ((by_sizes ? sizes.size() : scales.size()) != dims.size())
    fail("it has ", by_sizes ? sizes.size() : scales.size(), " sizes or factors for ", dims.size(), " axes");
  const std::vector<double> roi =
      call.version() >= 11 && how.place == "tf_crop_and_resize" && call.has(1) ? call.reals(1) : std::vector<double>();
  if (how.place == "tf_crop_and_resize" && roi.size() != 2 * dims.size())
    fail("its roi has ", roi.size(), " numbers for ", dims.size(), " axes");
  std::vector<Axis> axes(static_cast<size_t>(x.dim()));
  for (size_t i = 0; i < axes.size(); ++i) axes[i].from = axes[i].to = x.size(static_cast<int64_t>(i));
  const std::string policy = call.text("keep_aspect_ratio_policy", "stretch");
  double common = 0;
  if (by_sizes && policy != "stretch") {
    for (size_t i = 0; i < dims.size(); ++i) {
      const double scale = static_cast<double>(sizes[i]) / static_cast<double>(x.size(dims[i]));
      common = i == 0 ? scale : policy == "not_larger" ? std::min(common, scale) : std::max(common, scale);
    }
  }
  Shape whole = x.sizes();
  for (size_t i = 0; i < dims.size(); ++i) {
    Axis& axis = axes[static_cast<size_t>(axis_of(dims[i], x.dim()))];
    if (by_sizes) {
      axis.to = common > 0 ? static_cast<int64_t>(std::floor(static_cast<double>(axis.from) * common + 0.5)) : sizes[i];
      axis.scale = common > 0 ? common : static_cast<double>(axis.to) / static_cast<double>(axis.from);
    } else {
      if (!(scales[i] > 0) || scales[i] > 0x1p31) fail("its factor is ", scales[i]);
      axis.scale = scales[i];
      const double width = roi.empty() ? 1 : roi[i + dims.size()] - roi[i];
      axis.to = static_cast<int64_t>(std::floor(static_cast<double>(axis.from) * width * scales[i]));
    }
    if (!roi.empty()) {
      axis.roi_start = roi[i];
      axis.roi_end = roi[i + dims.size()];
    }
    if (axis.to < 0 || (axis.to > 0 && axis.from == 0))
      fail("its result would have ", axis.to, " elements in a dimension that has ", axis.from);
    whole[static_cast<size_t>(axis_of(dims[i], x.dim()))] = axis.to;
  }
  (void)call.place(whole, x.dtype());
  if (resized_at_once(call, x, axes, how)) return;
  const DType dtype = x.dtype();
  if (how.mode != "nearest" && (!is_floating(dtype) || is_half(dtype))) x = x.to(kFloat32, {}, call.site());
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i].to != axes[i].from || axes[i].scale != 1 || !roi.empty())
      x = resized_axis(x, static_cast<int64_t>(i), axes[i], how, call.site());
  call.give(x.to(dtype, {}, call.site()));
}

void resize(Call& call) {
  How how{.mode = call.text("mode", "nearest"),
          .place = call.text("coordinate_transformation_mode", "half_pixel"),
          .nearest = call.text("nearest_mode", "round_prefer_floor")};
  if (call.version() < 11) {
    how.place = "asymmetric";
    how.nearest = "floor";
  }
  if (how.mode != "nearest" && how.mode != "linear" && how.mode != "cubic")
    fail("its mode '", how.mode, "' is none of nearest, linear and cubic");
  how.cubic = call.real("cubic_coeff_a", -0.75);
  how.outside = call.real("extrapolation_value", 0);
  how.exclude_outside = call.integer("exclude_outside", 0) != 0;
  how.antialias = call.integer("antialias", 0) != 0;
  const size_t at = call.version() < 11 ? 1 : 2;
  const std::vector<double> scales = call.has(at) ? call.reals(at) : std::vector<double>();
  resize_by(call, scales, scales.empty() && call.has(3) ? call.ints(3) : Shape(), how);
}

void upsample(Call& call) {
  const How how{.mode = call.text("mode", "nearest"), .place = "asymmetric", .nearest = "floor"};
  std::vector<double> scales;
  if (call.version() >= 9) scales = call.reals(1);
  else if (const auto* found = call.find("scales")) scales.assign(found->floats.begin(), found->floats.end());
  resize_by(call, scales, {}, how);
}

void grid_sample_by(Call& call) {
  const Tensor x = call.in(0), grid = call.in(1);
  std::string mode = call.text("mode", call.version() < 20 ? "bilinear" : "linear");
  if (mode == "linear") mode = "bilinear";
  if (mode == "cubic") mode = "bicubic";
  call.give(grid_sample(
      x, grid, {.mode = mode, .padding_mode = call.text("padding_mode", "zeros"), .align_corners = call.integer("align_corners", 0) != 0},
      call.site()));
}

void affine_grid_of(Call& call) {
  const Tensor theta = call.in(0);
  call.give(affine_grid(theta, call.ints(1), call.integer("align_corners", 0) != 0, call.site()));
}

constexpr OperatorRow kRows[] = {
    {"AffineGrid", 20, affine_grid_of},
    {"GridSample", 16, grid_sample_by},
    {"Resize", 10, resize, nullptr, nullptr, 1},
    {"Upsample", 1, upsample, nullptr, nullptr, 1},
};

}  // namespace

std::span<const OperatorRow> resize_operators() { return kRows; }

}  // namespace tandem::onnx
