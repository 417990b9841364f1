#include "io/png.h"

#include <png.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "tensor/host_values.h"
#include "tensor/tensor.h"

namespace tandem::io {

std::string encode_png(std::span<const uint8_t> pixels, int64_t width, int64_t height, int64_t channels) {
  if (channels < 1 || channels > 4) fail("[encode_png] an image must have 1 to 4 channels, but has ", channels);
  constexpr int64_t kLongest = 1'000'000;  // that libpng writes, and reads
  if (width > kLongest || height > kLongest)
    fail("[encode_png] an image may have ", kLongest, " pixels along a side, but this is ", width, " by ", height);
  if (width < 1 || height < 1 || static_cast<int64_t>(pixels.size()) != width * height * channels)
    fail("[encode_png] ", pixels.size(), " bytes are no image of ", width, " by ", height, " pixels with ", channels, " channels");
  constexpr std::array<png_uint_32, 5> kFormats = {0, PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB, PNG_FORMAT_RGBA};
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = kFormats[static_cast<size_t>(channels)];
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string out(size, '\0');
  if (!png_image_write_to_memory(&image, out.data(), &size, 0, pixels.data(), 0, nullptr))
    fail("[encode_png] libpng says: ", image.message);
  out.resize(size);
  return out;
}

std::string encode_png(const Tensor& image, Site site) {
  const bool fits = image.dim() == 2 || image.dim() == 3;
  if (!fits) fail("[encode_png] an image must be (channels, height, width) or (height, width), but its sizes are ", image.sizes());
  if (image.dtype() != kUInt8 && !image.is_floating_point())
    fail("[encode_png] an image must be uint8 or floating, but its dtype is ", image.dtype());
  const Tensor pixels_last = image.dim() == 2 ? image.unsqueeze(2, site) : image.permute({1, 2, 0}, site);
  const HostValues values = read_values(pixels_last, -1, "write_png", site);
  std::vector<uint8_t> bytes(values.integers.begin(), values.integers.end());
  for (const double value : values.floating) bytes.push_back(value > 0 ? static_cast<uint8_t>(std::lround(std::min(value, 1.0) * 255)) : 0);
  return encode_png(bytes, pixels_last.size(1), pixels_last.size(0), pixels_last.size(2));
}

}  // namespace tandem::io
