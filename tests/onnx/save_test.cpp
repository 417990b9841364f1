// Modules written as ONNX files, read again, and compared on other inputs and other batches than those of the trace.
#include "onnx/save.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "onnx/model.h"
#include "onnx/proto.h"
#include "support/files.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
namespace nn = tandem::nn;
namespace onnx = tandem::onnx;

namespace {

using Tensors = std::vector<td::Tensor>;

/// The file's nodes of one operator.
int64_t count_of(const std::string& path, const std::string& op) {
  const auto operators = onnx::summarize(path).operators;
  const auto at = operators.find(op);
  return at == operators.end() ? 0 : at->second;
}

void expect_close(const td::Tensor& found, const td::Tensor& wanted, double limit = 1e-4) {
  ASSERT_EQ(found.sizes(), wanted.sizes());
  ASSERT_EQ(found.dtype(), wanted.dtype());
  EXPECT_TRUE(td::allclose(found, wanted, limit, limit)) << found << wanted;
}

const std::map<int64_t, onnx::Dim> kBatch = {{0, "batch"}};

/// Two tensors in, two out.
struct Pair : nn::Callable<Pair> {
  nn::Linear linear{4, 4};
  void fields(nn::Fields& f) override { f("linear", linear); }
  std::pair<td::Tensor, td::Tensor> forward(const td::Tensor& a, const td::Tensor& b) { return {linear(a) + b, a * b}; }
};

/// Any forward around a linear layer.
struct Around : nn::Module {
  nn::Linear linear{4, 4};
  td::Tensor counter = td::zeros({4});
  std::function<td::Tensor(Around&, const td::Tensor&)> body;
  explicit Around(std::function<td::Tensor(Around&, const td::Tensor&)> f) : body(std::move(f)) {}
  void fields(nn::Fields& f) override {
    f("linear", linear);
    f.buffer("counter", counter);
  }
  td::Tensor forward(const td::Tensor& x) override { return body(*this, x); }
};

}  // namespace

class OnnxSave : public OnDevice {
 protected:
  /// The file of a module gives what the module gives, for these batches.
  void check(nn::Module& model, const td::Shape& sizes, double limit = 1e-4, const std::map<int64_t, onnx::Dim>& axes = kBatch,
             const std::vector<td::Shape>& others = {}) {
    model.to(device());
    model.eval();
    const td::NoGradGuard no_grad;
    onnx::save(model, td::randn(sizes).to(device()), "net.onnx",
               {.input_names = {"x"}, .output_names = {"y"}, .dynamic_axes = {{"x", axes}}});
    auto loaded = onnx::load("net.onnx");
    loaded.to(device());
    std::vector<td::Shape> all = {sizes};
    all.insert(all.end(), others.begin(), others.end());
    for (const int64_t n : {1, 5}) {
      td::Shape other = sizes;
      other[0] = n;
      all.push_back(other);
    }
    for (const td::Shape& each : all) {
      const td::Tensor x = td::randn(each).to(device());
      expect_close(loaded(x), model(x), limit);
    }
  }
  static void SetUpTestSuite() { td::manual_seed(11); }
};

TEST_P(OnnxSave, WritesAPerceptron) {
  auto model = td::models::mlp({20, 32, 3});
  check(model, {4, 20});
  EXPECT_EQ(count_of("net.onnx", "Gemm"), 2);
  EXPECT_EQ(onnx::summarize("net.onnx").inputs[0].sizes[0].name, "batch");
  EXPECT_EQ(onnx::summarize("net.onnx").outputs[0].sizes[0].name, "batch");
}

TEST_P(OnnxSave, WritesResNetWithItsBatchNormalizations) {
  auto model = td::models::resnet18({.num_classes = 10});
  for (auto& [name, buffer] : model.named_buffers())
    if (name.ends_with("running_var")) buffer.uniform_(0.5, 1.5);
  check(model, {2, 3, 64, 64}, 1e-3, {{0, "batch"}, {2, "height"}, {3, "width"}}, {{1, 3, 33, 77}});
  EXPECT_EQ(count_of("net.onnx", "BatchNormalization"), 20);
  EXPECT_EQ(count_of("net.onnx", "Conv"), 20);
  const auto parameters = onnx::load("net.onnx").named_parameters();
  const auto own = model.state_dict();
  for (const auto& [name, tensor] : parameters) EXPECT_TRUE(own.contains(name)) << name;
}

TEST_P(OnnxSave, WritesATransformerForAnyBatchAndLength) {
  nn::TransformerEncoderLayer layer(16, 4, {.dim_feedforward = 32, .batch_first = true});
  struct Encoder : nn::Module {
    nn::TransformerEncoder encoder;
    explicit Encoder(const nn::TransformerEncoder& e) : encoder(e) {}
    void fields(nn::Fields& f) override { f("encoder", encoder); }
    td::Tensor forward(const td::Tensor& x) override { return encoder(x); }
  } encoder{nn::TransformerEncoder(layer, 2)};
  check(encoder, {2, 9, 16}, 1e-3, {{0, "n"}, {1, "t"}}, {{3, 70, 16}, {1, 33, 16}});
  EXPECT_EQ(count_of("net.onnx", "LayerNormalization"), 4);
}

TEST_P(OnnxSave, WritesRecurrentNetworks) {
  const auto test = [&](auto& network, const char* op, const td::Shape& sizes) {
    network.to(device());
    const td::Tensor x = td::randn(sizes).to(device());
    onnx::save(network, x, "recurrent.onnx", {.input_names = {"x"}, .dynamic_axes = {{"x", {{0, "t"}, {1, "n"}}}}});
    EXPECT_EQ(count_of("recurrent.onnx", op), 2);
    auto loaded = onnx::load("recurrent.onnx");
    loaded.to(device());
    for (const td::Shape& each : {sizes, td::Shape{1, 1, sizes[2]}, td::Shape{11, 4, sizes[2]}}) {
      const td::Tensor input = td::randn(each).to(device());
      auto result = network(input);
      const auto wanted = nn::detail::tensors_of(result);
      const auto found = loaded.run_in_order({input});
      ASSERT_EQ(found.size(), wanted.size());
      for (size_t i = 0; i < found.size(); ++i) expect_close(found[i], wanted[i]);
    }
  };
  nn::LSTM lstm(5, 7, {.num_layers = 2, .bidirectional = true});
  test(lstm, "LSTM", {3, 2, 5});
  nn::GRU gru(5, 7, {.num_layers = 2});
  test(gru, "GRU", {3, 2, 5});
  nn::RNN rnn(5, 7, {.num_layers = 2, .nonlinearity = "relu"});
  test(rnn, "RNN", {3, 2, 5});
}

TEST_P(OnnxSave, WritesSingleStepsOfRecurrentNetworks) {
  nn::LSTMCell lstm(4, 6);
  nn::GRUCell gru(4, 6);
  lstm.to(device());
  gru.to(device());
  const td::NoGradGuard no_grad;
  const auto both = [&](const Tensors& in) {
    auto state = lstm(in[0]);
    auto parts = nn::detail::tensors_of(state);
    parts.push_back(gru(in[0]));
    return parts;
  };
  onnx::Savable savable{{}, both};
  for (const auto& [name, tensor] : lstm.named_parameters()) savable.tensors.emplace_back("lstm." + name, tensor);
  for (const auto& [name, tensor] : gru.named_parameters()) savable.tensors.emplace_back("gru." + name, tensor);
  onnx::save(savable, {td::randn({3, 4}).to(device())}, "cells.onnx", {.dynamic_axes = {{"input_0", kBatch}}});
  auto loaded = onnx::load("cells.onnx");
  loaded.to(device());
  const td::Tensor x = td::randn({7, 4}).to(device());
  const auto found = loaded.run_in_order({x}), wanted = both({x});
  for (size_t i = 0; i < 3; ++i) expect_close(found[i], wanted[i]);
}

TEST_P(OnnxSave, TakesSeveralInputsAndGivesSeveralOutputs) {
  Pair pair;
  pair.to(device());
  const td::Tensor a = td::randn({2, 4}).to(device()), b = td::randn({2, 4}).to(device());
  onnx::save(pair, {a, b}, "pair.onnx", {.input_names = {"a", "b"}, .output_names = {"sum", "product"}});
  auto loaded = onnx::load("pair.onnx");
  loaded.to(device());
  auto found = loaded.run({{"a", a}, {"b", b}});
  expect_close(found.at("sum"), pair(a, b).first);
  expect_close(found.at("product"), pair(a, b).second);
}

TEST_P(OnnxSave, WritesOperationsInPlaceAndViews) {
  Around in_place([](Around& self, const td::Tensor& x) {
    td::Tensor y = self.linear(x);
    y += 1;
    y.select(1, 0).mul_(3);
    y.narrow(1, 2, 2).zero_();
    td::Tensor z = y.clone();
    z.t().add_(y.t());
    return z.relu_();
  });
  check(in_place, {3, 4});
  Around views([](Around& self, const td::Tensor& x) {
    const td::Tensor y = self.linear(x).view({-1, 2, 2});
    const td::Tensor z = y.permute({2, 0, 1}).reshape({2, -1}).t();
    const td::Tensor steps = x.slice(1, 0, 4, 2), last = x.slice(1, 1, 4, 3);
    return td::cat({z.reshape({-1, 4}), steps, last, x.unsqueeze(1).expand({-1, 2, -1}).flatten(1)}, 1);
  });
  check(views, {3, 4});
  Around filled([](Around& self, const td::Tensor& x) {  // piece by piece
    const td::Tensor y = td::empty({x.size(0), 3, 4}, {.device = x.device()});
    for (int64_t i = 0; i < 3; ++i) y.select(1, i).copy_(self.linear(x) * (i + 1));
    return y;
  });
  check(filled, {3, 4});
  Around windows([](Around&, const td::Tensor& x) { return x.as_strided({3, 2}, {4, 1}, 1).contiguous() + x.unfold(1, 2, 1).sum(); });
  windows.to(device());
  const td::Tensor x = td::randn({3, 4}).to(device());
  onnx::save(windows, x, "windows.onnx", {.input_names = {"x"}});
  auto loaded = onnx::load("windows.onnx");
  loaded.to(device());
  expect_close(loaded(x), windows(x));
}

TEST_P(OnnxSave, KeepsTensorsThatAreNeitherInputsNorParametersAsConstants) {
  const td::Tensor outside = td::randn({4}).to(td::cpu());
  Around model([outside](Around& self, const td::Tensor& x) {
    const td::Tensor list = td::tensor({1., 2., 3., 4.}).to(x.device());
    return self.linear(x) * list + td::ones({4}, {.device = x.device()}) + td::arange(4, {.device = x.device()});
  });
  check(model, {3, 4});
  if (device().is_cuda()) return;  // a tensor of a GPU that is no field cannot be seen
  Around captured([outside](Around& self, const td::Tensor& x) { return self.linear(x) * outside + outside.narrow(0, 0, 1); });
  check(captured, {3, 4});
}

TEST_P(OnnxSave, WritesSharedParametersOnceAndUnusedOnesNot) {
  struct Tied : nn::Module {
    nn::Linear a{4, 4}, b{4, 4}, unused{4, 4};
    Tied() { b.weight = a.weight; }
    void fields(nn::Fields& f) override {
      f("a", a);
      f("b", b);
      f("unused", unused);
    }
    td::Tensor forward(const td::Tensor& x) override { return b(a(x)); }
  } tied;
  check(tied, {3, 4});
  std::vector<std::string> names;
  for (const auto& [name, tensor] : onnx::load("net.onnx").named_parameters()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"a.weight", "a.bias", "b.bias"}));
}

TEST_P(OnnxSave, GivesInputsAndParametersAsOutputs) {
  nn::Linear linear(2, 2);
  linear.to(device());
  onnx::Savable savable{{{"weight", linear.weight}}, [&](const Tensors& in) { return Tensors{in[0], linear.weight, in[0] + 1, in[0]}; }};
  const td::Tensor x = td::randn({3, 2}).to(device());
  onnx::save(savable, {x}, "same.onnx", {.dynamic_axes = {{"input_0", kBatch}}});
  auto loaded = onnx::load("same.onnx");
  loaded.to(device());
  const auto found = loaded.run_in_order({x});
  expect_close(found[0], x);
  expect_close(found[1], linear.weight.detach());
  expect_close(found[2], x + 1);
  expect_close(found[3], x);
}

TEST_P(OnnxSave, WritesWithoutInputsAndOfWholeNumbers) {
  const td::Tensor table = td::randn({5, 3}).to(device());
  onnx::save({{{"table", table}}, [&](const Tensors&) { return Tensors{table * 2}; }}, {}, "none.onnx");
  auto none = onnx::load("none.onnx");
  none.to(device());
  expect_close(none.run_in_order({})[0], table * 2);
  const td::Tensor ids = td::randint(0, 5, {2, 4}).to(device());
  const auto forward = [&](const Tensors& in) { return Tensors{td::embedding(in[0], table), in[0] % 3, in[0] > 2}; };
  onnx::save({{{"table", table}}, forward}, {ids}, "ids.onnx", {.input_names = {"ids"}, .dynamic_axes = {{"ids", {{0, "n"}, {1, "t"}}}}});
  auto loaded = onnx::load("ids.onnx");
  loaded.to(device());
  const td::Tensor other = td::randint(0, 5, {1, 7}).to(device());
  const auto found = loaded.run_in_order({other}), wanted = forward({other});
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(found[i].dtype(), wanted[i].dtype());
    EXPECT_TRUE(td::equal(found[i], wanted[i]));
  }
}

TEST_P(OnnxSave, WritesParametersOfEveryDtypeToTheBit) {
  for (const td::DType dtype :
       {td::kBool, td::kUInt8, td::kInt8, td::kInt16, td::kInt32, td::kInt64, td::kFloat16, td::kBFloat16, td::kFloat32, td::kFloat64}) {
    const td::Tensor own = (td::randn({3, 5}) * 3).to(dtype).to(device());
    onnx::save({{{"own", own}}, [&](const Tensors&) { return Tensors{own.t()}; }}, {}, "dtype.onnx");
    auto loaded = onnx::load("dtype.onnx");
    EXPECT_TRUE(td::equal(loaded.run_in_order({})[0], own.t().cpu())) << dtype;
  }
}

TEST_P(OnnxSave, PutsParametersBesideTheFileWhereThatIsAskedFor) {
  nn::Linear linear(64, 64);
  linear.to(device());
  onnx::save(linear, td::randn({2, 64}).to(device()), "external.onnx", {.external_data = true});
  EXPECT_LT(std::filesystem::file_size("external.onnx"), 2000U);
  EXPECT_GE(std::filesystem::file_size("external.onnx.data"), 64U * 65U * 4U);
  auto loaded = onnx::load("external.onnx");
  loaded.to(device());
  const td::Tensor x = td::randn({2, 64}).to(device());
  expect_close(loaded(x), linear(x).detach());
}

TEST_P(OnnxSave, LeavesModesGradientsAndRunningFiguresAlone) {
  nn::Sequential net(nn::Linear(4, 4), nn::BatchNorm1d(4), nn::Dropout(0.5));
  net.to(device());
  net.train();
  net[1].eval();
  const td::Tensor x = td::randn({3, 4}).to(device());
  net(x).sum().backward();
  const td::Tensor loss = net(x).sum();
  const auto parameters = net.parameters();
  std::vector<td::Tensor> grads, values;
  std::vector<uint32_t> versions;
  for (const td::Tensor& p : parameters) {
    grads.push_back(p.grad().clone());
    values.push_back(p.detach().clone());
    versions.push_back(p.version());
  }
  const auto mean = net.named_buffers()[0].second.clone();
  for (const auto mode : {onnx::TrainingMode::Eval, onnx::TrainingMode::Preserve, onnx::TrainingMode::Training}) {
    try {
      onnx::save(net, x, "modes.onnx", {.training = mode});
      EXPECT_EQ(mode, onnx::TrainingMode::Eval);
    } catch (const td::Error& error) {
      EXPECT_NE(error.message().find("[dropout] needs values, or is not the same in each call"), std::string::npos) << error.what();
    }
    EXPECT_TRUE(net.training());
    EXPECT_TRUE(net[0].training());
    EXPECT_FALSE(net[1].training());
    EXPECT_TRUE(net[2].training());
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    EXPECT_EQ(parameters[i].version(), versions[i]);
    EXPECT_EQ(parameters[i].device(), x.device());
    EXPECT_TRUE(td::equal(parameters[i].detach(), values[i]));
    EXPECT_TRUE(td::equal(parameters[i].grad(), grads[i]));
  }
  EXPECT_TRUE(td::equal(net.named_buffers()[0].second, mean));
  loss.backward();  // of before
}

TEST_P(OnnxSave, WritesBatchNormalizationThatTrains) {
  nn::Sequential net(nn::Linear(4, 4), nn::BatchNorm1d(4));
  net.to(device());
  const td::Tensor x = td::randn({6, 4}).to(device());
  onnx::save(net, x, "trains.onnx", {.training = onnx::TrainingMode::Training});
  auto loaded = onnx::load("trains.onnx");
  loaded.to(device());
  net.train();
  expect_close(loaded(x), net(x).detach());
}

INSTANTIATE_TEST_SUITE_P(Devices, OnnxSave, testing::Values("cpu", "cuda:0"), device_name);

namespace {

std::string error_of_save(nn::Module& model, const td::Tensor& x, const onnx::SaveOptions& options = {}) {
  std::filesystem::remove("refused.onnx");
  const std::string text = error_of([&] { onnx::save(model, x, "refused.onnx", options); });
  EXPECT_FALSE(std::filesystem::exists("refused.onnx"));
  for (const auto& entry : std::filesystem::directory_iterator("."))
    EXPECT_EQ(entry.path().string().find("refused.onnx"), std::string::npos) << entry.path();
  return text;
}
#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

}  // namespace

TEST(OnnxSaveRefuses, NamesTheOperationAndItsLineAndWritesNoFile) {
  Around model([](Around& self, const td::Tensor& x) {
    const td::Tensor y = self.linear(x);
    return td::erfinv(y);  // its line
  });
  const std::string text = error_of_save(model, td::randn({2, 4}));
  EXPECT_HAS(text, "[onnx::save] erfinv (save_test.cpp:");
  EXPECT_HAS(text, "the operation 'erfinv' cannot be written to ONNX yet");
  EXPECT_HAS(text, "compute it outside");
  EXPECT_TRUE(model.training());
}

TEST(OnnxSaveRefuses, ForwardsThatGoByValues) {
  Around model([](Around& self, const td::Tensor& x) { return x.sum().item<double>() > 0 ? self.linear(x) : x; });
  const std::string text = error_of_save(model, td::randn({2, 4}));
  EXPECT_HAS(text, "[item] needs values");
  EXPECT_HAS(text, "save_test.cpp:");
  EXPECT_HAS(text, "keep that out of forward");
}

TEST(OnnxSaveRefuses, ForwardsThatGoBySizesThatAreOpen) {
  Around other([](Around& self, const td::Tensor& x) { return x.size(0) % 2 ? self.linear(x) : td::relu(x); });
  EXPECT_HAS(error_of_save(other, td::randn({2, 4}), {.input_names = {"x"}, .dynamic_axes = {{"x", kBatch}}}),
             "the module goes another way for other sizes of the inputs");
  Around number([](Around& self, const td::Tensor& x) { return self.linear(x) * std::sqrt(static_cast<double>(x.size(0))); });
  EXPECT_HAS(error_of_save(number, td::randn({2, 4}), {.input_names = {"x"}, .dynamic_axes = {{"x", kBatch}}}),
             "a number of it changes with the sizes of the inputs");
  Around fixed([](Around& self, const td::Tensor& x) { return self.linear(x).reshape({2, 4}); });
  const std::string text = error_of_save(fixed, td::randn({2, 4}), {.input_names = {"x"}, .dynamic_axes = {{"x", kBatch}}});
  EXPECT_HAS(text, "forward fails on 'x' of [3, 4] (dynamic sizes are varied; Dim(name, min, max) gives their range): [reshape]");
  Around whole([](Around& self, const td::Tensor& x) { return self.linear(x) * x.size(0) + td::full({4}, x.size(0)); });
  onnx::save(whole, td::randn({2, 4}), "whole.onnx", {.input_names = {"x"}, .dynamic_axes = {{"x", kBatch}}});
  const td::Tensor x = td::randn({5, 4});
  expect_close(onnx::load("whole.onnx")(x), whole(x).detach());
}

TEST(OnnxSaveRefuses, ChangesOfWhatWasThereBefore) {
  Around buffer([](Around& self, const td::Tensor& x) {
    self.counter += 1;
    return self.linear(x);
  });
  EXPECT_HAS(error_of_save(buffer, td::randn({2, 4})), "it changes a tensor that was there before the call");
  EXPECT_TRUE(td::equal(buffer.counter, td::zeros({4})));
  const td::Tensor outside = td::zeros({2, 4});
  Around captured([outside](Around& self, const td::Tensor& x) {
    td::Tensor(outside).add_(1);
    return self.linear(x) + outside;
  });
  EXPECT_HAS(error_of_save(captured, td::randn({2, 4})), "it changes a tensor that was there before the call");
  EXPECT_TRUE(td::equal(outside, td::zeros({2, 4})));
}

TEST(OnnxSaveRefuses, OptionsThatDoNotFit) {
  nn::Linear linear(4, 2);
  const td::Tensor x = td::randn({3, 4});
  EXPECT_HAS(error_of_save(linear, x, {.input_names = {"a", "b"}}), "input_names has 2 names, and there are 1 inputs");
  EXPECT_HAS(error_of_save(linear, x, {.output_names = {"a", "b"}}), "output_names has 2 names, and there are 1 outputs");
  EXPECT_HAS(error_of_save(linear, x, {.input_names = {"a"}, .output_names = {"a"}}), "'a' is the name of several inputs or outputs");
  EXPECT_HAS(error_of_save(linear, x, {.dynamic_axes = {{"z", kBatch}}}),
             "dynamic_axes names 'z', which is neither an input nor an output");
  EXPECT_HAS(error_of_save(linear, x, {.dynamic_axes = {{"input_0", {{2, "n"}}}}}), "has dimension 2, and the input has 2");
  EXPECT_HAS(error_of_save(linear, x, {.dynamic_axes = {{"input_0", {{0, onnx::Dim("n", 3, 4)}}}}}), "too narrow a range");
  EXPECT_HAS(error_of_save(linear, x, {.opset_version = 12}), "opset_version must be between 13 and 23, not 12");
  EXPECT_HAS(error_of_save(linear, x.narrow(1, 0, 3)), "forward fails on 'input_0' of [3, 3]");
  Around triangle([](Around&, const td::Tensor& in) { return td::tril(in); });
  EXPECT_HAS(error_of_save(triangle, x, {.opset_version = 13}), "ONNX has triangles (Trilu) from opset 14 on, and opset_version is 13");
  nn::LazyLinear lazy(2);
  EXPECT_HAS(error_of_save(lazy, x), "call nn::initialize(module, input) before");
}

TEST(OnnxSaveFiles, AreWrittenWholeAndKeepLinksAndModes) {
  nn::Linear linear(4, 2);
  const td::Tensor x = td::randn({3, 4});
  std::filesystem::remove_all("files");
  std::filesystem::create_directory("files");
  EXPECT_HAS(error_of([&] { onnx::save(linear, x, "nowhere/net.onnx"); }), "nowhere/net.onnx");
  EXPECT_HAS(error_of([&] { onnx::save(linear, x, "files"); }), "files");
  onnx::save(linear, x, "files/own.onnx");
  ::chmod("files/own.onnx", 0600);
  std::filesystem::create_symlink("own.onnx", "files/link.onnx");
  onnx::save(linear, x, "files/link.onnx");
  EXPECT_TRUE(std::filesystem::is_symlink("files/link.onnx"));
  EXPECT_EQ(static_cast<unsigned>(std::filesystem::status("files/own.onnx").permissions()), 0600U);
  const std::string before = read_file("files/own.onnx");
  Around refused([](Around&, const td::Tensor& in) { return td::erfinv(in); });
  EXPECT_NE(error_of([&] { onnx::save(refused, x, "files/own.onnx"); }), "no error");
  EXPECT_EQ(read_file("files/own.onnx"), before);
  if (::geteuid() != 0) {  // root may write anywhere
    ::chmod("files", 0500);
    EXPECT_HAS(error_of([&] { onnx::save(linear, x, "files/other.onnx"); }), "files/other.onnx");
    ::chmod("files", 0700);
  }
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("files")) count += entry.path().empty() ? 0U : 1U;
  EXPECT_EQ(count, 2U);
}
