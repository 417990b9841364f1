// libtorch's pools, as functions and as layers, option by option against tandem's core.
#include "libtorch/functional.h"
#include "libtorch/layers.h"
#include "libtorch/table.h"

namespace {

using tandem::Tensor;
namespace nn = torch::nn;
namespace F = torch::nn::functional;
using ::joined;

class PoolingTable : public TableOn {};
INSTANTIATE_TEST_SUITE_P(Devices, PoolingTable, testing::Values("cpu", "cuda:0"), device_name);

// Values and indices together.
Tensor joined(const std::tuple<Tensor, Tensor>& both) { return joined(std::vector<Tensor>{std::get<0>(both), std::get<1>(both)}); }
Tensor joined(const tandem::ValuesIndices& both) { return joined(std::vector<Tensor>{both.values, both.indices}); }

TEST_P(PoolingTable, Means) {
  const Tensor line = normal({2, 3, 9}), x = normal({2, 3, 9, 8}), volume = normal({2, 2, 9, 8, 7});
  using Line = nn::AvgPool1dOptions;
  using Plane = nn::AvgPool2dOptions;
  using Volume = nn::AvgPool3dOptions;
  const auto means = [&](const Plane& options) { return std::vector<Tensor>{F::avg_pool2d(x, options), nn::AvgPool2d(options)(x)}; };
  const auto own = [&](const tandem::AvgPoolOptions& options) { return tandem::avg_pool2d(x, {4, 3}, options); };
  const auto line_options = Line(1).kernel_size(4).stride(3).padding(2).ceil_mode(true).count_include_pad(false);
  const auto volume_options =
      Volume(1).kernel_size({4, 3, 2}).stride({3, 2, 1}).padding({2, 1, 0}).ceil_mode(true).count_include_pad(false).divisor_override(5);
  const Tensor usual = own({});
  expect_rows({
      {"avg_pool1d", {F::avg_pool1d(line, Line(4)), nn::AvgPool1d(4)(line)}, tandem::avg_pool1d(line, 4)},
      {"avg_pool1d with all",
       {F::avg_pool1d(line, line_options), nn::AvgPool1d(line_options)(line)},
       tandem::avg_pool1d(line, 4, {.stride = 3, .padding = 2, .ceil_mode = true, .count_include_pad = false})},
      {"avg_pool2d", means(Plane({4, 3})), usual},
      {"avg_pool2d kernel_size", means(Plane({4, 3}).kernel_size({2, 3})), tandem::avg_pool2d(x, {2, 3}, {.stride = {4, 3}}), usual},
      {"avg_pool2d stride", means(Plane({4, 3}).stride({3, 2})), own({.stride = {3, 2}}), usual},
      {"avg_pool2d padding", means(Plane({4, 3}).padding({2, 1})), own({.padding = {2, 1}}), usual},
      {"avg_pool2d ceil_mode", means(Plane({4, 3}).ceil_mode(true)), own({.ceil_mode = true}), usual},
      {"avg_pool2d count_include_pad", means(Plane({4, 3}).padding({2, 1}).count_include_pad(false)),
       own({.padding = {2, 1}, .count_include_pad = false}), own({.padding = {2, 1}})},
      {"avg_pool2d divisor_override", means(Plane({4, 3}).divisor_override(5)), own({.divisor_override = 5}), usual},
      {"avg_pool3d",
       {F::avg_pool3d(volume, Volume({4, 3, 2})), nn::AvgPool3d(Volume({4, 3, 2}))(volume)},
       tandem::avg_pool3d(volume, {4, 3, 2})},
      {"avg_pool3d with all",
       {F::avg_pool3d(volume, volume_options), nn::AvgPool3d(volume_options)(volume)},
       tandem::avg_pool3d(
           volume, {4, 3, 2},
           {.stride = {3, 2, 1}, .padding = {2, 1, 0}, .ceil_mode = true, .count_include_pad = false, .divisor_override = 5})},
  });
  EXPECT_EQ(error_of([&] { (void)F::avg_pool1d(line, Line(4).divisor_override(3)); }), "[avg_pool1d] avg_pool1d has no divisor_override");
}

TEST_P(PoolingTable, Maxima) {
  const Tensor line = normal({2, 3, 9}), x = normal({2, 3, 9, 8}), volume = normal({2, 2, 9, 8, 7});
  using Line = nn::MaxPool1dOptions;
  using Plane = nn::MaxPool2dOptions;
  using Volume = nn::MaxPool3dOptions;
  const auto maxima = [&](const Plane& options) { return std::vector<Tensor>{F::max_pool2d(x, options), nn::MaxPool2d(options)(x)}; };
  const auto own = [&](const tandem::MaxPoolOptions& options) { return tandem::max_pool2d(x, {4, 3}, options); };
  const auto line_options = Line(1).kernel_size(3).stride(2).padding(1).dilation(2).ceil_mode(true);
  const auto plane_options = Plane({4, 3}).stride({3, 2}).padding({2, 1}).dilation({1, 2}).ceil_mode(true);
  const auto volume_options = Volume(1).kernel_size({4, 3, 2}).stride({3, 2, 1}).padding({2, 1, 0}).dilation({1, 2, 3}).ceil_mode(true);
  const tandem::MaxPoolOptions line_own{.stride = 2, .padding = 1, .dilation = 2, .ceil_mode = true};
  const tandem::MaxPoolOptions plane_own{.stride = {3, 2}, .padding = {2, 1}, .dilation = {1, 2}, .ceil_mode = true};
  const tandem::MaxPoolOptions volume_own{.stride = {3, 2, 1}, .padding = {2, 1, 0}, .dilation = {1, 2, 3}, .ceil_mode = true};
  const Tensor usual = own({});
  expect_rows({
      {"max_pool1d", {F::max_pool1d(line, Line(4)), nn::MaxPool1d(4)(line)}, tandem::max_pool1d(line, 4)},
      {"max_pool1d with all",
       {F::max_pool1d(line, line_options), nn::MaxPool1d(line_options)(line)},
       tandem::max_pool1d(line, 3, line_own)},
      {"max_pool1d_with_indices",
       {joined(F::max_pool1d_with_indices(line, line_options)), joined(nn::MaxPool1d(line_options)->forward_with_indices(line))},
       joined(tandem::max_pool1d_with_indices(line, 3, line_own))},
      {"max_pool2d", maxima(Plane({4, 3})), usual},
      {"max_pool2d kernel_size", maxima(Plane({4, 3}).kernel_size({2, 3})), tandem::max_pool2d(x, {2, 3}, {.stride = {4, 3}}), usual},
      {"max_pool2d stride", maxima(Plane({4, 3}).stride({3, 2})), own({.stride = {3, 2}}), usual},
      {"max_pool2d padding", maxima(Plane({4, 3}).padding({2, 1})), own({.padding = {2, 1}}), usual},
      {"max_pool2d dilation", maxima(Plane({4, 3}).dilation({1, 2})), own({.dilation = {1, 2}}), usual},
      {"max_pool2d ceil_mode", maxima(Plane({4, 3}).ceil_mode(true)), own({.ceil_mode = true}), usual},
      {"max_pool2d_with_indices",
       {joined(F::max_pool2d_with_indices(x, plane_options)), joined(nn::MaxPool2d(plane_options)->forward_with_indices(x))},
       joined(tandem::max_pool2d_with_indices(x, {4, 3}, plane_own))},
      {"max_pool3d",
       {F::max_pool3d(volume, Volume({4, 3, 2})), nn::MaxPool3d(Volume({4, 3, 2}))(volume)},
       tandem::max_pool3d(volume, {4, 3, 2})},
      {"max_pool3d with all",
       {F::max_pool3d(volume, volume_options), nn::MaxPool3d(volume_options)(volume)},
       tandem::max_pool3d(volume, {4, 3, 2}, volume_own)},
      {"max_pool3d_with_indices",
       {joined(F::max_pool3d_with_indices(volume, volume_options)), joined(nn::MaxPool3d(volume_options)->forward_with_indices(volume))},
       joined(tandem::max_pool3d_with_indices(volume, {4, 3, 2}, volume_own))},
  });
}

TEST_P(PoolingTable, TheWayBack) {
  // The indices of a pool, and of the same pool with another stride and padding, whose windows do not overlap.
  const auto pooled1 = tandem::max_pool1d_with_indices(normal({2, 3, 9}), 2, {.stride = 3, .padding = 1});
  const auto plain = tandem::max_pool2d_with_indices(normal({2, 3, 9, 8}), {3, 2});
  const auto spread = tandem::max_pool2d_with_indices(normal({2, 3, 9, 8}), {3, 2}, {.stride = {4, 3}, .padding = {1, 0}});
  const auto pooled3 = tandem::max_pool3d_with_indices(normal({2, 2, 9, 8, 7}), {3, 2, 2}, {.stride = {4, 3, 2}, .padding = {1, 0, 1}});
  using Sizes = std::vector<int64_t>;
  const auto line = F::MaxUnpool1dFuncOptions(1).kernel_size(2).stride(3).padding(1).output_size(Sizes{2, 3, 9});
  const auto plane = F::MaxUnpool2dFuncOptions({3, 2}).stride({4, 3}).padding({1, 0}).output_size(Sizes{2, 3, 9, 8});
  const auto volume = F::MaxUnpool3dFuncOptions(1).kernel_size({3, 2, 2}).stride({4, 3, 2}).padding({1, 0, 1}).output_size(Sizes{9, 8, 7});
  nn::MaxUnpool1d layer1(nn::MaxUnpool1dOptions(1).kernel_size(2).stride(3).padding(1));
  nn::MaxUnpool2d layer2(nn::MaxUnpool2dOptions({3, 2}).stride({4, 3}).padding({1, 0}));
  nn::MaxUnpool3d layer3(nn::MaxUnpool3dOptions(1).kernel_size({3, 2, 2}).stride({4, 3, 2}).padding({1, 0, 1}));
  const tandem::MaxUnpoolOptions own2{.stride = {4, 3}, .padding = {1, 0}};
  expect_rows({
      {"max_unpool1d",
       {F::max_unpool1d(pooled1.values, pooled1.indices, line), layer1->forward(pooled1.values, pooled1.indices, Sizes{9})},
       tandem::max_unpool1d(pooled1.values, pooled1.indices, 2, {.stride = 3, .padding = 1, .output_size = {9}})},
      {"MaxUnpool1d",
       {layer1(pooled1.values, pooled1.indices)},
       tandem::max_unpool1d(pooled1.values, pooled1.indices, 2, {.stride = 3, .padding = 1})},
      {"max_unpool2d",
       {F::max_unpool2d(plain.values, plain.indices, F::MaxUnpool2dFuncOptions({3, 2})),
        nn::MaxUnpool2d(nn::MaxUnpool2dOptions({3, 2}))(plain.values, plain.indices)},
       tandem::max_unpool2d(plain.values, plain.indices, {3, 2})},
      {"max_unpool2d stride and padding",
       {F::max_unpool2d(spread.values, spread.indices, F::MaxUnpool2dFuncOptions({3, 2}).stride({4, 3}).padding({1, 0})),
        layer2(spread.values, spread.indices)},
       tandem::max_unpool2d(spread.values, spread.indices, {3, 2}, own2)},
      {"max_unpool2d output_size",
       {F::max_unpool2d(spread.values, spread.indices, plane), layer2->forward(spread.values, spread.indices, Sizes{9, 8})},
       tandem::max_unpool2d(spread.values, spread.indices, {3, 2}, {.stride = {4, 3}, .padding = {1, 0}, .output_size = {9, 8}})},
      {"max_unpool3d",
       {F::max_unpool3d(pooled3.values, pooled3.indices, volume), layer3->forward(pooled3.values, pooled3.indices, Sizes{2, 2, 9, 8, 7})},
       tandem::max_unpool3d(pooled3.values, pooled3.indices, {3, 2, 2},
                            {.stride = {4, 3, 2}, .padding = {1, 0, 1}, .output_size = {9, 8, 7}})},
  });
}

TEST_P(PoolingTable, AdaptiveOnes) {
  const Tensor line = normal({2, 3, 9}), x = normal({2, 3, 9, 8}), volume = normal({2, 2, 9, 8, 7});
  using Line = nn::AdaptiveAvgPool1dOptions;
  using MaxLine = nn::AdaptiveMaxPool1dOptions;
  const auto mean_plane = nn::AdaptiveAvgPool2dOptions(1).output_size({std::nullopt, 3});
  const auto mean_volume = nn::AdaptiveAvgPool3dOptions(1).output_size({4, std::nullopt, 3});
  const auto max_plane = nn::AdaptiveMaxPool2dOptions(1).output_size({std::nullopt, 3});
  const auto max_volume = nn::AdaptiveMaxPool3dOptions(1).output_size({4, std::nullopt, 3});
  const Tensor max1 = joined(tandem::adaptive_max_pool1d_with_indices(line, 4));
  const Tensor max2 = joined(tandem::adaptive_max_pool2d_with_indices(x, {std::nullopt, 3}));
  const Tensor max3 = joined(tandem::adaptive_max_pool3d_with_indices(volume, {4, std::nullopt, 3}));
  expect_rows({
      {"adaptive_avg_pool1d",
       {F::adaptive_avg_pool1d(line, Line(1).output_size(4)), nn::AdaptiveAvgPool1d(4)(line)},
       tandem::adaptive_avg_pool1d(line, 4)},
      {"adaptive_avg_pool2d",
       {F::adaptive_avg_pool2d(x, mean_plane), nn::AdaptiveAvgPool2d(mean_plane)(x)},
       tandem::adaptive_avg_pool2d(x, {std::nullopt, 3})},
      {"AdaptiveAvgPool2d of one number", {nn::AdaptiveAvgPool2d(3)(x)}, tandem::adaptive_avg_pool2d(x, 3)},
      {"adaptive_avg_pool3d",
       {F::adaptive_avg_pool3d(volume, mean_volume), nn::AdaptiveAvgPool3d(mean_volume)(volume)},
       tandem::adaptive_avg_pool3d(volume, {4, std::nullopt, 3})},
      {"adaptive_max_pool1d",
       {F::adaptive_max_pool1d(line, MaxLine(1).output_size(4)), nn::AdaptiveMaxPool1d(4)(line)},
       tandem::adaptive_max_pool1d(line, 4)},
      {"adaptive_max_pool2d",
       {F::adaptive_max_pool2d(x, max_plane), nn::AdaptiveMaxPool2d(max_plane)(x)},
       tandem::adaptive_max_pool2d(x, {std::nullopt, 3})},
      {"adaptive_max_pool3d",
       {F::adaptive_max_pool3d(volume, max_volume), nn::AdaptiveMaxPool3d(max_volume)(volume)},
       tandem::adaptive_max_pool3d(volume, {4, std::nullopt, 3})},
      {"adaptive_max_pool1d_with_indices",
       {joined(F::adaptive_max_pool1d_with_indices(line, MaxLine(4))), joined(nn::AdaptiveMaxPool1d(4)->forward_with_indices(line))},
       max1},
      {"adaptive_max_pool2d_with_indices",
       {joined(F::adaptive_max_pool2d_with_indices(x, max_plane)), joined(nn::AdaptiveMaxPool2d(max_plane)->forward_with_indices(x))},
       max2},
      {"adaptive_max_pool3d_with_indices",
       {joined(F::adaptive_max_pool3d_with_indices(volume, max_volume)),
        joined(nn::AdaptiveMaxPool3d(max_volume)->forward_with_indices(volume))},
       max3},
  });
}

TEST_P(PoolingTable, Norms) {
  const Tensor line = uniform({2, 3, 9}), x = uniform({2, 3, 9, 8});
  using Line = nn::LPPool1dOptions;
  using Plane = nn::LPPool2dOptions;
  const auto norms = [&](const Plane& options) { return std::vector<Tensor>{F::lp_pool2d(x, options), nn::LPPool2d(options)(x)}; };
  const auto own = [&](double p, const tandem::LpPoolOptions& options) { return tandem::lp_pool2d(x, p, {4, 3}, options); };
  const auto line_options = Line(2, 1).norm_type(3).kernel_size(4).stride(3).ceil_mode(true);
  const Tensor usual = own(2, {});
  expect_rows({
      {"lp_pool1d", {F::lp_pool1d(line, Line(2, 4)), nn::LPPool1d(2, 4)(line)}, tandem::lp_pool1d(line, 2, 4)},
      {"lp_pool1d with all",
       {F::lp_pool1d(line, line_options), nn::LPPool1d(line_options)(line)},
       tandem::lp_pool1d(line, 3, 4, {.stride = 3, .ceil_mode = true})},
      {"lp_pool2d", norms(Plane(2, {4, 3})), usual},
      {"lp_pool2d norm_type", norms(Plane(2, {4, 3}).norm_type(3)), own(3, {}), usual},
      {"lp_pool2d kernel_size", norms(Plane(2, {4, 3}).kernel_size({2, 3})), tandem::lp_pool2d(x, 2, {2, 3}, {.stride = {4, 3}}), usual},
      {"lp_pool2d stride", norms(Plane(2, {4, 3}).stride({3, 2})), own(2, {.stride = {3, 2}}), usual},
      {"lp_pool2d ceil_mode", norms(Plane(2, {4, 3}).ceil_mode(true)), own(2, {.ceil_mode = true}), usual},
  });
}

TEST_P(PoolingTable, WindowsAtRandomPlaces) {
  const Tensor x = normal({2, 3, 9, 8}), volume = normal({2, 2, 9, 8, 7});
  const Tensor samples = uniform({2, 3, 2}), samples3 = uniform({2, 2, 3});
  using Plane = nn::FractionalMaxPool2dOptions;
  using Volume = nn::FractionalMaxPool3dOptions;
  using Size2 = torch::ExpandingArray<2>;
  using Size3 = torch::ExpandingArray<3>;
  using Ratio2 = torch::ExpandingArray<2, double>;
  using Ratio3 = torch::ExpandingArray<3, double>;
  const auto maxima = [&](const Plane& options) {
    return std::vector<Tensor>{seeded([&] { return F::fractional_max_pool2d(x, options); }),
                               seeded([&] { return nn::FractionalMaxPool2d(options)(x); }),
                               std::get<0>(seeded([&] { return F::fractional_max_pool2d_with_indices(x, options); }))};
  };
  const auto maxima3 = [&](const Volume& options) {
    return std::vector<Tensor>{joined(seeded([&] { return F::fractional_max_pool3d_with_indices(volume, options); })),
                               joined(seeded([&] { return nn::FractionalMaxPool3d(options)->forward_with_indices(volume); }))};
  };
  const auto own = [&](const tandem::PerDim& kernel, const tandem::FractionalMaxPoolOptions& options) {
    return seeded([&] { return tandem::fractional_max_pool2d(x, kernel, options); });
  };
  const auto own3 = [&](const tandem::PerDim& kernel, const tandem::FractionalMaxPoolOptions& options) {
    return joined(seeded([&] { return tandem::fractional_max_pool3d_with_indices(volume, kernel, options); }));
  };
  const auto sized = Plane({2, 3}).output_size(Size2({3, 4}));
  const auto sized3 = Volume({2, 3, 2}).output_size(Size3({3, 4, 4}));
  const Tensor usual = own({2, 3}, {.output_size = {3, 4}}), usual3 = own3({2, 3, 2}, {.output_size = {3, 4, 4}});
  expect_rows({
      {"fractional_max_pool2d output_size", maxima(sized), usual},
      {"fractional_max_pool2d kernel_size", maxima(Plane(sized).kernel_size({3, 2})), own({3, 2}, {.output_size = {3, 4}}), usual},
      {"fractional_max_pool2d output_ratio", maxima(Plane({2, 3}).output_ratio(Ratio2({0.4, 0.7}))),
       own({2, 3}, {.output_ratio = std::vector<double>{0.4, 0.7}}), usual},
      {"fractional_max_pool2d _random_samples", maxima(Plane(sized)._random_samples(samples)),
       own({2, 3}, {.output_size = {3, 4}, .random_samples = samples}), usual},
      {"fractional_max_pool2d_with_indices",
       {joined(seeded([&] { return nn::FractionalMaxPool2d(sized)->forward_with_indices(x); }))},
       joined(seeded([&] {
         return tandem::fractional_max_pool2d_with_indices(x, {2, 3}, {.output_size = {3, 4}});
       }))},
      {"fractional_max_pool3d",
       {seeded([&] { return F::fractional_max_pool3d(volume, sized3); }), seeded([&] { return nn::FractionalMaxPool3d(sized3)(volume); })},
       seeded([&] {
         return tandem::fractional_max_pool3d(volume, {2, 3, 2}, {.output_size = {3, 4, 4}});
       })},
      {"fractional_max_pool3d output_size", maxima3(sized3), usual3},
      {"fractional_max_pool3d kernel_size", maxima3(Volume(sized3).kernel_size({3, 2, 1})), own3({3, 2, 1}, {.output_size = {3, 4, 4}}),
       usual3},
      {"fractional_max_pool3d output_ratio", maxima3(Volume({2, 3, 2}).output_ratio(Ratio3({0.4, 0.7, 0.5}))),
       own3({2, 3, 2}, {.output_ratio = std::vector<double>{0.4, 0.7, 0.5}}), usual3},
      {"fractional_max_pool3d _random_samples", maxima3(Volume(sized3)._random_samples(samples3)),
       own3({2, 3, 2}, {.output_size = {3, 4, 4}, .random_samples = samples3}), usual3},
  });
}

}  // namespace
