// libtorch's normalizations, as functions and as layers, option by option against tandem's core.
#include "libtorch/functional.h"
#include "libtorch/layers.h"
#include "libtorch/table.h"

namespace {

using tandem::Tensor;
namespace nn = torch::nn;
namespace F = torch::nn::functional;

class NormalizationTable : public TableOn {};
INSTANTIATE_TEST_SUITE_P(Devices, NormalizationTable, testing::Values("cpu", "cuda:0"), device_name);

TEST_P(NormalizationTable, Batches) {
  const Tensor x = normal({4, 3, 5}), mean = normal({3}), var = uniform({3}) + 0.5, weight = normal({3}), bias = normal({3});
  using Batch = F::BatchNormFuncOptions;
  // The result and the running statistics behind it.
  const auto batch = [&](const Batch& options) {
    const Tensor m = mean.clone(), v = var.clone(), y = F::batch_norm(x, m, v, options);
    return std::vector<Tensor>{joined({y, m, v})};
  };
  const auto own = [&](const tandem::BatchNormOptions& options) {
    const Tensor m = mean.clone(), v = var.clone(), y = tandem::batch_norm(x, m, v, options);
    return joined({y, m, v});
  };
  const Tensor usual = own({});
  expect_rows({
      {"batch_norm", batch({}), usual},
      {"batch_norm weight", batch(Batch().weight(weight)), own({.weight = weight}), usual},
      {"batch_norm bias", batch(Batch().bias(bias)), own({.bias = bias}), usual},
      {"batch_norm training", batch(Batch().training(true)), own({.training = true}), usual},
      {"batch_norm momentum", batch(Batch().training(true).momentum(0.7)), own({.training = true, .momentum = 0.7}),
       own({.training = true})},
      {"batch_norm eps", batch(Batch().eps(0.3)), own({.eps = 0.3}), usual},
  });
}

TEST_P(NormalizationTable, Instances) {
  const Tensor x = normal({4, 3, 5}), mean = normal({3}), var = uniform({3}) + 0.5, weight = normal({3}), bias = normal({3});
  using Instance = F::InstanceNormFuncOptions;
  const auto instance = [&](const Instance& options) { return std::vector<Tensor>{F::instance_norm(x, options)}; };
  const auto own = [&](const tandem::InstanceNormOptions& options) { return tandem::instance_norm(x, options); };
  const auto tracked = [&](std::optional<double> momentum) {
    const Tensor m = mean.clone(), v = var.clone();
    Instance options = Instance().running_mean(m).running_var(v);
    if (momentum) options.momentum(*momentum);
    const Tensor y = F::instance_norm(x, options);
    return joined({y, m, v});
  };
  const auto own_tracked = [&](double momentum) {
    const Tensor m = mean.clone(), v = var.clone();
    const Tensor y = tandem::instance_norm(x, {.running_mean = m, .running_var = v, .momentum = momentum});
    return joined({y, m, v});
  };
  const Tensor usual = own({});
  expect_rows({
      {"instance_norm", instance({}), usual},
      {"instance_norm running_mean", {tracked({})}, own_tracked(0.1), joined({usual, mean, var})},
      {"instance_norm momentum", {tracked(0.7)}, own_tracked(0.7), own_tracked(0.1)},
      {"instance_norm use_input_stats", instance(Instance().running_mean(mean).running_var(var).use_input_stats(false)),
       own({.running_mean = mean, .running_var = var, .use_input_stats = false}), usual},
      {"instance_norm weight", instance(Instance().weight(weight)), own({.weight = weight}), usual},
      {"instance_norm bias", instance(Instance().bias(bias)), own({.bias = bias}), usual},
      {"instance_norm eps", instance(Instance().eps(0.3)), own({.eps = 0.3}), usual},
  });
}

TEST_P(NormalizationTable, LayersAndGroups) {
  const Tensor x = normal({4, 6, 5}), weight = normal({6, 5}), bias = normal({6, 5}), factors = normal({6}), shifts = normal({6});
  using Layer = F::LayerNormFuncOptions;
  using Group = F::GroupNormFuncOptions;
  const auto layer = [&](const Layer& options) { return std::vector<Tensor>{F::layer_norm(x, options)}; };
  const auto group = [&](const Group& options) { return std::vector<Tensor>{F::group_norm(x, options)}; };
  const Tensor by_layer = tandem::layer_norm(x, {6, 5}), by_group = tandem::group_norm(x, 3);
  nn::LayerNorm plain(nn::LayerNormOptions({6, 5}).eps(0.3).elementwise_affine(false)),
      affine(nn::LayerNormOptions({9}).normalized_shape({6, 5}));
  nn::GroupNorm plain_groups(nn::GroupNormOptions(3, 6).eps(0.3).affine(false)),
      groups(nn::GroupNormOptions(2, 9).num_groups(3).num_channels(6));
  EXPECT_FALSE(plain->weight.defined() || plain->bias.defined() || plain_groups->weight.defined() || plain_groups->bias.defined());
  affine->to(device());
  groups->to(device());
  const Tensor by_affine = affine(x), by_groups = groups(x);
  {
    const tandem::NoGradGuard no_grad;
    affine->weight.copy_(weight);
    affine->bias.copy_(bias);
    groups->weight.copy_(factors);
    groups->bias.copy_(shifts);
  }
  expect_rows({
      {"layer_norm", layer({{6, 5}}), by_layer},
      {"layer_norm normalized_shape", layer(Layer({6, 5}).normalized_shape({5})), tandem::layer_norm(x, {5}), by_layer},
      {"layer_norm weight", layer(Layer({6, 5}).weight(weight)), tandem::layer_norm(x, {6, 5}, weight), by_layer},
      {"layer_norm bias", layer(Layer({6, 5}).bias(bias)), tandem::layer_norm(x, {6, 5}, {}, bias), by_layer},
      {"layer_norm eps", layer(Layer({6, 5}).eps(0.3)), tandem::layer_norm(x, {6, 5}, {}, {}, 0.3), by_layer},
      {"LayerNorm at first", {by_affine}, by_layer},
      {"LayerNorm", {affine(x)}, tandem::layer_norm(x, {6, 5}, weight, bias), by_layer},
      {"LayerNorm eps", {plain(x)}, tandem::layer_norm(x, {6, 5}, {}, {}, 0.3), by_layer},
      {"group_norm", group(3), by_group},
      {"group_norm num_groups", group(Group(3).num_groups(2)), tandem::group_norm(x, 2), by_group},
      {"group_norm weight", group(Group(3).weight(factors)), tandem::group_norm(x, 3, factors), by_group},
      {"group_norm bias", group(Group(3).bias(shifts)), tandem::group_norm(x, 3, {}, shifts), by_group},
      {"group_norm eps", group(Group(3).eps(0.3)), tandem::group_norm(x, 3, {}, {}, 0.3), by_group},
      {"GroupNorm at first", {by_groups}, by_group},
      {"GroupNorm", {groups(x)}, tandem::group_norm(x, 3, factors, shifts), by_group},
      {"GroupNorm eps", {plain_groups(x)}, tandem::group_norm(x, 3, {}, {}, 0.3), by_group},
  });
}

TEST_P(NormalizationTable, Neighbours) {
  const Tensor x = normal({2, 6, 3, 4}) * 2;
  using Local = nn::LocalResponseNormOptions;
  using Cross = nn::CrossMapLRN2dOptions;
  const auto local = [&](const Local& options) {
    return std::vector<Tensor>{F::local_response_norm(x, options), nn::LocalResponseNorm(options)(x)};
  };
  const auto cross = [&](const Cross& options) { return std::vector<Tensor>{nn::CrossMapLRN2d(options)(x)}; };
  const auto own = [&](int64_t size, double alpha, double beta, double k) { return tandem::local_response_norm(x, size, alpha, beta, k); };
  const Tensor usual = own(3, 0.5, 0.75, 1);
  expect_rows({
      {"local_response_norm", local(4), tandem::local_response_norm(x, 4)},
      {"local_response_norm alpha", local(Local(3).alpha(0.5)), usual, tandem::local_response_norm(x, 3)},
      {"local_response_norm size", local(Local(3).alpha(0.5).size(5)), own(5, 0.5, 0.75, 1), usual},
      {"local_response_norm beta", local(Local(3).alpha(0.5).beta(0.3)), own(3, 0.5, 0.3, 1), usual},
      {"local_response_norm k", local(Local(3).alpha(0.5).k(2.5)), own(3, 0.5, 0.75, 2.5), usual},
      {"CrossMapLRN2d", cross(3), tandem::local_response_norm(x, 3)},
      {"CrossMapLRN2d alpha", cross(Cross(3).alpha(0.5)), usual, tandem::local_response_norm(x, 3)},
      {"CrossMapLRN2d size", cross(Cross(3).alpha(0.5).size(5)), own(5, 0.5, 0.75, 1), usual},
      {"CrossMapLRN2d beta", cross(Cross(3).alpha(0.5).beta(0.3)), own(3, 0.5, 0.3, 1), usual},
      {"CrossMapLRN2d k", cross(Cross(3).alpha(0.5).k(2)), own(3, 0.5, 0.75, 2), usual},
  });
}

TEST_P(NormalizationTable, Lengths) {
  const Tensor x = normal({4, 3, 5}), out = on_device(tandem::empty({0}));
  using Normalize = F::NormalizeFuncOptions;
  const Tensor usual = tandem::normalize(x);
  EXPECT_TRUE(F::normalize(x, Normalize().out(out)).is_same(out));
  expect_rows({
      {"normalize", {F::normalize(x), out}, usual},
      {"normalize p", {F::normalize(x, Normalize().p(1))}, tandem::normalize(x, 1), usual},
      {"normalize dim", {F::normalize(x, Normalize().dim(2))}, tandem::normalize(x, 2, 2), usual},
      {"normalize eps", {F::normalize(x, Normalize().eps(3))}, tandem::normalize(x, 2, 1, 3), usual},
  });
}

// A layer's result in training, its running statistics, and its result in evaluation.
template <class Layer>
std::vector<Tensor> trained(Layer layer, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  layer->to(x.device());
  if (layer->weight.defined()) {
    const tandem::NoGradGuard no_grad;
    layer->weight.copy_(weight);
    layer->bias.copy_(bias);
  }
  std::vector<Tensor> parts{layer(x)};
  for (const Tensor& statistics : {layer->running_mean, layer->running_var})
    if (statistics.defined()) parts.push_back(statistics.clone());
  layer->eval();
  parts.push_back(layer(x));
  return {joined(parts)};
}

TEST_P(NormalizationTable, LayersOfBatches) {
  const Tensor line = normal({4, 3, 5}), plane = normal({2, 3, 4, 5}), volume = normal({2, 3, 2, 4, 3}), weight = normal({3}),
               bias = normal({3});
  struct How {
    double eps = 1e-5, momentum = 0.1;
    bool affine = true, track = true;
  };
  const auto own = [&](const Tensor& x, const How& how) {
    tandem::BatchNormOptions options{.training = true, .momentum = how.momentum, .eps = how.eps};
    if (how.affine) {
      options.weight = weight;
      options.bias = bias;
    }
    Tensor mean, var;
    if (how.track) {
      mean = on_device(tandem::zeros({3}));
      var = on_device(tandem::ones({3}));
    }
    const Tensor y = tandem::batch_norm(x, mean, var, options);
    options.training = !how.track;
    const Tensor tested = tandem::batch_norm(x, mean, var, options);
    return how.track ? joined({y, mean, var, tested}) : joined({y, tested});
  };
  using Batch = nn::BatchNormOptions;
  const auto layer = [&](const Batch& options) { return trained(nn::BatchNorm1d(options), line, weight, bias); };
  const auto all = Batch(9).num_features(3).eps(0.3).momentum(0.7);
  const Tensor usual = own(line, {});
  expect_rows({
      {"BatchNorm1d", layer(3), usual},
      {"BatchNorm1d num_features", layer(Batch(9).num_features(3)), usual},
      {"BatchNorm1d eps", layer(Batch(3).eps(0.3)), own(line, {.eps = 0.3}), usual},
      {"BatchNorm1d momentum", layer(Batch(3).momentum(0.7)), own(line, {.momentum = 0.7}), usual},
      {"BatchNorm1d affine", layer(Batch(3).affine(false)), own(line, {.affine = false}), usual},
      {"BatchNorm1d track_running_stats", layer(Batch(3).track_running_stats(false)), own(line, {.track = false}), usual},
      {"BatchNorm2d", trained(nn::BatchNorm2d(all), plane, weight, bias), own(plane, {.eps = 0.3, .momentum = 0.7})},
      {"BatchNorm3d", trained(nn::BatchNorm3d(all), volume, weight, bias), own(volume, {.eps = 0.3, .momentum = 0.7})},
  });
}

TEST_P(NormalizationTable, LayersOfInstances) {
  const Tensor line = normal({4, 3, 5}), plane = normal({2, 3, 4, 5}), volume = normal({2, 3, 2, 4, 3}), weight = normal({3}),
               bias = normal({3});
  struct How {
    double eps = 1e-5, momentum = 0.1;
    bool affine = false, track = false;
  };
  const auto own = [&](const Tensor& x, const How& how) {
    tandem::InstanceNormOptions options{.momentum = how.momentum, .eps = how.eps};
    if (how.affine) {
      options.weight = weight;
      options.bias = bias;
    }
    if (how.track) {
      options.running_mean = on_device(tandem::zeros({3}));
      options.running_var = on_device(tandem::ones({3}));
    }
    const Tensor y = tandem::instance_norm(x, options);
    options.use_input_stats = !how.track;
    const Tensor tested = tandem::instance_norm(x, options);
    return how.track ? joined({y, options.running_mean, options.running_var, tested}) : joined({y, tested});
  };
  using Instance = nn::InstanceNormOptions;
  const auto layer = [&](const Instance& options) { return trained(nn::InstanceNorm1d(options), line, weight, bias); };
  const auto all = Instance(9).num_features(3).eps(0.3).momentum(0.7).affine(true).track_running_stats(true);
  const How own_all{.eps = 0.3, .momentum = 0.7, .affine = true, .track = true};
  nn::InstanceNorm2d sample(3);
  const Tensor usual = own(line, {}), tracked = own(line, {.track = true});
  expect_rows({
      {"InstanceNorm1d", layer(3), usual},
      {"InstanceNorm1d num_features", layer(Instance(9).num_features(3).affine(true)), own(line, {.affine = true})},
      {"InstanceNorm1d eps", layer(Instance(3).eps(0.3)), own(line, {.eps = 0.3}), usual},
      {"InstanceNorm1d affine", layer(Instance(3).affine(true)), own(line, {.affine = true}), usual},
      {"InstanceNorm1d track_running_stats", layer(Instance(3).track_running_stats(true)), tracked, usual},
      {"InstanceNorm1d momentum", layer(Instance(3).track_running_stats(true).momentum(0.7)), own(line, {.momentum = 0.7, .track = true}),
       tracked},
      {"InstanceNorm2d", trained(nn::InstanceNorm2d(all), plane, weight, bias), own(plane, own_all)},
      {"InstanceNorm2d of one sample", {sample(plane[1])}, tandem::instance_norm(plane)[1]},
      {"InstanceNorm3d", trained(nn::InstanceNorm3d(all), volume, weight, bias), own(volume, own_all)},
  });
}

}  // namespace
