// Softmax and its kin over rows that are read by fours or one by one: against the CPU in float64.
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
