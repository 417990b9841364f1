// PNG by libpng's simplified calls, which report an error instead of jumping out of the middle of things.
#include <png.h>

#include <memory>

#include "base/error.h"
#include "data/image_codecs.h"
#include "io/inflate.h"
#include "ops/creation.h"

namespace tandem::data::detail {
namespace {

/// Frees what libpng holds for a picture.
using Image = std::unique_ptr<png_image, void (*)(png_image*)>;

png_uint_32 format_of(int channels) {
  const png_uint_32 formats[] = {PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB, PNG_FORMAT_RGBA};
  return formats[channels - 1];
}

/// The most pixels that a PNG of these bytes can have. libpng has looked at its header, but takes one that does not come first.
int64_t most_pixels(std::string_view bytes, std::string_view what) {
  constexpr size_t kName = 12, kDepth = 24, kColour = 25;
  if (bytes.substr(kName, 4) != "IHDR") fail(what, "its first chunk is not IHDR");
  constexpr int64_t kSamples[] = {1, 0, 3, 1, 2, 0, 4};  // grey, -, RGB, an index, grey and alpha, -, RGB and alpha
  const int64_t bits = bytes[kDepth] * kSamples[static_cast<size_t>(bytes[kColour])];
  return static_cast<int64_t>(bytes.size() * io::kMostInflated) * 8 / bits;
}

/// Warnings do not count: they are about ancillary data.
void check(const png_image& image, int done, std::string_view what) {
  if (!done || PNG_IMAGE_FAILED(image)) fail(what, "libpng says: ", image.message);
}

}  // namespace

Tensor decode_png(std::string_view bytes, std::string_view what) {
  png_image storage = {};
  storage.version = PNG_IMAGE_VERSION;
  const Image image(&storage, png_image_free);
  check(*image, png_image_begin_read_from_memory(image.get(), bytes.data(), bytes.size()), what);
  check_pixels(what, image->width, image->height, most_pixels(bytes, what));
  const int channels = ((image->format & PNG_FORMAT_FLAG_COLOR) ? 3 : 1) + ((image->format & PNG_FORMAT_FLAG_ALPHA) ? 1 : 0);
  image->format = format_of(channels);
  image->flags |= PNG_IMAGE_FLAG_16BIT_sRGB;  // as other readers: samples of 16 bits mean what those of 8 do
  const Tensor pixels = empty({image->height, image->width, channels}, kUInt8);
  check(*image, png_image_finish_read(image.get(), nullptr, pixels.data_ptr(), 0, nullptr), what);
  return pixels;
}

}  // namespace tandem::data::detail
