// Every differentiable operation against finite differences, first and second order, on every device.
#include <deque>
#include <functional>
#include <vector>

#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

using Inputs = std::vector<td::Tensor>;

/// An operation as a function of float64 leaves, and how to make those.
struct Case {
  const char* name;
  std::function<td::Tensor(const Inputs&)> f;
  std::vector<td::Shape> sizes;
  double low = -1.5, high = 1.5;  // inputs are uniform between these
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"add_broadcast", [](const Inputs& in) { return in[0] + in[1] * 2; }, {{2, 3}, {3}}},
      {"sub_number_first", [](const Inputs& in) { return 3 - in[0]; }, {{2, 3}}},
      {"mul_broadcast", [](const Inputs& in) { return in[0] * in[1]; }, {{2, 1, 3}, {4, 1}}},
      {"div", [](const Inputs& in) { return in[0] / in[1]; }, {{2, 3}, {2, 3}}, 0.5, 2},
      {"pow_number", [](const Inputs& in) { return td::pow(in[0], 3); }, {{4}}},
      {"pow_tensor", [](const Inputs& in) { return td::pow(in[0], in[1]); }, {{4}, {4}}, 0.5, 2},
      {"exp", [](const Inputs& in) { return td::exp(in[0]); }, {{4}}},
      {"log", [](const Inputs& in) { return td::log(in[0]); }, {{4}}, 0.5, 2},
      {"sqrt", [](const Inputs& in) { return td::sqrt(in[0]); }, {{4}}, 0.5, 2},
      {"tanh", [](const Inputs& in) { return td::tanh(in[0]); }, {{4}}},
      {"sigmoid", [](const Inputs& in) { return td::sigmoid(in[0]); }, {{4}}},
      {"sin_cos", [](const Inputs& in) { return td::sin(in[0]) * td::cos(in[0]); }, {{4}}},
      {"erf", [](const Inputs& in) { return td::erf(in[0]); }, {{4}}},
      {"relu", [](const Inputs& in) { return td::relu(in[0]) * in[0]; }, {{6}}},
      {"gelu", [](const Inputs& in) { return td::gelu(in[0]); }, {{4}}},
      {"gelu_tanh", [](const Inputs& in) { return td::gelu(in[0], "tanh"); }, {{4}}},
      {"softplus", [](const Inputs& in) { return td::softplus(in[0]); }, {{4}}},
      {"leaky_relu", [](const Inputs& in) { return td::leaky_relu(in[0], 0.1) * in[0]; }, {{6}}},
      {"elu", [](const Inputs& in) { return td::elu(in[0]) * in[0]; }, {{6}}},
      {"where", [](const Inputs& in) { return td::where(in[0] > 0, in[0] * in[0], in[1]); }, {{2, 3}, {3}}},
      {"clamp", [](const Inputs& in) { return in[0].clamp(-1, 1) * in[0]; }, {{6}}},
      {"clamp_tensors", [](const Inputs& in) { return in[0].clamp(in[1], in[2] + 1) * in[0]; }, {{6}, {6}, {1}}},
      {"silu", [](const Inputs& in) { return td::silu(in[0]); }, {{4}}},
      {"mish", [](const Inputs& in) { return td::mish(in[0]); }, {{4}}},
      {"logit", [](const Inputs& in) { return td::logit(in[0] * 0.1 + 0.5); }, {{4}}},
      {"erfinv", [](const Inputs& in) { return td::erfinv(in[0] * 0.3); }, {{4}}},
      {"lgamma", [](const Inputs& in) { return td::lgamma(in[0] + 4); }, {{4}}},
      {"digamma", [](const Inputs& in) { return td::digamma(in[0] * 0.2 - 0.5); }, {{4}}},
      {"polygamma", [](const Inputs& in) { return td::polygamma(2, in[0] + 4); }, {{4}}},
      {"celu", [](const Inputs& in) { return td::celu(in[0], 1.5) * in[0]; }, {{6}}},
      {"selu", [](const Inputs& in) { return td::selu(in[0]) * in[0]; }, {{6}}},
      {"hardswish", [](const Inputs& in) { return td::hardswish(in[0]) * in[0]; }, {{6}}},
      {"softplus_beta", [](const Inputs& in) { return td::softplus(in[0], 3, 0.2); }, {{6}}},
      {"softshrink", [](const Inputs& in) { return td::softshrink(in[0]) * in[0]; }, {{6}}},
      {"prelu", [](const Inputs& in) { return td::prelu(in[0], in[1]) * in[0]; }, {{3, 2}, {2}}},
      {"glu", [](const Inputs& in) { return td::glu(in[0]); }, {{3, 4}}},
      {"addcmul", [](const Inputs& in) { return td::addcmul(in[0], in[1], in[2], 0.7); }, {{3}, {3}, {1}}},
      {"addcdiv", [](const Inputs& in) { return td::addcdiv(in[0], in[1], in[2] + 4, 0.7); }, {{3}, {3}, {1}}},
      {"add_scaled", [](const Inputs& in) { return td::add(in[0], in[1], 0.7) * in[0]; }, {{3}, {1}}},
      {"in_place_needs_itself", [](const Inputs& in) { return (in[0] * 1).sin_().mul_(in[1]).lerp_(in[0], 0.3); }, {{3}, {3}}},
      {"lerp", [](const Inputs& in) { return td::lerp(in[0], in[1], in[2]); }, {{3}, {3}, {1}}},
      {"sum_dim", [](const Inputs& in) { return td::exp(in[0]).sum(1); }, {{2, 3}}},
      {"mean_dims",
       [](const Inputs& in) {
         return td::exp(in[0]).mean({0, 2}, true);
       },
       {{2, 3, 2}}},
      {"max_all", [](const Inputs& in) { return in[0].max() * in[0].min(); }, {{5}}},
      {"max_dim", [](const Inputs& in) { return in[0].max(1).values * 2; }, {{3, 4}}},
      {"amax", [](const Inputs& in) { return in[0].amax({0}); }, {{3, 4}}},
      {"var", [](const Inputs& in) { return in[0].var({1}); }, {{2, 4}}},
      {"std", [](const Inputs& in) { return in[0].std(); }, {{5}}},
      {"norm", [](const Inputs& in) { return in[0].norm(); }, {{2, 3}}},
      {"norm_1", [](const Inputs& in) { return in[0].norm(1, {1}); }, {{2, 3}}},
      {"cumsum", [](const Inputs& in) { return td::exp(in[0].cumsum(1)); }, {{2, 3}}},
      {"prod_dim", [](const Inputs& in) { return in[0].prod(1); }, {{2, 3}}},
      {"prod_with_zeros",
       [](const Inputs& in) {
         return (in[0] * td::tensor({1., 0., 1., 0., 1.}, {.dtype = td::kFloat64, .device = in[0].device()})).prod();
       },
       {{5}}},
      {"cumprod", [](const Inputs& in) { return in[0].cumprod(1); }, {{2, 4}}},
      {"cumprod_with_zeros",
       [](const Inputs& in) {
         return (in[0] * td::tensor({1., 0., 1., 0., 1.}, {.dtype = td::kFloat64, .device = in[0].device()})).cumprod(0);
       },
       {{5}}},
      {"logcumsumexp", [](const Inputs& in) { return in[0].logcumsumexp(0); }, {{4, 2}}},
      {"cummax", [](const Inputs& in) { return in[0].cummax(0).values * in[0]; }, {{4, 2}}},
      {"logsumexp", [](const Inputs& in) { return in[0].logsumexp({0}); }, {{3, 2}}},
      {"norm_3", [](const Inputs& in) { return in[0].norm(3, {1}); }, {{2, 3}}},
      {"var_mean",
       [](const Inputs& in) {
         const auto y = td::var_mean(in[0], {1});
         return y.var * y.mean;
       },
       {{2, 4}}},
      {"median", [](const Inputs& in) { return in[0].median() * in[0].median(1).values; }, {{3, 3}}},
      {"quantile", [](const Inputs& in) { return td::quantile(in[0], 0.3, 1) * 2; }, {{2, 4}}},
      {"trapezoid", [](const Inputs& in) { return td::trapezoid(in[0], in[1]); }, {{2, 3}, {3}}},
      {"sort", [](const Inputs& in) { return in[0].sort(1).values * td::arange(4).to(in[0].device(), td::kFloat64); }, {{2, 4}}},
      {"topk", [](const Inputs& in) { return in[0].topk(2, 0).values * 3; }, {{4, 2}}},
      {"mm", [](const Inputs& in) { return td::mm(in[0], in[1]); }, {{3, 4}, {4, 2}}},
      {"mm_transposed", [](const Inputs& in) { return td::mm(in[0].t(), in[1].t()); }, {{4, 3}, {2, 4}}},
      {"bmm", [](const Inputs& in) { return td::bmm(in[0], in[1]); }, {{2, 3, 4}, {2, 4, 2}}},
      {"matmul_broadcast", [](const Inputs& in) { return td::matmul(in[0], in[1]); }, {{2, 1, 3, 4}, {2, 4, 2}}},
      {"matmul_vector", [](const Inputs& in) { return td::matmul(in[0], in[1]); }, {{3, 4}, {4}}},
      {"addmm", [](const Inputs& in) { return td::addmm(in[0], in[1], in[2], 0.5, 2); }, {{2}, {3, 4}, {4, 2}}},
      {"linear", [](const Inputs& in) { return td::linear(in[0], in[1], in[2]); }, {{2, 3, 4}, {5, 4}, {5}}},
      {"linear_relu", [](const Inputs& in) { return td::linear_relu(in[0], in[1], in[2]); }, {{3, 4}, {5, 4}, {5}}},
      {"linear_gelu", [](const Inputs& in) { return td::linear_gelu(in[0], in[1], in[2]); }, {{3, 4}, {5, 4}, {5}}},
      {"einsum",
       [](const Inputs& in) {
         return td::einsum("ij,kj->ik", {in[0], in[1]});
       },
       {{2, 3}, {4, 3}}},
      {"view",
       [](const Inputs& in) {
         return in[0].view({3, 2}) * in[1];
       },
       {{2, 3}, {2}}},
      {"permute",
       [](const Inputs& in) {
         return in[0].permute({2, 0, 1}) * in[1];
       },
       {{2, 3, 4}, {4, 1, 1}}},
      {"expand",
       [](const Inputs& in) {
         return in[0].expand({4, 2, 3}) * 2;
       },
       {{2, 1}}},
      {"select_slice", [](const Inputs& in) { return in[0].select(0, 1) * in[0].slice(0, 0, 4, 2).sum(0); }, {{4, 3}}},
      {"diagonal", [](const Inputs& in) { return td::exp(in[0].diagonal(1)); }, {{3, 4}}},
      {"flip_repeat",
       [](const Inputs& in) {
         return in[0].flip({0, 1}).repeat({2, 1});
       },
       {{2, 3}}},
      {"cat",
       [](const Inputs& in) {
         return td::cat({in[0], in[1], in[0]}, 1);
       },
       {{2, 3}, {2, 1}}},
      {"stack",
       [](const Inputs& in) {
         return td::stack({in[0], in[1]}, 1);
       },
       {{2, 3}, {2, 3}}},
      {"index_tensor",
       [](const Inputs& in) {
         return in[0].index({td::tensor({2, 0, 2}), td::Slice(1)});
       },
       {{3, 4}}},
      {"index_mixed",
       [](const Inputs& in) {
         return in[0].index({td::Slice(), td::tensor({{0, 1}, {1, 1}})});
       },
       {{3, 2, 2}}},
      {"index_select",
       [](const Inputs& in) {
         return in[0].index_select(1, td::tensor({1, 1, 0}).to(in[0].device()));
       },
       {{2, 3}}},
      {"gather",
       [](const Inputs& in) {
         return in[0].gather(1, td::tensor({{0, 2}, {1, 1}}).to(in[0].device()));
       },
       {{2, 3}}},
      {"scatter_add",
       [](const Inputs& in) {
         return td::scatter_add(in[0], 0, td::tensor({{0, 1, 1}}).to(in[0].device()), in[1]);
       },
       {{2, 3}, {1, 3}}},
      {"scatter_reduce_sum",
       [](const Inputs& in) {
         return td::scatter_reduce(in[0], 0, td::tensor({{0, 1, 1}, {0, 2, 0}}).to(in[0].device()), in[1], "sum", true);
       },
       {{3, 3}, {2, 3}}},
      {"scatter_reduce_sum_alone",
       [](const Inputs& in) {
         return td::scatter_reduce(in[0], 0, td::tensor({{0, 1, 1}, {0, 2, 0}}).to(in[0].device()), in[1], "sum", false);
       },
       {{3, 3}, {2, 3}}},
      {"scatter_reduce_prod",
       [](const Inputs& in) {
         return td::scatter_reduce(in[0], 0, td::tensor({{0, 1, 1}, {0, 2, 0}}).to(in[0].device()), in[1], "prod", true);
       },
       {{3, 3}, {2, 3}}},
      {"scatter_reduce_prod_alone",
       [](const Inputs& in) {
         return td::scatter_reduce(in[0], 0, td::tensor({{0, 1, 1}, {0, 2, 0}}).to(in[0].device()), in[1], "prod", false);
       },
       {{3, 3}, {2, 3}}},
      {"scatter_reduce_mean",
       [](const Inputs& in) {
         return td::scatter_reduce(in[0], 0, td::tensor({{0, 1, 1}, {0, 2, 0}}).to(in[0].device()), in[1], "mean", true);
       },
       {{3, 3}, {2, 3}}},
      {"scatter_reduce_mean_alone",
       [](const Inputs& in) {
         return td::scatter_reduce(in[0], 0, td::tensor({{0, 1, 1}, {0, 2, 0}}).to(in[0].device()), in[1], "mean", false);
       },
       {{3, 3}, {2, 3}}},
      {"scatter_reduce_amax",
       [](const Inputs& in) {
         return td::scatter_reduce(in[0], 0, td::tensor({{0, 1, 1}, {0, 2, 0}}).to(in[0].device()), in[1], "amax", true);
       },
       {{3, 3}, {2, 3}}},
      {"scatter_reduce_amax_alone",
       [](const Inputs& in) {
         return td::scatter_reduce(in[0], 0, td::tensor({{0, 1, 1}, {0, 2, 0}}).to(in[0].device()), in[1], "amax", false);
       },
       {{3, 3}, {2, 3}}},
      {"index_add",
       [](const Inputs& in) {
         return td::index_add(in[0], 1, td::tensor({1, 1}).to(in[0].device()), in[1], 0.5) * in[0];
       },
       {{2, 3}, {2, 2}}},
      {"index_copy_in_place",
       [](const Inputs& in) {
         auto y = in[0] * 1;
         y.index_copy_(0, td::tensor({2, 0}).to(in[0].device()), in[1]);
         return y * y;
       },
       {{3, 2}, {2, 2}}},
      {"masked_scatter", [](const Inputs& in) { return td::masked_scatter(in[0], in[0] > 0, in[1]) * in[1]; }, {{6}, {6}}},
      {"embedding",
       [](const Inputs& in) {
         return td::embedding(td::tensor({{1, 0}, {1, 3}}).to(in[0].device()), in[0]);
       },
       {{4, 2}}},
      {"tril", [](const Inputs& in) { return td::tril(in[0]) * in[0]; }, {{3, 3}}},
      {"masked_select", [](const Inputs& in) { return in[0].masked_select(in[0] > 0); }, {{6}}},
      {"softmax", [](const Inputs& in) { return td::softmax(in[0], 0) * in[1]; }, {{3, 2}, {3, 2}}},
      {"log_softmax", [](const Inputs& in) { return td::log_softmax(in[0], 1); }, {{2, 4}}},
      {"cross_entropy",
       [](const Inputs& in) {
         return td::cross_entropy(in[0], td::tensor({1, 0, 3}).to(in[0].device()));
       },
       {{3, 4}}},
      {"cross_entropy_smoothed",
       [](const Inputs& in) {
         return td::cross_entropy(
             in[0], td::tensor({1, -100, 3}).to(in[0].device()),
             {.weight = td::tensor({1., 2., .5, 1.5}, {.dtype = td::kFloat64, .device = in[0].device()}), .label_smoothing = 0.2});
       },
       {{3, 4}}},
      {"nll_loss",
       [](const Inputs& in) {
         return td::nll_loss(td::log_softmax(in[0], 1), td::tensor({1, 0}).to(in[0].device()));
       },
       {{2, 3}}},
      {"mse_loss", [](const Inputs& in) { return td::mse_loss(in[0], in[1]); }, {{2, 3}, {2, 3}}},
      {"l1_loss", [](const Inputs& in) { return td::l1_loss(in[0], in[1], {.reduction = td::Reduction::Sum}); }, {{2, 3}, {2, 3}}},
      {"smooth_l1_loss", [](const Inputs& in) { return td::smooth_l1_loss(in[0], in[1], {.beta = 0.7}); }, {{2, 3}, {3}}},
      {"huber_loss", [](const Inputs& in) { return td::huber_loss(in[0], in[1], {.delta = 0.7}); }, {{2, 3}, {2, 3}}},
      {"binary_cross_entropy",
       [](const Inputs& in) { return td::binary_cross_entropy(td::sigmoid(in[0]), td::sigmoid(in[1])); },
       {{2, 3}, {2, 3}}},
      {"binary_cross_entropy_with_logits",
       [](const Inputs& in) { return td::binary_cross_entropy_with_logits(in[0], td::sigmoid(in[1]), {.pos_weight = in[2] + 4}); },
       {{2, 3}, {2, 3}, {3}}},
      {"kl_div", [](const Inputs& in) { return td::kl_div(in[0], in[1] + 4, {.reduction = td::Reduction::BatchMean}); }, {{2, 3}, {2, 3}}},
      {"gaussian_nll_loss", [](const Inputs& in) { return td::gaussian_nll_loss(in[0], in[1], in[2] + 4); }, {{2, 3}, {2, 3}, {2, 1}}},
      {"multi_margin_loss",
       [](const Inputs& in) {
         return td::multi_margin_loss(in[0], td::tensor({1, 0}).to(in[0].device()), {.p = 2});
       },
       {{2, 4}}},
      {"cosine_embedding_loss",
       [](const Inputs& in) {
         return td::cosine_embedding_loss(in[0], in[1], td::tensor({1, -1}).to(in[0].device()));
       },
       {{2, 3}, {2, 3}}},
      {"triplet_margin_loss", [](const Inputs& in) { return td::triplet_margin_loss(in[0], in[1], in[2]); }, {{2, 3}, {2, 3}, {2, 3}}},
      {"to_and_back", [](const Inputs& in) { return in[0].to(td::try_gpu(1)).to(in[0].device()) * in[0]; }, {{3}}},
      {"in_place",
       [](const Inputs& in) {
         auto y = in[0] * 2;
         y.add_(in[1]).mul_(3);
         return td::exp(y * 0.1);
       },
       {{2, 3}, {3}}},
      {"in_place_view",
       [](const Inputs& in) {
         auto y = in[0] * 2;
         y.select(0, 1).add_(in[1]).mul_(3);
         return y * y;
       },
       {{2, 3}, {3}}},
      {"index_put",
       [](const Inputs& in) {
         auto y = in[0] * 1;
         y.index_put_({td::tensor({1, 0})}, in[1]);
         return y * y;
       },
       {{3, 2}, {2}}},
      {"copy_",
       [](const Inputs& in) {
         auto y = in[0] * 1;
         y.slice(1, 0, 2).copy_(in[1]);
         return y * y;
       },
       {{2, 3}, {2, 1}}},
  };
  return all;
}

class Gradients : public OnDevice {
 protected:
  static Inputs inputs_of(const Case& c) {
    td::manual_seed(5);
    Inputs inputs;
    for (const auto& sizes : c.sizes)
      inputs.push_back((td::rand(sizes, {.dtype = td::kFloat64, .device = device()}) * (c.high - c.low) + c.low).requires_grad_());
    return inputs;
  }
};

TEST_P(Gradients, AgreeWithFiniteDifferences) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    EXPECT_NO_THROW(td::autograd::gradcheck(c.f, inputs_of(c)));
  }
}

TEST_P(Gradients, OfGradientsAgreeWithFiniteDifferences) {
  for (const Case& c : cases()) {
    // prod's gradient is not differentiable again yet; norm and std divide by what finite differences move.
    if (std::string(c.name) == "prod_dim") continue;
    SCOPED_TRACE(c.name);
    EXPECT_NO_THROW(td::autograd::gradgradcheck(c.f, inputs_of(c)));
  }
}

// A result takes the memory of a temporary that nothing else holds, so what backward wants of one has to be kept before.
TEST_P(Gradients, AreTheSameWhereOtherOperandsAreTemporaries) {
  using Given = std::function<td::Operand(size_t)>;
  const struct {
    const char* name;
    size_t operands;
    std::function<td::Tensor(const Given&)> f;
  } functions[] = {
      {"threshold_backward", 2, [](const Given& in) { return td::threshold_backward(in(0), in(1), 0.1); }},
      {"hardtanh_backward", 2, [](const Given& in) { return td::hardtanh_backward(in(0), in(1), -0.5, 0.5); }},
      {"elu_backward", 2, [](const Given& in) { return td::elu_backward(in(0), in(1), 0.7, 1.2); }},
      {"sigmoid_backward", 2, [](const Given& in) { return td::sigmoid_backward(in(0), in(1)); }},
      {"tanh_backward", 2, [](const Given& in) { return td::tanh_backward(in(0), in(1)); }},
      {"add", 2, [](const Given& in) { return td::add(in(0), in(1), 3); }},
      {"mul", 2, [](const Given& in) { return td::mul(in(0), in(1)); }},
      {"div", 2, [](const Given& in) { return td::div(in(0), in(1)); }},
      {"atan2", 2, [](const Given& in) { return td::atan2(in(0), in(1)); }},
      {"maximum", 2, [](const Given& in) { return td::maximum(in(0), in(1)); }},
      {"lerp", 3, [](const Given& in) { return td::lerp(in(0), in(1), in(2)); }},
      {"addcmul", 3, [](const Given& in) { return td::addcmul(in(0), in(1), in(2), 2); }},
      {"addcdiv", 3, [](const Given& in) { return td::addcdiv(in(0), in(1), in(2), 2); }},
  };
  for (const auto& [name, operands, f] : functions)
    for (size_t leaf = 0; leaf < operands; ++leaf) {
      SCOPED_TRACE(td::str(name, ", operand ", leaf));
      Inputs all;
      for (size_t i = 0; i < operands; ++i) all.push_back(td::randn({40}, {.dtype = td::kFloat64, .device = device()}));
      all[leaf].requires_grad_();
      const auto gradient = [&](bool temporary) {
        std::deque<td::Tensor> clones;
        const td::Tensor y = f([&](size_t i) {
          if (!temporary || i == leaf) return td::Operand(all[i]);
          return td::Operand(std::move(clones.emplace_back(all[i].clone())));
        });
        return y.requires_grad() ? td::grad({y.sum()}, {all[leaf]})[0] : td::zeros_like(all[leaf]);
      };
      EXPECT_TRUE(td::equal(gradient(false), gradient(true)));
    }
}

INSTANTIATE_TEST_SUITE_P(Devices, Gradients, testing::Values("cpu", "cuda:0"), device_name);

}  // namespace
