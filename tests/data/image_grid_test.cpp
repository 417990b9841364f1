// Many pictures as one, and as a file.
#include "data/image_grid.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "data/image.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
using namespace td::data;

namespace {

class ImageGrid : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, ImageGrid, testing::Values("cpu", "cuda:0"), device_name);

TEST_P(ImageGrid, StandsInRowsWithMargins) {
  const auto pictures = td::arange(1, 6, 1, {.dtype = td::kFloat32, .device = device()}).view({5, 1, 1, 1}).expand({5, 3, 2, 2});
  const auto grid = make_grid(pictures, {.nrow = 2, .padding = 1, .pad_value = 9});
  EXPECT_EQ(grid.sizes(), (td::Shape{3, 10, 7}));
  const auto expected = td::tensor({{9., 9., 9., 9., 9., 9., 9.},
                                    {9., 1., 1., 9., 2., 2., 9.},
                                    {9., 1., 1., 9., 2., 2., 9.},
                                    {9., 9., 9., 9., 9., 9., 9.},
                                    {9., 3., 3., 9., 4., 4., 9.},
                                    {9., 3., 3., 9., 4., 4., 9.},
                                    {9., 9., 9., 9., 9., 9., 9.},
                                    {9., 5., 5., 9., 9., 9., 9.},
                                    {9., 5., 5., 9., 9., 9., 9.},
                                    {9., 9., 9., 9., 9., 9., 9.}},
                                   td::kFloat32);
  for (int64_t channel = 0; channel < 3; ++channel) EXPECT_TRUE(td::equal(grid[channel].cpu(), expected));
}

TEST_P(ImageGrid, TakesListsAndOnePictureAndGrey) {
  const auto grey = td::rand({4, 5}, device());
  EXPECT_EQ(make_grid(grey).sizes(), (td::Shape{3, 4, 5}));
  EXPECT_TRUE(td::equal(make_grid(grey)[2], grey));
  EXPECT_EQ(make_grid(td::rand({3, 4, 5}, device())).sizes(), (td::Shape{3, 4, 5}));
  const std::vector<td::Tensor> two = {td::rand({1, 4, 5}, device()), td::rand({1, 4, 5}, device())};
  EXPECT_EQ(make_grid(two).sizes(), (td::Shape{3, 8, 16}));
}

TEST_P(ImageGrid, NumbersOfARangeBecomeThoseFromZeroToOne) {
  const auto pictures = td::stack({td::full({3, 1, 2}, -1.0, device()), td::full({3, 1, 2}, 3.0, device())});
  const auto grid = make_grid(pictures, {.padding = 0, .normalize = true});
  EXPECT_TRUE(td::equal(grid[0].cpu(), td::tensor({{0., 0., 1., 1.}}, td::kFloat32)));
  const auto within = make_grid(pictures, {.padding = 0, .normalize = true, .value_range = {{0, 2}}});
  EXPECT_TRUE(td::equal(within[0].cpu(), td::tensor({{0., 0., 1., 1.}}, td::kFloat32)));
  const auto each = make_grid(pictures, {.padding = 0, .normalize = true, .scale_each = true});
  EXPECT_EQ(each.max().item<double>(), 0);  // each of one number only
}

TEST_P(ImageGrid, BecomesAFile) {
  const auto pictures = td::rand({3, 3, 6, 7}, device());
  save_image(pictures, "grid.png");
  const auto expected = make_grid(pictures).mul(255).add(0.5).clamp(0, 255).to(td::kUInt8).cpu();
  EXPECT_TRUE(td::equal(read_image("grid.png"), expected));
  save_image(std::vector<td::Tensor>{pictures[0]}, "grid.JPG");
  EXPECT_EQ(read_image("grid.JPG").sizes(), (td::Shape{3, 6, 7}));
  std::remove("grid.png");
  std::remove("grid.JPG");
}

TEST_P(ImageGrid, RefusesWhatCannotBe) {
  const auto says = [](const std::string& error, const char* text) { return error.find(text) != std::string::npos; };
  const auto one = td::rand({2, 3, 4, 4}, device());
  EXPECT_TRUE(says(error_of([&] { (void)make_grid(one, {.nrow = 0}); }), "nrow must be at least 1, not 0"));
  EXPECT_TRUE(says(error_of([&] { (void)make_grid(one, {.padding = -1}); }), "padding must not be negative, but is -1"));
  EXPECT_TRUE(says(error_of([&] { (void)make_grid(one, {.value_range = {{2, 1}}}); }), "value_range is (min, max), not (2, 1)"));
  EXPECT_TRUE(says(error_of([&] { (void)make_grid(one.view({-1})); }), "got sizes [96]"));
  EXPECT_TRUE(says(error_of([&] { (void)make_grid(one.narrow(0, 0, 0)); }), "there is no picture"));
  EXPECT_TRUE(says(error_of([] { (void)make_grid(std::vector<td::Tensor>()); }), "the list is empty"));
}

}  // namespace
