// Inference mode: what is made in it, views of what was there before, and what is refused outside of it.
#include <thread>

#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
using td::Tensor;

namespace {

class Inference : public OnDevice {
 protected:
  static Tensor ones(const td::Shape& sizes = {2, 3}) { return td::ones(sizes, device()); }
  static Tensor made_inside(const td::Shape& sizes = {2, 3}) {
    const td::InferenceMode inference;
    return ones(sizes);
  }
};

TEST_P(Inference, NestsAndIsOfItsThread) {
  EXPECT_FALSE(td::InferenceMode::is_enabled());
  {
    const td::InferenceMode inference;
    EXPECT_TRUE(td::InferenceMode::is_enabled());
    EXPECT_FALSE(td::is_grad_enabled());
    std::thread([] { EXPECT_FALSE(td::InferenceMode::is_enabled()); }).join();
    {
      const td::InferenceMode not_here(false);
      EXPECT_FALSE(td::InferenceMode::is_enabled());
      EXPECT_TRUE(td::is_grad_enabled());
      EXPECT_FALSE(ones().is_inference());
    }
    EXPECT_TRUE(td::InferenceMode::is_enabled());
  }
  EXPECT_FALSE(td::InferenceMode::is_enabled());
  EXPECT_TRUE(td::is_grad_enabled());
}

TEST_P(Inference, WhatIsMadeInItSaysSo) {
  const Tensor outside = ones().requires_grad_();
  const td::InferenceMode inference;
  const Tensor made = ones();
  const Tensor results[] = {made,
                            outside * 2,
                            made + outside,
                            made.view({6}),
                            made.detach(),
                            made[0],
                            outside.clone(),
                            td::cat({outside, outside}),
                            outside.to(td::kFloat64),
                            td::zeros_like(outside),
                            outside.max(1).indices,
                            outside.sum(),
                            std::move(made + 1) * 2};
  for (const Tensor& result : results) {
    EXPECT_TRUE(result.is_inference());
    EXPECT_FALSE(result.requires_grad());
    EXPECT_FALSE(result.is_view());
    EXPECT_TRUE(result.is_leaf());
  }
  EXPECT_FALSE(outside.is_inference());
  EXPECT_FALSE(outside.detach().is_inference());
  EXPECT_TRUE(ones().requires_grad_().requires_grad());
  made.mul_(3);
  EXPECT_TRUE(td::equal(made, td::full({2, 3}, 3.0, device())));
}

TEST_P(Inference, ResultsOutsideAreOrdinary) {
  const Tensor made = made_inside();
  for (const Tensor& result :
       {made * 2, made.clone(), made.to(td::kFloat64), td::cat({made, made}), made.detach(), std::move(made * 2) + 1}) {
    EXPECT_FALSE(result.is_inference());
    EXPECT_NO_THROW(result.mul_(2));
    EXPECT_NO_THROW(result.requires_grad_());
  }
  for (const Tensor& same : {made.view({6}), made[0], made.contiguous(), made.to(device())}) EXPECT_TRUE(same.is_inference());
  Tensor temporary = made_inside();
  const Tensor reused = std::move(temporary) * 2;  // it may have the memory of what was made inside
  EXPECT_FALSE(reused.is_inference());
  EXPECT_NO_THROW(reused.add_(1));
}

TEST_P(Inference, NothingOutsideChangesItInPlace) {
  const Tensor index = td::zeros({2, 3}, {.dtype = td::kInt64, .device = device()});
  const Tensor mask = td::ones({2, 3}, {.dtype = td::kBool, .device = device()});
  const Tensor other = ones(), square = ones({3, 3}), vector = ones({2});
  const std::pair<const char*, std::function<void(const Tensor&)>> changes[] = {
      {"mul_", [&](const Tensor& x) { x.mul_(2); }},
      {"add_", [&](const Tensor& x) { x.add_(other, 2); }},
      {"+=", [&](const Tensor& x) { Tensor(x) += 1; }},
      {"neg_", [&](const Tensor& x) { x.neg_(); }},
      {"relu_", [&](const Tensor& x) { x.relu_(); }},
      {"clamp_", [&](const Tensor& x) { x.clamp_(0, 1); }},
      {"lerp_", [&](const Tensor& x) { x.lerp_(other, 0.5); }},
      {"addcmul_", [&](const Tensor& x) { x.addcmul_(other, other); }},
      {"addmm_", [&](const Tensor& x) { x.addmm_(other, square); }},
      {"fill_", [&](const Tensor& x) { x.fill_(2); }},
      {"zero_", [&](const Tensor& x) { x.zero_(); }},
      {"copy_", [&](const Tensor& x) { x.copy_(other); }},
      {"x[0] =", [&](const Tensor& x) { x[0] = 8; }},
      {"index_put_", [&](const Tensor& x) { x.index_put_({mask}, 2); }},
      {"index_fill_", [&](const Tensor& x) { x.index_fill_(0, index[0], 2); }},
      {"index_add_", [&](const Tensor& x) { x.index_add_(0, index.view({6}).slice(0, 0, 2), other); }},
      {"index_copy_", [&](const Tensor& x) { x.index_copy_(0, index.view({6}).slice(0, 0, 2), other); }},
      {"masked_fill_", [&](const Tensor& x) { x.masked_fill_(mask, 2); }},
      {"masked_scatter_", [&](const Tensor& x) { x.masked_scatter_(mask, other); }},
      {"scatter_", [&](const Tensor& x) { x.scatter_(0, index, other); }},
      {"scatter_add_", [&](const Tensor& x) { x.scatter_add_(0, index, other); }},
      {"cumsum_", [&](const Tensor& x) { x.cumsum_(0); }},
      {"tril_", [&](const Tensor& x) { x.tril_(); }},
      {"t_", [&](const Tensor& x) { x.t_(); }},
      {"squeeze_", [&](const Tensor& x) { x.squeeze_(); }},
      {"unsqueeze_", [&](const Tensor& x) { x.unsqueeze_(0); }},
      {"normal_", [&](const Tensor& x) { x.normal_(); }},
      {"uniform_", [&](const Tensor& x) { x.uniform_(); }},
      {"bernoulli_", [&](const Tensor& x) { x.bernoulli_(0.5); }},
      {"exponential_", [&](const Tensor& x) { x.exponential_(); }},
      {"random_", [&](const Tensor& x) { x.random_(); }},
      {"nan_to_num_", [&](const Tensor& x) { x.nan_to_num_(); }},
      {"resize_", [&](const Tensor& x) { x.resize_({2}); }},
      {"a view", [&](const Tensor& x) { x.select(1, 0).mul_(vector); }},
  };
  for (const auto& [name, change] : changes) {
    const Tensor made = made_inside();
    EXPECT_NE(error_of([&] { change(made); }).find("Inplace update to inference tensor outside InferenceMode is not allowed"),
              std::string::npos)
        << name;
    const td::NoGradGuard no_grad;
    EXPECT_NE(error_of([&] { change(made); }).find("Inplace update to inference tensor outside InferenceMode is not allowed"),
              std::string::npos)
        << name << " where nothing is recorded";
    EXPECT_TRUE(td::equal(made, ones())) << name;
    const td::InferenceMode inference;
    EXPECT_EQ(error_of([&] { change(made); }), "no error") << name;
    EXPECT_TRUE(made.is_inference());
  }
}

TEST_P(Inference, IsNotKeptForBackward) {
  const Tensor w = ones().requires_grad_();
  const Tensor made = made_inside();
  const std::string refused = error_of([&] { (void)(w * made); });
  EXPECT_NE(refused.find("Inference tensors cannot be saved for backward"), std::string::npos) << refused;
  (w + made).sum().backward();  // nothing of it is kept
  EXPECT_TRUE(td::equal(w.grad(), ones()));
  (w * made.clone()).sum().backward();
  EXPECT_TRUE(td::equal(w.grad(), td::full({2, 3}, 2.0, device())));
}

TEST_P(Inference, ALeafOfItGetsAGradientBesideOthers) {
  Tensor made;
  {
    const td::InferenceMode inference;
    made = ones().requires_grad_();
  }
  EXPECT_FALSE((made * made).requires_grad()) << "of such tensors alone nothing is recorded";
  const Tensor w = ones().requires_grad_();
  (made + w).sum().backward();
  EXPECT_TRUE(td::equal(made.grad(), ones()));
  EXPECT_NE(error_of([] { made_inside().requires_grad_(); }).find("Setting requires_grad=True on inference tensor outside InferenceMode"),
            std::string::npos);
  EXPECT_EQ(error_of([] { made_inside().requires_grad_(false); }), "no error");
}

TEST_P(Inference, ViewsOfWhatWasThereBeforeAreThoseOfNoGrad) {
  for (const bool required : {true, false}) {
    const Tensor leaf = ones().requires_grad_(required);
    const Tensor base = leaf.clone();
    Tensor view;
    {
      const td::InferenceMode inference;
      view = base.view({6});
      EXPECT_FALSE(view.is_inference());
      EXPECT_EQ(view.requires_grad(), required);
      EXPECT_TRUE(view.is_leaf());
      view.view({3, 2}).mul_(2);
      EXPECT_EQ(base.version(), view.version());
    }
    EXPECT_TRUE(td::equal(base.detach(), td::full({2, 3}, 2.0, device())));
    const std::string refused = error_of([&] { view.mul_(2); });
    if (required) {
      EXPECT_NE(refused.find("A view was created in inference mode and is being modified inplace in normal mode"), std::string::npos)
          << refused;
      const td::NoGradGuard no_grad;
      const Tensor again = view.view({3, 2});
      const td::EnableGradGuard recorded;
      EXPECT_NE(error_of([&] { again.mul_(2); }).find("created in inference mode"), std::string::npos);
    } else {
      EXPECT_EQ(refused, "no error");
    }
  }
}

TEST_P(Inference, AChangeInItIsFoundOutByBackward) {
  const Tensor a = ones().requires_grad_().clone();
  const Tensor y = a * a;
  {
    const td::InferenceMode inference;
    a.mul_(2);
  }
  EXPECT_NE(error_of([&] { y.sum().backward(); }).find("modified by an inplace operation"), std::string::npos);
}

TEST_P(Inference, HasNoVersion) {
  EXPECT_NE(error_of([] { (void)made_inside().version(); }).find("Inference tensors do not track version counter"), std::string::npos);
  EXPECT_EQ(made_inside().clone().version(), 0U);
}

TEST_P(Inference, LazyParametersThatAreMadeInItAreTrained) {
  td::nn::Sequential net(td::nn::LazyConv1d(4, 1), td::nn::LazyBatchNorm1d(), td::nn::Flatten(), td::nn::LazyLinear(2));
  net.to(device());
  {
    const td::InferenceMode inference;
    EXPECT_TRUE(net(ones({5, 3, 2})).is_inference());
  }
  net(ones({5, 3, 2})).sum().backward();
  for (const auto& [name, parameter] : net.named_parameters()) {
    EXPECT_FALSE(parameter.is_inference()) << name;
    EXPECT_TRUE(parameter.grad().defined()) << name;
  }
}

TEST_P(Inference, ModulesRunInIt) {
  td::manual_seed(1);
  auto net = td::nn::Sequential(td::nn::Linear(3, 4), td::nn::BatchNorm1d(4), td::nn::ReLU(), td::nn::Linear(4, 2));
  net.to(device());
  const Tensor x = td::randn({5, 3}, device());
  net.eval();
  Tensor inside;
  {
    const td::InferenceMode inference;
    inside = net(x);
  }
  EXPECT_TRUE(td::allclose(inside, net(x).detach()));
  net.train();
  {
    const td::InferenceMode inference;
    (void)net(x);  // changes the running averages, which were made outside
  }
  net(x).sum().backward();
  td::optim::SGD(net.parameters(), {.lr = 0.1}).step();
  EXPECT_NE(error_of([&] { inside.add_(1); }), "");
}

INSTANTIATE_TEST_SUITE_P(Devices, Inference, testing::Values("cpu", "cuda:0"), device_name);

}  // namespace
