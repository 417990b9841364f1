// JPEG by libjpeg.

// clang-format off
#include <cstdio>  // whose types jpeglib.h needs
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include <array>
#include <atomic>
#include <cstdlib>

#include "base/error.h"
#include "base/warning.h"
#include "data/image_codecs.h"
#include "ops/creation.h"

namespace tandem::data::detail {
namespace {

/// What libjpeg tells of a file.
struct Messages : jpeg_error_mgr {
  std::jmp_buf place;
  std::array<char, JMSG_LENGTH_MAX> text;     // of an error
  std::array<char, JMSG_LENGTH_MAX> warning;  // the first that is let through; empty without one
};

[[noreturn]] void stop(j_common_ptr codec) {
  auto& messages = *static_cast<Messages*>(codec->err);
  messages.format_message(codec, messages.text.data());
  std::longjmp(messages.place, 1);
}

/// A warning is damage, and what stands behind it is made up; but not where it tells of bytes round the pixels.
void take_message(j_common_ptr codec, int level) {
  if (level >= 0) return;
  auto& messages = *static_cast<Messages*>(codec->err);
  switch (messages.msg_code) {
    case JWRN_EXTRANEOUS_DATA:  // bytes before a marker
    case JWRN_ADOBE_XFORM:      // markers of a version that is not known
    case JWRN_JFIF_MAJOR:
      if (messages.num_warnings++ == 0) messages.format_message(codec, messages.warning.data());
      break;
    default: stop(codec);
  }
}

/// A file of many empty scans takes long to read for its size.
void limit_scans(j_common_ptr codec) {
  constexpr int kMostScans = 500;
  const int scans = reinterpret_cast<j_decompress_ptr>(codec)->input_scan_number;
  if (scans <= kMostScans) return;
  auto& messages = *static_cast<Messages*>(codec->err);
  (void)std::snprintf(messages.text.data(), messages.text.size(), "the file has more than %d scans", kMostScans);
  std::longjmp(messages.place, 1);
}

/// A compressor or a decompressor of libjpeg's.
template <class Struct>
class Codec {
 public:
  Codec(std::string_view what, void (*create)(Struct*)) : what_(what) {
    codec_.err = jpeg_std_error(&messages_);
    messages_.error_exit = stop;
    messages_.emit_message = take_message;
    run([create](Struct* codec) { create(codec); });
  }
  Codec(const Codec&) = delete;
  Codec& operator=(const Codec&) = delete;
  ~Codec() { jpeg_destroy(reinterpret_cast<j_common_ptr>(&codec_)); }

  /// Makes libjpeg's calls; error that says what libjpeg does where one fails.
  template <class Calls>
  void run(const Calls& calls) {
    if (!finishes(messages_.place, [&] { calls(&codec_); })) fail(what_, "libjpeg says: ", messages_.text.data());
  }
  [[nodiscard]] const Struct& state() const { return codec_; }
  [[nodiscard]] const char* warning() const { return messages_.warning.data(); }

 private:
  std::string_view what_;
  Messages messages_ = {};
  Struct codec_ = {};
};

/// Once in a process: a whole data set may come from one camera.
void warn_of(const char* warning, std::string_view what) {
  static std::atomic<bool> warned{false};
  if (warned.exchange(true)) return;
  tandem::detail::warn_once(
      str(what, "libjpeg says: ", warning, "; what is no part of the pixels is passed over, here and in other files"));
}

/// Bytes that libjpeg has made, which are taken with malloc.
struct Written {
  unsigned char* bytes = nullptr;
  unsigned long size = 0;

  Written() = default;
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;
  ~Written() { std::free(bytes); }
};

}  // namespace

Tensor decode_jpeg(std::string_view bytes, std::string_view what) {
  Codec<jpeg_decompress_struct> decoder(what, [](jpeg_decompress_struct* codec) { jpeg_create_decompress(codec); });
  jpeg_progress_mgr progress = {};
  progress.progress_monitor = limit_scans;
  decoder.run([&](jpeg_decompress_struct* codec) {
    codec->progress = &progress;
    jpeg_mem_src(codec, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    jpeg_read_header(codec, TRUE);
  });
  const auto width = static_cast<int64_t>(decoder.state().image_width), height = static_cast<int64_t>(decoder.state().image_height);
  constexpr int64_t kMostPixelsAByte = 8 * 64;  // a block of 8 x 8 takes a bit at least; arithmetic coding's rare exceptions are refused
  check_pixels(what, width, height, static_cast<int64_t>(bytes.size()) * kMostPixelsAByte);
  const J_COLOR_SPACE colours = decoder.state().jpeg_color_space;
  if (colours == JCS_CMYK || colours == JCS_YCCK) fail(what, "a JPEG of CMYK colours is not read: convert it to RGB");
  const int64_t channels = colours == JCS_GRAYSCALE ? 1 : 3;
  const Tensor pixels = empty({height, width, channels}, kUInt8);
  auto* const first_row = pixels.data_ptr<uint8_t>();
  decoder.run([&](jpeg_decompress_struct* codec) {
    codec->out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(codec);
    while (codec->output_scanline < codec->output_height) {
      JSAMPROW row = first_row + codec->output_scanline * width * channels;
      jpeg_read_scanlines(codec, &row, 1);
    }
    jpeg_finish_decompress(codec);
  });
  if (*decoder.warning() != '\0') warn_of(decoder.warning(), what);
  return pixels;
}

std::string encode_jpeg(const Tensor& pixels, int quality, std::string_view what) {
  Written written;
  Codec<jpeg_compress_struct> encoder(what, [](jpeg_compress_struct* codec) { jpeg_create_compress(codec); });
  const auto channels = static_cast<int>(pixels.size(2));
  const auto row_bytes = pixels.size(1) * channels;
  auto* const first_row = pixels.data_ptr<uint8_t>();
  encoder.run([&](jpeg_compress_struct* codec) {
    jpeg_mem_dest(codec, &written.bytes, &written.size);
    codec->image_width = static_cast<JDIMENSION>(pixels.size(1));
    codec->image_height = static_cast<JDIMENSION>(pixels.size(0));
    codec->input_components = channels;
    codec->in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(codec);
    jpeg_set_quality(codec, quality, TRUE);
    jpeg_start_compress(codec, TRUE);
    while (codec->next_scanline < codec->image_height) {
      JSAMPROW row = first_row + codec->next_scanline * row_bytes;
      jpeg_write_scanlines(codec, &row, 1);
    }
    jpeg_finish_compress(codec);
  });
  return {reinterpret_cast<const char*>(written.bytes), written.size};
}

}  // namespace tandem::data::detail
