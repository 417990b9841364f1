// Exported programs: those that PyTorch wrote, in programs/ (make.py there), and files that mean harm.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "exported/model.h"
#include "io/file.h"
#include "io/zip.h"
#include "support/files.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
namespace io = td::io;
namespace exported = td::exported;

namespace {

std::string of_torch(const std::string& name) { return TANDEM_TESTS_DIR "/exported/programs/" + name; }

/// A program, its inputs, and what PyTorch gives for them.
struct Case {
  explicit Case(const std::string& name, td::Device device = td::cpu(), const std::string& folder = of_torch(""))
      : model(exported::load(folder + name + ".pt2")) {
    const auto tensors = io::load_safetensors(folder + name + ".safetensors", device);
    const auto all = [&](const std::string& kind) {
      std::vector<td::Tensor> found;
      for (const auto& [key, tensor] : tensors)
        if (key.starts_with(kind)) found.resize(std::max(found.size(), size_t{1} + std::stoul(key.substr(kind.size()))));
      for (size_t i = 0; i < found.size(); ++i)
        if (const auto at = tensors.find(kind + std::to_string(i)); at != tensors.end()) found[i] = at->second;
      return found;
    };
    inputs = all("input");
    expected = all("output");
    model.to(device);
  }
  void compare() {
    const auto outputs = model.run(inputs);
    ASSERT_GE(outputs.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      if (!expected[i].defined()) continue;
      ASSERT_TRUE(outputs[i].defined()) << i;
      EXPECT_EQ(outputs[i].dtype(), expected[i].dtype()) << i;
      ASSERT_EQ(outputs[i].sizes(), expected[i].sizes()) << i;
      if (expected[i].numel() == 0) continue;
      // Of deep networks small outputs are differences of large numbers: what counts is the largest one.
      const td::Tensor wanted = expected[i].cpu().to(td::kFloat64), found = outputs[i].detach().cpu().to(td::kFloat64);
      EXPECT_LE((found - wanted).abs().max().item<double>(), 1e-5 * wanted.abs().max().item<double>() + 1e-6) << i;
    }
  }

  exported::Model model;
  std::vector<td::Tensor> inputs, expected;
};

class Exported : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, Exported, testing::Values("cpu", "cuda:1"), device_name);

TEST_P(Exported, GivesWhatPyTorchGives) {
  for (const char* name : {"conv", "conv_decomposed", "gpt", "gpt_decomposed", "many"}) {
    SCOPED_TRACE(name);
    Case(name, device()).compare();
  }
}

TEST_P(Exported, KeepsTheRunningFiguresOfBatchNormalization) {
  for (const char* name : {"norm", "norm_decomposed"}) {
    SCOPED_TRACE(name);
    Case one(name, device());
    one.compare();
    const auto state = one.model.state_dict();
    EXPECT_EQ(state.at("bn.num_batches_tracked").item<int64_t>(), 1);
    EXPECT_EQ(state.at("calls").item<int64_t>(), 1);
    const auto x = one.inputs[0];
    EXPECT_TRUE(td::allclose(state.at("bn.running_mean"), x.mean(0) * 0.1, 1e-4, 1e-6));
    EXPECT_TRUE(td::allclose(state.at("bn.running_var"), x.var(0) * 0.1 + 0.9, 1e-4, 1e-6));
  }
}

TEST_P(Exported, TakesOtherSizesWhereTheyWereExportedSo) {
  Case gpt("gpt", device());
  const auto ids = td::cat({gpt.inputs[0], gpt.inputs[0]}, 0);
  const auto y = gpt.model(ids);
  EXPECT_TRUE(td::allclose(y.narrow(0, 0, 2).cpu(), gpt.expected[0].cpu(), 1e-5, 1e-6));
  // A causal model: what comes later changes nothing before.
  const auto shorter = gpt.model(gpt.inputs[0].narrow(1, 0, 3));
  EXPECT_TRUE(td::allclose(shorter.cpu(), gpt.expected[0].narrow(1, 0, 3).cpu(), 1e-5, 1e-6));
}

TEST_P(Exported, IsTrained) {
  Case conv("conv", device());
  td::optim::Adam adam(conv.model.parameters(), {.lr = 5e-2});
  const auto target = td::tensor({1, 3}, {.dtype = td::kInt64, .device = device()});
  double first = 0, last = 0;
  for (int step = 0; step < 20; ++step) {
    adam.zero_grad();
    const auto loss = td::cross_entropy(conv.model(conv.inputs[0]), target);
    loss.backward();
    adam.step();
    (step == 0 ? first : last) = loss.item<double>();
  }
  for (const auto& [name, parameter] : conv.model.named_parameters()) EXPECT_TRUE(parameter.grad().defined()) << name;
  EXPECT_LT(last, first / 2);
}

/// What .ci/exported wrote.
TEST(ExportedFolder, GivesWhatPyTorchGives) {
  const char* const folder = std::getenv("TANDEM_EXPORTED_FOLDER");
  if (!folder) GTEST_SKIP() << "TANDEM_EXPORTED_FOLDER is not set";
  const char* const device = std::getenv("TANDEM_EXPORTED_DEVICE");
  int programs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".pt2") continue;
    SCOPED_TRACE(entry.path().string());
    ++programs;
    Case one(entry.path().stem(), td::Device(device ? device : "cpu"), std::string(folder) + "/");
    one.compare();
    const auto y = one.model.run(one.inputs).front();
    y.square().mean().backward();
    for (const auto& [name, parameter] : one.model.named_parameters()) EXPECT_TRUE(parameter.grad().defined()) << name;
  }
  EXPECT_GT(programs, 0);
}

TEST(ExportedModel, HasTheNamesOfTheModule) {
  const Case conv("conv");
  std::set<std::string> names;
  for (const auto& [name, tensor] : conv.model.state_dict()) names.insert(name);
  const std::set<std::string> wanted = {
      "conv1.weight", "bn1.weight", "bn1.bias", "bn1.running_mean", "bn1.running_var", "bn1.num_batches_tracked", "conv2.weight",
      "conv2.bias",   "bn2.weight", "bn2.bias", "bn2.running_mean", "bn2.running_var", "bn2.num_batches_tracked", "fc.weight",
      "fc.bias"};
  EXPECT_EQ(names, wanted);
  EXPECT_EQ(conv.model.named_parameters().size(), 9U);
  EXPECT_EQ(conv.model.inputs().size(), 1U);
  EXPECT_FALSE(conv.model.inputs()[0].sizes[0].size);
  EXPECT_EQ(conv.model.inputs()[0].sizes[1].size, 3);
  EXPECT_EQ(conv.model.outputs().size(), 1U);
}

TEST(ExportedModel, TiedParametersAreOne) {
  const Case gpt("gpt");
  const auto state = gpt.model.state_dict();
  EXPECT_EQ(state.at("head.weight").data_ptr(), state.at("tok.weight").data_ptr());
  EXPECT_FALSE(state.contains("blocks.0.mask"));
  size_t heads = 0;
  for (const auto& [name, parameter] : gpt.model.named_parameters()) heads += name == "head.weight" || name == "tok.weight";
  EXPECT_EQ(heads, 1U);
}

TEST(ExportedModel, LoadsAStateDict) {
  Case one("conv"), other("conv");
  for (const auto& parameter : other.model.parameters()) {
    const td::NoGradGuard no_grad;
    parameter.mul_(0.5);
  }
  one.model.load_state_dict(other.model.state_dict());
  EXPECT_TRUE(td::equal(one.model(one.inputs[0]), other.model(one.inputs[0])));
}

TEST(ExportedModel, SaysWhichInputsItTakes) {
  Case gpt("gpt"), conv("conv"), many("many");
  EXPECT_NE(error_of([&] {
              (void)conv.model(td::zeros({2, 3, 9, 8}));
            }).find("has the size 9, but was exported with 8"),
            std::string::npos);
  EXPECT_NE(error_of([&] { (void)conv.model(td::zeros({65, 3, 8, 8})); }).find("was exported for 1 to 64"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)conv.model(td::zeros({3, 8, 8})); }).find("4 dimensions"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)gpt.model(td::zeros({2, 5})); }).find("is of float32, but was exported with int64"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)many.model(many.inputs[0]); }).find("has 2 inputs"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)exported::Model().run({}); }).find("the model is empty"), std::string::npos);
}

TEST(ExportedModel, NamesAllOperationsThatAreMissing) {
  const std::string error = error_of<td::NotImplementedError>([] { (void)exported::load(of_torch("missing.pt2")); });
  EXPECT_NE(error.find("linalg_svd"), std::string::npos) << error;
  EXPECT_NE(error.find("special_bessel_j0"), std::string::npos) << error;
}

// --- Files that mean harm

using Entries = std::map<std::string, std::string>;

Entries entries_of(const std::string& path) {
  const io::InputFile file("test", path);
  Entries entries;
  for (const io::ZipEntry& entry : io::read_zip_directory(file)) entries[entry.name] = file.read(entry.size, entry.begin);
  return entries;
}
std::string error_for(const Entries& entries) {
  io::AtomicFile file("test", "made.pt2");
  io::ZipWriter zip(file, "test", "made.pt2");
  for (const auto& [name, bytes] : entries) zip.add(name, bytes, "");
  zip.finish();
  file.commit();
  return error_of([] {
    auto model = exported::load("made.pt2");
    (void)model(td::zeros({2, 3, 8, 8}));
  });
}
/// The error for the small convolution with another program, or with another list of weights.
template <class F>
std::string error_with(const std::string& entry, F&& change) {
  Entries entries = entries_of(of_torch("conv.pt2"));
  auto content = nlohmann::json::parse(entries.at(entry));
  change(content);
  entries[entry] = content.dump();
  return error_for(entries);
}
const std::string kProgram = "program/models/model.json", kWeights = "program/data/weights/model_weights_config.json";

TEST(ExportedFile, IsNotTrusted) {
  const Entries good = entries_of(of_torch("conv.pt2"));
  EXPECT_EQ(error_for(good), "no error");
  for (const std::string& name :
       {kProgram, kWeights, std::string("program/archive_format"), std::string("program/data/weights/weight_0")}) {
    Entries entries = good;
    entries.erase(name);
    EXPECT_TRUE(error_for(entries).starts_with("[exported::load] made.pt2: ")) << name;
    entries[name] = "";
    EXPECT_TRUE(error_for(entries).starts_with("[exported::load] made.pt2: ")) << name;
    if (name.find("weight_0") != std::string::npos) continue;  // a storage may be larger than its tensor
    entries[name] = std::string(100'000, '[');
    EXPECT_TRUE(error_for(entries).starts_with("[exported::load] made.pt2: ")) << name;
  }
  Entries old = good;
  old["serialized_exported_program.json"] = "{}";
  EXPECT_NE(error_for(old).find("PyTorch before 2.8"), std::string::npos);
}

TEST(ExportedFile, WeightsLieInTheirStorages) {
  const auto with_sizes = [](const char* key, nlohmann::json value) {
    return error_with(kWeights, [&](auto& content) { content["config"]["fc.weight"]["tensor_meta"][key] = value; });
  };
  using nlohmann::json;
  const json big = json::parse(R"([{"as_int":4611686018427387904},{"as_int":4}])");
  EXPECT_NE(with_sizes("sizes", big).find("lead out of the 20 elements"), std::string::npos);
  EXPECT_NE(with_sizes("strides", big).find("lead out of the 20 elements"), std::string::npos);
  EXPECT_NE(with_sizes("sizes", json::parse(R"([{"as_int":-5},{"as_int":4}])")).find("negative"), std::string::npos);
  EXPECT_NE(with_sizes("sizes", json::parse(R"([{"as_expr":{"expr_str":"s0"}}])")).find("as_int"), std::string::npos);
  EXPECT_NE(with_sizes("sizes", json::parse(R"([{"as_int":5}])")).find("do not fit each other"), std::string::npos);
  EXPECT_NE(with_sizes("storage_offset", json::parse(R"({"as_int":1})")).find("lead out of"), std::string::npos);
  EXPECT_NE(with_sizes("storage_offset", json::parse(R"({"as_int":-1})")).find("do not fit"), std::string::npos);
  EXPECT_NE(with_sizes("dtype", 9).find("the dtype 9 is none that a tensor has"), std::string::npos);
  EXPECT_NE(with_sizes("layout", 1).find("sparse"), std::string::npos);
}

TEST(ExportedFile, ProgramsMakeSense) {
  const auto with_graph = [](auto&& change) { return error_with(kProgram, [&](auto& content) { change(content["graph_module"]); }); };
  EXPECT_NE(with_graph([](auto& m) {
              m["graph"]["nodes"][0]["inputs"][0]["arg"]["as_tensor"]["name"] = "nowhere";
            }).find("'nowhere' is wanted, which nothing before gives"),
            std::string::npos);
  EXPECT_NE(
      with_graph([](auto& m) { m["graph"]["nodes"][1]["outputs"] = m["graph"]["nodes"][0]["outputs"]; }).find("is given to two values"),
      std::string::npos);
  EXPECT_NE(with_graph([](auto& m) {
              m["graph"]["nodes"][0]["inputs"][0]["name"] = "unknown";
            }).find("node 'conv2d' (torch.ops.aten.conv2d.default)"),
            std::string::npos);
  EXPECT_NE(with_graph([](auto& m) {
              m["signature"]["input_specs"][0]["parameter"]["parameter_name"] = "other";
            }).find("the file has no tensor 'other'"),
            std::string::npos);
  EXPECT_NE(error_with(kProgram, [](auto& content) { content["schema_version"]["major"] = 9; }).find("its schema has the version 9"),
            std::string::npos);
  EXPECT_NE(with_graph([](auto& m) { m["graph"]["nodes"] = 5; }).find("[exported::load] made.pt2: "), std::string::npos);
}

TEST(ExportedFile, OthersAreCalledByTheirNames) {
  td::io::save_safetensors("other.pt2", {{"x", td::ones({1})}});
  EXPECT_NE(error_of([] { (void)exported::load("other.pt2"); }).find("safetensors"), std::string::npos);
  td::io::save_npz("other.pt2", {{"x", td::ones({1})}});
  EXPECT_NE(error_of([] { (void)exported::load("other.pt2"); }).find("an archive, but not an exported program"), std::string::npos);
}

}  // namespace
