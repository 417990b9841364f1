// libtorch's activations and dropout, as functions and as layers, option by option against tandem's core.
#include "libtorch/functional.h"
#include "libtorch/layers.h"
#include "libtorch/table.h"

namespace {

using tandem::Tensor;
namespace nn = torch::nn;
namespace F = torch::nn::functional;

class ActivationsTable : public TableOn {
 protected:
  /// Numbers on both sides of all limits.
  [[nodiscard]] static Tensor numbers() { return on_device(tandem::linspace(-8, 8, 48).view({2, 4, 6})); }
};
INSTANTIATE_TEST_SUITE_P(Devices, ActivationsTable, testing::Values("cpu", "cuda:0"), device_name);

TEST_P(ActivationsTable, DefaultsAreThoseOfTheCore) {
  const Tensor x = numbers();
  expect_rows({
      {"relu", {F::relu(x), nn::ReLU()(x)}, tandem::relu(x)},
      {"relu6", {F::relu6(x), nn::ReLU6()(x)}, tandem::relu6(x)},
      {"selu", {F::selu(x), nn::SELU()(x)}, tandem::selu(x)},
      {"elu", {F::elu(x), nn::ELU()(x)}, tandem::elu(x)},
      {"celu", {F::celu(x), nn::CELU()(x)}, tandem::celu(x)},
      {"leaky_relu", {F::leaky_relu(x), nn::LeakyReLU()(x)}, tandem::leaky_relu(x)},
      {"hardtanh", {F::hardtanh(x), nn::Hardtanh()(x)}, tandem::hardtanh(x)},
      {"rrelu", {F::rrelu(x)}, tandem::rrelu(x)},
      {"gelu", {F::gelu(x), nn::GELU()(x)}, tandem::gelu(x)},
      {"glu", {F::glu(x), nn::GLU()(x)}, tandem::glu(x)},
      {"hardshrink", {F::hardshrink(x), nn::Hardshrink()(x)}, tandem::hardshrink(x)},
      {"softshrink", {F::softshrink(x), nn::Softshrink()(x)}, tandem::softshrink(x)},
      {"softplus", {F::softplus(x), nn::Softplus()(x)}, tandem::softplus(x)},
      {"logsigmoid", {F::logsigmoid(x), nn::LogSigmoid()(x)}, tandem::logsigmoid(x)},
      {"silu", {F::silu(x), nn::SiLU()(x)}, tandem::silu(x)},
      {"mish", {F::mish(x), nn::Mish()(x)}, tandem::mish(x)},
      {"softsign", {F::softsign(x), nn::Softsign()(x)}, tandem::softsign(x)},
      {"tanhshrink", {F::tanhshrink(x), nn::Tanhshrink()(x)}, tandem::tanhshrink(x)},
      {"sigmoid", {nn::Sigmoid()(x)}, tandem::sigmoid(x)},
      {"tanh", {nn::Tanh()(x)}, tandem::tanh(x)},
  });
}

TEST_P(ActivationsTable, OptionsReachTheCore) {
  const Tensor x = numbers(), slopes = on_device(tandem::tensor({0.1, 0.2, 0.3, 0.4}));
  const auto elu = F::ELUFuncOptions().alpha(0.3);
  const auto celu = F::CELUFuncOptions().alpha(0.3);
  const auto leaky = F::LeakyReLUFuncOptions().negative_slope(0.3);
  const auto low = F::HardtanhFuncOptions().min_val(-3), high = F::HardtanhFuncOptions().max_val(3);
  const auto gelu = F::GELUFuncOptions().approximate("tanh");
  const auto glu = F::GLUFuncOptions().dim(1);
  const auto hard = F::HardshrinkFuncOptions().lambda(2);
  const auto soft = F::SoftshrinkFuncOptions().lambda(2);
  const auto beta = F::SoftplusFuncOptions().beta(0.5), linear = F::SoftplusFuncOptions().threshold(1);
  const auto limit = F::ThresholdFuncOptions(-1, 7).threshold(2), value = F::ThresholdFuncOptions(-1, 7).value(9);
  nn::PReLU prelu(nn::PReLUOptions().num_parameters(4).init(0.7));
  prelu->to(device());
  expect_rows({
      {"elu alpha", {F::elu(x, elu), nn::ELU(elu)(x)}, tandem::elu(x, 0.3), tandem::elu(x)},
      {"celu alpha", {F::celu(x, celu), nn::CELU(celu)(x)}, tandem::celu(x, 0.3), tandem::celu(x)},
      {"leaky_relu negative_slope", {F::leaky_relu(x, leaky), nn::LeakyReLU(leaky)(x)}, tandem::leaky_relu(x, 0.3), tandem::leaky_relu(x)},
      {"hardtanh min_val", {F::hardtanh(x, low), nn::Hardtanh(low)(x)}, tandem::hardtanh(x, -3, 1), tandem::hardtanh(x)},
      {"hardtanh max_val", {F::hardtanh(x, high), nn::Hardtanh(high)(x)}, tandem::hardtanh(x, -1, 3), tandem::hardtanh(x)},
      {"gelu approximate", {F::gelu(x, gelu), nn::GELU(gelu)(x)}, tandem::gelu(x, "tanh"), tandem::gelu(x)},
      {"glu dim", {F::glu(x, glu), F::glu(x, 1), nn::GLU(glu)(x)}, tandem::glu(x, 1), tandem::glu(x)},
      {"hardshrink lambda", {F::hardshrink(x, hard), nn::Hardshrink(hard)(x)}, tandem::hardshrink(x, 2), tandem::hardshrink(x)},
      {"softshrink lambda", {F::softshrink(x, soft), nn::Softshrink(soft)(x)}, tandem::softshrink(x, 2), tandem::softshrink(x)},
      {"softplus beta", {F::softplus(x, beta), nn::Softplus(beta)(x)}, tandem::softplus(x, 0.5), tandem::softplus(x)},
      {"softplus threshold", {F::softplus(x, linear), nn::Softplus(linear)(x)}, tandem::softplus(x, 1, 1), tandem::softplus(x)},
      {"threshold", {F::threshold(x, {-1, 7}), nn::Threshold(-1, 7)(x)}, tandem::threshold(x, -1, 7)},
      {"threshold threshold", {F::threshold(x, limit), nn::Threshold(limit)(x)}, tandem::threshold(x, 2, 7), tandem::threshold(x, -1, 7)},
      {"threshold value", {F::threshold(x, value), nn::Threshold(value)(x)}, tandem::threshold(x, -1, 9), tandem::threshold(x, -1, 7)},
      {"prelu", {F::prelu(x, slopes)}, tandem::prelu(x, slopes)},
      {"PReLU init", {prelu(x)}, tandem::leaky_relu(x, 0.7), tandem::leaky_relu(x, 0.25)},
      {"PReLU num_parameters", {prelu->weight}, on_device(tandem::full({4}, 0.7))},
  });
}

TEST_P(ActivationsTable, RandomSlopesAreTheCores) {
  const Tensor x = numbers();
  const auto lower = F::RReLUFuncOptions().lower(0.2), upper = F::RReLUFuncOptions().upper(0.9);
  const auto drawn = F::RReLUFuncOptions().lower(0.2).upper(0.9).training(true);
  nn::RReLU layer(nn::RReLUOptions().lower(0.2).upper(0.9));
  const Tensor trained = seeded([&] { return layer(x); });
  nn::RReLU low(nn::RReLUOptions().lower(0.2)), high(nn::RReLUOptions().upper(0.9));
  low->eval();
  high->eval();
  layer->eval();
  expect_rows({
      {"rrelu lower", {F::rrelu(x, lower), low(x)}, tandem::rrelu(x, 0.2), tandem::rrelu(x)},
      {"rrelu upper", {F::rrelu(x, upper), high(x)}, tandem::rrelu(x, 1.0 / 8, 0.9), tandem::rrelu(x)},
      {"rrelu training",
       {seeded([&] { return F::rrelu(x, drawn); }), trained},
       seeded([&] { return tandem::rrelu(x, 0.2, 0.9, true); }),
       tandem::rrelu(x, 0.2, 0.9)},
      {"RReLU in evaluation", {layer(x)}, tandem::rrelu(x, 0.2, 0.9)},
  });
}

TEST_P(ActivationsTable, InputsChangeWhereAsked) {
  const Tensor x = numbers();
  const auto function = [&](auto f, const auto& options) {
    return changed(x, [&](const Tensor& y) { return f(y, options, tandem::Site::here()); });
  };
  const auto layer = [&](auto holder) { return changed(x, [&](const Tensor& y) { return holder(y); }); };
  const auto elu = F::ELUFuncOptions().alpha(0.3).inplace(true);
  const auto celu = F::CELUFuncOptions().alpha(0.3).inplace(true);
  const auto leaky = F::LeakyReLUFuncOptions().negative_slope(0.3).inplace(true);
  const auto hard = F::HardtanhFuncOptions().min_val(-3).max_val(2).inplace(true);
  const auto limit = F::ThresholdFuncOptions(2, 9).inplace(true);
  const auto slopes = F::RReLUFuncOptions().lower(0.2).upper(0.9).inplace(true);
  nn::RReLU rrelu(nn::RReLUOptions().lower(0.2).upper(0.9).inplace(true));
  rrelu->eval();
  expect_rows({
      {"relu", {function(F::relu, F::ReLUFuncOptions().inplace(true)), layer(nn::ReLU(true))}, tandem::relu(x)},
      {"relu6", {function(F::relu6, F::ReLU6FuncOptions().inplace(true)), layer(nn::ReLU6(true))}, tandem::relu6(x)},
      {"selu", {function(F::selu, F::SELUFuncOptions().inplace(true)), layer(nn::SELU(true))}, tandem::selu(x)},
      {"elu", {function(F::elu, elu), layer(nn::ELU(elu))}, tandem::elu(x, 0.3)},
      {"celu", {function(F::celu, celu), layer(nn::CELU(celu))}, tandem::celu(x, 0.3)},
      {"leaky_relu", {function(F::leaky_relu, leaky), layer(nn::LeakyReLU(leaky))}, tandem::leaky_relu(x, 0.3)},
      {"hardtanh", {function(F::hardtanh, hard), layer(nn::Hardtanh(hard))}, tandem::hardtanh(x, -3, 2)},
      {"threshold", {function(F::threshold, limit), layer(nn::Threshold(limit))}, tandem::threshold(x, 2, 9)},
      {"rrelu", {function(F::rrelu, slopes), layer(rrelu)}, tandem::rrelu(x, 0.2, 0.9)},
  });
}

TEST_P(ActivationsTable, SoftmaxAndItsKin) {
  const Tensor x = numbers(), image = normal({3, 4, 2});
  const auto other = F::SoftmaxFuncOptions(0).dim(1);
  const auto wide = F::SoftmaxFuncOptions(1).dtype(torch::kFloat64);
  const auto gumbel = [&](const F::GumbelSoftmaxFuncOptions& options) { return seeded([&] { return F::gumbel_softmax(x, options); }); };
  const auto sample = [&](double tau, bool hard, int64_t dim) { return seeded([&] { return tandem::gumbel_softmax(x, tau, hard, dim); }); };
  const Tensor usual = sample(1, false, -1);
  expect_rows({
      {"softmax dim", {F::softmax(x, other), F::softmax(x, 1), nn::Softmax(other.dim())(x)}, tandem::softmax(x, 1), tandem::softmax(x, 0)},
      {"Softmax dim", {nn::Softmax(nn::SoftmaxOptions(0).dim(1))(x)}, tandem::softmax(x, 1), tandem::softmax(x, 0)},
      {"softmin dim", {F::softmin(x, other), nn::Softmin(nn::SoftminOptions(0).dim(1))(x)}, tandem::softmin(x, 1), tandem::softmin(x, 0)},
      {"log_softmax dim",
       {F::log_softmax(x, other), nn::LogSoftmax(nn::LogSoftmaxOptions(0).dim(1))(x)},
       tandem::log_softmax(x, 1),
       tandem::log_softmax(x, 0)},
      {"softmax dtype", {F::softmax(x, wide)}, tandem::softmax(x, 1, torch::kFloat64), tandem::softmax(x, 1)},
      {"softmin dtype", {F::softmin(x, wide)}, tandem::softmin(x, 1, torch::kFloat64), tandem::softmin(x, 1)},
      {"log_softmax dtype", {F::log_softmax(x, wide)}, tandem::log_softmax(x, 1, torch::kFloat64), tandem::log_softmax(x, 1)},
      {"Softmax2d", {nn::Softmax2d()(image), nn::Softmax2d()(image.unsqueeze(0)).squeeze(0)}, tandem::softmax(image, 0)},
      {"gumbel_softmax", {gumbel({}), seeded([&] { return F::gumbel_softmax(x); })}, usual},
      {"gumbel_softmax tau", {gumbel(F::GumbelSoftmaxFuncOptions().tau(0.3))}, sample(0.3, false, -1), usual},
      {"gumbel_softmax hard", {gumbel(F::GumbelSoftmaxFuncOptions().hard(true))}, sample(1, true, -1), usual},
      {"gumbel_softmax dim", {gumbel(F::GumbelSoftmaxFuncOptions().dim(1))}, sample(1, false, 1), usual},
  });
}

// A dropout function and its layer, with 0.2 instead of 0.5, in place, in training and not.
template <class Layer, class FuncOptions, class Function, class Own>
void expect_dropout(const char* name, const Tensor& x, Function function, Own own, bool trains_by_default) {
  const auto seeded = [](auto&& f) {
    tandem::manual_seed(9);
    return f();
  };
  const auto of_function = [&](const Tensor& input, const FuncOptions& options) {
    return seeded([&] { return function(input, options, tandem::Site::here()); });
  };
  const auto core = [&](double p) { return seeded([&] { return own(x, p, true); }); };
  const Tensor in_place = x.clone(), in_place_layer = x.clone();
  EXPECT_TRUE(of_function(in_place, FuncOptions().p(0.2).training(true).inplace(true)).is_same(in_place)) << name;
  Layer layer(nn::DropoutOptions().p(0.2)), writing(nn::DropoutOptions(0.2).inplace(true)), resting(0.2), usual;
  EXPECT_TRUE(seeded([&] { return writing(in_place_layer); }).is_same(in_place_layer)) << name;
  resting->eval();
  expect_rows({
      {name, {of_function(x, FuncOptions().training(true)), seeded([&] { return usual(x); })}, core(0.5), x},
      {name, {of_function(x, {})}, trains_by_default ? core(0.5) : x},
      {name, {of_function(x, FuncOptions().p(0.2).training(true)), seeded([&] { return layer(x); })}, core(0.2), core(0.5)},
      {name, {in_place, in_place_layer}, core(0.2), x},
      {name, {of_function(x, FuncOptions().training(false)), resting(x)}, x},
  });
}

TEST_P(ActivationsTable, DropoutIsTheCoresOfTheSameSeed) {
  const Tensor x = normal({4, 8, 3, 2});
  expect_dropout<nn::Dropout, F::DropoutFuncOptions>(
      "dropout", x, F::dropout, [](const Tensor& y, double p, bool training) { return tandem::dropout(y, p, training); }, true);
  expect_dropout<nn::Dropout2d, F::Dropout2dFuncOptions>(
      "dropout2d", x, F::dropout2d, [](const Tensor& y, double p, bool training) { return tandem::dropout2d(y, p, training); }, true);
  expect_dropout<nn::Dropout3d, F::Dropout3dFuncOptions>(
      "dropout3d", x.unsqueeze(4), F::dropout3d, [](const Tensor& y, double p, bool training) { return tandem::dropout3d(y, p, training); },
      true);
  expect_dropout<nn::AlphaDropout, F::AlphaDropoutFuncOptions>(
      "alpha_dropout", x, F::alpha_dropout, [](const Tensor& y, double p, bool training) { return tandem::alpha_dropout(y, p, training); },
      false);
  expect_dropout<nn::FeatureAlphaDropout, F::FeatureAlphaDropoutFuncOptions>(
      "feature_alpha_dropout", x, F::feature_alpha_dropout,
      [](const Tensor& y, double p, bool training) { return tandem::feature_alpha_dropout(y, p, training); }, false);
}

TEST_P(ActivationsTable, DropoutOfOneSample) {
  const Tensor x = normal({16, 3, 2});
  const auto channels = [&](double p) { return seeded([&] { return tandem::feature_dropout(x.unsqueeze(0), p, true).squeeze(0); }); };
  expect_rows({
      {"dropout2d", {seeded([&] { return F::dropout2d(x, F::Dropout2dFuncOptions().p(0.2)); })}, channels(0.2), channels(0.5)},
      {"dropout3d", {seeded([&] { return F::dropout3d(x, F::Dropout3dFuncOptions().p(0.2)); })}, channels(0.2), channels(0.5)},
  });
}

}  // namespace
