// Assignment to what a call has just given writes into the view; assignment to a variable makes it name another tensor.
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

using td::Ellipsis;
using td::Slice;
using td::Tensor;

class Assignment : public OnDevice {};

TEST_P(Assignment, ToAViewWritesIntoIt) {
  const Tensor x = td::zeros({3, 2}, device()), row = td::tensor({1., 2.}, device());
  x[0] = row;
  x[1][1] = 8.0;
  x.select(0, 2) = x[0] * 10;
  EXPECT_TRUE(td::equal(x.cpu(), td::tensor({{1., 2.}, {0., 8.}, {10., 20.}})));
  x.index({Ellipsis, 0}) = 5;
  x.slice(0, 1, 2) = td::tensor({{7., 6.}});  // from another device, broadcast
  EXPECT_TRUE(td::equal(x.cpu(), td::tensor({{5., 2.}, {7., 6.}, {5., 20.}})));
  x.index({Slice(0, 2), Slice()}) = x.index({Slice(1, 3), Slice()}).clone();
  x.t().select(0, 0)[2] = true;
  EXPECT_TRUE(td::equal(x.cpu(), td::tensor({{7., 6.}, {5., 20.}, {1., 20.}})));
  x[0] = x[1] = 3;
  EXPECT_TRUE(td::equal(x.cpu(), td::tensor({{3., 3.}, {3., 3.}, {1., 20.}})));
  x.index({Ellipsis}) = 4;
  EXPECT_TRUE(td::equal(x.cpu(), td::full({3, 2}, 4.)));
}

TEST_P(Assignment, ToAViewIsAChangeInPlaceWithItsGradient) {
  const Tensor x = td::ones({2, 2}, {.device = device(), .requires_grad = true}),
               v = td::ones({2}, {.device = device(), .requires_grad = true});
  const Tensor y = x * 2;
  const auto before = y.version();
  y[1] = v * 3;
  EXPECT_EQ(y.version(), before + 1);
  y.sum().backward();
  EXPECT_TRUE(td::equal(x.grad().cpu(), td::tensor({{2., 2.}, {0., 0.}})));
  EXPECT_TRUE(td::equal(v.grad().cpu(), td::tensor({3., 3.})));
  EXPECT_NE(error_of([&] { x[0] = 1; }).find("leaf"), std::string::npos);
  EXPECT_NE(error_of([&] { y[0] = td::ones({3}, device()); }).find("(3)"), std::string::npos);
}

TEST_P(Assignment, ThatWouldBeLostIsAnError) {
  const Tensor x = td::zeros({3}, device());
  EXPECT_NE(error_of([&] { x.index({x == 0}) = 5; }).find("index_put_"), std::string::npos);
  EXPECT_NE(error_of([&] { x + 1 = x; }).find("would be lost"), std::string::npos);
  EXPECT_NE(error_of([&] { Tensor() = x; }).find("undefined"), std::string::npos);
  EXPECT_TRUE(td::equal(x.cpu(), td::zeros({3})));
}

TEST_P(Assignment, ToMemoryOfTheCallersWritesIt) {
  float numbers[2] = {1, 2};
  td::from_blob(numbers, {2}) = 7;
  EXPECT_EQ(numbers[1], 7);
}

TEST_P(Assignment, ToAVariableRebinds) {
  const Tensor one = td::ones({2}, device()), two = td::full({2}, 2., device());
  Tensor a = one;
  a = two;
  EXPECT_TRUE(a.is_same(two));
  Tensor b = one;
  std::swap(a, b);
  EXPECT_TRUE(a.is_same(one) && b.is_same(two));
  std::tie(a, b) = std::make_tuple(two, one);
  EXPECT_TRUE(a.is_same(two) && b.is_same(one));
  EXPECT_TRUE(std::exchange(a, one).is_same(two) && a.is_same(one));

  std::vector<Tensor> list{one, two, a * 3};
  list.erase(list.begin());
  EXPECT_TRUE(list[0].is_same(two));
  list.insert(list.begin(), one);
  std::swap(list[0], list[1]);
  EXPECT_TRUE(list[0].is_same(two) && list[1].is_same(one));
  std::map<int, Tensor> named;
  named[1] = one;
  named.at(1) = two;
  EXPECT_TRUE(named[1].is_same(two));

  struct Holder {
    Tensor tensor;
    int number = 0;
  };
  Holder holder{one, 1};
  holder = Holder{two, 2};
  EXPECT_TRUE(holder.tensor.is_same(two));
  std::optional<Tensor> maybe = one;
  maybe = two;
  EXPECT_TRUE(maybe->is_same(two));
  EXPECT_TRUE(td::equal(one.cpu(), td::ones({2})));
  EXPECT_TRUE(td::equal(two.cpu(), td::full({2}, 2.)));
}

TEST_P(Assignment, OfAMovedFromVariableCopiesAsLibtorchDoes) {
  Tensor a = td::ones({2}, device());
  const Tensor same = a, b = td::full({2}, 2., device());
  std::move(a) = b;
  EXPECT_TRUE(a.is_same(same));
  EXPECT_TRUE(td::equal(same.cpu(), b.cpu()));
}

TEST_P(Assignment, CarriesItsLine) {
  const Tensor x = td::ones({2, 2}, {.device = device(), .requires_grad = true});
  const Tensor y = x * 2;
  const int line = __LINE__ + 1;
  y[1] = x[0];
  EXPECT_EQ(y.grad_fn()->site().line, line);
  EXPECT_NE(std::string(y.grad_fn()->site().file).find("assignment_test.cpp"), std::string::npos);
  y[0] = 3;
  EXPECT_EQ(y.grad_fn()->site().line, line + 3);
}

TEST_P(Assignment, OfAGradientReplacesIt) {
  const Tensor p = td::ones({2}, {.device = device(), .requires_grad = true});
  (p * 3).sum().backward();
  p.grad() = Tensor();
  EXPECT_FALSE(p.grad().defined());
  const Tensor g = td::full({2}, 5., device());
  p.grad() = g;
  EXPECT_TRUE(p.grad().is_same(g));
  p.grad()[0] = 1;
  EXPECT_TRUE(td::equal(g.cpu(), td::tensor({1., 5.})));
  td::optim::SGD sgd({p}, {.lr = 1});
  p.grad() = td::ones({3}, device());
  EXPECT_NE(error_of([&] { sgd.step(); }).find("sizes [2] and its gradient [3]"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Devices, Assignment, testing::Values("cpu", "cuda:0"), device_name);

static_assert(std::is_nothrow_move_assignable_v<Tensor> && std::is_nothrow_move_constructible_v<Tensor> &&
              std::is_copy_assignable_v<Tensor> && std::is_swappable_v<Tensor>);
// Neither a number for a variable, nor braces that say nothing for a view.
template <class T>
concept NumberForAVariable = requires(T t) {
  t = 1.0;
};
template <class T>
concept BracesForAView = requires(T t) {
  t[0] = {};
};
template <class T>
concept ThroughConst = requires(const T t) {
  t = t;
};
static_assert(!NumberForAVariable<Tensor> && !BracesForAView<Tensor> && !ThroughConst<Tensor>);

}  // namespace
