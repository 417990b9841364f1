// Where errors belong: the caller's line and the path of the layer.
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "base/rethrow.h"
#include "tandem.h"

namespace td = tandem;

namespace {

struct Block : td::nn::Module {
  td::nn::Linear fc1{4, 8}, fc2{9, 2};
  void fields(td::nn::Fields& f) override {
    f("fc1", fc1);
    f("fc2", fc2);
  }
  td::Tensor forward(const td::Tensor& x) override { return fc2(fc1(x)); }
  static constexpr int kLine = __LINE__ - 1;
};

struct Net : td::nn::Module {
  td::nn::Sequential net{td::nn::Identity(), Block()};
  void fields(td::nn::Fields& f) override { f("net", net); }
  td::Tensor forward(const td::Tensor& x) override { return net(x); }
};

struct Pair : td::nn::Callable<Pair> {
  td::nn::Linear left{4, 2};
  void fields(td::nn::Fields& f) override { f("left", left); }
  td::Tensor forward(const td::Tensor& a, const td::Tensor& b) { return left(a) + left(b); }
};

template <class F>
td::Error error_of(F&& f) {
  try {
    f();
  } catch (const td::Error& error) {
    return error;
  }
  return td::Error("no error");
}

const char* const kLayer = "net.1.fc2: Linear(in_features=9, out_features=2, bias=True)";

TEST(Place, IsTheLineAndTheLayer) {
  Net net;
  const td::Error error = error_of([&] { net(td::ones({3, 4})); });
  EXPECT_EQ(error.layer(), kLayer);
  EXPECT_STREQ(error.where().file, __FILE__);
  EXPECT_EQ(error.where().line, Block::kLine);  // the innermost line of the user's
  EXPECT_EQ(error.what(), td::str(error.message(), " (in ", kLayer, ", at ", __FILE__, ":", Block::kLine, ")"));
}

TEST(Place, IsKnownWhereAModuleTakesTwoTensors) {
  Pair pair;
  EXPECT_EQ(error_of([&] { pair(td::ones({3, 4}), td::ones({3, 5})); }).layer(), "left: Linear(in_features=4, out_features=2, bias=True)");
}

TEST(Place, IsKnownWhereALayerRunsWithItsActivation) {
  td::nn::Sequential net(td::nn::Linear(2, 3), td::nn::ReLU());
  EXPECT_EQ(error_of([&] { net(td::ones({3, 4})); }).layer(), "0: Linear(in_features=2, out_features=3, bias=True)");
}

TEST(Place, OfTheUsersOwnErrorsIsTheLayer) {
  struct Refusing : td::nn::Module {
    td::Tensor forward(const td::Tensor&) override { throw td::IndexError("not mine"); }
  };
  td::nn::Sequential net{Refusing()};
  EXPECT_THROW(net(td::ones({1})), td::IndexError);
  EXPECT_EQ(error_of([&] { net(td::ones({1})); }).layer().rfind("0: Refusing", 0), 0U);
}

TEST(Place, IsKnownInThreadsOfReplicas) {
  td::nn::Sequential net(td::nn::Linear(4, 2));
  net.cuda(0);
  td::parallel::DataParallel wrapper(net, {"cuda:0", "cuda:1"});
  const td::Tensor x = td::ones({4, 3}, "cuda:0");
  const td::Error error = error_of([&] { wrapper(x); });
  EXPECT_STREQ(error.where().file, __FILE__);
  EXPECT_EQ(error.where().line, __LINE__ - 2);
  EXPECT_EQ(error.layer(), "module.0: Linear(in_features=4, out_features=2, bias=True)") << error.what();
}

TEST(Place, OfThreadsIsEachOnesOwn) {
  std::string other;
  const auto work = [&] { other = td::str(error_of([] { (void)td::ones({2}).view({3}); }).where().line); };
  const int line = __LINE__ - 1;
  const td::Error error = error_of([&] {
    std::thread(work).join();
    (void)td::ones({2}).view({5});
  });
  EXPECT_EQ(other, std::to_string(line));
  EXPECT_EQ(error.where().line, __LINE__ - 3);
}

TEST(Place, IsNoneAfterTheStatement) {
  (void)td::ones({2}).sum();
  EXPECT_EQ(td::Error("mine").where().line, 0);
  EXPECT_STREQ(td::Error("mine").what(), "mine");
}

TEST(Place, StaysWhereMoreIsSaid) {
  const td::Error error = error_of([] {
    try {
      (void)td::ones({2, 3}).view({4, 2});
    } catch (...) {
      td::rethrow_named("sample 3: ");
    }
  });
  EXPECT_EQ(error.message().rfind("sample 3: [view]", 0), 0U);
  EXPECT_STREQ(error.where().file, __FILE__);
  EXPECT_EQ(std::string(error.what()).find("(at "), std::string(error.what()).rfind("(at "));
}

TEST(Place, OfQueuedWorkIsTheLineThatQueuedIt) {
  const td::Tensor x = td::full({1}, 99, {.dtype = td::kInt64}).cuda(0);
  const td::Tensor weight = td::ones({10, 2}).cuda(0);
  const td::Tensor y = td::embedding(x, weight);
  const int line = __LINE__ - 1;
  const td::Error error = error_of([] { td::cuda::synchronize(0); });
  EXPECT_EQ(error.where().line, line);
  EXPECT_STREQ(error.where().file, __FILE__);
  EXPECT_EQ(std::string(error.what()), error.message());  // which names it
}

}  // namespace
