#include "ops/grid_sample.h"

#include <array>

#include "autograd/history.h"
#include "base/error.h"
#include "base/work_site.h"
#include "ops/accumulate.h"
#include "ops/autocasting.h"
#include "ops/creation.h"
#include "ops/join.h"
#include "ops/launch.h"
#include "ops/matmul.h"
#include "ops/operators.h"
#include "ops/view.h"

namespace tandem {
namespace {

using autograd::needs_grad;
using autograd::record;
using kernels::GridMode;
using kernels::GridPadding;
using kernels::GridSample;

/// The number of `name` among `names`.
template <size_t N>
int64_t choice(const char* what, const std::string& name, const std::array<const char*, N>& names) {
  for (size_t i = 0; i < N; ++i)
    if (name == names[i]) return static_cast<int64_t>(i);
  std::string all;
  for (const char* each : names) all += std::string(all.empty() ? "" : ", ") + each;
  fail("[grid_sample] ", what, " '", name, "' is none of ", all);
}

void check(const char* op, const Tensor& input, const Tensor& grid, int64_t dims) {
  ops::check_same_device(op, input, "input", grid, "grid");
  if (input.dtype() != grid.dtype())
    fail("[", op, "] expected input and grid to have same dtype, but input has ", input.dtype(), " and grid has ", grid.dtype());
  if (!is_floating(input.dtype())) fail<NotImplementedError>("[", op, "] is not implemented for '", scalar_name(input.dtype()), "'");
  if (input.dim() != dims || grid.dim() != dims)
    fail("[", op, "] expected ", dims, "D input and grid with same number of dimensions, but got input with sizes ", input.sizes(),
         " and grid with sizes ", grid.sizes());
  if (grid.size(-1) != dims - 2)
    fail("[", op, "] expected grid to have size ", dims - 2, " in last dimension, but got grid with sizes ", grid.sizes());
  if (input.size(0) != grid.size(0))
    fail("[", op, "] expected grid and input to have same batch size, but got input with sizes ", input.sizes(), " and grid with sizes ",
         grid.sizes());
  for (int64_t d = 2; d < dims; ++d)
    if (input.size(d) <= 0)
      fail("[", op, "] expected input to have non-empty spatial dimensions, but input has sizes ", input.sizes(), " with dimension ", d,
           " being empty");
}

Tensor sample(const char* op, const char* grad_fn, const Tensor& input, const Tensor& grid, const GridSample& how, Site site) {
  check(op, input, grid, input.dim() == 5 ? 5 : 4);
  if (how.mode == GridMode::Bicubic && input.dim() == 5 && is_half(input.dtype()))  // which PyTorch's CPU does not round on the way
    return sample(op, grad_fn, input.to(kFloat32), grid.to(kFloat32), how, site).to(input.dtype());
  Shape sizes{input.size(0), input.size(1)};
  for (int64_t d = 1; d + 1 < grid.dim(); ++d) sizes.push_back(grid.size(d));
  const Tensor in = input.contiguous(site), points = grid.contiguous(site);
  Tensor y = empty(sizes, {.dtype = input.dtype(), .device = input.device()}, site);
  ops::launch(in, op, site, &kernels::Table::grid_sample, y, in, points, how);
  if (!needs_grad(input, grid)) return y;
  return record(grad_fn, y, {in, points}, site,
                [in = autograd::saved(in), points = autograd::saved(points), how, op, site](const Tensor& g, autograd::Wanted wanted) {
                  const Tensor from = in.get(), at = points.get(), grad = g.contiguous(site);
                  if (needs_grad(g)) fail("[", op, "] has no second gradient, as in PyTorch: its backward cannot be recorded");
                  std::array<Tensor, 2> gradients;
                  const bool any = grad.numel() > 0;
                  const DType wide = ops::sum_type(from.dtype());
                  if (wanted[0]) gradients[0] = (any ? empty_like(from, {.dtype = wide}) : zeros_like(from, {.dtype = wide}));
                  if (wanted[1]) gradients[1] = any ? empty_like(at) : zeros_like(at);
                  if (any)
                    ops::launch(from, op, site, &kernels::Table::grid_sample_backward, gradients[0], gradients[1], grad, from, at, how);
                  if (wanted[0]) gradients[0] = gradients[0].to(from.dtype());
                  return gradients;
                });
}

GridSample numbered(const char* op, int64_t mode, int64_t padding, bool align_corners) {
  if (mode < 0 || mode > 2 || padding < 0 || padding > 2)
    fail("[", op, "] interpolation_mode and padding_mode must be in [0, 2], not ", mode, " and ", padding);
  return {static_cast<GridMode>(mode), static_cast<GridPadding>(padding), align_corners};
}

/// Coordinates of n places in [-1, 1].
Tensor places(int64_t n, bool align_corners, const Tensor& like, Site site) {
  const Options options{.dtype = like.dtype(), .device = like.device()};
  if (n <= 1) return zeros({n}, options, site);
  const Tensor whole = linspace(-1, 1, n, options, site);
  return align_corners ? whole : mul(whole, static_cast<double>(n - 1) / static_cast<double>(n), site);
}

}  // namespace

Tensor grid_sample(const Tensor& input, const Tensor& grid, const GridSampleOptions& options, Site site) {
  if (const ops::Cast cast("grid_sample", site, input, grid); cast) return grid_sample(cast(input), cast(grid), options, site);
  const GridSample how{static_cast<GridMode>(choice("mode", options.mode, std::array{"bilinear", "nearest", "bicubic"})),
                       static_cast<GridPadding>(choice("padding_mode", options.padding_mode, std::array{"zeros", "border", "reflection"})),
                       options.align_corners};
  return sample("grid_sample", input.dim() == 5 ? "GridSampler3DBackward0" : "GridSampler2DBackward0", input, grid, how, site);
}

Tensor grid_sampler_2d(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode, Flag align_corners,
                       Site site) {
  if (const ops::Cast cast("grid_sample", site, input, grid); cast)
    return grid_sampler_2d(cast(input), cast(grid), interpolation_mode, padding_mode, align_corners, site);
  const GridSample how = numbered("grid_sampler_2d", interpolation_mode, padding_mode, align_corners);
  check("grid_sampler_2d", input, grid, 4);
  return sample("grid_sampler_2d", "GridSampler2DBackward0", input, grid, how, site);
}

Tensor grid_sampler_3d(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode, Flag align_corners,
                       Site site) {
  if (const ops::Cast cast("grid_sample", site, input, grid); cast)
    return grid_sampler_3d(cast(input), cast(grid), interpolation_mode, padding_mode, align_corners, site);
  const GridSample how = numbered("grid_sampler_3d", interpolation_mode, padding_mode, align_corners);
  check("grid_sampler_3d", input, grid, 5);
  return sample("grid_sampler_3d", "GridSampler3DBackward0", input, grid, how, site);
}

Tensor affine_grid(const Tensor& theta, const Shape& size, Flag align_corners, Site site) {
  const detail::ComposedAt line(site);
  const auto axes = static_cast<int64_t>(size.size()) - 2;
  if (!is_floating(theta.dtype())) fail("[affine_grid] Expected theta to have floating point type, but got ", theta.dtype());
  if (axes != 2 && axes != 3)
    fail("[affine_grid] only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size ", size);
  if (theta.dim() != 3 || theta.size(0) != size[0] || theta.size(1) != axes || theta.size(2) != axes + 1)
    fail("[affine_grid] Expected a batch of ", axes, "D affine matrices of shape ", Shape{size[0], axes, axes + 1}, " for size ", size,
         ". Got ", theta.sizes());
  for (const int64_t each : size)
    if (each <= 0) fail("[affine_grid] Expected non-zero, positive output size. Got ", size);
  Shape whole;
  for (int64_t d = 0; d < axes; ++d) whole.push_back(size[static_cast<size_t>(2 + d)]);
  std::vector<Tensor> coordinates;
  for (int64_t axis = 0; axis < axes; ++axis) {  // x, which is the last dimension, first
    const int64_t d = axes - 1 - axis;
    Shape own;
    for (int64_t k = 0; k < axes; ++k) own.push_back(k == d ? whole[static_cast<size_t>(k)] : 1);
    coordinates.push_back(places(whole[static_cast<size_t>(d)], align_corners, theta, site).reshape(own).expand(whole));
  }
  coordinates.push_back(ones(whole, {.dtype = theta.dtype(), .device = theta.device()}, site));
  const Tensor base = stack(coordinates, -1, site).reshape({1, whole.numel(), axes + 1}).expand({size[0], whole.numel(), axes + 1});
  Shape result{size[0]};
  for (const int64_t each : whole) result.push_back(each);
  result.push_back(axes);
  return bmm(base, theta.transpose(1, 2), site).reshape(result, site);
}

}  // namespace tandem
