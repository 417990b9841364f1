// Pictures: written and read again, and folders of them.
#include "data/image.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "data/files.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
using namespace td::data;

namespace {

/// Every value, no two neighbours alike.
td::Tensor picture(int64_t channels, int64_t height, int64_t width) {
  return ((td::arange(channels * height * width) * 7) % 256).reshape({channels, height, width}).to(td::kUInt8);
}

/// A smooth one, which JPEG keeps well.
td::Tensor slope(int64_t channels) {
  const td::Tensor rows = td::arange(24).reshape({24, 1}), columns = td::arange(32);
  return (rows * 4 + columns * 4).expand({channels, 24, 32}).contiguous().to(td::kUInt8);
}

}  // namespace

class Images : public OnDevice {};

TEST_P(Images, ComeBackFromPng) {
  for (const int64_t channels : {1, 2, 3, 4}) {
    const td::Tensor image = picture(channels, 5, 7);
    write_png(image.to(device()), "it.png");
    EXPECT_TRUE(td::equal(read_image("it.png"), image)) << channels;
    EXPECT_TRUE(td::equal(decode_image(read_file("it.png")), image));
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Images, testing::Values("cpu", "cuda:0"), device_name);

TEST(Image, ChangesChannelsAsAsked) {
  const td::Tensor colours = picture(3, 2, 3), alpha = picture(4, 2, 3);
  write_png(colours, "rgb.png");
  write_png(alpha, "rgba.png");
  write_png(picture(1, 2, 3), "gray.png");
  EXPECT_TRUE(td::equal(read_image("rgba.png", ImageMode::RGB), alpha.narrow(0, 0, 3)));
  const td::Tensor opaque = read_image("rgb.png", ImageMode::RGBA);
  EXPECT_TRUE(td::equal(opaque.narrow(0, 0, 3), colours));
  EXPECT_TRUE((opaque[3] == 255).all().item<bool>());
  const td::Tensor gray = read_image("rgb.png", ImageMode::Gray);
  const td::Tensor wanted = (colours.to(td::kFloat64) * td::tensor({0.299, 0.587, 0.114}, td::kFloat64).reshape({3, 1, 1})).sum(0, true);
  EXPECT_LE((gray.to(td::kFloat64) - wanted).abs().max().item<double>(), 0.51);
  const td::Tensor three = read_image("gray.png", ImageMode::RGB);
  for (int channel = 0; channel < 3; ++channel) EXPECT_TRUE(td::equal(three[channel], picture(1, 2, 3)[0]));
  EXPECT_EQ(read_image("rgba.png", ImageMode::GrayAlpha).sizes(), (td::Shape{2, 2, 3}));
  EXPECT_TRUE(td::equal(read_image("rgba.png", ImageMode::GrayAlpha)[1], alpha[3]));
}

TEST(Image, ComesBackNearlyFromJpeg) {
  for (const int64_t channels : {1, 3}) {
    write_jpeg(slope(channels), "it.jpg", 95);
    const td::Tensor back = read_image("it.jpg");
    ASSERT_EQ(back.sizes(), (td::Shape{channels, 24, 32}));
    EXPECT_LE((back.to(td::kFloat32) - slope(channels).to(td::kFloat32)).abs().max().item<float>(), 6);
  }
  const auto rough = std::filesystem::file_size("it.jpg");
  write_jpeg(slope(3), "it.jpg", 20);
  EXPECT_LT(std::filesystem::file_size("it.jpg"), rough);
}

TEST(Image, SaysWhatIsWrong) {
  write_file("text.png", "no picture");
  EXPECT_EQ(error_of([] { (void)read_image("text.png"); }), "[read_image] text.png: not a PNG or JPEG picture, but text");
  write_png(picture(3, 9, 9), "cut.png");
  write_file("cut.png", read_file("cut.png").substr(0, 60));
  EXPECT_NE(error_of([] { (void)read_image("cut.png"); }).find("[read_image] cut.png: libpng says: "), std::string::npos);
  write_jpeg(slope(3), "cut.jpg");
  write_file("cut.jpg", read_file("cut.jpg").substr(0, std::filesystem::file_size("cut.jpg") * 2 / 3));
  EXPECT_NE(error_of([] { (void)read_image("cut.jpg"); }).find("[read_image] cut.jpg: libjpeg says: "), std::string::npos);
  EXPECT_NE(error_of([] { write_png(td::zeros({3, 4, 4}), "no.png"); }).find("this is float32 [3, 4, 4]"), std::string::npos);
  EXPECT_NE(error_of([] { write_jpeg(picture(2, 4, 4), "no.jpg"); }).find("1 or 3 channels"), std::string::npos);
  EXPECT_EQ(error_of([] { write_jpeg(picture(3, 4, 4), "no.jpg", 0); }), "[write_jpeg] quality must be between 1 and 100, but is 0");
  EXPECT_FALSE(std::filesystem::exists("no.png") || std::filesystem::exists("no.jpg"));
}

TEST(ImageFolder, SortsClassesAndPictures) {
  namespace fs = std::filesystem;
  fs::remove_all("pets");
  fs::create_directories("pets/dog/more");
  fs::create_directories("pets/cat");
  write_png(picture(1, 4, 4), "pets/dog/b.png");
  write_png(picture(3, 4, 4), "pets/dog/more/a.PNG");
  write_jpeg(slope(3), "pets/cat/z.jpeg");
  write_file("pets/cat/notes.txt", "not a picture");
  const ImageFolder pets("pets");
  EXPECT_EQ(pets.classes(), (std::vector<std::string>{"cat", "dog"}));
  ASSERT_EQ(pets.size(), 3);
  EXPECT_EQ(pets.samples()[1], (std::pair<std::string, int64_t>("pets/dog/b.png", 1)));
  EXPECT_EQ(pets[0].input().sizes(), (td::Shape{3, 24, 32}));
  EXPECT_EQ(pets[0].target().item<int64_t>(), 0);
  EXPECT_EQ(pets[1].input().sizes(), (td::Shape{3, 4, 4}));
  EXPECT_EQ(pets[2].target().item<int64_t>(), 1);

  using namespace td::data::transforms;
  const ImageFolder small("pets",
                          {.transform = Compose({RandomResizedCrop(8), RandomHorizontalFlip(), ToTensor()}), .mode = ImageMode::Gray});
  DataLoader alone(small, {.batch_size = 3, .seed = 1}), together(small, {.batch_size = 3, .seed = 1, .num_workers = 2});
  EXPECT_TRUE(td::equal((*alone.begin()).input(), (*together.begin()).input()));
  EXPECT_EQ((*alone.begin()).input().sizes(), (td::Shape{3, 1, 8, 8}));

  write_file("pets/dog/b.png", "torn");
  EXPECT_EQ(error_of([&] { (void)(*together.begin()); }),
            "[Dataset] sample 1 cannot be read (mend it, or leave it out by data::subset): [read_image] pets/dog/b.png: not a PNG or JPEG "
            "picture, but text");
  fs::create_directories("pets/empty");
  EXPECT_EQ(error_of([] { ImageFolder folder("pets"); }), "[ImageFolder] the class empty in pets has no picture: .png, .jpg or .jpeg");
  const std::string advice = "; give a folder with a folder of pictures for each class, as in FOLDER/cat/1.png";
  EXPECT_EQ(error_of([] { ImageFolder folder("pets/cat"); }), "[ImageFolder] pets/cat has no folders: each is a class" + advice);
  EXPECT_EQ(error_of([] { ImageFolder folder("nowhere"); }), "[ImageFolder] cannot read nowhere: No such file or directory" + advice);
}
