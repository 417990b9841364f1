// Max-pool's gradient, for windows of all kinds: against what its indices say, and against the CPU.
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

class MaxPool : public OnDevice {};

TEST_P(MaxPool, Gradient) {
  const td::MaxPoolOptions options[] = {{},
                                        {.stride = 2, .padding = 1},
                                        {.stride = 1},
                                        {.stride = 2, .dilation = 2},
                                        {.stride = 3, .padding = 1, .dilation = 2, .ceil_mode = true},
                                        {.stride = {1, 2}, .padding = {1, 0}, .ceil_mode = true}};
  for (const td::DType dtype : {td::kFloat32, td::kFloat64, td::kBFloat16, td::kFloat16}) {
    for (const td::MaxPoolOptions& each : options) {
      for (const td::PerDim& kernel : {td::PerDim{3}, td::PerDim{2, 3}, td::PerDim{11, 10}}) {
        if (kernel.values()[0] == 11 && each.dilation.values()[0] > 1) continue;
        // Few numbers: many of a window are equal, and the first of them gets the gradient.
        const td::Tensor numbers =
            td::arange(2 * 3 * 17 * 14, {.dtype = td::kInt64}).mul(31).remainder(101).remainder(13).reshape({2, 3, 17, 14});
        td::Tensor x = numbers.to(device(), dtype).requires_grad_();
        const td::ValuesIndices y = td::max_pool2d_with_indices(x, kernel, each);
        const td::Tensor g = td::arange(y.values.numel(), {.dtype = td::kInt64}).remainder(5).sub(1).reshape(y.values.sizes());
        y.values.backward(g.to(device(), dtype));
        td::Tensor wanted = td::zeros({2, 3, 17 * 14}, td::kFloat64);
        wanted.scatter_add_(2, y.indices.cpu().flatten(2), g.flatten(2).to(td::kFloat64));
        EXPECT_TRUE(td::equal(x.grad().cpu().to(td::kFloat64).flatten(2), wanted)) << dtype << " " << kernel.values();
      }
    }
  }
}

TEST_P(MaxPool, GradientInOtherDimensions) {
  const auto same = [](const td::Shape& sizes, auto pool) {
    const td::Tensor numbers = td::randperm(td::empty(sizes).numel()).reshape(sizes).to(td::kFloat32);
    td::Tensor here = numbers.clone().requires_grad_(), there = numbers.clone().to(device()).requires_grad_();
    pool(here).square().sum().backward();
    pool(there).square().sum().backward();
    EXPECT_TRUE(td::equal(there.grad().cpu(), here.grad())) << sizes;
    // The gradient of the gradient, and a gradient that repeats one number.
    td::Tensor again = numbers.clone().to(device()).requires_grad_();
    const td::Tensor first = td::grad({pool(again).square().sum()}, {again}, {.create_graph = true})[0];
    td::Tensor cpu_again = numbers.clone().requires_grad_();
    const td::Tensor cpu_first = td::grad({pool(cpu_again).square().sum()}, {cpu_again}, {.create_graph = true})[0];
    EXPECT_TRUE(td::equal(td::grad({first.square().sum()}, {again})[0].cpu(), td::grad({cpu_first.square().sum()}, {cpu_again})[0]));
    td::Tensor last = numbers.clone().to(device()).requires_grad_();
    pool(last).sum().backward();
    EXPECT_EQ(last.grad().sum().item<float>(), static_cast<float>(pool(numbers).numel()));
  };
  same({3, 20}, [](const td::Tensor& x) { return td::max_pool1d(x, 3, {.stride = 2, .padding = 1}); });
  same({2, 3, 20}, [](const td::Tensor& x) { return td::max_pool1d(x, 4, {.stride = 1}); });
  same({2, 2, 6, 7, 8}, [](const td::Tensor& x) { return td::max_pool3d(x, 3, {.stride = 2, .padding = 1}); });
  same({2, 3, 11, 7}, [](const td::Tensor& x) { return td::adaptive_max_pool2d(x, {4, 5}); });
  same({2, 3, 5, 7}, [](const td::Tensor& x) { return td::adaptive_max_pool2d(x, {9, 1}); });
  same({2, 3, 30, 31}, [](const td::Tensor& x) { return td::max_pool2d(x, 13, {.stride = 1, .padding = 6}); });
}

INSTANTIATE_TEST_SUITE_P(Devices, MaxPool, testing::Values("cpu", "cuda:0"), device_name);

}  // namespace
