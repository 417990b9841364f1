// libtorch's convolutions, transposed ones and folding, as functions and as layers, option by option against tandem's core.
#include "libtorch/functional.h"
#include "libtorch/layers.h"
#include "libtorch/table.h"

namespace {

using tandem::Tensor;
namespace nn = torch::nn;
namespace F = torch::nn::functional;

class ConvolutionsTable : public TableOn {};
INSTANTIATE_TEST_SUITE_P(Devices, ConvolutionsTable, testing::Values("cpu", "cuda:0"), device_name);

TEST_P(ConvolutionsTable, Functions) {
  const Tensor line = normal({2, 4, 9}), x = normal({2, 4, 9, 8}), volume = normal({1, 4, 7, 6, 5});
  const Tensor w = normal({6, 4, 3}), w1 = normal({6, 2, 3}), w2 = normal({6, 4, 3, 2}), grouped = normal({6, 2, 3, 2}),
               w3 = normal({6, 2, 3, 2, 1}), bias = normal({6});
  using Conv = F::Conv2dFuncOptions;
  const auto conv = [&](const Conv& options) { return std::vector<Tensor>{F::conv2d(x, w2, options)}; };
  const auto own = [&](const tandem::ConvOptions& options) { return tandem::conv2d(x, w2, {}, options); };
  const Tensor usual = own({});
  expect_rows({
      {"conv1d", {F::conv1d(line, w)}, tandem::conv1d(line, w)},
      {"conv1d with all",
       {F::conv1d(line, w1, F::Conv1dFuncOptions().bias(bias).stride(2).padding(3).dilation(2).groups(2))},
       tandem::conv1d(line, w1, bias, {.stride = 2, .padding = 3, .dilation = 2, .groups = 2})},
      {"conv2d", conv({}), usual},
      {"conv2d bias", conv(Conv().bias(bias)), tandem::conv2d(x, w2, bias), usual},
      {"conv2d stride", conv(Conv().stride({3, 2})), own({.stride = {3, 2}}), usual},
      {"conv2d padding", conv(Conv().padding({2, 1})), own({.padding = {2, 1}}), usual},
      {"conv2d padding same", conv(Conv().padding(torch::kSame)), own({.padding = "same"}), usual},
      {"conv2d padding valid", conv(Conv().padding(torch::kValid)), own({.padding = "valid"}), own({.padding = "same"})},
      {"conv2d dilation", conv(Conv().dilation({2, 3})), own({.dilation = {2, 3}}), usual},
      {"conv2d groups", {F::conv2d(x, grouped, Conv().groups(2))}, tandem::conv2d(x, grouped, {}, {.groups = 2})},
      {"conv3d", {F::conv3d(volume, w3, F::Conv3dFuncOptions().groups(2))}, tandem::conv3d(volume, w3, {}, {.groups = 2})},
      {"conv3d with all",
       {F::conv3d(volume, w3, F::Conv3dFuncOptions().bias(bias).stride({3, 2, 1}).padding({2, 1, 0}).dilation({2, 1, 3}).groups(2))},
       tandem::conv3d(volume, w3, bias, {.stride = {3, 2, 1}, .padding = {2, 1, 0}, .dilation = {2, 1, 3}, .groups = 2})},
  });
}

TEST_P(ConvolutionsTable, TransposedFunctions) {
  const Tensor line = normal({2, 4, 5}), x = normal({2, 4, 5, 4}), volume = normal({1, 4, 3, 4, 2});
  const Tensor w1 = normal({4, 3, 3}), w2 = normal({4, 6, 3, 2}), grouped = normal({4, 3, 3, 2}), w3 = normal({4, 3, 3, 2, 1}),
               bias = normal({6});
  using Conv = F::ConvTranspose2dFuncOptions;
  const auto conv = [&](const Conv& options) { return std::vector<Tensor>{F::conv_transpose2d(x, w2, options)}; };
  const auto own = [&](const tandem::ConvTransposeOptions& options) { return tandem::conv_transpose2d(x, w2, {}, options); };
  const auto line_options = F::ConvTranspose1dFuncOptions().bias(bias).stride(3).padding(2).output_padding(1).groups(2).dilation(2);
  const auto volume_options =
      F::ConvTranspose3dFuncOptions().bias(bias).stride({3, 2, 2}).padding({2, 1, 0}).output_padding({2, 0, 1}).groups(2).dilation(
          {2, 1, 3});
  const Tensor usual = own({});
  expect_rows({
      {"conv_transpose1d with all",
       {F::conv_transpose1d(line, w1, line_options)},
       tandem::conv_transpose1d(line, w1, bias, {.stride = 3, .padding = 2, .output_padding = 1, .groups = 2, .dilation = 2})},
      {"conv_transpose2d", conv({}), usual},
      {"conv_transpose2d bias", conv(Conv().bias(bias)), tandem::conv_transpose2d(x, w2, bias), usual},
      {"conv_transpose2d stride", conv(Conv().stride({3, 2})), own({.stride = {3, 2}}), usual},
      {"conv_transpose2d padding", conv(Conv().padding({2, 1})), own({.padding = {2, 1}}), usual},
      {"conv_transpose2d output_padding", conv(Conv().stride({3, 2}).output_padding({2, 1})),
       own({.stride = {3, 2}, .output_padding = {2, 1}}), own({.stride = {3, 2}})},
      {"conv_transpose2d groups",
       {F::conv_transpose2d(x, grouped, Conv().groups(2))},
       tandem::conv_transpose2d(x, grouped, {}, {.groups = 2}),
       tandem::conv_transpose2d(x, grouped)},
      {"conv_transpose2d dilation", conv(Conv().dilation({2, 3})), own({.dilation = {2, 3}}), usual},
      {"conv_transpose3d with all",
       {F::conv_transpose3d(volume, w3, volume_options)},
       tandem::conv_transpose3d(
           volume, w3, bias, {.stride = {3, 2, 2}, .padding = {2, 1, 0}, .output_padding = {2, 0, 1}, .groups = 2, .dilation = {2, 1, 3}})},
  });
}

TEST_P(ConvolutionsTable, Layers) {
  const Tensor line = normal({2, 4, 9}), x = normal({2, 4, 9, 8}), volume = normal({1, 4, 7, 6, 5});
  using Line = nn::Conv1dOptions;
  using Plane = nn::Conv2dOptions;
  using Volume = nn::Conv3dOptions;
  nn::Conv1d one(Line(9, 9, 1).in_channels(4).out_channels(6).kernel_size(3).stride(2).padding(3).dilation(2).groups(2).bias(false));
  nn::Conv2d same(Plane(4, 6, {3, 2}).padding(torch::kSame).dilation({1, 3})), plain(Plane(4, 6, {3, 2}));
  nn::Conv2d around(Plane(4, 6, {3, 2}).padding({2, 1}).padding_mode(torch::kReflect));
  nn::Conv2d same_around(Plane(4, 6, {3, 2}).padding(torch::kSame).dilation({1, 3}).padding_mode(torch::kCircular));
  nn::Conv3d three(Volume(4, 6, {3, 2, 1}).stride({3, 2, 1}).padding({2, 1, 0}).dilation({2, 1, 3}).groups(2));
  nn::Conv3d copied(Volume(4, 6, {3, 2, 1}).padding({2, 1, 0}).padding_mode(torch::kReplicate)), usual3(4, 6, 2);
  one->to(device());
  for (nn::Conv2d* layer : {&same, &plain, &around, &same_around}) (*layer)->to(device());
  for (nn::Conv3d* layer : {&three, &copied, &usual3}) (*layer)->to(device());
  EXPECT_FALSE(one->bias.defined());
  EXPECT_EQ(one->weight.sizes(), (tandem::Shape{6, 2, 3}));
  const auto own = [&](nn::Conv2d& layer, const Tensor& input, const tandem::ConvOptions& options = {}) {
    return tandem::conv2d(input, layer->weight, layer->bias, options);
  };
  expect_rows({
      {"Conv1d with all", {one(line)}, tandem::conv1d(line, one->weight, {}, {.stride = 2, .padding = 3, .dilation = 2, .groups = 2})},
      {"Conv2d", {plain(x)}, own(plain, x)},
      {"Conv2d padding same", {same(x)}, own(same, x, {.padding = "same", .dilation = {1, 3}})},
      {"Conv2d padding_mode", {around(x)}, own(around, tandem::pad(x, {1, 1, 2, 2}, "reflect")), own(around, x, {.padding = {2, 1}})},
      {"Conv2d padding_mode with same",
       {same_around(x)},
       own(same_around, tandem::pad(x, {1, 2, 1, 1}, "circular"), {.dilation = {1, 3}}),
       own(same_around, x, {.padding = "same", .dilation = {1, 3}})},
      {"Conv3d", {usual3(volume)}, tandem::conv3d(volume, usual3->weight, usual3->bias)},
      {"Conv3d with all",
       {three(volume)},
       tandem::conv3d(volume, three->weight, three->bias, {.stride = {3, 2, 1}, .padding = {2, 1, 0}, .dilation = {2, 1, 3}, .groups = 2})},
      {"Conv3d padding_mode",
       {copied(volume)},
       tandem::conv3d(tandem::pad(volume, {0, 0, 1, 1, 2, 2}, "replicate"), copied->weight, copied->bias),
       tandem::conv3d(volume, copied->weight, copied->bias, {.padding = {2, 1, 0}})},
  });
}

TEST_P(ConvolutionsTable, TransposedLayers) {
  const Tensor line = normal({2, 4, 5}), x = normal({2, 4, 5, 4}), volume = normal({1, 4, 3, 4, 2});
  using Line = nn::ConvTranspose1dOptions;
  using Plane = nn::ConvTranspose2dOptions;
  using Volume = nn::ConvTranspose3dOptions;
  nn::ConvTranspose1d one(
      Line(9, 9, 1).in_channels(4).out_channels(6).kernel_size(3).stride(3).padding(2).output_padding(1).groups(2).dilation(2).bias(false));
  nn::ConvTranspose2d plain(4, 6, 3), two(Plane(4, 6, {3, 2}).stride({3, 2}).padding({2, 1}));
  nn::ConvTranspose3d three(
      Volume(4, 6, {3, 2, 1}).stride({3, 2, 2}).padding({2, 1, 0}).output_padding({2, 0, 1}).groups(2).dilation({2, 1, 3}));
  one->to(device());
  plain->to(device());
  two->to(device());
  three->to(device());
  EXPECT_FALSE(one->bias.defined());
  EXPECT_EQ(one->weight.sizes(), (tandem::Shape{4, 3, 3}));
  const auto own = [&](const tandem::ConvTransposeOptions& options) {
    return tandem::conv_transpose2d(x, two->weight, two->bias, options);
  };
  expect_rows({
      {"ConvTranspose1d with all",
       {one(line)},
       tandem::conv_transpose1d(line, one->weight, {}, {.stride = 3, .padding = 2, .output_padding = 1, .groups = 2, .dilation = 2})},
      {"ConvTranspose2d", {plain(x)}, tandem::conv_transpose2d(x, plain->weight, plain->bias)},
      {"ConvTranspose2d stride", {two(x)}, own({.stride = {3, 2}, .padding = {2, 1}})},
      {"ConvTranspose2d output_size",
       {two->forward(x, torch::IntArrayRef{13, 7}), two->forward(x, torch::IntArrayRef{2, 6, 13, 7})},
       own({.stride = {3, 2}, .padding = {2, 1}, .output_padding = {2, 1}})},
      {"ConvTranspose3d with all",
       {three(volume)},
       tandem::conv_transpose3d(
           volume, three->weight, three->bias,
           {.stride = {3, 2, 2}, .padding = {2, 1, 0}, .output_padding = {2, 0, 1}, .groups = 2, .dilation = {2, 1, 3}})},
  });
  nn::ConvTranspose2d reflecting(Plane(4, 6, 3).padding_mode(torch::kReflect));
  EXPECT_EQ(error_of([&] { (void)reflecting(x); }), "[ConvTranspose2d] Only `zeros` padding mode is supported");
}

TEST_P(ConvolutionsTable, Folding) {
  const Tensor x = normal({2, 3, 8, 9});
  using Unfold = nn::UnfoldOptions;
  using Fold = nn::FoldOptions;
  const auto unfolded = [&](const Unfold& options) { return std::vector<Tensor>{F::unfold(x, options), nn::Unfold(options)(x)}; };
  const auto own = [&](const tandem::FoldOptions& options) { return tandem::unfold(x, {3, 2}, options); };
  const auto folded = [&](const Fold& options, const Tensor& input) {
    return std::vector<Tensor>{F::fold(input, options), nn::Fold(options)(input)};
  };
  // As many windows as an output of this size has.
  const auto own_fold = [&](const tandem::Shape& size, const tandem::FoldOptions& options) {
    const Tensor ones = tandem::unfold(on_device(tandem::ones({2, 3, size[0], size[1]})), {3, 2}, options);
    const Tensor input = normal(ones.sizes());
    return std::pair(input, tandem::fold(input, size, {3, 2}, options));
  };
  const auto plain = own_fold({7, 7}, {}), dilated = own_fold({7, 7}, {.dilation = {2, 3}}), padded = own_fold({7, 7}, {.padding = {2, 1}});
  const auto strided = own_fold({7, 7}, {.stride = {2, 3}});
  const Tensor usual = own({});
  expect_rows({
      {"unfold", unfolded(Unfold({3, 2})), usual},
      {"unfold kernel_size", unfolded(Unfold(1).kernel_size({3, 2})), usual},
      {"unfold dilation", unfolded(Unfold({3, 2}).dilation({2, 3})), own({.dilation = {2, 3}}), usual},
      {"unfold padding", unfolded(Unfold({3, 2}).padding({2, 1})), own({.padding = {2, 1}}), usual},
      {"unfold stride", unfolded(Unfold({3, 2}).stride({2, 3})), own({.stride = {2, 3}}), usual},
      {"fold", folded(Fold({7, 7}, {3, 2}), plain.first), plain.second},
      {"fold output_size", folded(Fold({9, 9}, {3, 2}).output_size({7, 7}), plain.first), plain.second},
      {"fold kernel_size", folded(Fold({7, 7}, 1).kernel_size({3, 2}), plain.first), plain.second},
      {"fold dilation", folded(Fold({7, 7}, {3, 2}).dilation({2, 3}), dilated.first), dilated.second},
      {"fold padding", folded(Fold({7, 7}, {3, 2}).padding({2, 1}), padded.first), padded.second},
      {"fold stride", folded(Fold({7, 7}, {3, 2}).stride({2, 3}), strided.first), strided.second},
  });
}

}  // namespace
