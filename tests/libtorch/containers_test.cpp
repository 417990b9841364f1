// Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict, and replicas of what they hold.
#include "libtorch/containers.h"

#include "dense.h"
#include "libtorch/parallel.h"
#include "libtorch/parameter_containers.h"
#include "libtorch/utils.h"
#include "ops/activation.h"

namespace {

using tandem::Tensor;
using tandem::testing::expect_near;
using tandem::testing::shown;
using tests::Dense;
namespace nn = torch::nn;

class TorchContainersOn : public tandem::testing::OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, TorchContainersOn, testing::Values("cpu", "cuda:0"), device_name);

TEST_P(TorchContainersOn, SequentialCallsOneAfterAnother) {
  nn::Sequential net({{"in", Dense(3, 4)}, {"out", Dense(4, 2)}});
  net->push_back(nn::Functional([](Tensor x) { return x - 10; }));
  net->to(device());
  const Tensor x = tandem::ones({1, 3}, {.device = device()});
  expect_near(net->forward(x), {2, 2});
  expect_near(net(x), {2, 2});
  EXPECT_EQ(net->named_parameters().keys(), (std::vector<std::string>{"in.weight", "out.weight"}));
  EXPECT_EQ(net->at<tests::DenseImpl>(1).in_features, 4);
  EXPECT_EQ(net->ptr(2), net[2]);
  auto copy = std::dynamic_pointer_cast<nn::SequentialImpl>(net->clone());
  EXPECT_EQ(copy->named_children().keys(), (std::vector<std::string>{"in", "out", "2"}));
  expect_near(copy->forward(x), {2, 2});
}

TEST(TorchContainers, SequentialNamesLinesAndTypes) {
  nn::Sequential net(Dense(3, 4), Dense(4, 2));
  try {
    net(tandem::ones({1, 5}));
    FAIL();
  } catch (const tandem::Error& error) {
    EXPECT_EQ(error.where().line, __LINE__ - 3);
    EXPECT_EQ(error.layer(), "0: tests::DenseImpl(in=3, out=4)");
  }
  try {
    net->forward<int>(tandem::ones({1, 3}));
    FAIL();
  } catch (const tandem::TypeError& error) {
    EXPECT_EQ(error.message(), "[Sequential.forward] The type of the return value is tandem::Tensor, but you asked for type int");
  }
  EXPECT_THROW(nn::Sequential()->forward(1), tandem::Error);
  EXPECT_THROW(net->ptr(2), tandem::IndexError);
}

TEST(TorchContainers, ListsInsertAndRename) {
  nn::ModuleList list(Dense(1, 1), Dense(2, 2));
  list->insert(1, Dense(5, 5));
  list->extend(std::vector<Dense>{Dense(7, 7)});
  EXPECT_EQ(list->size(), 4u);
  EXPECT_EQ(list->at<tests::DenseImpl>(1).in_features, 5);
  for (size_t i = 0; i < list->size(); ++i) EXPECT_EQ(list->named_children()[std::to_string(i)], list[i]);
  EXPECT_THROW(list->insert(9, Dense(1, 1)), tandem::IndexError);
  EXPECT_THROW(list->at<nn::SequentialImpl>(0), tandem::TypeError);
}

TEST(TorchContainers, DictsUpdateAndPop) {
  nn::ModuleDict dict(std::vector<std::pair<std::string, std::shared_ptr<nn::Module>>>{{"a", Dense(1, 1).ptr()}, {"b", Dense(2, 2).ptr()}});
  dict->update(std::vector<std::pair<std::string, std::shared_ptr<nn::Module>>>{{"a", Dense(3, 3).ptr()}});
  EXPECT_EQ(dict->at<tests::DenseImpl>("a").in_features, 3);
  EXPECT_EQ(dict->keys(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(dict->pop("b")->as<Dense>()->in_features, 2);
  EXPECT_FALSE(dict->contains("b"));
  EXPECT_THROW(dict["b"], tandem::Error);
}

TEST_P(TorchContainersOn, ParametersByIndexAndName) {
  const Tensor a = tandem::ones({2}, {.device = device(), .requires_grad = true}), b = tandem::zeros({3});
  nn::ParameterList list(a, b);
  EXPECT_TRUE(list[0].is_same(a));
  EXPECT_FALSE(list[1].requires_grad());
  EXPECT_EQ(shown(*list),
            "torch::nn::ParameterList(\n(0): Parameter containing: [Float of size [2]]\n"
            "(1): Parameter containing: [Float of size [3]]\n)");
  EXPECT_THROW(list->at(2), tandem::IndexError);
  nn::ParameterDict dict;
  dict->insert("a", a);
  dict->update(*dict);
  EXPECT_TRUE(dict->pop("a").is_same(a));
  EXPECT_TRUE(dict->empty());
}

TEST(TorchContainers, DataParallelAddsUpGradients) {
  auto model = std::make_shared<tests::DenseImpl>(3, 2);
  const Tensor x = tandem::arange(24).to(tandem::kFloat32).view({8, 3});
  const Tensor y = nn::parallel::data_parallel(model, x);
  EXPECT_EQ(y.device(), tandem::gpu(0));
  EXPECT_EQ(y.size(0), 8);
  y.sum().backward();
  const Tensor parallel = model->weight.grad().clone();
  model->zero_grad();
  model->forward(x).sum().backward();
  EXPECT_TRUE(tandem::equal(parallel, model->weight.grad()));
}

TEST_P(TorchContainersOn, ClipsGradients) {
  Dense dense(2, 2);
  dense->to(device());
  dense->forward(tandem::ones({1, 2}, {.device = device()})).sum().backward();
  EXPECT_NEAR(nn::utils::clip_grad_norm_(dense->parameters(), 1.0), 2, 1e-6);
  expect_near(dense->weight.grad(), {0.5, 0.5, 0.5, 0.5}, 1e-5);
  EXPECT_NEAR(nn::utils::clip_grad_norm_(dense->weight, 1.0, -1.0, /*error_if_nonfinite=*/true), 0.125, 1e-5);
  nn::utils::clip_grad_value_(dense->parameters(), 0.25);
  expect_near(dense->weight.grad(), {0.25, 0.25, 0.25, 0.25});
  dense->weight.grad().fill_(std::numeric_limits<double>::infinity());
  EXPECT_THROW(nn::utils::clip_grad_norm_(dense->parameters(), 1.0, 2.0, true), tandem::ValueError);
}

TEST_P(TorchContainersOn, ParametersAsOneVector) {
  Dense a(2, 1), b(1, 3);
  a->to(device());
  b->to(device());
  const std::vector<Tensor> all = {a->weight, b->weight};
  expect_near(nn::utils::parameters_to_vector(all), {1, 1, 1, 1, 1});
  nn::utils::vector_to_parameters(tandem::arange(5).to(device(), tandem::kFloat32), all);
  expect_near(a->weight, {0, 1});
  expect_near(b->weight, {2, 3, 4});
}

TEST_P(TorchContainersOn, PacksSequences) {
  namespace rnn = nn::utils::rnn;
  const auto on = tandem::Options{.device = device()};
  const auto packed = rnn::pack_sequence({tandem::ones({1}, on), tandem::full({3}, 2.0, on)}, /*enforce_sorted=*/false);
  expect_near(packed.data(), {2, 1, 2, 2});
  expect_near(packed.batch_sizes(), {2, 1, 1});
  const auto [padded, lengths] = rnn::pad_packed_sequence(packed.to(tandem::kFloat64), /*batch_first=*/true, -1);
  expect_near(padded, {1, -1, -1, 2, 2, 2});
  expect_near(lengths, {1, 3});
  EXPECT_THROW((void)rnn::pad_packed_sequence(packed, false, 0, 2), tandem::ValueError);
}

}  // namespace
