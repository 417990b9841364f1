// Many parameters of any size and floating dtype in one step: more than a launch takes, longer than a piece. Every device comes to what the
// CPU comes to.
#include "nn/support.h"

namespace tandem::testing {
namespace {

class ManyParametersOn : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, ManyParametersOn, every_device(), device_name);

/// The same numbers everywhere, with gradients.
std::vector<Tensor> parameters_on(Device device) {
  constexpr int64_t kSizes[] = {1, 7, 64, 1000, 4096, 4097, 12289};
  constexpr DType kTypes[] = {kFloat32, kFloat32, kFloat16, kFloat64, kBFloat16};
  std::vector<Tensor> parameters;
  for (int i = 0; i < 150; ++i) {
    const int64_t n = i == 77 ? 70'001 : kSizes[i % 7];
    const Tensor x = sin(arange(n).to(kFloat64) * 0.37 + i), g = cos(arange(n).to(kFloat64) * 0.11 + i) * 0.1;
    const Tensor parameter = x.to(device, kTypes[i % 5]).detach().requires_grad_();
    parameter.set_grad(g.to(device, kTypes[i % 5]));
    parameters.push_back(parameter);
  }
  return parameters;
}

void expect_same(const std::vector<Tensor>& found, const std::vector<Tensor>& expected, const char* what) {
  for (size_t i = 0; i < found.size(); ++i) {
    const DType dtype = found[i].dtype();
    const double tolerance = dtype == kBFloat16 ? 1e-2 : dtype == kFloat16 ? 2e-3 : dtype == kFloat32 ? 2e-6 : 1e-12;
    EXPECT_TRUE(allclose(found[i].detach().cpu().to(kFloat64), expected[i].detach().to(kFloat64), tolerance, tolerance))
        << what << ": parameter " << i << " of " << found[i].numel() << " elements, " << dtype;
  }
}

template <class Optimizer, class Options>
void expect_steps(Device device, const Options& options, const char* what) {
  const std::vector<Tensor> found = parameters_on(device), expected = parameters_on(Device());
  const std::vector<Tensor> before = parameters_on(Device());
  Optimizer here(found, options), there(expected, options);
  for (int step = 0; step < 3; ++step) {
    here.step();
    there.step();
  }
  expect_same(found, expected, what);
  for (size_t i = 0; i < found.size(); ++i) EXPECT_FALSE(equal(expected[i], before[i])) << what << ": parameter " << i << " stays";
}

TEST_P(ManyParametersOn, Steps) {
  expect_steps<optim::SGD>(device(), optim::SGDOptions{.lr = 0.1, .momentum = 0.9, .weight_decay = 0.01, .nesterov = true}, "SGD");
  expect_steps<optim::Adam>(device(), optim::AdamOptions{.lr = 0.05, .amsgrad = true}, "Adam");
  expect_steps<optim::AdamW>(device(), optim::AdamWOptions{.lr = 0.05}, "AdamW");
  expect_steps<optim::RMSprop>(device(), optim::RMSpropOptions{.lr = 0.05, .momentum = 0.5, .centered = true}, "RMSprop");
  expect_steps<optim::Adagrad>(device(), optim::AdagradOptions{.lr = 0.05}, "Adagrad");
}

TEST_P(ManyParametersOn, AreClippedTogether) {
  const std::vector<Tensor> found = parameters_on(device()), expected = parameters_on(Device());
  double squares = 0;
  for (const Tensor& parameter : expected) squares += parameter.grad().to(kFloat64).square().sum().item<double>();
  const double norm = std::sqrt(squares);
  const double found_norm = nn::utils::clip_grad_norm_(found, 2).item<double>();
  EXPECT_NEAR(found_norm, norm, 1e-6 * norm);
  std::vector<Tensor> clipped, scaled;
  for (size_t i = 0; i < found.size(); ++i) {
    clipped.push_back(found[i].grad());
    scaled.push_back(expected[i].grad() * (2 / (found_norm + 1e-6)));
  }
  expect_same(clipped, scaled, "clip_grad_norm_");
}

TEST_P(ManyParametersOn, ANormMayBeNeitherTooLargeNorNaN) {
  const auto norm_of = [&](double value) {
    const Tensor parameter = zeros({5000}, Options{.device = device(), .requires_grad = true});
    parameter.set_grad(full({5000}, value, Options{.device = device()}));
    return nn::utils::clip_grad_norm_({parameter}, 1).item<double>();
  };
  EXPECT_NEAR(norm_of(1e30), std::sqrt(5000.) * 1e30, 1e26);  // whose square no float32 holds
  EXPECT_TRUE(std::isnan(norm_of(NAN)));
}

}  // namespace
}  // namespace tandem::testing
