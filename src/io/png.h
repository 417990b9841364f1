// Pictures as PNG (Portable Network Graphics, ISO/IEC 15948), in memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/site.h"

namespace tandem {
class Tensor;
}

namespace tandem::io {

/// A PNG file's bytes: rows from the top, each pixel of 1 (grey), 2 (grey, alpha), 3 (RGB) or 4 (RGB, alpha) bytes. Error unless `pixels`
/// are width * height * channels of them, and at least one; at most 1,000,000 along a side, as libpng reads.
[[nodiscard]] std::string encode_png(std::span<const uint8_t> pixels, int64_t width, int64_t height, int64_t channels);

/// The same of an image (channels, height, width) or (height, width): uint8, or floating from 0 to 1, where what lies beyond is cut off and
/// nan is black. Waits for the image's device.
[[nodiscard]] std::string encode_png(const Tensor& image, Site site = Site::here());

}  // namespace tandem::io
