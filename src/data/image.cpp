// Pictures between rows of interleaved channels, as formats have them, and tensors of planes.
#include "data/image.h"

#include <algorithm>
#include <span>

#include "base/error.h"
#include "data/image_codecs.h"
#include "io/file.h"
#include "io/file_kind.h"
#include "io/png.h"
#include "ops/creation.h"

namespace tandem::data {

void detail::check_pixels(std::string_view what, int64_t width, int64_t height, int64_t most) {
  most = std::min(most, kMostPixels);
  if (width <= 0 || height <= 0 || width > most / height)
    fail(what, "the picture says that it has ", width, " x ", height, " pixels; 1 to ", most, " are read from a file of this size");
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

Tensor planes_of(const Tensor& pixels, ImageMode mode) {
  const auto from = static_cast<int>(pixels.size(2));
  const int to = channels_of(mode, from);
  const bool from_colour = from >= 3, to_colour = to >= 3;
  Tensor result = empty({to, pixels.size(0), pixels.size(1)}, kUInt8);
  auto* plane = result.data_ptr<uint8_t>();
  const int64_t count = pixels.size(0) * pixels.size(1);
  const auto fill = [&](const auto& value) {
    const uint8_t* pixel = pixels.data_ptr<uint8_t>();
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

/// A picture as codecs take it, on the host.
Tensor pixels_of(const char* op, const Tensor& image, const std::string& path, int most_channels) {
  if (image.dtype() != kUInt8 || image.dim() != 3 || image.size(0) < 1 || image.size(0) > most_channels)
    fail("[", op, "] ", path, ": a picture is uint8 (channels, height, width) with 1 to ", most_channels, " channels, but this is ",
         image.dtype(), " ", image.sizes());
  if (image.numel() == 0 || image.size(1) * image.size(2) > detail::kMostPixels)
    fail("[", op, "] ", path, ": a picture has 1 to ", detail::kMostPixels, " pixels, but this is ", image.sizes());
  return image.cpu().permute({1, 2, 0}).contiguous();
}

using Decoder = Tensor (*)(std::string_view bytes, std::string_view what);

/// What reads the format that a file of `bytes` bytes begins as.
Decoder decoder_of(std::string_view start, uint64_t bytes, std::string_view path, std::string_view what) {
  if (start.starts_with("\x89PNG")) return detail::decode_png;
  if (start.starts_with("\xff\xd8")) return detail::decode_jpeg;
  const std::string mistaken = io::mistaken_for("a PNG or JPEG picture", start, path);
  if (!mistaken.empty()) fail(what, mistaken);
  fail(what, "neither PNG nor JPEG, of ", bytes, " bytes");
}

}  // namespace

Tensor read_image(const std::string& path, ImageMode mode, Site /*site*/) {
  const io::InputFile file("read_image", path);
  const std::string what = file.what();
  const Decoder decode = decoder_of(file.read(std::min<uint64_t>(file.size(), io::kKindBytes), 0), file.size(), path, what);
  constexpr uint64_t kMostBytes = uint64_t{16} * detail::kMostPixels;  // twice what four channels of 16 bits take
  if (file.size() > kMostBytes) file.bad("the file has ", file.size(), " bytes; pictures of up to ", kMostBytes, " bytes are read");
  return planes_of(decode(file.read(file.size(), 0), what), mode);
}

Tensor decode_image(std::string_view bytes, ImageMode mode, Site /*site*/) {
  constexpr std::string_view kWhat = "[decode_image] ";
  return planes_of(decoder_of(bytes, bytes.size(), "", kWhat)(bytes, kWhat), mode);
}

void write_png(const Tensor& image, const std::string& path, Site /*site*/) {
  const Tensor pixels = pixels_of("write_png", image, path, 4);
  const std::span<const uint8_t> bytes(pixels.data_ptr<uint8_t>(), static_cast<size_t>(pixels.numel()));
  io::write_file("write_png", path, io::encode_png(bytes, pixels.size(1), pixels.size(0), pixels.size(2)));
}

void write_jpeg(const Tensor& image, const std::string& path, int quality, Site /*site*/) {
  if (quality < 1 || quality > 100) fail("[write_jpeg] quality must be between 1 and 100, but is ", quality);
  const Tensor pixels = pixels_of("write_jpeg", image, path, 3);
  if (pixels.size(2) == 2) fail("[write_jpeg] ", path, ": a JPEG has 1 or 3 channels, but this has 2");
  io::write_file("write_jpeg", path, detail::encode_jpeg(pixels, quality, str("[write_jpeg] ", path, ": ")));
}

}  // namespace tandem::data
