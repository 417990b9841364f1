// Functions of pictures, for data.map and image folders. A picture is (channels, height, width), uint8 of 0 to 255 or floating of 0 to 1.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "data/combine.h"
#include "data/generator.h"

namespace tandem::data {

/// Any function of a picture, held as a value: one of those below, or a callable that takes a tensor, or a tensor and a Generator, and
/// gives a tensor (torchvision's Lambda).
class Transform {
 public:
  /// From anything that is called with a picture, or with a picture and a Generator.
  template <class F>
  requires std::is_invocable_r_v<Tensor, const F&, const Tensor&, Generator&> Transform(F function) : function_(std::move(function)) {}
  template <class F>
  requires std::is_invocable_r_v<Tensor, const F&, const Tensor&> Transform(F function)
      : function_([function = std::move(function)](const Tensor& image, Generator&) { return function(image); }) {}

  /// Random numbers come from `generator`.
  [[nodiscard]] Tensor operator()(const Tensor& image, Generator& generator) const { return function_(image, generator); }

 private:
  std::function<Tensor(const Tensor&, Generator&)> function_;
};

/// The dataset with `transform` of each sample's first tensor.
[[nodiscard]] MappedDataset map_input(AnyDataset dataset, Transform transform, Site = Site::here());

namespace transforms {

/// A height and a width.
struct Size {
  int64_t height, width;
  Size(int64_t side) : height(side), width(side) {}
  Size(int64_t height_, int64_t width_) : height(height_), width(width_) {}
};

/// One after another.
struct Compose {
  Compose(std::vector<Transform> transforms_) : transforms(std::move(transforms_)) {}
  std::vector<Transform> transforms;
  [[nodiscard]] Tensor operator()(const Tensor& image, Generator& generator) const;
};

/// uint8 to float32 of 0 to 1; floating pictures are the same.
struct ToTensor {
  [[nodiscard]] Tensor operator()(const Tensor& image) const;
};

/// (x - mean) / std for each channel, of a floating picture; one number stands for all channels. Error for a std of 0.
struct Normalize {
  Normalize(std::vector<double> mean, std::vector<double> std, Site = Site::here());
  [[nodiscard]] Tensor operator()(const Tensor& image) const;

 private:
  Tensor mean_, std_;
};

/// Bilinear, with antialiasing where it shrinks. Of one number: the shorter edge gets that length, the other follows. As
/// torchvision.transforms.Resize.
struct Resize {
  explicit Resize(int64_t shorter_edge, bool antialias = true, Site = Site::here());
  explicit Resize(Size size, bool antialias = true, Site = Site::here());
  [[nodiscard]] Tensor operator()(const Tensor& image) const;

 private:
  std::optional<Size> size_;
  int64_t shorter_edge_ = 0;
  bool antialias_;
};

/// The middle; where the picture is smaller, with zeros round it.
struct CenterCrop {
  explicit CenterCrop(Size size, Site = Site::here());
  [[nodiscard]] Tensor operator()(const Tensor& image) const;

 private:
  Size size_;
};

/// A part anywhere, of the picture with `padding` zeros on each side. Error where that is smaller than the part.
struct RandomCrop {
  explicit RandomCrop(Size size, int64_t padding = 0, Site = Site::here());
  [[nodiscard]] Tensor operator()(const Tensor& image, Generator& generator) const;

 private:
  Size size_;
  int64_t padding_;
};

/// Mirrored with probability p.
struct RandomHorizontalFlip {
  explicit RandomHorizontalFlip(double p = 0.5, Site = Site::here());
  [[nodiscard]] Tensor operator()(const Tensor& image, Generator& generator) const;

 private:
  double p_;
};

/// The least and the most of something.
using Range = std::array<double, 2>;

/// A part of random area (a share of the picture's) and shape (width over height), resized. As torchvision.transforms.RandomResizedCrop.
struct RandomResizedCrop {
  explicit RandomResizedCrop(Size size, Range scale = {0.08, 1}, Range ratio = {3. / 4, 4. / 3}, Site = Site::here());
  [[nodiscard]] Tensor operator()(const Tensor& image, Generator& generator) const;

 private:
  Size size_;
  Range scale_, ratio_;
};

/// 0.2989 R + 0.587 G + 0.114 B, in 1 or 3 equal channels.
struct Grayscale {
  explicit Grayscale(int64_t num_output_channels = 1, Site = Site::here());
  [[nodiscard]] Tensor operator()(const Tensor& image) const;

 private:
  int64_t channels_;
};

struct ColorJitterOptions {
  double brightness = 0, contrast = 0, saturation = 0;
};
/// Brightness, contrast and saturation times factors between max(0, 1 - x) and 1 + x, in random order. As
/// torchvision.transforms.ColorJitter without hue.
struct ColorJitter {
  explicit ColorJitter(ColorJitterOptions options, Site = Site::here());
  [[nodiscard]] Tensor operator()(const Tensor& image, Generator& generator) const;

 private:
  ColorJitterOptions options_;
};
/// A picture times `factor`, between it and its mean grey, and between it and its own grey: 1 leaves it as it is, 0 gives black, grey, and
/// the picture without colours. As torchvision's adjust_brightness, adjust_contrast and adjust_saturation.
[[nodiscard]] Tensor adjust_brightness(const Tensor& image, double factor, Site = Site::here());
[[nodiscard]] Tensor adjust_contrast(const Tensor& image, double factor, Site = Site::here());
[[nodiscard]] Tensor adjust_saturation(const Tensor& image, double factor, Site = Site::here());

/// With probability p, a part of random area and shape (height over width) replaced by a value. As torchvision.transforms.RandomErasing.
struct RandomErasing {
  explicit RandomErasing(double p = 0.5, Range scale = {0.02, 0.33}, Range ratio = {0.3, 3.3}, double value = 0, Site = Site::here());
  [[nodiscard]] Tensor operator()(const Tensor& image, Generator& generator) const;

 private:
  double p_;
  Range scale_, ratio_;
  double value_;
};

}  // namespace transforms
}  // namespace tandem::data
