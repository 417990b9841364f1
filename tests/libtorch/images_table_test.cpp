// libtorch's padding, shuffling of pixels, resizing and sampling, as functions and as layers, option by option against tandem's core.
#include "libtorch/functional.h"
#include "libtorch/layers.h"
#include "libtorch/table.h"

namespace {

using tandem::Tensor;
namespace nn = torch::nn;
namespace F = torch::nn::functional;

class ImagesTable : public TableOn {};
INSTANTIATE_TEST_SUITE_P(Devices, ImagesTable, testing::Values("cpu", "cuda:0"), device_name);

TEST_P(ImagesTable, Padding) {
  const Tensor x = normal({2, 3, 5}), plane = normal({2, 3, 5, 6}), volume = normal({2, 2, 5, 6, 4});
  const tandem::Shape pad1{1, 3}, pad2{1, 3, 2, 0}, pad3{1, 3, 2, 0, 1, 4};
  const auto padded = [&](const F::PadFuncOptions& options) { return F::pad(plane, options); };
  const Tensor usual = tandem::pad(plane, pad2);
  const auto values = nn::ConstantPad2dOptions({1, 3, 2, 0}, 7).value(-2);
  expect_rows({
      {"pad", {padded({{1, 3, 2, 0}})}, usual},
      {"pad pad", {padded(F::PadFuncOptions({1, 3, 2, 0}).pad({2, 1}))}, tandem::pad(plane, {2, 1}), usual},
      {"pad mode reflect", {padded(F::PadFuncOptions({1, 3, 2, 0}).mode(torch::kReflect))}, tandem::pad(plane, pad2, "reflect"), usual},
      {"pad mode replicate",
       {padded(F::PadFuncOptions({1, 3, 2, 0}).mode(torch::kReplicate))},
       tandem::pad(plane, pad2, "replicate"),
       usual},
      {"pad mode circular", {padded(F::PadFuncOptions({1, 3, 2, 0}).mode(torch::kCircular))}, tandem::pad(plane, pad2, "circular"), usual},
      {"pad value", {padded(F::PadFuncOptions({1, 3, 2, 0}).value(7))}, tandem::pad(plane, pad2, "constant", 7), usual},
      {"ReflectionPad1d", {nn::ReflectionPad1d(nn::ReflectionPad1dOptions(1).padding({1, 3}))(x)}, tandem::pad(x, pad1, "reflect")},
      {"ReflectionPad2d", {nn::ReflectionPad2d(nn::ReflectionPad2dOptions({1, 3, 2, 0}))(plane)}, tandem::pad(plane, pad2, "reflect")},
      {"ReflectionPad3d",
       {nn::ReflectionPad3d(nn::ReflectionPad3dOptions({1, 3, 2, 0, 1, 4}))(volume)},
       tandem::pad(volume, pad3, "reflect")},
      {"ReplicationPad1d", {nn::ReplicationPad1d(nn::ReplicationPad1dOptions(1).padding({1, 3}))(x)}, tandem::pad(x, pad1, "replicate")},
      {"ReplicationPad2d", {nn::ReplicationPad2d(nn::ReplicationPad2dOptions({1, 3, 2, 0}))(plane)}, tandem::pad(plane, pad2, "replicate")},
      {"ReplicationPad3d",
       {nn::ReplicationPad3d(nn::ReplicationPad3dOptions({1, 3, 2, 0, 1, 4}))(volume)},
       tandem::pad(volume, pad3, "replicate")},
      {"ZeroPad2d", {nn::ZeroPad2d(nn::ZeroPad2dOptions(1).padding({1, 3, 2, 0}))(plane)}, usual},
      {"ConstantPad1d", {nn::ConstantPad1d(nn::ConstantPad1dOptions(1, 7).padding({1, 3}))(x)}, tandem::pad(x, pad1, "constant", 7)},
      {"ConstantPad2d",
       {nn::ConstantPad2d(values)(plane)},
       tandem::pad(plane, pad2, "constant", -2),
       tandem::pad(plane, pad2, "constant", 7)},
      {"ConstantPad3d",
       {nn::ConstantPad3d(nn::ConstantPad3dOptions({1, 3, 2, 0, 1, 4}, 7))(volume)},
       tandem::pad(volume, pad3, "constant", 7)},
      {"ReflectionPad2d of one number", {nn::ReflectionPad2d(2)(plane)}, tandem::pad(plane, {2, 2, 2, 2}, "reflect")},
  });
}

TEST_P(ImagesTable, PixelsMove) {
  const Tensor deep = normal({2, 18, 4, 5}), wide = normal({2, 2, 6, 9});
  const auto up = nn::PixelShuffleOptions(1).upscale_factor(3);
  const auto down = nn::PixelUnshuffleOptions(1).downscale_factor(3);
  expect_rows({
      {"pixel_shuffle",
       {F::pixel_shuffle(deep, up), F::pixel_shuffle(deep, 3), nn::PixelShuffle(up)(deep), nn::PixelShuffle(3)(deep)},
       tandem::pixel_shuffle(deep, 3),
       deep},
      {"pixel_unshuffle",
       {F::pixel_unshuffle(wide, down), F::pixel_unshuffle(wide, 3), nn::PixelUnshuffle(down)(wide), nn::PixelUnshuffle(3)(wide)},
       tandem::pixel_unshuffle(wide, 3),
       wide},
  });
}

TEST_P(ImagesTable, OtherSizes) {
  const Tensor line = normal({2, 3, 5}), x = normal({2, 3, 5, 6}), volume = normal({1, 2, 3, 4, 3});
  using Up = nn::UpsampleOptions;
  using Resize = F::InterpolateFuncOptions;
  const std::vector<int64_t> size{7, 4};
  const std::vector<double> factor{1.5, 2.5};
  const auto resized = [&](const Resize& options) { return std::vector<Tensor>{F::interpolate(x, options)}; };
  const auto up = [&](const Resize& options, const Up& layer) {
    return std::vector<Tensor>{F::interpolate(x, options), nn::Upsample(layer)(x)};
  };
  const auto own = [&](const tandem::InterpolateOptions& options) { return tandem::interpolate(x, options); };
  const auto sized = [&](const char* mode, std::optional<bool> align = {}) {
    return own({.size = size, .mode = mode, .align_corners = align});
  };
  const Tensor usual = own({.size = size});
  expect_rows({
      {"size", up(Resize().size(size), Up().size(size)), usual},
      {"scale_factor", up(Resize().scale_factor(factor), Up().scale_factor(factor)), own({.scale_factor = factor}), usual},
      {"mode bilinear", up(Resize().size(size).mode(torch::kBilinear), Up().size(size).mode(torch::kBilinear)), sized("bilinear"), usual},
      {"mode bicubic", up(Resize().size(size).mode(torch::kBicubic), Up().size(size).mode(torch::kBicubic)), sized("bicubic"), usual},
      {"mode area", resized(Resize().size(size).mode(torch::kArea)), sized("area"), usual},
      {"mode nearest-exact", resized(Resize().size(size).mode(torch::kNearestExact)), sized("nearest-exact"), usual},
      {"align_corners",
       up(Resize().size(size).mode(torch::kBilinear).align_corners(true), Up().size(size).mode(torch::kBilinear).align_corners(true)),
       sized("bilinear", true), sized("bilinear")},
      {"recompute_scale_factor", resized(Resize().scale_factor(factor).mode(torch::kBilinear).recompute_scale_factor(true)),
       own({.scale_factor = factor, .mode = "bilinear", .recompute_scale_factor = true}),
       own({.scale_factor = factor, .mode = "bilinear"})},
      {"antialias", resized(Resize().size(size).mode(torch::kBilinear).antialias(true)),
       own({.size = size, .mode = "bilinear", .antialias = true}), sized("bilinear")},
      {"linear",
       {F::interpolate(line, Resize().size(std::vector<int64_t>{8}).mode(torch::kLinear)),
        nn::Upsample(Up().size(std::vector<int64_t>{8}).mode(torch::kLinear))(line)},
       tandem::interpolate(line, {.size = tandem::Shape{8}, .mode = "linear"}),
       tandem::interpolate(line, {.size = tandem::Shape{8}})},
      {"trilinear",
       {F::interpolate(volume, Resize().size(std::vector<int64_t>{5, 3, 4}).mode(torch::kTrilinear)),
        nn::Upsample(Up().size(std::vector<int64_t>{5, 3, 4}).mode(torch::kTrilinear))(volume)},
       tandem::interpolate(volume, {.size = tandem::Shape{5, 3, 4}, .mode = "trilinear"}),
       tandem::interpolate(volume, {.size = tandem::Shape{5, 3, 4}})},
  });
}

TEST_P(ImagesTable, Samples) {
  const Tensor x = normal({2, 3, 5, 6}), grid = uniform({2, 4, 3, 2}) * 3 - 1.5;
  const Tensor theta = on_device(tandem::tensor({{{0.5, 0.1, 0.2}, {-0.3, 0.8, 0.1}}}));
  using Sample = F::GridSampleFuncOptions;
  const auto sampled = [&](const Sample& options) { return std::vector<Tensor>{F::grid_sample(x, grid, options)}; };
  const auto own = [&](const tandem::GridSampleOptions& options) { return tandem::grid_sample(x, grid, options); };
  const Tensor usual = own({});
  expect_rows({
      {"grid_sample", sampled({}), usual},
      {"grid_sample mode", sampled(Sample().mode(torch::kNearest)), own({.mode = "nearest"}), usual},
      {"grid_sample padding_mode border", sampled(Sample().padding_mode(torch::kBorder)), own({.padding_mode = "border"}), usual},
      {"grid_sample padding_mode reflection", sampled(Sample().padding_mode(torch::kReflection)), own({.padding_mode = "reflection"}),
       usual},
      {"grid_sample align_corners", sampled(Sample().align_corners(true)), own({.align_corners = true}), usual},
      {"affine_grid", {F::affine_grid(theta, {1, 1, 4, 3})}, tandem::affine_grid(theta, {1, 1, 4, 3})},
      {"affine_grid align_corners",
       {F::affine_grid(theta, {1, 1, 4, 3}, true)},
       tandem::affine_grid(theta, {1, 1, 4, 3}, true),
       tandem::affine_grid(theta, {1, 1, 4, 3})},
  });
}

}  // namespace
