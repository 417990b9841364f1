// The rules of GradScaler: what is scaled, which steps are left out, how the scale goes on, and its errors.
#include <cmath>
#include <limits>

#include "nn/support.h"

namespace tandem::testing {
namespace {

using amp::GradScaler;

class GradScalerOn : public OnDevice {
 protected:
  static Tensor parameter(double value = 1) { return full({2}, value, {.device = device()}).requires_grad_(); }
  static void give(const Tensor& p, double value) { p.grad() = full({2}, value, {.device = p.device()}); }
};
INSTANTIATE_TEST_SUITE_P(Devices, GradScalerOn, every_device(), device_name);

TEST_P(GradScalerOn, ScalesLossesAndUnscalesGradients) {
  const Tensor p = parameter();
  optim::SGD sgd({p}, {.lr = 0.5});
  GradScaler scaler;
  scaler.scale((p * 3).sum()).backward();
  EXPECT_EQ(p.grad()[0].item<float>(), 3 * 65536.F);
  EXPECT_TRUE(scaler.step(sgd));
  EXPECT_EQ(p.grad()[0].item<float>(), 3);
  EXPECT_EQ(p[1].item<float>(), -0.5);
  scaler.update();
  EXPECT_EQ(scaler.get_scale(), 65536);
}

TEST_P(GradScalerOn, ScalesBelowOneToo) {
  const Tensor p = parameter();
  optim::SGD sgd({p}, {.lr = 1});
  GradScaler scaler({.init_scale = 0.25});
  scaler.scale((p * 3).sum()).backward();
  scaler.unscale_(sgd);
  EXPECT_EQ(p.grad()[0].item<float>(), 3);
}

TEST_P(GradScalerOn, LeavesOutStepsWithInfiniteGradients) {
  for (const double bad : {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), std::nan("")}) {
    const Tensor p = parameter(), q = parameter();
    optim::Adam adam({p, q});
    GradScaler scaler({.init_scale = 8, .growth_interval = 2});
    give(p, 1);
    q.grad() = tensor({0.0, bad}, {.dtype = kFloat32, .device = device()});
    EXPECT_FALSE(scaler.step(adam));
    scaler.update();
    EXPECT_EQ(scaler.get_scale(), 4);
    EXPECT_EQ(p[0].item<float>(), 1);
    for (const double expected : {4., 8., 8., 16.}) {
      give(p, 1);
      give(q, 1);
      EXPECT_TRUE(scaler.step(adam));
      scaler.update();
      EXPECT_EQ(scaler.get_scale(), expected);
    }
  }
}

TEST_P(GradScalerOn, ClippingComesBetween) {
  const Tensor p = parameter();
  optim::SGD sgd({p}, {.lr = 1});
  GradScaler scaler({.init_scale = 1024});
  scaler.scale((p * 30).sum()).backward();
  scaler.unscale_(sgd);
  const double norm = nn::utils::clip_grad_norm_({p}, 1).item<float>();
  EXPECT_NEAR(norm, 30 * std::sqrt(2), 1e-4);
  EXPECT_TRUE(scaler.step(sgd));
  EXPECT_NEAR(p[0].item<float>(), 1 - std::sqrt(0.5), 1e-5);
}

TEST_P(GradScalerOn, StridedAndHalfAndEmptyGradients) {
  const Tensor strided = ones({2, 3}, {.device = device()}).requires_grad_(),
               half = ones({3}, {.dtype = kBFloat16, .device = device()}).requires_grad_(),
               empty = zeros({0}, {.device = device()}).requires_grad_();
  strided.grad() = full({3, 2}, 8.0, {.device = device()}).t();
  half.grad() = full({3}, 8.0, {.dtype = kBFloat16, .device = device()});
  empty.grad() = zeros({0}, {.device = device()});
  optim::SGD sgd({strided, half, empty}, {.lr = 1});
  GradScaler scaler({.init_scale = 8});
  scaler.unscale_(sgd);
  EXPECT_EQ(strided.grad().sum().item<float>(), 6);
  EXPECT_EQ(half.grad().sum().item<float>(), 3);
  EXPECT_TRUE(scaler.step(sgd));
}

TEST(GradScaler, SeveralOptimizersAndDevices) {
  const Tensor a = ones({2}, {.device = "cpu"}).requires_grad_(), b = ones({2}, {.device = "cuda:0"}).requires_grad_(),
               c = ones({2}, {.device = "cuda:1"}).requires_grad_();
  optim::SGD both({a, b}, {.lr = 1}), other({c}, {.lr = 1});
  GradScaler scaler({.init_scale = 2});
  const auto infinite = std::numeric_limits<float>::infinity();
  for (const Tensor& p : {a, b, c}) p.grad() = full({2}, 2.0, {.device = p.device()});
  b.grad().fill_(infinite);
  EXPECT_FALSE(scaler.step(both));
  EXPECT_TRUE(scaler.step(other));  // each goes by its own gradients
  scaler.update();                  // the scale by all
  EXPECT_EQ(scaler.get_scale(), 1);
  EXPECT_EQ(a[0].item<float>(), 1);
  EXPECT_EQ(c[0].item<float>(), 0);
}

TEST(GradScaler, WaitsOnceAStepAndDevice) {
  const Tensor p = ones({2}, {.device = "cuda:0"}).requires_grad_(), q = ones({3}, {.device = "cuda:0"}).requires_grad_();
  optim::SGD sgd({p, q});
  GradScaler scaler;
  const ledger::Recorder recorder;
  scaler.scale(p.sum() + q.sum()).backward();
  scaler.unscale_(sgd);
  EXPECT_TRUE(recorder.entries().empty()) << recorder.report();
  (void)scaler.step(sgd);
  const int line = __LINE__ - 1;
  scaler.update();
  ASSERT_EQ(recorder.entries().size(), 1U) << recorder.report();
  EXPECT_EQ(recorder.entries()[0].kind, ledger::Kind::Item);
  EXPECT_EQ(recorder.entries()[0].line, line);
}

TEST(GradScaler, ErrorsAsPyTorch) {
  const Tensor p = ones({2}).requires_grad_();
  optim::SGD sgd({p});
  GradScaler scaler;
  const auto says = [](const std::string& text, auto f) {
    const std::string error = error_of(f);
    EXPECT_NE(error.find(text), std::string::npos) << error;
  };
  says("No inf checks were recorded prior to update", [&] { scaler.update(); });
  says("No inf checks were recorded for this optimizer", [&] { (void)scaler.step(sgd); });
  scaler = GradScaler();
  p.grad() = ones({2});
  scaler.unscale_(sgd);
  says("unscale_() has already been called on this optimizer since the last update()", [&] { scaler.unscale_(sgd); });
  (void)scaler.step(sgd);
  says("step() has already been called since the last update()", [&] { (void)scaler.step(sgd); });
  says("unscale_() is being called after step()", [&] { scaler.unscale_(sgd); });
  scaler.update();
  p.grad() = Tensor();
  const Tensor half = ones({2}, {.dtype = kFloat16}).requires_grad_();
  half.grad() = ones({2}, {.dtype = kFloat16});
  optim::SGD of_half({half});
  says("Attempting to unscale FP16 gradients", [&] { scaler.unscale_(of_half); });
  says("The growth factor must be > 1.0", [] { GradScaler({.growth_factor = 1}); });
  says("The backoff factor must be", [] { GradScaler({.backoff_factor = 1}); });
}

TEST(GradScaler, StateGoesOn) {
  GradScaler scaler({.init_scale = 32, .growth_interval = 3});
  const Tensor p = ones({2}).requires_grad_();
  optim::SGD sgd({p});
  p.grad() = ones({2});
  (void)scaler.step(sgd);
  scaler.update();
  GradScaler other;
  other.load_state_dict(scaler.state_dict());
  EXPECT_EQ(other.get_scale(), 32);
  EXPECT_EQ(other.get_growth_interval(), 3);
  for (int i = 0; i < 2; ++i) {
    (void)other.step(sgd);
    other.update();
  }
  EXPECT_EQ(other.get_scale(), 64);  // the step before counts
  EXPECT_TRUE(GradScaler({.enabled = false}).state_dict().empty());
  EXPECT_NE(error_of([&] { other.load_state_dict({}); }).find("The source state dict is empty"), std::string::npos);
  EXPECT_NE(error_of([&] { other.load_state_dict({{"scale", tensor(1.0)}}); }), "no error");
  EXPECT_EQ(other.get_scale(), 64);
}

TEST(GradScaler, DoesNothingWhereItIsNotEnabled) {
  GradScaler scaler({.enabled = false});
  const Tensor p = ones({2}).requires_grad_();
  optim::SGD sgd({p}, {.lr = 1});
  scaler.scale(p.sum()).backward();
  EXPECT_TRUE(scaler.step(sgd));
  scaler.update();
  EXPECT_EQ(p[0].item<float>(), 0);
  EXPECT_EQ(scaler.get_scale(), 1);
}

}  // namespace
}  // namespace tandem::testing
