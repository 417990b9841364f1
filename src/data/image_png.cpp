// PNG by libpng. Of its chunks only those are looked at that pixels are made of: what gAMA, cHRM, iCCP and sRGB say of their colours
// changes no pixel, as in other readers for machine learning.
#include <png.h>

#include <array>
#include <cstdio>
#include <cstring>

#include "base/error.h"
#include "data/image_codecs.h"
#include "io/inflate.h"
#include "ops/creation.h"

namespace tandem::data::detail {
namespace {

/// A decoder of libpng's, and where it stands in the file.
class Decoder {
 public:
  Decoder(std::string_view bytes, std::string_view what) : what_(what), left_(bytes) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, stop, pass_over);
    if (png_) info_ = png_create_info_struct(png_);
    if (!info_) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      fail(what, "cannot start libpng");
    }
  }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() { png_destroy_read_struct(&png_, &info_, nullptr); }

  /// Makes libpng's calls; error that says what libpng does where one fails.
  template <class Calls>
  void run(const Calls& calls) {
    if (!finishes(place_, [&] { calls(png_, info_); })) fail(what_, "libpng says: ", text_.data());
  }
  static void read(png_structp png, png_bytep to, size_t bytes) {
    auto& self = *static_cast<Decoder*>(png_get_io_ptr(png));
    if (bytes > self.left_.size()) png_error(png, "the file ends too early");
    std::memcpy(to, self.left_.data(), bytes);
    self.left_.remove_prefix(bytes);
  }

 private:
  [[noreturn]] static void stop(png_structp png, png_const_charp text) {
    auto& self = *static_cast<Decoder*>(png_get_error_ptr(png));
    (void)std::snprintf(self.text_.data(), self.text_.size(), "%s", text);
    std::longjmp(self.place_, 1);
  }
  /// Warnings do not count: they are about ancillary data.
  static void pass_over(png_structp /*png*/, png_const_charp /*text*/) {}

  std::string_view what_, left_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::jmp_buf place_ = {};
  std::array<char, 256> text_ = {};
};

/// What the file says of its picture, and what comes of it.
struct PixelLayout {
  png_uint_32 width = 0, height = 0;
  int64_t bits = 0;      // a pixel takes in the file
  int64_t channels = 0;  // as it comes: no palette, and transparent colours are alpha
};

PixelLayout layout_of(png_const_structp png, png_const_infop info) {
  const unsigned colour = png_get_color_type(png, info);
  const bool alpha = (colour & PNG_COLOR_MASK_ALPHA) != 0 || png_get_valid(png, info, PNG_INFO_tRNS) != 0;
  return {.width = png_get_image_width(png, info),
          .height = png_get_image_height(png, info),
          .bits = int64_t{png_get_bit_depth(png, info)} * png_get_channels(png, info),
          .channels = ((colour & PNG_COLOR_MASK_COLOR) != 0 ? 3 : 1) + (alpha ? 1 : 0)};
}

}  // namespace

Tensor decode_png(std::string_view bytes, std::string_view what) {
  constexpr size_t kName = 12;  // behind the signature and the chunk's length
  if (bytes.size() < kName || bytes.substr(kName, 4) != "IHDR") fail(what, "its first chunk is not IHDR");
  Decoder decoder(bytes, what);
  PixelLayout layout;
  decoder.run([&](png_structp png, png_infop info) {
    png_set_read_fn(png, png_get_error_ptr(png), Decoder::read);
    png_set_benign_errors(png, 1);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);  // all but IHDR, PLTE, tRNS, IDAT and IEND
    png_read_info(png, info);
    layout = layout_of(png, info);
  });
  check_pixels(what, layout.width, layout.height, static_cast<int64_t>(bytes.size() * io::kMostInflated) * 8 / layout.bits);
  const int64_t row_bytes = layout.width * layout.channels;
  const Tensor pixels = empty({layout.height, layout.width, layout.channels}, kUInt8);
  auto* const first_row = pixels.data_ptr<uint8_t>();
  decoder.run([&](png_structp png, png_infop info) {
    png_set_expand(png);
    png_set_strip_16(png);  // the high byte of each sample
    const int passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
    if (static_cast<int64_t>(png_get_rowbytes(png, info)) != row_bytes) png_error(png, "rows of another size than the header says");
    for (int pass = 0; pass < passes; ++pass)
      for (png_uint_32 row = 0; row < layout.height; ++row) png_read_row(png, first_row + row * row_bytes, nullptr);
  });
  return pixels;
}

}  // namespace tandem::data::detail
