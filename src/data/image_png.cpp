// PNG by libpng's simplified calls, which report an error instead of jumping out of the middle of things.
#include <png.h>

#include <memory>

#include "base/error.h"
#include "data/image_codecs.h"

namespace tandem::data::detail {
namespace {

/// Frees what libpng holds for a picture.
using Image = std::unique_ptr<png_image, void (*)(png_image*)>;

png_uint_32 format_of(int channels) {
  const png_uint_32 formats[] = {PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB, PNG_FORMAT_RGBA};
  return formats[channels - 1];
}

/// Warnings do not count: they are about ancillary data.
void check(const png_image& image, int done, std::string_view what) {
  if (!done || PNG_IMAGE_FAILED(image)) fail(what, "libpng says: ", image.message);
}

}  // namespace

Pixels decode_png(std::string_view bytes, std::string_view what) {
  png_image storage = {};
  storage.version = PNG_IMAGE_VERSION;
  const Image image(&storage, png_image_free);
  check(*image, png_image_begin_read_from_memory(image.get(), bytes.data(), bytes.size()), what);
  check_pixels(what, image->width, image->height);
  Pixels pixels;
  pixels.width = image->width;
  pixels.height = image->height;
  pixels.channels = ((image->format & PNG_FORMAT_FLAG_COLOR) ? 3 : 1) + ((image->format & PNG_FORMAT_FLAG_ALPHA) ? 1 : 0);
  image->format = format_of(pixels.channels);
  image->flags |= PNG_IMAGE_FLAG_16BIT_sRGB;  // as other readers: samples of 16 bits mean what those of 8 do
  pixels.bytes.resize(static_cast<size_t>(pixels.width * pixels.height * pixels.channels));
  check(*image, png_image_finish_read(image.get(), nullptr, pixels.bytes.data(), 0, nullptr), what);
  return pixels;
}

}  // namespace tandem::data::detail
