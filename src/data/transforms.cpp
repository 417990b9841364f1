// Each follows torchvision's function of that name for tensors, its order of random numbers aside.
#include "data/transforms.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "ops/arithmetic.h"
#include "ops/creation.h"
#include "ops/interpolate.h"
#include "ops/join.h"
#include "ops/moving.h"
#include "ops/operators.h"
#include "ops/padding.h"
#include "ops/pointwise.h"
#include "ops/reduce.h"

namespace tandem::data {

MappedDataset map_input(AnyDataset dataset, Transform transform, Site /*site*/) {
  return map(std::move(dataset), SampleFunction([transform = std::move(transform)](Sample sample, Generator& generator) {
               if (sample.tensors.empty()) fail("[map_input] a sample has no tensors");
               sample.tensors[0] = transform(sample.tensors[0], generator);
               return sample;
             }));
}

namespace transforms {
namespace {

void check_picture(const char* op, const Tensor& image) {
  if (image.dim() != 3 || image.numel() == 0)
    fail("[", op, "] a picture has sizes (channels, height, width), none of them 0, but these are ", image.sizes());
  if (image.dtype() != kUInt8 && !image.is_floating_point()) fail("[", op, "] a picture is uint8 or floating, but this is ", image.dtype());
}

void check_size(const char* op, Size size) {
  if (size.height < 1 || size.width < 1) fail("[", op, "] height and width must be positive, but are ", size.height, " and ", size.width);
}

void check_probability(const char* op, double p) {
  if (!(p >= 0 && p <= 1)) fail("[", op, "] p must be between 0 and 1, but is ", p);
}

void check_range(const char* op, const char* what, Range range, double least) {
  if (!(range[0] >= least && range[0] <= range[1] && std::isfinite(range[1])))
    fail("[", op, "] ", what, " must be a range of numbers from ", least, " on, the smaller one first, but is ", range[0], " to ",
         range[1]);
}

Tensor cropped(const Tensor& image, int64_t top, int64_t left, Size size) {
  return image.narrow(1, top, size.height).narrow(2, left, size.width);
}

/// Floating values back in the picture's dtype.
Tensor as_picture(const Tensor& values, const Tensor& like) {
  return like.is_floating_point() ? values.to(like.dtype()) : round(values).clamp(0, 255).to(kUInt8);
}

Tensor resized(const Tensor& image, Size size, bool antialias) {
  if (image.size(1) == size.height && image.size(2) == size.width) return image;
  const Tensor values = image.is_floating_point() ? image : image.to(kFloat32);
  const Tensor result = interpolate(
      values.unsqueeze(0), {.size = Shape{size.height, size.width}, .mode = "bilinear", .align_corners = false, .antialias = antialias});
  return as_picture(result.squeeze(0), image);
}

int64_t below(Generator& generator, int64_t bound) { return static_cast<int64_t>(generator.below(static_cast<uint64_t>(bound))); }

struct Crop {
  int64_t top, left;
  Size size;
};

/// A part of random area and shape; nothing where ten tries found none that lies in the picture. `strictly`: smaller in both directions.
std::optional<Crop> random_part(Size whole, Range scale, Range width_over_height, bool strictly, Generator& generator) {
  const auto area = static_cast<double>(whole.height * whole.width);
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double wanted = area * generator.uniform(scale[0], scale[1]);
    const double ratio = std::exp(generator.uniform(std::log(width_over_height[0]), std::log(width_over_height[1])));
    const Size size(std::lround(std::sqrt(wanted / ratio)), std::lround(std::sqrt(wanted * ratio)));
    if (size.height < 1 || size.width < 1 || size.height > whole.height - strictly || size.width > whole.width - strictly) continue;
    return Crop{below(generator, whole.height - size.height + 1), below(generator, whole.width - size.width + 1), size};
  }
  return std::nullopt;
}

/// The grey of each place, (1, height, width), floating.
Tensor gray_of(const char* op, const Tensor& image) {
  check_picture(op, image);
  const Tensor values = image.is_floating_point() ? image : image.to(kFloat32);
  if (image.size(0) == 1) return values;
  if (image.size(0) != 3) fail("[", op, "] a picture with colours has 3 channels, but this has ", image.size(0));
  return values.narrow(0, 0, 1) * 0.2989 + values.narrow(0, 1, 1) * 0.587 + values.narrow(0, 2, 1) * 0.114;
}

/// factor * image + (1 - factor) * other, within a picture's bounds.
Tensor blended(const Tensor& image, const Tensor& other, double factor) {
  const bool floating = image.is_floating_point();
  const Tensor values = floating ? image : image.to(kFloat32);
  const Tensor mixed = (values * factor + other * (1 - factor)).clamp(0, floating ? 1 : 255);
  return floating ? mixed : mixed.to(kUInt8);
}

/// Whole numbers, as the grey of a uint8 picture has them.
Tensor gray_like(const char* op, const Tensor& image) {
  const Tensor gray = gray_of(op, image);
  return image.is_floating_point() ? gray : floor(gray);
}

void check_factor(const char* op, double factor) {
  if (!(factor >= 0)) fail("[", op, "] the factor must not be negative, but is ", factor);
}

Tensor channel_values(const std::vector<double>& values) {
  Tensor result = empty({static_cast<int64_t>(values.size()), 1, 1});
  std::copy(values.begin(), values.end(), result.data_ptr<float>());
  return result;
}

}  // namespace

Tensor Compose::operator()(const Tensor& image, Generator& generator) const {
  Tensor result = image;
  for (const Transform& transform : transforms) result = transform(result, generator);
  return result;
}

Tensor ToTensor::operator()(const Tensor& image) const {
  check_picture("ToTensor", image);
  return image.is_floating_point() ? image : image.to(kFloat32) / 255;
}

Normalize::Normalize(std::vector<double> mean, std::vector<double> std, Site /*site*/) {
  if (mean.empty() || std.empty()) fail("[Normalize] mean and std need at least one number each");
  for (const double deviation : std)
    if (!(deviation > 0)) fail("[Normalize] std must be positive, but has ", deviation);
  mean_ = channel_values(mean);
  std_ = channel_values(std);
}

Tensor Normalize::operator()(const Tensor& image) const {
  check_picture("Normalize", image);
  if (!image.is_floating_point()) fail("[Normalize] takes a floating picture, but this is ", image.dtype(), ": put ToTensor before it");
  for (const Tensor& values : {mean_, std_})
    if (values.size(0) != 1 && values.size(0) != image.size(0))
      fail("[Normalize] there are ", values.size(0), " numbers for the ", image.size(0), " channels of the picture");
  return (image - mean_.to(image.device(), image.dtype())) / std_.to(image.device(), image.dtype());
}

Resize::Resize(int64_t shorter_edge, bool antialias, Site /*site*/) : shorter_edge_(shorter_edge), antialias_(antialias) {
  check_size("Resize", Size(shorter_edge));
}
Resize::Resize(Size size, bool antialias, Site /*site*/) : size_(size), antialias_(antialias) { check_size("Resize", size); }

Tensor Resize::operator()(const Tensor& image) const {
  check_picture("Resize", image);
  if (size_) return resized(image, *size_, antialias_);
  const int64_t height = image.size(1), width = image.size(2);
  const auto longer = [&](int64_t edge, int64_t other) {
    return static_cast<int64_t>(static_cast<double>(shorter_edge_ * edge) / static_cast<double>(other));
  };
  return resized(image, height <= width ? Size(shorter_edge_, longer(width, height)) : Size(longer(height, width), shorter_edge_),
                 antialias_);
}

CenterCrop::CenterCrop(Size size, Site /*site*/) : size_(size) { check_size("CenterCrop", size); }

Tensor CenterCrop::operator()(const Tensor& image) const {
  check_picture("CenterCrop", image);
  const int64_t more_rows = std::max<int64_t>(size_.height - image.size(1), 0),
                more_columns = std::max<int64_t>(size_.width - image.size(2), 0);
  const Tensor whole =
      more_rows + more_columns == 0 ? image : pad(image, {more_columns / 2, (more_columns + 1) / 2, more_rows / 2, (more_rows + 1) / 2});
  // To the nearest, the even one of two.
  const auto half = [](int64_t rest) { return static_cast<int64_t>(std::nearbyint(static_cast<double>(rest) / 2)); };
  return cropped(whole, half(whole.size(1) - size_.height), half(whole.size(2) - size_.width), size_);
}

RandomCrop::RandomCrop(Size size, int64_t padding, Site /*site*/) : size_(size), padding_(padding) {
  check_size("RandomCrop", size);
  if (padding < 0) fail("[RandomCrop] padding must not be negative, but is ", padding);
}

Tensor RandomCrop::operator()(const Tensor& image, Generator& generator) const {
  check_picture("RandomCrop", image);
  const Tensor whole = padding_ == 0 ? image : pad(image, {padding_, padding_, padding_, padding_});
  const int64_t rows = whole.size(1) - size_.height, columns = whole.size(2) - size_.width;
  if (rows < 0 || columns < 0)
    fail("[RandomCrop] a part of ", size_.height, " x ", size_.width, " is larger than the picture, ", whole.size(1), " x ", whole.size(2),
         " with its padding");
  const int64_t top = below(generator, rows + 1);
  return cropped(whole, top, below(generator, columns + 1), size_);
}

RandomHorizontalFlip::RandomHorizontalFlip(double p, Site /*site*/) : p_(p) { check_probability("RandomHorizontalFlip", p); }

Tensor RandomHorizontalFlip::operator()(const Tensor& image, Generator& generator) const {
  check_picture("RandomHorizontalFlip", image);
  return generator.uniform() < p_ ? flip(image, {2}) : image;
}

RandomResizedCrop::RandomResizedCrop(Size size, Range scale, Range ratio, Site /*site*/) : size_(size), scale_(scale), ratio_(ratio) {
  check_size("RandomResizedCrop", size);
  check_range("RandomResizedCrop", "scale", scale, 0);
  check_range("RandomResizedCrop", "ratio", ratio, 1e-6);
}

Tensor RandomResizedCrop::operator()(const Tensor& image, Generator& generator) const {
  check_picture("RandomResizedCrop", image);
  const Size whole(image.size(1), image.size(2));
  if (const auto part = random_part(whole, scale_, ratio_, false, generator))
    return resized(cropped(image, part->top, part->left, part->size), size_, true);
  // The middle, as large as the ratios let it be.
  const double ratio = static_cast<double>(whole.width) / static_cast<double>(whole.height);
  Size size = whole;
  if (ratio < ratio_[0]) size.height = std::lround(static_cast<double>(whole.width) / ratio_[0]);
  if (ratio > ratio_[1]) size.width = std::lround(static_cast<double>(whole.height) * ratio_[1]);
  size = Size(std::clamp<int64_t>(size.height, 1, whole.height), std::clamp<int64_t>(size.width, 1, whole.width));
  return resized(cropped(image, (whole.height - size.height) / 2, (whole.width - size.width) / 2, size), size_, true);
}

Grayscale::Grayscale(int64_t num_output_channels, Site /*site*/) : channels_(num_output_channels) {
  if (channels_ != 1 && channels_ != 3) fail("[Grayscale] num_output_channels must be 1 or 3, but is ", channels_);
}

Tensor Grayscale::operator()(const Tensor& image) const {
  const Tensor gray = gray_like("Grayscale", image).to(image.dtype());
  return channels_ == 1 ? gray : cat({gray, gray, gray}, 0);
}

Tensor adjust_brightness(const Tensor& image, double factor, Site /*site*/) {
  check_picture("adjust_brightness", image);
  check_factor("adjust_brightness", factor);
  return blended(image, zeros({}, {.device = image.device()}), factor);
}

Tensor adjust_contrast(const Tensor& image, double factor, Site /*site*/) {
  check_factor("adjust_contrast", factor);
  return blended(image, gray_like("adjust_contrast", image).mean(), factor);
}

Tensor adjust_saturation(const Tensor& image, double factor, Site /*site*/) {
  check_factor("adjust_saturation", factor);
  return blended(image, gray_like("adjust_saturation", image), factor);
}

ColorJitter::ColorJitter(ColorJitterOptions options, Site /*site*/) : options_(options) {
  for (const double amount : {options.brightness, options.contrast, options.saturation})
    if (!(amount >= 0)) fail("[ColorJitter] brightness, contrast and saturation must not be negative, but one is ", amount);
}

Tensor ColorJitter::operator()(const Tensor& image, Generator& generator) const {
  struct Step {
    Tensor (*adjust)(const Tensor&, double, Site);
    double amount;
  };
  std::array<Step, 3> steps = {
      {{adjust_brightness, options_.brightness}, {adjust_contrast, options_.contrast}, {adjust_saturation, options_.saturation}}};
  for (size_t left = steps.size(); left > 1; --left) std::swap(steps[left - 1], steps[generator.below(left)]);
  Tensor result = image;
  for (const Step& step : steps)
    if (step.amount > 0) result = step.adjust(result, generator.uniform(std::max(0., 1 - step.amount), 1 + step.amount), Site::none());
  return result;
}

RandomErasing::RandomErasing(double p, Range scale, Range ratio, double value, Site /*site*/)
    : p_(p), scale_(scale), ratio_(ratio), value_(value) {
  check_probability("RandomErasing", p);
  check_range("RandomErasing", "scale", scale, 0);
  check_range("RandomErasing", "ratio", ratio, 1e-6);
}

Tensor RandomErasing::operator()(const Tensor& image, Generator& generator) const {
  check_picture("RandomErasing", image);
  if (generator.uniform() >= p_) return image;
  // torchvision's ratio is height over width here.
  const auto part = random_part(Size(image.size(1), image.size(2)), scale_, {1 / ratio_[1], 1 / ratio_[0]}, true, generator);
  if (!part) return image;
  Tensor result = image.clone();
  cropped(result, part->top, part->left, part->size).fill_(value_);
  return result;
}

}  // namespace transforms
}  // namespace tandem::data
