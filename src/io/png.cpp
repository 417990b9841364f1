// Each row is filtered by whichever of the five filters leaves the smallest differences (the specification's own heuristic), then all is
// deflated.
#include "io/png.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "base/error.h"
#include "tensor/host_values.h"
#include "tensor/tensor.h"

namespace tandem::io {
namespace {

void put_number(std::string& out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> static_cast<unsigned>(shift));
}

void put_chunk(std::string& out, const char (&type)[5], const std::string& data) {
  put_number(out, static_cast<uint32_t>(data.size()));
  const size_t begin = out.size();
  out.append(type, 4);
  out += data;
  const auto* bytes = reinterpret_cast<const Bytef*>(out.data() + begin);
  put_number(out, static_cast<uint32_t>(crc32_z(0, bytes, out.size() - begin)));
}

int paeth(int left, int up, int corner) {
  const int a = std::abs(up - corner), b = std::abs(left - corner), c = std::abs(left + up - 2 * corner);
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

/// The row by filter 0 … 4 (none, left, up, mean, Paeth); `above` is empty for the first.
void filter_row(int filter, std::span<const uint8_t> row, std::span<const uint8_t> above, size_t channels, std::string& out) {
  out.assign(1, static_cast<char>(filter));
  for (size_t i = 0; i < row.size(); ++i) {
    const int left = i < channels ? 0 : row[i - channels], up = above.empty() ? 0 : above[i];
    const int corner = i < channels || above.empty() ? 0 : above[i - channels];
    const std::array<int, 5> guesses = {0, left, up, (left + up) / 2, paeth(left, up, corner)};
    out += static_cast<char>(row[i] - guesses[static_cast<size_t>(filter)]);
  }
}

int64_t roughness(const std::string& filtered) {
  int64_t sum = 0;
  for (size_t i = 1; i < filtered.size(); ++i) sum += std::abs(static_cast<signed char>(filtered[i]));
  return sum;
}

std::string filtered_rows(std::span<const uint8_t> pixels, size_t row_bytes, size_t channels) {
  std::string rows, best, candidate;
  std::span<const uint8_t> above;
  for (size_t at = 0; at < pixels.size(); at += row_bytes) {
    const auto row = pixels.subspan(at, row_bytes);
    filter_row(0, row, above, channels, best);
    for (int filter = 1; filter < 5; ++filter) {
      filter_row(filter, row, above, channels, candidate);
      if (roughness(candidate) < roughness(best)) best.swap(candidate);
    }
    rows += best;
    above = row;
  }
  return rows;
}

std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  const int status = compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(),
                               Z_DEFAULT_COMPRESSION);
  if (status != Z_OK) fail("[encode_png] zlib could not compress ", bytes.size(), " bytes: error ", status);
  out.resize(size);
  return out;
}

}  // namespace

std::string encode_png(std::span<const uint8_t> pixels, int64_t width, int64_t height, int64_t channels) {
  if (channels < 1 || channels > 4) fail("[encode_png] an image must have 1 to 4 channels, but has ", channels);
  constexpr int64_t kMost = INT32_MAX;  // the format's
  if (width < 1 || height < 1 || width > kMost || height > kMost || static_cast<int64_t>(pixels.size()) / width / height != channels ||
      static_cast<int64_t>(pixels.size()) != width * height * channels)
    fail("[encode_png] ", pixels.size(), " bytes are no image of ", width, " by ", height, " pixels with ", channels, " channels");
  constexpr std::array<char, 5> kColorTypes = {0, 0, 4, 2, 6};
  std::string header;
  put_number(header, static_cast<uint32_t>(width));
  put_number(header, static_cast<uint32_t>(height));
  header += {8, kColorTypes[static_cast<size_t>(channels)], 0, 0, 0};  // 8 bits a channel; deflate, the five filters, not interlaced
  std::string out = "\x89PNG\r\n\x1a\n";
  put_chunk(out, "IHDR", header);
  put_chunk(out, "IDAT", deflated(filtered_rows(pixels, static_cast<size_t>(width * channels), static_cast<size_t>(channels))));
  put_chunk(out, "IEND", "");
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
