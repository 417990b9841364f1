// Transforms: each against what it is meant to do, on pictures of bytes and of floating numbers.
#include "data/transforms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
using namespace td::data;
using namespace td::data::transforms;

namespace {

td::Tensor bytes(int64_t channels, int64_t height, int64_t width) {
  return ((td::arange(channels * height * width) * 5) % 256).reshape({channels, height, width}).to(td::kUInt8);
}

}  // namespace

class Transforms : public OnDevice {
 protected:
  td::Tensor image = bytes(3, 6, 8).to(device());
  Generator generator{7};
};

TEST_P(Transforms, ScaleAndNormalize) {
  const td::Tensor scaled = ToTensor()(image);
  EXPECT_EQ(scaled.dtype(), td::kFloat32);
  EXPECT_TRUE(td::allclose(scaled * 255, image.to(td::kFloat32)));
  EXPECT_TRUE(ToTensor()(scaled).is_same(scaled));
  const td::Tensor normal = Normalize({0.5, 0.25, 0}, {0.5, 1, 2})(scaled);
  EXPECT_TRUE(td::allclose(normal[0], (scaled[0] - 0.5) / 0.5));
  EXPECT_TRUE(td::allclose(normal[1], scaled[1] - 0.25));
  EXPECT_TRUE(td::allclose(normal[2], scaled[2] / 2));
  EXPECT_TRUE(td::allclose(Normalize({0.5}, {0.5})(scaled), scaled * 2 - 1));
  EXPECT_NE(error_of([&] { (void)Normalize({0.5}, {1})(image); }).find("put ToTensor before it"), std::string::npos);
  EXPECT_EQ(error_of([&] { (void)Normalize({1, 2}, {1})(scaled); }), "[Normalize] there are 2 numbers for the 3 channels of the picture");
  EXPECT_EQ(error_of([] { Normalize bad({0}, {0}); }), "[Normalize] std must be positive, but has 0");
}

TEST_P(Transforms, Resize) {
  EXPECT_EQ(transforms::Resize(3)(image).sizes(), (td::Shape{3, 3, 4}));
  EXPECT_EQ(transforms::Resize(12)(image.transpose(1, 2)).sizes(), (td::Shape{3, 16, 12}));
  EXPECT_EQ(transforms::Resize(Size(5, 2))(image).sizes(), (td::Shape{3, 5, 2}));
  EXPECT_TRUE(transforms::Resize(6)(image).is_same(image));
  // A picture of one colour keeps it; halving with antialiasing keeps the mean of a slope.
  const td::Tensor plain = td::full({1, 9, 9}, 77, {.dtype = td::kUInt8, .device = device()});
  EXPECT_TRUE((transforms::Resize(4)(plain) == 77).all().item<bool>());
  const td::Tensor slope = td::arange(16).to(td::kFloat32).expand({1, 4, 16}).to(device());
  const td::Tensor half = transforms::Resize(Size(4, 8))(slope);
  EXPECT_NEAR(half.mean().item<double>(), 7.5, 1e-4);
  EXPECT_NEAR(half[0][0][3].item<double>(), 6.5, 1e-4);
}

TEST_P(Transforms, CutParts) {
  EXPECT_TRUE(td::equal(CenterCrop(Size(2, 4))(image), image.narrow(1, 2, 2).narrow(2, 2, 4)));
  const td::Tensor larger = CenterCrop(Size(9, 8))(image);
  EXPECT_TRUE(td::equal(larger.narrow(1, 1, 6), image));
  EXPECT_EQ(larger.narrow(1, 7, 2).sum().item<int64_t>(), 0);

  // Every place comes, and a part is one of the picture's.
  std::set<int64_t> corners;
  for (int i = 0; i < 300; ++i) {
    const td::Tensor part = RandomCrop(Size(5, 6))(image, generator);
    ASSERT_EQ(part.sizes(), (td::Shape{3, 5, 6}));
    EXPECT_EQ(part[0][4][5].item<int64_t>(), (part[0][0][0].item<int64_t>() + 5 * (4 * 8 + 5)) % 256);
    corners.insert(part[0][0][0].item<int64_t>());
  }
  EXPECT_EQ(corners.size(), 6U);  // two rows, three columns
  EXPECT_EQ(RandomCrop(Size(10, 12), 2)(image, generator).sum().item<int64_t>(), image.sum().item<int64_t>());
  EXPECT_EQ(error_of([&] { (void)RandomCrop(Size(7, 3))(image, generator); }),
            "[RandomCrop] a part of 7 x 3 is larger than the picture, 6 x 8 with its padding");

  for (int i = 0; i < 50; ++i) {
    const td::Tensor part = RandomResizedCrop(Size(4, 5))(image, generator);
    EXPECT_EQ(part.sizes(), (td::Shape{3, 4, 5}));
    EXPECT_EQ(part.dtype(), td::kUInt8);
  }
  // The whole picture, where only that will do: of a bar too long for the ratios, its middle.
  EXPECT_TRUE(td::equal(RandomResizedCrop(Size(6, 8), {1, 1}, {8. / 6, 8. / 6})(image, generator), image));
  const td::Tensor bar = td::arange(100).reshape({1, 1, 100}).to(td::kUInt8).to(device());
  const td::Tensor middle = RandomResizedCrop(Size(1, 2), {1, 1}, {1, 2})(bar, generator);
  EXPECT_TRUE(td::equal(middle, td::tensor({{{49, 50}}}, td::kUInt8).to(device())));
}

TEST_P(Transforms, Flip) {
  int flipped = 0;
  for (int i = 0; i < 400; ++i) {
    const td::Tensor result = RandomHorizontalFlip(0.25)(image, generator);
    if (result.is_same(image)) continue;
    if (flipped++ == 0) {
      EXPECT_TRUE(td::equal(result, image.flip({2})));
    }
  }
  EXPECT_NEAR(flipped, 100, 35);
  EXPECT_FALSE(RandomHorizontalFlip(1)(image, generator).is_same(image));
}

TEST_P(Transforms, ChangeColours) {
  const td::Tensor gray = Grayscale()(image);
  EXPECT_EQ(gray.sizes(), (td::Shape{1, 6, 8}));
  const td::Tensor exact = image[0].to(td::kFloat32) * 0.2989 + image[1].to(td::kFloat32) * 0.587 + image[2].to(td::kFloat32) * 0.114;
  EXPECT_TRUE(td::equal(gray[0], td::floor(exact).to(td::kUInt8)));
  EXPECT_EQ(Grayscale(3)(image).size(0), 3);

  EXPECT_TRUE(td::equal(adjust_brightness(image, 1), image));
  EXPECT_EQ(adjust_brightness(image, 0).sum().item<int64_t>(), 0);
  EXPECT_TRUE(td::equal(adjust_brightness(image, 2), (image.to(td::kInt64) * 2).clamp(0, 255).to(td::kUInt8)));
  EXPECT_TRUE(td::equal(adjust_saturation(image, 0), Grayscale(3)(image)));
  EXPECT_TRUE(td::equal(adjust_saturation(image, 1), image));
  const td::Tensor flat = adjust_contrast(image, 0);
  EXPECT_TRUE((flat == flat[0][0][0]).all().item<bool>());
  EXPECT_NEAR(flat[0][0][0].item<double>(), td::floor(exact).mean().item<double>(), 1);
  EXPECT_TRUE(td::allclose(adjust_contrast(ToTensor()(image), 1), ToTensor()(image)));

  EXPECT_TRUE(td::equal(ColorJitter({})(image, generator), image));
  const td::Tensor first = ColorJitter({.brightness = 0.5, .contrast = 0.5, .saturation = 0.5})(image, generator);
  EXPECT_FALSE(td::equal(first, ColorJitter({.brightness = 0.5, .contrast = 0.5, .saturation = 0.5})(image, generator)));
}

TEST_P(Transforms, Erase) {
  const td::Tensor ones = td::ones({3, 20, 20}, device());
  std::set<int64_t> areas;
  for (int i = 0; i < 50; ++i) {
    const td::Tensor result = RandomErasing(1)(ones, generator);
    const auto erased = static_cast<int64_t>(1200 - result.sum().item<double>());
    EXPECT_EQ(erased % 3, 0);
    EXPECT_TRUE(erased / 3 >= 4 && erased / 3 <= 160) << erased;  // 0.02 to 0.33 of 400, rounded
    areas.insert(erased);
  }
  EXPECT_GT(areas.size(), 10U);
  EXPECT_EQ(ones.sum().item<double>(), 1200);  // the picture itself is left alone
  EXPECT_TRUE(RandomErasing(0)(ones, generator).is_same(ones));
}

TEST_P(Transforms, FollowOneAnother) {
  const Compose all({CenterCrop(4), [](const td::Tensor& x) { return x + 1; }, RandomHorizontalFlip(1),
                     [](const td::Tensor& x, Generator& random) {
                       return x * td::tensor(static_cast<int64_t>(random.below(1) + 2), td::kUInt8).to(x.device());
                     }});
  EXPECT_TRUE(td::equal(all(image, generator), (CenterCrop(4)(image) + 1).flip({2}) * 2));
  const auto set = map_input(TensorDataset({image.unsqueeze(0), td::tensor({3}, device())}), ToTensor());
  EXPECT_TRUE(td::equal(set[0].input(), ToTensor()(image)));
  EXPECT_EQ(set[0].target().item<int64_t>(), 3);
}

INSTANTIATE_TEST_SUITE_P(Devices, Transforms, testing::Values("cpu", "cuda:0"), device_name);

TEST(TransformsOf, RefuseWhatIsNoPicture) {
  Generator generator(1);
  EXPECT_EQ(error_of([] {
              (void)ToTensor()(td::zeros({3, 4}));
            }),
            "[ToTensor] a picture has sizes (channels, height, width), none of them 0, but these are [3, 4]");
  EXPECT_EQ(error_of([] {
              (void)CenterCrop(2)(td::zeros({1, 3, 4}, td::kInt64));
            }),
            "[CenterCrop] a picture is uint8 or floating, but this is int64");
  EXPECT_EQ(error_of([] { (void)Grayscale()(td::zeros({2, 3, 4})); }), "[Grayscale] a picture with colours has 3 channels, but this has 2");
  EXPECT_NE(error_of([] { transforms::Resize bad(0); }), "no error");
  EXPECT_NE(error_of([] { RandomHorizontalFlip bad(1.5); }), "no error");
  EXPECT_NE(error_of([] { RandomErasing bad(0.5, {0.5, 0.1}); }), "no error");
  EXPECT_NE(error_of([] { ColorJitter bad({.contrast = -1}); }), "no error");
  EXPECT_NE(error_of([] { (void)adjust_contrast(td::zeros({3, 2, 2}), -1); }), "no error");
}
