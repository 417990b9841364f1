// Pictures as other programs write them: pixels come as they are stored, whatever stands round them.
#include <gtest/gtest.h>

#include "data/files.h"
#include "data/png_files.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
using namespace td::data;
using namespace std::string_literals;

namespace {

/// What a PNG may say of its colours, and pixels are not changed by.
std::vector<std::pair<std::string, std::string>> colour_chunks() {
  std::string primaries;
  for (const uint32_t value : {31270U, 32900U, 64000U, 33000U, 30000U, 60000U, 15000U, 6000U}) primaries += big_endian(value);
  return {{"none", ""},
          {"linear gamma", chunk("gAMA", big_endian(100000))},
          {"gamma of a screen", chunk("gAMA", big_endian(45455))},
          {"steep gamma", chunk("gAMA", big_endian(30000))},
          {"primaries", chunk("gAMA", big_endian(100000)) + chunk("cHRM", primaries)},
          {"sRGB", chunk("sRGB", "\0"s)},
          {"a profile", chunk("iCCP", "a profile\0\0"s + zipped(std::string(200, 'x')))},
          {"significant bits", chunk("sBIT", "\5\5\5"s)},
          {"a background", chunk("bKGD", "\0\1\0\1\0\1"s)}};
}

}  // namespace

TEST(StoredPixels, OfPngDoNotDependOnWhatItSaysOfColours) {
  std::string ramp, row(1, '\0'), gray_row(1, '\0');
  for (int i = 0; i < 256; ++i) {
    row += std::string{static_cast<char>(i), static_cast<char>(255 - i), static_cast<char>(i * 7)};
    gray_row += static_cast<char>(i);
  }
  for (const auto& [name, chunks] : colour_chunks()) {
    const td::Tensor colours = decode_image(png(256, 1, 8, 2, zipped(row), chunks));
    ASSERT_EQ(colours.sizes(), (td::Shape{3, 1, 256})) << name;
    EXPECT_TRUE(td::equal(colours[0][0], td::arange(256).to(td::kUInt8))) << name;
    EXPECT_TRUE(td::equal(colours[1][0], (255 - td::arange(256)).to(td::kUInt8))) << name;
    EXPECT_TRUE(td::equal(colours[2][0], (td::arange(256) * 7).to(td::kUInt8))) << name;
    if (name == "significant bits" || name == "a background") continue;  // these have the sizes of colours
    EXPECT_TRUE(td::equal(decode_image(png(256, 1, 8, 0, zipped(gray_row), chunks))[0][0], td::arange(256).to(td::kUInt8))) << name;
    // An index for each, into a palette of the same colours.
    const td::Tensor by_index = decode_image(png(256, 1, 8, 3, zipped(gray_row), chunks + chunk("PLTE", row.substr(1))));
    EXPECT_TRUE(td::equal(by_index, colours)) << name;
  }
}

TEST(StoredPixels, OfSixteenBitsAreTheHighBytes) {
  std::string gray(1, '\0'), colours(1, '\0'), alpha(1, '\0');
  for (const int high : {0, 1, 64, 128, 200, 255})
    for (const int low : {0, 127, 128, 129, 255}) {
      const std::string sample{static_cast<char>(high), static_cast<char>(low)};
      gray += sample;
      colours += sample + sample + "\x80\xff"s;
      alpha += sample + "\x40\xff"s;
    }
  const td::Tensor wanted = td::tensor({0, 1, 64, 128, 200, 255}).reshape({6, 1}).expand({6, 5}).reshape({30}).to(td::kUInt8);
  for (const std::string& chunks : {""s, chunk("gAMA", big_endian(100000)), chunk("gAMA", big_endian(45455)), chunk("sRGB", "\0"s)}) {
    EXPECT_TRUE(td::equal(decode_image(png(30, 1, 16, 0, zipped(gray), chunks))[0][0], wanted));
    const td::Tensor rgb = decode_image(png(30, 1, 16, 2, zipped(colours), chunks));
    EXPECT_TRUE(td::equal(rgb[1][0], wanted));
    EXPECT_TRUE((rgb[2] == 128).all().item<bool>());
    const td::Tensor with_alpha = decode_image(png(30, 1, 16, 4, zipped(alpha), chunks));
    EXPECT_TRUE(td::equal(with_alpha[0][0], wanted));  // not multiplied by what covers it
    EXPECT_TRUE((with_alpha[1] == 64).all().item<bool>());
  }
}

TEST(StoredPixels, OfFewBitsFillTheByte) {
  EXPECT_TRUE(td::equal(decode_image(png(8, 1, 1, 0, zipped("\0\xa5"s), chunk("gAMA", big_endian(100000))))[0][0],
                        td::tensor({255, 0, 255, 0, 0, 255, 0, 255}, td::kUInt8)));
  EXPECT_TRUE(td::equal(decode_image(png(4, 1, 2, 0, zipped("\0\x1b"s)))[0][0], td::tensor({0, 85, 170, 255}, td::kUInt8)));
  EXPECT_TRUE(td::equal(decode_image(png(2, 1, 4, 0, zipped("\0\x3c"s)))[0][0], td::tensor({51, 204}, td::kUInt8)));
}

// That it is warned of, once: tests/programs/stray_bytes.cpp.
TEST(StoredPixels, OfJpegStandWhereBytesAreBeforeAMarker) {
  const td::Tensor slope = (td::arange(32) * 8).expand({3, 24, 32}).contiguous().to(td::kUInt8);
  write_jpeg(slope, "plain.jpg", 90);
  const std::string plain = read_file("plain.jpg");
  const td::Tensor wanted = read_image("plain.jpg");

  const size_t frame = plain.find("\xff\xc0"), end = plain.rfind("\xff\xd9");
  for (const size_t place : {frame, end}) {
    std::string more = plain;
    more.insert(place, "\1\2\3"s);
    write_file("more.jpg", more);
    EXPECT_TRUE(td::equal(read_image("more.jpg"), wanted)) << place;
    EXPECT_TRUE(td::equal(decode_image(more), wanted)) << place;
  }
  // Zeros, as scanners fill up sectors with; and what stands behind the end.
  std::string more = plain;
  more.insert(end, 500, '\0');
  EXPECT_TRUE(td::equal(decode_image(more + "more"s), wanted));

  // Damage is an error as ever: pixels behind it would be made up.
  std::string damaged = plain;
  damaged.replace(end - 60, 30, std::string(30, '\0'));
  EXPECT_NE(error_of([&] { (void)decode_image(damaged); }).find("[decode_image] libjpeg says: "), std::string::npos);
  EXPECT_NE(error_of([&] { (void)decode_image(plain.substr(0, plain.size() - 20)); }).find("[decode_image] libjpeg says: "),
            std::string::npos);
}
