// Many pictures in one.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace tandem::data {

/// Options of make_grid() and save_image(), by torchvision's names.
struct ImageGridOptions {
  int64_t nrow = 8;        // how many pictures stand in a row
  int64_t padding = 2;     // pixels about each
  bool normalize = false;  // the numbers of value_range, or of all pictures' own range, become those from 0 to 1
  std::optional<std::pair<double, double>> value_range = {};
  bool scale_each = false;  // each picture has a range of its own
  double pad_value = 0;     // of the pixels about them
};

/// Pictures (number, channels, height, width) side by side as one, (channels, height, width); also one picture without the first dimension,
/// or without channels. What has one channel gets three. As torchvision.utils.make_grid.
[[nodiscard]] Tensor make_grid(const Tensor& images, const ImageGridOptions& options = {}, Site site = Site::here());
/// The same of pictures of one size.
[[nodiscard]] Tensor make_grid(const std::vector<Tensor>& images, const ImageGridOptions& options = {}, Site site = Site::here());

/// Writes pictures, numbers from 0 to 1, as one picture file: a JPEG where the path ends in .jpg or .jpeg, else a PNG. As
/// torchvision.utils.save_image.
void save_image(const Tensor& images, const std::string& path, const ImageGridOptions& options = {}, Site site = Site::here());
void save_image(const std::vector<Tensor>& images, const std::string& path, const ImageGridOptions& options = {}, Site site = Site::here());

}  // namespace tandem::data
