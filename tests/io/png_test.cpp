// Pictures are unpacked again, filter by filter, as the specification says.
#include "io/png.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

struct Picture {
  uint32_t width = 0, height = 0;
  int bits = 0, color_type = 0;
  std::vector<uint8_t> pixels;
  std::vector<int> filters;  // of the rows
};

uint32_t number(const std::string& bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8U | static_cast<unsigned char>(bytes.at(at + i));
  return value;
}

/// A reader for what the writer may write: 8 bits a channel, not interlaced.
Picture decoded(const std::string& png) {
  Picture picture;
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  std::string packed, last;
  for (size_t at = 8; at < png.size();) {
    const size_t size = number(png, at);
    const std::string type = png.substr(at + 4, 4), data = png.substr(at + 8, size);
    const std::string checked = type + data;
    EXPECT_EQ(number(png, at + 8 + size), crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size())));
    if (type == "IHDR") {
      picture.width = number(data, 0);
      picture.height = number(data, 4);
      picture.bits = data[8];
      picture.color_type = data[9];
      EXPECT_EQ(data.substr(10), std::string(3, '\0'));
    }
    if (type == "IDAT") packed += data;
    last = type;
    at += size + 12;
  }
  EXPECT_EQ(last, "IEND");
  const size_t channels = picture.color_type == 0 ? 1 : picture.color_type == 4 ? 2 : picture.color_type == 2 ? 3 : 4;
  const size_t row_bytes = picture.width * channels;
  std::vector<uint8_t> rows((row_bytes + 1) * picture.height);
  auto size = static_cast<uLongf>(rows.size());
  EXPECT_EQ(uncompress(rows.data(), &size, reinterpret_cast<const Bytef*>(packed.data()), static_cast<uLong>(packed.size())), Z_OK);
  EXPECT_EQ(size, rows.size());
  picture.pixels.resize(row_bytes * picture.height);
  for (size_t y = 0; y < picture.height; ++y) {
    const int filter = rows[y * (row_bytes + 1)];
    picture.filters.push_back(filter);
    for (size_t i = 0; i < row_bytes; ++i) {
      const int a = i < channels ? 0 : picture.pixels[y * row_bytes + i - channels];
      const int b = y == 0 ? 0 : picture.pixels[(y - 1) * row_bytes + i];
      const int c = i < channels || y == 0 ? 0 : picture.pixels[(y - 1) * row_bytes + i - channels];
      const int p = a + b - c, pa = std::abs(p - a), pb = std::abs(p - b), pc = std::abs(p - c);
      const int paeth = pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
      const int guess = filter == 0 ? 0 : filter == 1 ? a : filter == 2 ? b : filter == 3 ? (a + b) / 2 : paeth;
      picture.pixels[y * row_bytes + i] = static_cast<uint8_t>(rows[y * (row_bytes + 1) + 1 + i] + guess);
    }
  }
  return picture;
}

class Png : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, Png, testing::Values("cpu", "cuda:0"), device_name);

}  // namespace

TEST(EncodePng, KeepsEveryByte) {
  std::srand(5);
  constexpr int kColorTypes[] = {0, 0, 4, 2, 6};
  for (int64_t channels = 1; channels <= 4; ++channels) {
    std::vector<uint8_t> pixels;
    for (int64_t i = 0; i < 37 * 29 * channels; ++i)
      pixels.push_back(static_cast<uint8_t>(i < 37 * 12 * channels ? i / channels * 3 : std::rand()));  // slopes, then noise
    const Picture picture = decoded(td::io::encode_png(pixels, 37, 29, channels));
    EXPECT_EQ(picture.width, 37U);
    EXPECT_EQ(picture.height, 29U);
    EXPECT_EQ(picture.bits, 8);
    EXPECT_EQ(picture.color_type, kColorTypes[channels]);
    EXPECT_EQ(picture.pixels, pixels);
  }
}

TEST(EncodePng, FiltersSlopes) {
  std::vector<uint8_t> pixels;
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 64; ++x) pixels.push_back(static_cast<uint8_t>(3 * x + y * y));
  const std::string png = td::io::encode_png(pixels, 64, 64, 1);
  EXPECT_EQ(decoded(png).pixels, pixels);
  EXPECT_LT(png.size(), 400U);  // 4096 unfiltered bytes do not deflate to this
  EXPECT_NE(decoded(png).filters, std::vector<int>(64, 0));
}

TEST_P(Png, TakesTensors) {
  const auto image = td::tensor(
      {{{0., 1.}, {0.5, 2.}, {-1., static_cast<double>(NAN)}}, {{0.25, 0.}, {0., 0.}, {0., 1.}}, {{1., 0.}, {0., 1.}, {0., 0.}}}, device());
  const Picture picture = decoded(td::io::encode_png(image));
  EXPECT_EQ(picture.width, 2U);
  EXPECT_EQ(picture.height, 3U);
  EXPECT_EQ(picture.color_type, 2);
  EXPECT_EQ(picture.pixels, (std::vector<uint8_t>{0, 64, 255, 255, 0, 0, 128, 0, 0, 255, 0, 255, 0, 0, 0, 0, 255, 0}));
  const auto grey = td::tensor({{0, 7}, {255, 128}}, device()).to(td::kUInt8);
  EXPECT_EQ(decoded(td::io::encode_png(grey)).pixels, (std::vector<uint8_t>{0, 7, 255, 128}));
  EXPECT_EQ(decoded(td::io::encode_png(grey.t())).pixels, (std::vector<uint8_t>{0, 255, 7, 128}));
}

TEST(EncodePng, NamesWhatIsNoImage) {
  EXPECT_EQ(error_of([] { (void)td::io::encode_png(td::zeros({4})); }),
            "[encode_png] an image must be (channels, height, width) or (height, width), but its sizes are [4]");
  EXPECT_EQ(error_of([] { (void)td::io::encode_png(td::zeros({5, 2, 2})); }), "[encode_png] an image must have 1 to 4 channels, but has 5");
  EXPECT_EQ(error_of([] {
              (void)td::io::encode_png(td::zeros({2, 2}, td::kInt64));
            }),
            "[encode_png] an image must be uint8 or floating, but its dtype is int64");
  const std::vector<uint8_t> six(6);
  EXPECT_EQ(error_of([&] { (void)td::io::encode_png(six, 2, 2, 1); }),
            "[encode_png] 6 bytes are no image of 2 by 2 pixels with 1 channels");
  EXPECT_NE(error_of([] { (void)td::io::encode_png(td::zeros({0, 3})); }), "no error");
  const std::vector<uint8_t> row(1'000'001);
  EXPECT_EQ(error_of([&] { (void)td::io::encode_png(row, 1'000'001, 1, 1); }),
            "[encode_png] an image may have 1000000 pixels along a side, but this is 1000001 by 1");
}
