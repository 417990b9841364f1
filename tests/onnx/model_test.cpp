// ONNX models against tandem's own operations, on every device.
#include "onnx/model.h"

#include <gtest/gtest.h>

#include "onnx/builder.h"
#include "support/files.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
using onnx_test::GraphBuilder;

namespace {

td::onnx::Model loaded(const GraphBuilder& graph, int64_t opset = 17) {
  write_file("model.onnx", graph.file(opset));
  return td::onnx::load("model.onnx");
}

void expect_close(const td::Tensor& found, const td::Tensor& wanted) {
  ASSERT_EQ(found.sizes(), wanted.sizes());
  ASSERT_EQ(found.device(), wanted.device());
  EXPECT_TRUE(td::allclose(found, wanted, 1e-4, 1e-5)) << found << wanted;
}

/// A small network of pictures: convolution, batch normalization, pooling, and a linear layer after sizes that are computed.
struct Pictures {
  td::Tensor weight = td::randn({4, 3, 3, 3}), bias = td::randn({4}), scale = td::rand({4}) + 0.5, shift = td::randn({4});
  td::Tensor mean = td::randn({4}), var = td::rand({4}) + 0.5, linear = td::randn({5, 4}), offset = td::randn({5});

  [[nodiscard]] GraphBuilder graph() const {
    GraphBuilder g;
    g.input("x", td::kFloat32, {"N", "3", "8", "8"}).output("y");
    g.initializer("conv.weight", weight).initializer("conv.bias", bias);
    g.initializer("bn.weight", scale).initializer("bn.bias", shift).initializer("bn.mean", mean).initializer("bn.var", var);
    g.initializer("fc.weight", linear).initializer("fc.bias", offset).initializer("rest", td::tensor({-1}));
    g.node("Conv", {"x", "conv.weight", "conv.bias"}, {"a"}, {{"pads", {1, 1, 1, 1}}, {"strides", {2, 2}}});
    g.node("BatchNormalization", {"a", "bn.weight", "bn.bias", "bn.mean", "bn.var"}, {"b"}, {{"epsilon", 1e-3}});
    g.node("Relu", {"b"}, {"c"}).node("GlobalAveragePool", {"c"}, {"d"});
    g.node("Shape", {"d"}, {"sizes"}).node("Constant", {}, {"zero"}, {{"value", td::tensor(0)}});
    g.node("Gather", {"sizes", "zero"}, {"n"}).node("Constant", {}, {"axes"}, {{"value", td::tensor({0})}});
    g.node("Unsqueeze", {"n", "axes"}, {"n1"}).node("Concat", {"n1", "rest"}, {"two"}, {{"axis", 0}});
    g.node("Reshape", {"d", "two"}, {"e"}).node("Gemm", {"e", "fc.weight", "fc.bias"}, {"y"}, {{"transB", 1}});
    return g;
  }
  [[nodiscard]] td::Tensor forward(const td::Tensor& x) const {
    const auto on = [&](const td::Tensor& t) { return t.to(x.device()); };
    td::Tensor y = td::conv2d(x, on(weight), on(bias), {.stride = 2, .padding = 1});
    y = td::relu(td::batch_norm(y, on(mean), on(var), {.weight = on(scale), .bias = on(shift), .eps = 1e-3}));
    return td::linear(y.mean(td::Shape{2, 3}), on(linear), on(offset));
  }
};

}  // namespace

class OnnxModel : public OnDevice {};

TEST_P(OnnxModel, GivesWhatItsOperationsGive) {
  const Pictures pictures;
  auto model = loaded(pictures.graph());
  model.to(device());
  for (const int64_t n : {1, 3}) {
    const td::Tensor x = td::randn({n, 3, 8, 8}).to(device());
    expect_close(model(x), pictures.forward(x));
    expect_close(model.run_in_order({x})[0], pictures.forward(x));
    expect_close(model.run({{"x", x}}).at("y"), pictures.forward(x));
  }
}

TEST_P(OnnxModel, HasParametersAndBuffersByTheirNames) {
  auto model = loaded(Pictures().graph());
  model.to(device());
  std::vector<std::string> parameters, buffers;
  for (const auto& [name, tensor] : model.named_parameters()) parameters.push_back(name);
  for (const auto& [name, tensor] : model.named_buffers()) {
    buffers.push_back(name);
    EXPECT_EQ(tensor.device(), td::ones({1}).to(device()).device());
  }
  EXPECT_EQ(parameters, (std::vector<std::string>{"conv.weight", "conv.bias", "bn.weight", "bn.bias", "fc.weight", "fc.bias"}));
  EXPECT_EQ(buffers, (std::vector<std::string>{"bn.mean", "bn.var", "rest", "zero", "axes"}));
  EXPECT_FALSE(model.state_dict().contains("zero"));
  EXPECT_EQ(model.summary().parameters, 4 * 27 + 4 + 8 + 25);
}

TEST_P(OnnxModel, IsTrained) {
  const Pictures pictures;
  auto model = loaded(pictures.graph());
  model.to(device());
  const td::Tensor x = td::randn({6, 3, 8, 8}).to(device()), target = td::tensor({0, 1, 2, 3, 4, 0}).to(device());
  td::optim::Adam adam(model.parameters(), {.lr = 0.05});
  const double first = td::cross_entropy(model(x), target).item<double>();
  double last = first;
  for (int i = 0; i < 30; ++i) {
    adam.zero_grad();
    const td::Tensor loss = td::cross_entropy(model(x), target);
    loss.backward();
    adam.step();
    last = loss.item<double>();
  }
  EXPECT_LT(last, first / 2);
}

TEST_P(OnnxModel, CopiesShareAndClonesDoNot) {
  auto model = loaded(Pictures().graph());
  model.to(device());
  const td::Tensor x = td::randn({1, 3, 8, 8}).to(device()), before = model(x).detach().clone();
  auto copy = model;
  auto apart = td::nn::clone(model);
  {
    const td::NoGradGuard no_grad;
    model.parameters()[0].zero_();
  }
  EXPECT_FALSE(td::allclose(model(x), before));
  expect_close(copy(x), model(x));
  expect_close(apart(x), before);
}

TEST_P(OnnxModel, ChoosesABranchThatSeesTheNamesAround) {
  GraphBuilder then_graph, else_graph, g;
  then_graph.node("Mul", {"x", "w"}, {"t"}).output("t");
  else_graph.initializer("w2", td::tensor({10.f})).node("Add", {"x", "w2"}, {"e"}).output("e");
  g.input("x", td::kFloat32, {"N"}).input("flag", td::kBool).initializer("w", td::tensor({2.f, 3.f})).output("y");
  g.node("If", {"flag"}, {"y"}, {{"then_branch", then_graph.message()}, {"else_branch", else_graph.message()}});
  auto model = loaded(g);
  model.to(device());
  const td::Tensor x = td::tensor({1.f, 2.f}).to(device());
  expect_close(model.run_in_order({x, td::tensor(true).to(device())})[0], td::tensor({2.f, 6.f}).to(device()));
  expect_close(model.run_in_order({x, td::tensor(false)})[0], td::tensor({11.f, 12.f}).to(device()));
}

TEST_P(OnnxModel, LoopsAndCollects) {
  GraphBuilder body, g;
  body.input("i", td::kInt64).input("go", td::kBool).input("a").output("go_on", td::kBool).output("b").output("each");
  body.node("Identity", {"go"}, {"go_on"}).node("Add", {"a", "step"}, {"b"}).node("Identity", {"b"}, {"each"});
  g.input("step").input("start").output("last").output("all");
  g.node("Constant", {}, {"times"}, {{"value", td::tensor(3)}});
  g.node("Loop", {"times", "", "start"}, {"last", "all"}, {{"body", body.message()}});
  auto model = loaded(g);
  model.to(device());
  const auto out = model.run_in_order({td::tensor({2.f}).to(device()), td::tensor({1.f}).to(device())});
  expect_close(out[0], td::tensor({7.f}).to(device()));
  expect_close(out[1], td::tensor({{3.f}, {5.f}, {7.f}}).to(device()));
}

TEST_P(OnnxModel, ShapeArithmeticAsksNoDevice) {
  auto model = loaded(Pictures().graph());
  model.to(device());
  const td::NoGradGuard no_grad;
  const td::Tensor x = td::randn({2, 3, 8, 8}).to(device());
  (void)model(x);
  EXPECT_EQ(td::ledger::waits([&] { (void)model(x); }), "") << "nothing of the model's sizes is a GPU's to compute";
}

INSTANTIATE_TEST_SUITE_P(Devices, OnnxModel, testing::Values("cpu", "cuda:0", "cuda:1"), device_name);

TEST(OnnxModels, AreCompiled) {
  const Pictures pictures;
  auto model = loaded(pictures.graph());
  model.eval();
  auto fast = td::compile(model);
  const td::NoGradGuard no_grad;
  const td::Tensor x = td::randn({2, 3, 8, 8});
  (void)fast(x);
  expect_close(fast(x), pictures.forward(x));
  EXPECT_EQ(fast.why(), "");
  EXPECT_NE(fast.steps(), "");
}

TEST(OnnxModels, SayWhatGoesInAndComesOut) {
  auto model = loaded(Pictures().graph());
  ASSERT_EQ(model.inputs().size(), 1U);
  EXPECT_EQ(model.inputs()[0].name, "x");
  EXPECT_EQ(model.inputs()[0].dtype, td::kFloat32);
  ASSERT_EQ(model.inputs()[0].sizes.size(), 4U);
  EXPECT_EQ(model.inputs()[0].sizes[0].name, "N");
  EXPECT_EQ(model.inputs()[0].sizes[1].size, 3);
  EXPECT_EQ(model.outputs()[0].name, "y");
  EXPECT_EQ(model.summary().operators.at("Conv"), 1);
}

TEST(OnnxModels, RefuseWrongInputs) {
  auto model = loaded(Pictures().graph());
  const td::Tensor x = td::randn({1, 3, 8, 8});
  EXPECT_EQ(error_of([&] { (void)model.run({{"z", x}}); }), "[onnx::run] model.onnx: there is no input 'z'; there is 'x'");
  EXPECT_EQ(error_of([&] { (void)model.run({}); }), "[onnx::run] model.onnx: input 'x' is missing");
  EXPECT_EQ(error_of([&] { (void)model(td::arange(3)); }), "[onnx::run] model.onnx: input 'x' is of int64, but the model takes float32");
  EXPECT_EQ(error_of([&] {
              (void)model(td::randn({2, 3}));
            }),
            "[onnx::run] model.onnx: input 'x' has the sizes [2, 3], but the model takes 4 dimensions");
  EXPECT_NE(error_of([&] { (void)model(td::randn({1, 4, 8, 8})); }).find("model.onnx: node 'make_a' (Conv): "), std::string::npos);
  EXPECT_EQ(error_of([] { (void)td::onnx::Model()(td::ones({1})); }), "[onnx::run] the model is empty: onnx::load gives one that is not");
}

TEST(OnnxModels, TakeFunctionsOfTheirOwn) {
  GraphBuilder g;
  g.input("x").output("y").node("Twice", {"x"}, {"t"}, {}, "mine").node("Twice", {"t"}, {"y"}, {}, "mine");
  onnx_test::Message add, function;
  add.bytes(1, "a").bytes(1, "a").bytes(2, "b").bytes(4, "Add");
  function.bytes(1, "Twice").bytes(10, "mine").bytes(4, "a").bytes(5, "b").message(7, add);
  onnx_test::Message model;
  model.message(7, g.message()).message(8, onnx_test::Message().integer(2, 17)).message(25, function);
  write_file("function.onnx", model.str());
  expect_close(td::onnx::load("function.onnx")(td::tensor({1.f, 2.f})), td::tensor({4.f, 8.f}));
}
