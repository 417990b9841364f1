// Changes in place of views that were made while nothing was recorded.
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

constexpr const char* kRefused =
    "A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that this use case is ambiguous and "
    "error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either both inside the no_grad block "
    "(if you don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked).";

class UnrecordedViews : public OnDevice {
 protected:
  static bool refused(const std::string& error) { return error.find(kRefused) != std::string::npos; }
  static td::Tensor without_grad(const std::function<td::Tensor()>& f) {
    const td::NoGradGuard no_grad;
    return f();
  }
};

TEST_P(UnrecordedViews, OfWhatRequiresAGradientAreNotChangedInPlace) {
  const auto leaf = td::ones({2, 2}, {.device = device(), .requires_grad = true});
  const auto result = leaf * 1;
  for (const td::Tensor& base : {leaf, result}) {
    const auto view = without_grad([&] { return base.select(0, 0); });
    EXPECT_TRUE(refused(error_of([&] { view.mul_(2); })));
    EXPECT_TRUE(refused(error_of([&] { view.zero_(); })));
    EXPECT_TRUE(refused(error_of([&] { view.copy_(td::zeros({2}, device())); })));
    EXPECT_TRUE(refused(error_of([&] { view.add_(view, 2); })));
    EXPECT_TRUE(refused(error_of([&] { view.view({1, 2}).mul_(2); }))) << "a view of it, made while recording";
    EXPECT_TRUE(td::equal(base.detach(), td::ones({2, 2}, device()))) << "nothing was changed";
    const td::NoGradGuard no_grad;
    EXPECT_NO_THROW(view.mul_(1));
  }
}

TEST_P(UnrecordedViews, AreNotChangedInPlaceByWhatRequiresAGradient) {
  const auto base = td::ones({2, 2}, device());
  const auto w = td::full({2}, 3., {.device = device(), .requires_grad = true});
  const auto view = without_grad([&] { return base.select(0, 0); });
  const auto index = td::tensor({0, 1}, {.dtype = td::kInt64, .device = device()});
  EXPECT_TRUE(refused(error_of([&] { view.mul_(w); })));
  EXPECT_TRUE(refused(error_of([&] { view.copy_(w); })));
  EXPECT_TRUE(refused(error_of([&] { view.fill_(w.sum()); })));
  EXPECT_TRUE(refused(error_of([&] { view.scatter_(0, index, w); })));
  EXPECT_TRUE(refused(error_of([&] { view.index_put_({index}, w); })));
  EXPECT_TRUE(refused(error_of([&] { view.addcmul_(w, w); })));
  EXPECT_TRUE(td::equal(base, td::ones({2, 2}, device()))) << "nothing was changed";
  EXPECT_NO_THROW(view.mul_(2));
  EXPECT_TRUE(td::equal(base, td::tensor({{2., 2.}, {1., 1.}}, device())));
}

TEST_P(UnrecordedViews, BothInsideOrBothOutsideAreFine) {
  const auto x = td::ones({2, 2}, {.device = device(), .requires_grad = true});
  const auto y = x * 1;
  y.select(0, 0).mul_(2);
  y.sum().backward();
  EXPECT_TRUE(td::equal(x.grad(), td::tensor({{2., 2.}, {1., 1.}}, device())));
  without_grad([&] { return x.select(0, 0).mul_(2); });
  EXPECT_TRUE(td::equal(x.detach(), td::tensor({{2., 2.}, {1., 1.}}, device())));
  const auto detached = x.detach().select(0, 0);
  EXPECT_NO_THROW(detached.mul_(2));
}

TEST_P(UnrecordedViews, OfWhatNobodyElseSeesAreChangedInPlace) {
  const auto w = td::full({2}, 3., {.device = device(), .requires_grad = true});
  const auto alone = without_grad([&] { return td::ones({2, 2}, device()).mul(2).view({4}).slice(0, 0, 2); });
  alone.mul_(w);
  alone.sum().backward();
  EXPECT_TRUE(td::equal(w.grad(), td::full({2}, 2., device())));
}

TEST_P(UnrecordedViews, AreNotWhatAGradientIsMadeOf) {
  const auto w = td::full({4}, 3., {.device = device(), .requires_grad = true});
  const auto x = td::ones({2, 2}, {.device = device(), .requires_grad = true});
  const auto y = td::ones({2, 2}, {.device = device(), .requires_grad = true});
  const auto both = td::cat({x, y});
  const auto gradients = td::grad({both.view({8}) * 2}, {x, y}, {.grad_outputs = {td::ones({8}, device())}});
  EXPECT_NO_THROW(gradients[0].mul_(w.view({2, 2}))) << "its memory may be the other's too";
}

TEST_P(UnrecordedViews, OfALeafThatIsAViewItselfAreNotChangedInPlace) {
  const auto leaf = td::ones({4}, device()).view({2, 2});
  leaf.requires_grad_();
  EXPECT_NE(error_of([&] { leaf.select(0, 0).mul_(2); }).find("a view of a leaf Variable that requires grad"), std::string::npos);
  EXPECT_TRUE(leaf.is_leaf());
  const auto base = td::zeros({2, 2}, device());
  const auto row = base.select(0, 0);
  row.copy_(leaf.select(0, 1));
  EXPECT_NO_THROW(row.mul_(2)) << "the base has a history by now";
}

INSTANTIATE_TEST_SUITE_P(Devices, UnrecordedViews, testing::Values("cpu", "cuda:0"), device_name);

}  // namespace
