// Pictures between rows of interleaved channels, as formats have them, and tensors of planes.
#include "data/image.h"

#include <algorithm>

#include "base/error.h"
#include "data/image_codecs.h"
#include "io/file.h"
#include "io/gzip.h"
#include "io/png.h"
#include "ops/creation.h"

namespace tandem::data {

void detail::check_pixels(std::string_view what, int64_t width, int64_t height) {
  constexpr int64_t kMostPixels = int64_t{1} << 28;
  if (width <= 0 || height <= 0 || width > kMostPixels / height)
    fail(what, "the picture says that it has ", width, " x ", height, " pixels; those of 1 to ", kMostPixels, " pixels are read");
}

namespace {

int channels_of(ImageMode mode, int own) {
  switch (mode) {
    case ImageMode::Gray: return 1;
    case ImageMode::GrayAlpha: return 2;
    case ImageMode::RGB: return 3;
    case ImageMode::RGBA: return 4;
    default: return own;
  }
}

/// The grey of a colour by ITU-R 601-2, in 16-bit fixed point, as Pillow has it.
uint8_t gray_of(const uint8_t* pixel) {
  return static_cast<uint8_t>((pixel[0] * 19595U + pixel[1] * 38470U + pixel[2] * 7471U + 0x8000U) >> 16);
}

Tensor planes_of(const detail::Pixels& pixels, ImageMode mode) {
  const int from = pixels.channels, to = channels_of(mode, from);
  const bool from_colour = from >= 3, to_colour = to >= 3;
  Tensor result = empty({to, pixels.height, pixels.width}, kUInt8);
  auto* plane = result.data_ptr<uint8_t>();
  const int64_t count = pixels.width * pixels.height;
  const auto fill = [&](const auto& value) {
    const uint8_t* pixel = pixels.bytes.data();
    for (int64_t i = 0; i < count; ++i, pixel += from) plane[i] = value(pixel);
    plane += count;
  };
  if (!to_colour && from_colour) fill(gray_of);
  else
    for (int channel = 0; channel < (to_colour ? 3 : 1); ++channel) {
      const int source = from_colour ? channel : 0;
      fill([source](const uint8_t* pixel) { return pixel[source]; });
    }
  if (to % 2 == 0) fill([from](const uint8_t* pixel) { return from % 2 == 0 ? pixel[from - 1] : uint8_t{255}; });
  return result;
}

detail::Pixels pixels_of(const char* op, const Tensor& image, const std::string& path, int most_channels) {
  if (image.dtype() != kUInt8 || image.dim() != 3 || image.size(0) < 1 || image.size(0) > most_channels)
    fail("[", op, "] ", path, ": a picture is uint8 (channels, height, width) with 1 to ", most_channels, " channels, but this is ",
         image.dtype(), " ", image.sizes());
  detail::check_pixels(str("[", op, "] ", path, ": "), image.size(2), image.size(1));
  const Tensor rows = image.cpu().permute({1, 2, 0}).contiguous();
  const auto* bytes = rows.data_ptr<uint8_t>();
  return {
      .width = image.size(2), .height = image.size(1), .channels = static_cast<int>(image.size(0)), .bytes = {bytes, bytes + rows.numel()}};
}

Tensor decode(std::string_view bytes, ImageMode mode, std::string_view what) {
  if (bytes.starts_with("\x89PNG")) return planes_of(detail::decode_png(bytes, what), mode);
  if (bytes.starts_with("\xff\xd8")) return planes_of(detail::decode_jpeg(bytes, what), mode);
  fail(what, "neither PNG nor JPEG, of ", bytes.size(), " bytes");
}

}  // namespace

Tensor read_image(const std::string& path, ImageMode mode) {
  return decode(io::read_bytes("read_image", path), mode, str("[read_image] ", path, ": "));
}

Tensor decode_image(std::string_view bytes, ImageMode mode) { return decode(bytes, mode, "[decode_image] "); }

void write_png(const Tensor& image, const std::string& path) {
  const detail::Pixels pixels = pixels_of("write_png", image, path, 4);
  io::write_file("write_png", path, io::encode_png(pixels.bytes, pixels.width, pixels.height, pixels.channels));
}

void write_jpeg(const Tensor& image, const std::string& path, int quality) {
  if (quality < 1 || quality > 100) fail("[write_jpeg] quality must be between 1 and 100, but is ", quality);
  const detail::Pixels pixels = pixels_of("write_jpeg", image, path, 3);
  if (pixels.channels == 2) fail("[write_jpeg] ", path, ": a JPEG has 1 or 3 channels, but this has 2");
  io::write_file("write_jpeg", path, detail::encode_jpeg(pixels, quality, str("[write_jpeg] ", path, ": ")));
}

}  // namespace tandem::data
