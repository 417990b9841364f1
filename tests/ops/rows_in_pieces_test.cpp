// Normalization and softmax over rows that are read by fours or one by one, whole or in pieces: against the CPU in float64.
#include <algorithm>
#include <functional>

#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

class RowsInPieces : public OnDevice {
 protected:
  using Function = std::function<td::Tensor(const std::vector<td::Tensor>&)>;

  /// Results and gradients of f, on a device in a dtype, as float64 on the CPU. The first input lies `shift` elements into its memory.
  static std::vector<td::Tensor> of(const Function& f, const std::vector<td::Tensor>& inputs, td::Device where, td::DType dtype,
                                    int64_t shift, bool expanded) {
    std::vector<td::Tensor> placed, all;
    for (const td::Tensor& x : inputs) {
      td::Tensor memory = td::zeros({x.numel() + shift}, {.dtype = dtype, .device = where});
      td::Tensor y = memory.narrow(0, shift, x.numel()).reshape(x.sizes());
      y.copy_(x);
      placed.push_back(y.detach().requires_grad_());
    }
    const td::Tensor y = f(placed);
    if (expanded) {
      (y * y.detach()).sum().backward();
      for (td::Tensor& x : placed) x.set_grad({});
      f(placed).sum().backward();
    } else {
      y.backward(td::arange(y.numel(), {.dtype = td::kInt64}).remainder(7).sub(3).reshape(y.sizes()).to(where, dtype));
    }
    all.push_back(y.detach());
    for (const td::Tensor& x : placed) all.push_back(x.grad());
    for (td::Tensor& x : all) x = x.to(td::cpu(), td::kFloat64);
    return all;
  }
  static void expect_near(const char* what, const Function& f, const std::vector<td::Tensor>& inputs, td::DType dtype, int64_t shift = 0,
                          bool expanded = false) {
    // The CPU gets the numbers as that dtype has them.
    std::vector<td::Tensor> rounded;
    for (const td::Tensor& x : inputs) rounded.push_back(x.to(dtype).to(td::kFloat64));
    const auto wanted = of(f, rounded, td::cpu(), td::kFloat64, 0, expanded), found = of(f, rounded, device(), dtype, shift, expanded),
               again = of(f, rounded, device(), dtype, shift, expanded);
    const double tolerance = dtype == td::kFloat64 ? 1e-11 : dtype == td::kFloat32 ? 2e-5 : dtype == td::kFloat16 ? 4e-3 : 3e-2;
    for (size_t i = 0; i < wanted.size(); ++i) {
      // A parameter's gradient may be a long sum that cancels.
      const double summed = i >= 2 ? static_cast<double>(inputs[0].numel()) / 100 : 1;
      const double scale = std::max({1.0, wanted[i].abs().max().item<double>(), expanded ? summed : 1});
      EXPECT_LE((found[i] - wanted[i]).abs().max().item<double>(), tolerance * scale) << what << ", " << dtype << ", number " << i;
      EXPECT_TRUE(td::equal(found[i], again[i])) << what << ", " << dtype << ", number " << i;
    }
  }
};

constexpr td::DType kFloats[] = {td::kFloat32, td::kBFloat16, td::kFloat16, td::kFloat64};

TEST_P(RowsInPieces, BatchNorm) {
  for (const td::Shape& sizes : {td::Shape{4, 3, 160, 130}, {3, 2, 161, 203}, {66000, 5}, {2, 300, 3, 3}, {9, 4, 4, 4}, {2, 2, 1, 2}}) {
    td::manual_seed(2);
    const int64_t channels = sizes[1];
    const auto x = td::randn(sizes) + 3, weight = td::randn({channels}), bias = td::randn({channels});
    const Function affine = [](const std::vector<td::Tensor>& in) {
      return td::batch_norm(in[0], {}, {}, {.weight = in[1], .bias = in[2], .training = true});
    };
    const Function plain = [](const std::vector<td::Tensor>& in) { return td::batch_norm(in[0], {}, {}, {.training = true}); };
    const Function masked = [](const std::vector<td::Tensor>& in) {
      return td::relu(td::batch_norm(in[0], {}, {}, {.weight = in[1], .bias = in[2], .training = true}));
    };
    for (const td::DType dtype : kFloats) {
      expect_near("affine", affine, {x, weight, bias}, dtype);
      expect_near("plain", plain, {x}, dtype);
    }
    expect_near("shifted", affine, {x, weight, bias}, td::kFloat32, 1);
    expect_near("expanded", affine, {x, weight, bias}, td::kFloat32, 0, true);
    expect_near("ReLU", masked, {x, weight, bias}, td::kFloat64);
  }
}

TEST_P(RowsInPieces, BatchNormKeepsLargeMeans) {
  td::manual_seed(2);
  const auto x = (td::randn({4, 2, 160, 130}) + 3000).to(device());
  const auto mean = td::zeros({2}, {.device = device()}), variance = td::ones({2}, {.device = device()});
  const auto y = td::batch_norm(x, mean, variance, {.training = true, .momentum = 1});
  const auto exact = td::var_mean(x.cpu().to(td::kFloat64), {0, 2, 3});
  EXPECT_TRUE(td::allclose(mean.cpu().to(td::kFloat64), exact.mean, 1e-7, 0));
  EXPECT_TRUE(td::allclose(variance.cpu().to(td::kFloat64), exact.var, 1e-5, 0));
}

TEST_P(RowsInPieces, RunningFigures) {
  for (const td::DType dtype : {td::kFloat32, td::kFloat64, td::kBFloat16}) {
    for (const td::DType running : {td::kFloat32, td::kFloat64}) {
      td::manual_seed(4);
      const auto x = td::randn({5, 3, 4}).to(dtype).to(device());
      const auto both = td::stack({td::randn({3}), td::rand({3})}, 1).to(running);  // their elements lie apart
      const auto placed = both.clone().to(device());
      const auto mean = placed.select(1, 0), variance = placed.select(1, 1);
      const auto before = mean.version();
      (void)td::batch_norm(x, mean, variance, {.training = true, .momentum = 0.3});
      EXPECT_GT(mean.version(), before);
      const auto now = td::var_mean(x.cpu().to(td::kFloat64), {0, 2});
      const auto wide = both.to(td::kFloat64);
      EXPECT_TRUE(td::allclose(mean.cpu().to(td::kFloat64), wide.select(1, 0) * 0.7 + now.mean * 0.3, 1e-5, 1e-5));
      EXPECT_TRUE(td::allclose(variance.cpu().to(td::kFloat64), wide.select(1, 1) * 0.7 + now.var * 0.3, 1e-5, 1e-5));
      const auto alone = mean.clone();
      (void)td::batch_norm(x, mean, {}, {.training = true, .momentum = 0.5});
      EXPECT_TRUE(td::allclose(mean.cpu().to(td::kFloat64), (alone.cpu().to(td::kFloat64) + now.mean) / 2, 1e-5, 1e-5));
    }
  }
}

TEST_P(RowsInPieces, LayerNormAndItsKin) {
  for (const td::Shape& sizes : {td::Shape{33, 64}, {33, 63}, {5, 1000}, {2, 20000}, {1, 300000}, {1, 300001}, {3, 4}, {3, 1}}) {
    td::manual_seed(3);
    const int64_t n = sizes[1];
    const auto x = td::randn(sizes) + 1, weight = td::randn({n}), bias = td::randn({n});
    const Function layer = [n](const std::vector<td::Tensor>& in) { return td::layer_norm(in[0], {n}, in[1], in[2]); };
    const Function root = [n](const std::vector<td::Tensor>& in) { return td::rms_norm(in[0], {n}, in[1]); };
    for (const td::DType dtype : kFloats) {
      if (n > 1) expect_near("layer norm", layer, {x, weight, bias}, dtype);
      expect_near("RMS norm", root, {x, weight}, dtype);
    }
    expect_near("shifted", root, {x, weight}, td::kFloat32, 1);
    expect_near("expanded", root, {x, weight}, td::kFloat32, 0, true);
  }
  for (const td::Shape& sizes : {td::Shape{2, 6, 4, 6}, {2, 6, 5, 5}, {1, 2, 300, 300}}) {
    const auto x = td::randn(sizes), weight = td::randn({sizes[1]}), bias = td::randn({sizes[1]});
    const Function group = [](const std::vector<td::Tensor>& in) { return td::group_norm(in[0], 2, in[1], in[2]); };
    for (const td::DType dtype : kFloats) expect_near("group norm", group, {x, weight, bias}, dtype);
  }
}

TEST_P(RowsInPieces, Softmax) {
  for (const td::Shape& sizes : {td::Shape{33, 64}, {33, 63}, {5, 1000}, {2, 20000}, {3, 4}, {3, 1}, {2, 7, 12}}) {
    td::manual_seed(3);
    const auto x = td::randn(sizes) * 3;
    for (const int64_t dim : {-1, 0}) {
      const Function soft = [dim](const std::vector<td::Tensor>& in) { return td::softmax(in[0], dim); };
      const Function logarithm = [dim](const std::vector<td::Tensor>& in) { return td::log_softmax(in[0], dim); };
      for (const td::DType dtype : kFloats) {
        expect_near("softmax", soft, {x}, dtype);
        expect_near("log_softmax", logarithm, {x}, dtype);
      }
      expect_near("shifted", soft, {x}, td::kFloat32, 1);
      expect_near("expanded", logarithm, {x}, td::kFloat32, 0, true);
    }
    if (sizes.size() != 2) continue;
    const Function loss = [&](const std::vector<td::Tensor>& in) {
      const auto labels = td::arange(sizes[0], {.dtype = td::kInt64}).remainder(sizes[1]).to(in[0].device());
      return td::cross_entropy(in[0], labels, {.reduction = td::Reduction::None, .label_smoothing = 0.1});
    };
    for (const td::DType dtype : kFloats) expect_near("cross-entropy", loss, {x}, dtype);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, RowsInPieces, testing::Values("cpu", "cuda:0"), device_name);

}  // namespace
