// Fractional max pooling, against PyTorch's numbers and against windows looked at one by one.
#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

class FractionalPooling : public OnDevice {
 protected:
  /// Numbers below 101 in no order.
  static td::Tensor numbers(const td::Shape& sizes, td::DType dtype = td::kFloat32) {
    return (td::arange(sizes.numel(), td::Device(device())) * 37).remainder(101).to(dtype).view(sizes);
  }
};

template <class T>
std::vector<T> listed(const td::Tensor& x) {
  const td::Tensor host = x.detach().cpu().contiguous();
  return {host.data_ptr<T>(), host.data_ptr<T>() + host.numel()};
}

TEST_P(FractionalPooling, GivesPyTorchsNumbers) {
  const td::Tensor samples = td::tensor({0.1, 0.7, 0.9, 0.35}, {.dtype = td::kFloat32, .device = device()}).view({1, 2, 2});
  for (const td::DType dtype : {td::kFloat32, td::kFloat64, td::kFloat16, td::kBFloat16}) {
    const auto [values, indices] = td::fractional_max_pool2d_with_indices(numbers({1, 2, 7, 9}, dtype), {2, 3},
                                                                          {.output_size = {4, 5}, .random_samples = samples.to(dtype)});
    EXPECT_EQ(values.sizes(), (td::Shape{1, 2, 4, 5}));
    EXPECT_EQ(values.dtype(), dtype);
    EXPECT_EQ(listed<float>(values.to(td::kFloat32)),
              (std::vector<float>{74, 74, 84, 84, 94, 97, 97, 77, 80, 87, 93, 100, 100, 73, 83, 86, 89, 96, 99, 99,
                                  82, 82, 92, 92, 95, 98, 78, 81, 88, 91, 98, 71,  81,  81, 91, 94, 97, 97, 77, 80}));
    EXPECT_EQ(listed<int64_t>(indices), (std::vector<int64_t>{2, 2, 5, 5, 8,  19, 19, 13, 24, 16, 38, 30, 30, 32, 35, 46, 57, 49, 60, 60,
                                                              2, 2, 5, 5, 16, 27, 21, 32, 24, 35, 27, 29, 32, 32, 35, 46, 57, 57, 51, 62}));
  }
  const auto [values, indices] = td::fractional_max_pool3d_with_indices(
      numbers({1, 1, 5, 6, 7}), 2,
      {.output_ratio = {{0.6, 0.5, 0.6}},
       .random_samples = td::tensor({0.1, 0.7, 0.4}, {.dtype = td::kFloat32, .device = device()}).view({1, 1, 3})});
  EXPECT_EQ(values.sizes(), (td::Shape{1, 1, 3, 3, 4}));
  EXPECT_EQ(listed<float>(values), (std::vector<float>{96, 74, 86, 84, 89, 87, 99, 97, 83,  100, 73, 85, 96, 88, 86, 98, 91, 82,
                                                       99, 92, 97, 95, 87, 87, 92, 90, 100, 100, 86, 98, 76, 88, 99, 91, 89, 82}));
  EXPECT_EQ(listed<int64_t>(indices),
            (std::vector<int64_t>{49, 2,  46,  5,  57,  16,  60,  19,  35,  30,  32,  76,  49,  87,  46,  90,  98,  65,
                                  60, 68, 120, 79, 117, 117, 169, 128, 131, 131, 147, 191, 144, 188, 161, 199, 158, 166}));
}

// Each of many rows is a path of windows from one edge to the other, no two steps further apart than the ratio rounded up.
TEST_P(FractionalPooling, WindowsReachFromEdgeToEdge) {
  const td::Tensor x = td::arange(40, td::Device(device())).to(td::kFloat32).expand({50, 3, 1, 40});
  const td::Tensor ends = td::fractional_max_pool2d(x, {1, 2}, {.output_size = {1, 27}});
  EXPECT_EQ(ends.sizes(), (td::Shape{50, 3, 1, 27}));
  std::set<std::vector<float>> paths;
  const std::vector<float> all = listed<float>(ends);
  for (size_t row = 0; row < 150; ++row) {
    const std::vector<float> path(all.begin() + static_cast<long>(row) * 27, all.begin() + static_cast<long>(row + 1) * 27);
    EXPECT_EQ(path.front(), 1);
    EXPECT_EQ(path.back(), 39);
    for (size_t i = 1; i < path.size(); ++i) EXPECT_TRUE(path[i] - path[i - 1] == 1 || path[i] - path[i - 1] == 2);
    paths.insert(path);
  }
  EXPECT_GT(paths.size(), 5U);  // drawn for each sample and channel
}

TEST_P(FractionalPooling, HasGradientsWhereTheLargestWere) {
  const td::Tensor x = td::randn({2, 3, 6, 8}, device()).requires_grad_();
  const auto [values, indices] = td::fractional_max_pool2d_with_indices(x, 2, {.output_ratio = {{0.5}}});
  EXPECT_EQ(values.sizes(), (td::Shape{2, 3, 3, 4}));
  EXPECT_TRUE(td::equal(x.detach().view({2, 3, 48}).gather(2, indices.view({2, 3, 12})), values.detach().view({2, 3, 12})));
  values.sum().backward();
  const td::Tensor expected =
      td::zeros({2, 3, 48}, device()).scatter_add(2, indices.view({2, 3, 12}), td::ones({2, 3, 12}, device())).view({2, 3, 6, 8});
  EXPECT_TRUE(td::equal(x.grad(), expected));
  EXPECT_EQ(td::fractional_max_pool3d(td::randn({4, 5, 6, 7}, device()), {1, 2, 3}, {.output_size = 2}).sizes(), (td::Shape{4, 2, 2, 2}));
}

TEST_P(FractionalPooling, RefusesWhatDoesNotFit) {
  const td::Tensor x = numbers({1, 1, 5, 6});
  EXPECT_EQ(error_of([&] { (void)td::fractional_max_pool2d(x, 2, {}); }),
            "[fractional_max_pool2d] requires specifying either an output_size or an output_ratio");
  EXPECT_EQ(error_of([&] { (void)td::fractional_max_pool2d(x, 2, {.output_size = 2, .output_ratio = {{0.5}}}); }),
            "[fractional_max_pool2d] only one of output_size and output_ratio may be specified");
  EXPECT_EQ(error_of([&] {
              (void)td::fractional_max_pool2d(x, {2, 3}, {.output_size = {2, 5}});
            }),
            "[fractional_max_pool2d] pool width 3 too large relative to input width 6: there is no room for 5 windows");
  EXPECT_EQ(error_of([&] { (void)td::fractional_max_pool3d(x, 2, {.output_size = 1}); }),
            "[fractional_max_pool3d] pool time 2 too large relative to input time 1: there is no room for 1 windows");
  EXPECT_EQ(error_of([&] { (void)td::fractional_max_pool2d(x[0][0], 2, {.output_size = 1}); }),
            "[fractional_max_pool2d] Expected 3D or 4D tensor, but got: [5, 6]");
  EXPECT_EQ(error_of([&] {
              (void)td::fractional_max_pool2d(x, 2, {.output_size = 1, .random_samples = td::zeros({1, 2}, device())});
            }),
            "[fractional_max_pool2d] random_samples must be of the sizes (batch, channels, spatial dimensions), [1, 1, 2], but they are "
            "[1, 2]");
  EXPECT_EQ(error_of([&] {
              (void)td::fractional_max_pool2d(x, 2, {.output_ratio = {{0.5, 0.5, 0.5}}});
            }),
            "[fractional_max_pool2d] output_ratio must be one number or 2, but 3 were given");
  for (const double ratio : {1.5, 0.0, -1.0, 1e300, static_cast<double>(NAN)})
    EXPECT_NE(error_of([&] { (void)td::fractional_max_pool2d(x, 2, {.output_ratio = {{ratio}}}); }).find("above 0 and up to 1"),
              std::string::npos);
  EXPECT_EQ(error_of([&] { (void)td::fractional_max_pool2d(x.to(td::kInt64), 2, {.output_size = 1}); }),
            "[fractional_max_pool2d] is not implemented for 'Long'; convert with to(kFloat32)");
  EXPECT_NE(error_of([] { td::nn::FractionalMaxPool2d(2, {}); }).find("[FractionalMaxPool2d] requires exactly one"), std::string::npos);
  EXPECT_EQ(error_of([] { td::nn::FractionalMaxPool3d(2, {.output_ratio = {{1.5}}}); }),
            "[FractionalMaxPool3d] output_ratio must be between 0 and 1 (got 1.5)");
}

TEST_P(FractionalPooling, IsALayer) {
  td::nn::FractionalMaxPool2d pool(2, {.output_size = 3});
  EXPECT_EQ(pool(numbers({2, 2, 5, 6})).sizes(), (td::Shape{2, 2, 3, 3}));
  EXPECT_TRUE(pool.state_dict().empty());
  td::nn::FractionalMaxPool2d fixed(2, {.output_size = 3, .random_samples = td::full({2, 2, 2}, 0.5)});
  fixed.to(device());
  EXPECT_EQ(fixed.state_dict().keys(), std::vector<std::string>{"_random_samples"});
  const auto [values, indices] = fixed.forward_with_indices(numbers({2, 2, 5, 6}));
  EXPECT_TRUE(td::equal(values, fixed(numbers({2, 2, 5, 6}))));
}

INSTANTIATE_TEST_SUITE_P(Every, FractionalPooling, ::testing::Values("cpu", "cuda:0", "cuda:1"));

}  // namespace
