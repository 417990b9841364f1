// Every mode is a weighted sum along each dimension by itself: a list of taps (which elements, with which weights) for each place of the
// result, and one kernel that adds them up. The gradient has the same taps, grouped by source element.
#include "ops/interpolate.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>

#include "autograd/history.h"
#include "base/error.h"
#include "ops/autocasting.h"
#include "ops/creation.h"
#include "ops/launch.h"
#include "ops/operators.h"
#include "ops/upload.h"
#include "ops/view.h"
#include "tensor/dims.h"

namespace tandem {
namespace {

using autograd::needs_grad;
using autograd::record;

/// What each of `starts.size() - 1` results is made of: elements of a dimension of `length`.
struct Taps {
  int64_t length;
  std::vector<int64_t> starts{0}, indices;
  std::vector<double> weights;

  explicit Taps(int64_t length) : length(length) {}
  [[nodiscard]] int64_t results() const { return static_cast<int64_t>(starts.size()) - 1; }
  void add(int64_t index, double weight) {
    indices.push_back(index);
    weights.push_back(weight);
  }
  void finish() { starts.push_back(static_cast<int64_t>(indices.size())); }
  /// For bytes, as PyTorch and Pillow resize them: an element's weights added up and rounded to so many binary places that the greatest has
  /// 15 digits.
  [[nodiscard]] Taps rounded() const {
    Taps other(length);
    double greatest = 0;
    for (int64_t result = 0; result < results(); ++result) {
      const size_t first = other.indices.size();
      for (auto t = static_cast<size_t>(starts[static_cast<size_t>(result)]);
           t < static_cast<size_t>(starts[static_cast<size_t>(result) + 1]); ++t) {
        const auto known = std::find(other.indices.begin() + static_cast<std::ptrdiff_t>(first), other.indices.end(), indices[t]);
        if (known == other.indices.end()) other.add(indices[t], weights[t]);
        else other.weights[static_cast<size_t>(known - other.indices.begin())] += weights[t];
      }
      other.finish();
    }
    for (const double weight : other.weights) greatest = std::max(greatest, weight);
    int places = 0;
    while (places < 22 && std::floor(0.5 + std::ldexp(greatest, places + 1)) < 1 << 15) ++places;
    for (double& weight : other.weights) weight = std::ldexp(std::round(std::ldexp(weight, places)), -places);
    return other;
  }
  /// From results to elements.
  [[nodiscard]] Taps turned() const {
    Taps other(results());
    other.starts.assign(static_cast<size_t>(length) + 1, 0);
    for (const int64_t index : indices) ++other.starts[static_cast<size_t>(index) + 1];
    for (size_t i = 1; i < other.starts.size(); ++i) other.starts[i] += other.starts[i - 1];
    std::vector<int64_t> next(other.starts.begin(), other.starts.end() - 1);
    other.indices.resize(indices.size());
    other.weights.resize(indices.size());
    for (int64_t result = 0; result < results(); ++result)
      for (int64_t t = starts[static_cast<size_t>(result)]; t < starts[static_cast<size_t>(result) + 1]; ++t) {
        const auto to = static_cast<size_t>(next[static_cast<size_t>(indices[static_cast<size_t>(t)])]++);
        other.indices[to] = result;
        other.weights[to] = weights[static_cast<size_t>(t)];
      }
    return other;
  }
};
using SharedTaps = std::shared_ptr<const Taps>;

double cubic(double distance, double a) {
  const double d = std::abs(distance);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? (((d - 5) * d + 8) * d - 4) * a : 0;
}

/// How a dimension of n elements becomes one of m. `factor`: the scale factor to go by; the sizes decide without.
struct Resize {
  std::string mode;
  int64_t n, m;
  std::optional<double> factor;
  bool align_corners, antialias;

  [[nodiscard]] double scale() const {
    if (align_corners) return m > 1 ? static_cast<double>(n - 1) / static_cast<double>(m - 1) : 0;
    return factor && *factor > 0 ? 1 / *factor : static_cast<double>(n) / static_cast<double>(m);
  }

  /// Whether each result is the element in its place. Where the sizes agree, only "bicubic" and "nearest-exact" go by a factor that is not
  /// 1, as in PyTorch.
  [[nodiscard]] bool same() const {
    if (m != n) return false;
    return !factor || *factor == 1 || antialias || (mode != "bicubic" && mode != "nearest-exact");
  }

  [[nodiscard]] Taps taps() const {
    Taps taps(n);
    for (int64_t i = 0; i < m; ++i) {
      if (mode == "nearest" || mode == "nearest-exact") nearest(taps, i);
      else if (mode == "area") area(taps, i);
      else if (antialias) covered(taps, i);
      else if (mode == "bicubic") four(taps, i);
      else two(taps, i);
      taps.finish();
    }
    return taps;
  }

 private:
  [[nodiscard]] int64_t inside(int64_t index) const { return std::clamp<int64_t>(index, 0, n - 1); }
  // Twice as many results are each element twice, whatever the factor: so do PyTorch's gradients, and its results for images.
  void nearest(Taps& taps, int64_t i) const {
    if (mode == "nearest" && m == 2 * n) return taps.add(i / 2, 1);
    const double middle = mode == "nearest" ? 0 : 0.5;
    // In float, as PyTorch computes it for all types: the place depends on how the product rounds.
    const float place = static_cast<float>(static_cast<double>(i) + middle) * static_cast<float>(scale());
    taps.add(inside(static_cast<int64_t>(std::floor(place))), 1);
  }
  void area(Taps& taps, int64_t i) const {
    const int64_t first = i * n / m, last = ((i + 1) * n + m - 1) / m;
    for (int64_t k = first; k < last; ++k) taps.add(k, 1 / static_cast<double>(last - first));
  }
  [[nodiscard]] double source(int64_t i) const {
    const auto at = static_cast<double>(i);
    return align_corners ? at * scale() : (at + 0.5) * scale() - 0.5;
  }
  void two(Taps& taps, int64_t i) const {
    const double at = std::max(0.0, source(i));
    const int64_t first = inside(static_cast<int64_t>(at));
    const double rest = std::min(1.0, at - static_cast<double>(first));
    taps.add(first, 1 - rest);
    taps.add(inside(first + 1), rest);
  }
  void four(Taps& taps, int64_t i) const {
    const double at = source(i), floor = std::floor(at);
    for (int64_t k = -1; k <= 2; ++k) taps.add(inside(static_cast<int64_t>(floor) + k), cubic(at - floor - static_cast<double>(k), -0.75));
  }
  void covered(Taps& taps, int64_t i) const {
    const double reach = mode == "bicubic" ? 2 : 1, wide = std::max(1.0, scale()), support = reach * wide;
    const double center = scale() * (static_cast<double>(i) + 0.5);
    const int64_t first = std::max<int64_t>(0, static_cast<int64_t>(std::floor(center - support + 0.5)));
    const int64_t last = std::min(n, static_cast<int64_t>(std::floor(center + support + 0.5)));
    const size_t begin = taps.weights.size();
    double sum = 0;
    for (int64_t k = first; k < last; ++k) {
      const double distance = (static_cast<double>(k) - center + 0.5) / wide;
      taps.add(k, mode == "bicubic" ? cubic(distance, -0.5) : std::max(0.0, 1 - std::abs(distance)));
      sum += taps.weights.back();
    }
    if (sum != 0)
      for (size_t t = begin; t < taps.weights.size(); ++t) taps.weights[t] /= sum;
  }
};

/// The taps as a kernel takes them, in one copy to its device.
struct UploadedTaps {
  Tensor words;
  kernels::View starts, indices, weights;

  UploadedTaps(const Taps& taps, Device device, Site site) : words(ops::uploaded(words_of(taps), device, site)) {
    const auto results = static_cast<int64_t>(taps.starts.size()), count = static_cast<int64_t>(taps.indices.size());
    starts = ops::view(words.narrow(0, 0, results));
    indices = ops::view(words.narrow(0, results, count));
    weights = ops::view(words.narrow(0, results + count, count));
    weights.dtype = kFloat64;
  }

 private:
  static std::vector<int64_t> words_of(const Taps& taps) {
    std::vector<int64_t> words = taps.starts;
    words.insert(words.end(), taps.indices.begin(), taps.indices.end());
    for (const double weight : taps.weights) words.push_back(std::bit_cast<int64_t>(weight));
    return words;
  }
};

/// x, contiguous and float32 or float64, along `dim`.
Tensor resample(const Tensor& x, int64_t dim, const SharedTaps& taps, Site site) {
  Shape sizes = x.sizes();
  const auto at = static_cast<size_t>(dim);
  sizes[at] = taps->results();
  Tensor y = empty(sizes, {.dtype = x.dtype(), .device = x.device()}, site);
  if (y.numel()) {
    int64_t outer = 1, inner = 1;
    for (size_t d = 0; d < at; ++d) outer *= sizes[d];
    for (size_t d = at + 1; d < sizes.size(); ++d) inner *= sizes[d];
    const Tensor dense = x.detach().contiguous(site);
    const UploadedTaps there(*taps, x.device(), site);
    ops::launch(x, "interpolate", site, &kernels::Table::resample, y.view({outer, sizes[at], inner}),
                dense.view({outer, taps->length, inner}), there.starts, there.indices, there.weights);
  }
  if (!needs_grad(x)) return y;
  return record("UpsampleBackward0", y, {x}, site,
                [dim, taps, site](const Tensor& g) { return resample(g, dim, std::make_shared<const Taps>(taps->turned()), site); });
}

/// Bytes by mode bilinear or bicubic: each dimension's sums are bytes again, the last dimension's first, so that all digits are PyTorch's.
Tensor resample_bytes(const Tensor& input, const std::vector<Resize>& resizes, Site site) {
  Tensor y = input;
  for (size_t d = resizes.size(); d-- > 0;) {
    const Resize& resize = resizes[d];
    if (resize.m == resize.n) continue;
    const auto taps = std::make_shared<const Taps>(resize.taps().rounded());
    // Sums of bytes times rounded weights are exact in float32.
    const Tensor sums = resample(y.to(kFloat32, {}, site), 2 + static_cast<int64_t>(d), taps, site);
    y = floor(add(sums, 0.5, site), site).clamp(0, 255, site).to(kUInt8, {}, site);
  }
  return y.is_same(input) ? input.clone(site) : y;
}

/// The dimensions that a mode is for; 0: any.
int64_t places_of(const std::string& mode) {
  if (mode == "linear") return 1;
  if (mode == "bilinear" || mode == "bicubic") return 2;
  if (mode == "trilinear") return 3;
  if (mode == "nearest" || mode == "nearest-exact" || mode == "area") return 0;
  fail("[interpolate] mode '", mode, "' is none of nearest, nearest-exact, linear, bilinear, bicubic, trilinear, area");
}

/// To PyTorch, "area" is a pooling.
const ops::CastRow* cast_row(const Tensor& input, const InterpolateOptions& options) {
  static constexpr const ops::CastRow *plain = ops::find_cast_row("interpolate"), *pooling = ops::find_cast_row("adaptive_avg_pool3d");
  return options.mode != "area" ? plain : input.dim() == 5 ? pooling : nullptr;
}

}  // namespace

Tensor interpolate(const Tensor& input, const InterpolateOptions& options, Site site) {
  if (const ops::Cast cast(cast_row(input, options), site, input); cast) return interpolate(cast(input), options, site);
  const int64_t places = input.dim() - 2, needed = places_of(options.mode);
  if (places < 1 || places > 3)
    fail("[interpolate] Input Error: Only 3D, 4D and 5D input Tensors supported (got ", input.dim(),
         "D) for the modes: nearest | linear | ", "bilinear | bicubic | trilinear | area | nearest-exact (got ", options.mode, ")");
  if (needed && needed != places)
    fail("[interpolate] Got ", input.dim(), "D input, but ", options.mode, " mode needs ", needed + 2, "D input");
  if (!is_floating(input.dtype()) && input.dtype() != kUInt8)
    fail<NotImplementedError>("[interpolate] is not implemented for '", scalar_name(input.dtype()), "'; convert with to(kFloat32)");
  if (!needed && options.align_corners)
    fail("[interpolate] align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear");
  if (options.antialias && options.mode != "bilinear" && options.mode != "bicubic")
    fail("[interpolate] Anti-alias option is only supported for bilinear and bicubic modes, not ", options.mode);
  if (options.size.has_value() == options.scale_factor.has_value())
    fail("[interpolate] ",
         options.size ? "only one of size or scale_factor should be defined" : "either size or scale_factor should be defined");
  if (options.recompute_scale_factor && options.size) fail("[interpolate] recompute_scale_factor is not meaningful with an explicit size.");
  const auto given = static_cast<int64_t>(options.size ? options.size->size() : options.scale_factor->size());
  if (given != 1 && given != places)
    fail("[interpolate] Input and output must have the same number of spatial dimensions, but got input with ", places, " and ", given,
         " given for the output");

  std::vector<Resize> resizes;
  for (int64_t d = 0; d < places; ++d) {
    const auto at = static_cast<size_t>(given == 1 ? 0 : d);
    const int64_t n = input.size(2 + d);
    Resize resize{options.mode, n, 0, {}, options.align_corners.value_or(false), options.antialias};
    if (options.size) {
      resize.m = (*options.size)[at];
    } else {
      const double factor = (*options.scale_factor)[at];
      resize.m = static_cast<int64_t>(std::floor(static_cast<double>(n) * factor));
      if (!options.recompute_scale_factor && options.mode != "area") resize.factor = factor;
    }
    if (n <= 0 || resize.m <= 0)
      fail("[interpolate] Input and output sizes should be greater than 0, but got input sizes ", input.sizes(), " and ", resize.m,
           " for dimension ", 2 + d);
    resizes.push_back(resize);
  }
  if (input.dtype() == kUInt8 && needed == 2) return resample_bytes(input, resizes, site);
  const DType dtype = input.dtype() == kFloat64 ? kFloat64 : kFloat32;
  Tensor y = input.to(dtype, {}, site);
  // Few elements at a time: what shrinks comes first, then the last dimension, which has the dearest steps.
  for (const bool shrinking : {true, false})
    for (int64_t d = places - 1; d >= 0; --d) {
      const Resize& resize = resizes[static_cast<size_t>(d)];
      if ((resize.m < resize.n) != shrinking) continue;
      if (!resize.same()) y = resample(y, 2 + d, std::make_shared<const Taps>(resize.taps()), site);
    }
  if (input.dtype() == kUInt8) return round(y, site).clamp(0, 255, site).to(kUInt8, {}, site);
  if (y.is_same(input)) return input.clone(site);
  return y.to(input.dtype(), {}, site);
}

Tensor pixel_shuffle(const Tensor& input, int64_t upscale_factor, Site site) {
  const int64_t r = upscale_factor, n = input.dim();
  if (n < 3) fail("[pixel_shuffle] expects input to have at least 3 dimensions, but got input with ", n, " dimension(s)");
  if (r <= 0) fail("[pixel_shuffle] expects a positive upscale_factor, but got ", r);
  const int64_t channels = input.size(-3), height = input.size(-2), width = input.size(-1);
  if (channels % (r * r) != 0)
    fail("[pixel_shuffle] expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but input.size(-3)=",
         channels, " is not divisible by ", r * r);
  Shape split, joined, order;
  for (int64_t d = 0; d < n - 3; ++d) {
    split.push_back(input.size(d));
    joined.push_back(input.size(d));
    order.push_back(d);
  }
  for (const int64_t size : {channels / (r * r), r, r, height, width}) split.push_back(size);
  for (const int64_t d : {0, 3, 1, 4, 2}) order.push_back(n - 3 + d);
  for (const int64_t size : {channels / (r * r), height * r, width * r}) joined.push_back(size);
  return input.reshape(split, site).permute(order, site).clone(site).view(joined, site);
}

Tensor pixel_unshuffle(const Tensor& input, int64_t downscale_factor, Site site) {
  const int64_t r = downscale_factor, n = input.dim();
  if (n < 3) fail("[pixel_unshuffle] expects input to have at least 3 dimensions, but got input with ", n, " dimension(s)");
  if (r <= 0) fail("[pixel_unshuffle] expects a positive downscale_factor, but got ", r);
  const int64_t channels = input.size(-3), height = input.size(-2), width = input.size(-1);
  if (height % r != 0 || width % r != 0)
    fail("[pixel_unshuffle] expects height and width to be divisible by downscale_factor, but ", height, " and ", width,
         " are not both divisible by ", r);
  Shape split, joined, order;
  for (int64_t d = 0; d < n - 3; ++d) {
    split.push_back(input.size(d));
    joined.push_back(input.size(d));
    order.push_back(d);
  }
  for (const int64_t size : {channels, height / r, r, width / r, r}) split.push_back(size);
  for (const int64_t d : {0, 2, 4, 1, 3}) order.push_back(n - 3 + d);
  for (const int64_t size : {channels * r * r, height / r, width / r}) joined.push_back(size);
  return input.reshape(split, site).permute(order, site).clone(site).view(joined, site);
}

Tensor channel_shuffle(const Tensor& input, int64_t groups, Site site) {
  if (input.dim() < 3) fail("[channel_shuffle] expects input with > 2 dims, but got input with sizes ", input.sizes());
  const int64_t channels = input.size(1);
  if (groups <= 0) fail("[channel_shuffle] Number of groups to divide channels in must be positive. Value of groups: ", groups);
  if (channels % groups != 0)
    fail("[channel_shuffle] Number of channels must be divisible by groups. Got ", channels, " channels and ", groups, " groups.");
  Shape split = input.sizes();
  split[1] = groups;
  split.insert(2, channels / groups);
  return input.reshape(split, site).transpose(1, 2, site).clone(site).view(input.sizes(), site);
}

}  // namespace tandem
