// What the picture formats give and take: rows of interleaved channels. For image.cpp.
#pragma once

#include <csetjmp>
#include <cstdint>
#include <string>
#include <string_view>

#include "tensor/tensor.h"

namespace tandem::data::detail {

/// The most pixels a picture may have.
inline constexpr int64_t kMostPixels = int64_t{1} << 28;

/// Error unless a picture of these sizes may be decoded from a file that has room for `most` pixels; before memory for it is taken.
void check_pixels(std::string_view what, int64_t width, int64_t height, int64_t most = kMostPixels);

// Pixels are uint8 (height, width, channels). Decoders fill memory that nothing has touched, so a file that breaks off takes as much as it
// has filled.
// Errors begin with `what`.
[[nodiscard]] Tensor decode_png(std::string_view bytes, std::string_view what);
[[nodiscard]] Tensor decode_jpeg(std::string_view bytes, std::string_view what);
[[nodiscard]] std::string encode_jpeg(const Tensor& pixels, int quality, std::string_view what);

/// libpng and libjpeg end a call that fails by a jump. Makes the calls of `calls`; false where one of them has jumped to `place`. What
/// `calls` makes for itself is not destroyed then, so it may only be plain numbers and addresses.
template <class Calls>
[[nodiscard]] bool finishes(std::jmp_buf& place, const Calls& calls) {
  if (setjmp(place) != 0) return false;
  calls();
  return true;
}

}  // namespace tandem::data::detail
