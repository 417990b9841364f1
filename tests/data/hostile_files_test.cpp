// Files made to hurt their reader: each is refused with one clear error, and costs no more memory than a file of its size may.
#include <gtest/gtest.h>

#include <filesystem>

#include "data/files.h"
#include "data/png_files.h"
#include "support/on_device.h"
#include "support/touched_memory.h"
#include "tandem.h"

namespace td = tandem;
using namespace td::data;

namespace {

constexpr size_t kMiB = 1 << 20;

/// What reading the picture gives, and that it fills little memory.
std::string small_error(const std::string& bytes) {
  write_file("hostile.png", bytes);
  std::string error;
  EXPECT_LT(touched_by([&] { error = error_of([] { (void)read_image("hostile.png"); }); }), 200 * kMiB) << error;
  return error;
}

}  // namespace

TEST(HostilePictures, AreLookedAtBeforeTheyAreUnpacked) {
  // Many zeros, packed, under a picture's name.
  write_gzip("hostile.png", std::string(200 * kMiB, '\0'));
  std::string error;
  EXPECT_LT(touched_by([&] { error = error_of([] { (void)read_image("hostile.png"); }); }), 100 * kMiB);
  EXPECT_EQ(error.rfind("[read_image] hostile.png: not a PNG or JPEG picture, but a file packed with gzip", 0), 0U) << error;
}

TEST(HostilePictures, HaveNoMorePixelsThanTheirBytesHold) {
  EXPECT_EQ(
      small_error(png(16384, 16384, 8, 6, "x")).rfind("[read_image] hostile.png: the picture says that it has 16384 x 16384 pixels", 0),
      0U);
  // Enough bytes for all of it, but no pixels come of them.
  EXPECT_NE(small_error(png(16384, 16384, 8, 6, std::string(2 * kMiB, 'x'))).find("libpng says: "), std::string::npos);
  EXPECT_NE(small_error(png(16384, 16384, 8, 6, zipped(std::string(1000, '\0')) + std::string(2 * kMiB, 'x'))).find("libpng says: "),
            std::string::npos);

  const td::Tensor slope = td::arange(64).reshape({8, 8}).expand({1, 8, 8}).to(td::kUInt8);
  write_jpeg(slope, "small.jpg");
  std::string jpeg = read_file("small.jpg");
  const size_t frame = jpeg.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  jpeg.replace(frame + 5, 4, "\x3f\xff\x3f\xff");
  EXPECT_EQ(small_error(jpeg).rfind("[read_image] hostile.png: the picture says that it has 16383 x 16383 pixels", 0), 0U);
  EXPECT_NE(small_error(jpeg + std::string(kMiB, 'x')).find("libjpeg says: "), std::string::npos);
}

TEST(HostilePictures, HaveTheirHeaderFirst) {
  // libpng passes over a chunk that it does not know, and what lies at the header's place is anything.
  std::string late = png(2, 2, 8, 0, zipped(std::string(6, '\0')));
  late.insert(8, chunk("iHDR", std::string(13, '\x89')));
  EXPECT_EQ(small_error(late), "[read_image] hostile.png: its first chunk is not IHDR");
}

TEST(HostilePictures, AreNotReadWholeWhereNoPictureIsSoLarge) {
  write_file("hostile.png", png(1, 1, 8, 0, "x"));
  std::filesystem::resize_file("hostile.png", uint64_t{1} << 40);  // no more than a name takes on the disk
  std::string error;
  EXPECT_LT(touched_by([&] { error = error_of([] { (void)read_image("hostile.png"); }); }), 100 * kMiB);
  EXPECT_EQ(error, "[read_image] hostile.png: the file has 1099511627776 bytes; pictures of up to 4294967296 bytes are read");
  std::filesystem::remove("hostile.png");
}

TEST(Pictures, OfOneColourArePackedAsTightAsTheyCome) {
  // What a blank page takes: the limits above are wide enough for the best that any program can write.
  for (const char depth : {'\1', '\2', '\4', '\x8'}) {
    const size_t row = 1 + (4000 * static_cast<size_t>(depth) + 7) / 8;
    write_file("blank.png", png(4000, 4000, depth, 0, zipped(std::string(row * 4000, '\0'))));
    EXPECT_EQ(read_image("blank.png").sizes(), (td::Shape{1, 4000, 4000}));
  }
  for (const int64_t channels : {1, 3}) {
    write_jpeg(td::full({channels, 4000, 4000}, 255, td::kUInt8), "blank.jpg", 1);
    EXPECT_EQ(read_image("blank.jpg").sizes(), (td::Shape{channels, 4000, 4000}));
  }
}

TEST(HostileArrays, FillNoMemoryThatTheyOnlyPromise) {
  std::string error;
  const auto read = [&] { error = error_of([] { (void)read_idx("hostile.gz"); }); };
  // No array at all, and one that says it is larger than what it unpacks to.
  write_gzip("hostile.gz", std::string(200 * kMiB, 'x'));
  EXPECT_LT(touched_by(read), 100 * kMiB);
  EXPECT_NE(error.find("not an IDX file"), std::string::npos);
  write_gzip("hostile.gz", idx_bytes(0x08, {1, 30000, 30000}, std::string(10, 'x')));
  EXPECT_LT(touched_by(read), 100 * kMiB);
  EXPECT_NE(error.find("has 900000000"), std::string::npos) << error;
  write_gzip("hostile.gz", idx_bytes(0x08, {5}, "1234"));
  read();
  EXPECT_EQ(error, "[read_idx] hostile.gz: after byte 8 there are 4 bytes, but an array of uint8 with sizes [5] has 5");
  write_gzip("hostile.gz", idx_bytes(0x08, {5}, "1234567"));
  read();
  EXPECT_EQ(error, "[read_idx] hostile.gz: after byte 8 there are more than 5 bytes, but an array of uint8 with sizes [5] has 5");
}
