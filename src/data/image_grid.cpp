#include "data/image_grid.h"

#include <algorithm>
#include <cctype>

#include "autograd/autograd.h"
#include "base/error.h"
#include "data/image.h"
#include "ops/creation.h"
#include "ops/join.h"
#include "ops/reduce.h"

namespace tandem::data {
namespace {

/// The numbers of a range as those from 0 to 1; those outside become its ends.
Tensor scaled(const Tensor& images, const ImageGridOptions& options, Site site) {
  const auto [low, high] =
      options.value_range ? *options.value_range : std::pair(images.min(site).item<double>(site), images.max(site).item<double>(site));
  return images.clamp(low, high, site).sub(low, site).div(std::max(high - low, 1e-5), site);
}

Tensor scaled_each(const Tensor& images, const ImageGridOptions& options, Site site) {
  std::vector<Tensor> all;
  for (int64_t i = 0; i < images.size(0, site); ++i) all.push_back(scaled(images.select(0, i, site), options, site));
  return stack(all, 0, site);
}

bool is_jpeg(std::string path) {
  std::transform(path.begin(), path.end(), path.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return path.ends_with(".jpg") || path.ends_with(".jpeg");
}

}  // namespace

Tensor make_grid(const Tensor& images, const ImageGridOptions& options, Site site) {
  const NoGradGuard no_grad;
  if (options.nrow < 1) fail<ValueError>("[make_grid] nrow must be at least 1, not ", options.nrow);
  if (options.padding < 0) fail<ValueError>("[make_grid] padding must not be negative, but is ", options.padding);
  if (options.value_range && options.value_range->first > options.value_range->second)
    fail<ValueError>("[make_grid] value_range is (min, max), not (", options.value_range->first, ", ", options.value_range->second, ')');
  if (images.dim(site) < 2 || images.dim() > 4)
    fail("[make_grid] expected pictures (number, channels, height, width), or one without the first dimensions, got sizes ",
         images.sizes());
  Tensor x = images.detach();
  while (x.dim() < 4) x = x.unsqueeze(0, site);
  if (x.size(0, site) == 0) fail("[make_grid] there is no picture: sizes are ", images.sizes());
  if (x.size(1, site) == 1) x = x.expand({-1, 3, -1, -1}, site);
  if (options.normalize) x = options.scale_each ? scaled_each(x, options, site) : scaled(x, options, site);
  const int64_t count = x.size(0, site), columns = std::min(options.nrow, count), rows = (count + columns - 1) / columns;
  if (count == 1) return x.squeeze(0, site);
  const int64_t padding = options.padding, height = x.size(2, site) + padding, width = x.size(3, site) + padding;
  const Tensor grid = full({x.size(1, site), height * rows + padding, width * columns + padding}, options.pad_value,
                           {.dtype = x.dtype(), .device = x.device()}, site);
  for (int64_t i = 0; i < count; ++i)
    grid.narrow(1, i / columns * height + padding, height - padding, site)
        .narrow(2, i % columns * width + padding, width - padding, site)
        .copy_(x.select(0, i, site), false, site);
  return grid;
}

Tensor make_grid(const std::vector<Tensor>& images, const ImageGridOptions& options, Site site) {
  if (images.empty()) fail("[make_grid] there is no picture: the list is empty");
  return make_grid(stack(images, 0, site), options, site);
}

void save_image(const Tensor& images, const std::string& path, const ImageGridOptions& options, Site site) {
  const Tensor grid = make_grid(images, options, site);
  const Tensor bytes = grid.mul(255, site).add(0.5, site).clamp(0, 255, site).to(kUInt8, {}, site);
  if (is_jpeg(path)) write_jpeg(bytes, path, 75, site);
  else write_png(bytes, path, site);
}

void save_image(const std::vector<Tensor>& images, const std::string& path, const ImageGridOptions& options, Site site) {
  if (images.empty()) fail("[save_image] there is no picture: the list is empty");
  save_image(stack(images, 0, site), path, options, site);
}

}  // namespace tandem::data
