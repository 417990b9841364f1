// What the picture formats give and take: rows of interleaved channels. For image.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::data::detail {

/// height rows of width pixels of `channels` bytes each.
struct Pixels {
  int64_t width = 0, height = 0;
  int channels = 0;
  std::vector<uint8_t> bytes;
};

/// Error unless a picture of these sizes may be decoded; before memory for it is taken.
void check_pixels(std::string_view what, int64_t width, int64_t height);

// Errors begin with `what`.
[[nodiscard]] Pixels decode_png(std::string_view bytes, std::string_view what);
[[nodiscard]] Pixels decode_jpeg(std::string_view bytes, std::string_view what);
[[nodiscard]] std::string encode_jpeg(const Pixels& pixels, int quality, std::string_view what);

}  // namespace tandem::data::detail
