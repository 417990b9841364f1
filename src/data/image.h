// Pictures as files: PNG and JPEG.
#pragma once

#include <string>
#include <string_view>

#include "tensor/tensor.h"

namespace tandem::data {

/// The channels of a decoded picture.
enum class ImageMode {
  Unchanged,  // those of the file: 1 grey, 2 grey and alpha, 3 colours, 4 colours and alpha
  Gray,       // 1
  GrayAlpha,  // 2
  RGB,        // 3
  RGBA,       // 4
};

/// A picture, (channels, height, width), uint8. PNG and JPEG, told apart by their first bytes. Pixels are those that the file has, whatever
/// it says of gamma, colour spaces or orientation; palettes become their colours, and of samples of 16 bits the high byte is taken. Error
/// that names the file where it is neither, damaged, cut off, in a kind that is not read (CMYK), or of more pixels than 2^28 or than its
/// bytes can hold. Stray bytes before a marker of a JPEG are passed over; the first picture that has some is warned of.
/// As torchvision.io.read_image.
[[nodiscard]] Tensor read_image(const std::string& path, ImageMode mode = ImageMode::Unchanged, Site = Site::here());
/// The same from a file's bytes in memory.
[[nodiscard]] Tensor decode_image(std::string_view bytes, ImageMode mode = ImageMode::Unchanged, Site = Site::here());

/// Writes a picture, uint8 (channels, height, width) with 1 to 4 channels, on any device. As torchvision.io.write_png.
void write_png(const Tensor& image, const std::string& path, Site = Site::here());
/// Writes a picture, uint8 (1 or 3, height, width), with a quality of 1 to 100. As torchvision.io.write_jpeg.
void write_jpeg(const Tensor& image, const std::string& path, int quality = 75, Site = Site::here());

}  // namespace tandem::data
