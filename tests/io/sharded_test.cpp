// Safetensors in shards: written as Hugging Face does, read by what is wanted, and folders that are not what their index says.
#include "io/sharded.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/files.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
namespace io = td::io;
namespace fs = std::filesystem;

namespace {

std::set<std::string> files_in(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

std::string error_for(const std::string& index, const std::vector<std::string>& names = {}) {
  fs::create_directory("shards_bad");
  write_file("shards_bad/model.safetensors.index.json", index);
  return error_of([&] { (void)io::load_safetensors_shards("shards_bad", td::cpu(), names); });
}

}  // namespace

class Shards : public OnDevice {};

TEST_P(Shards, KeepTensorsAndMetadata) {
  fs::remove_all("shards_model");
  const io::TensorMap tensors = {{"a", td::arange(6).to(td::kFloat32).reshape({2, 3}).to(device())},
                                 {"b", td::tensor({true, false}).to(device())},
                                 {"c", td::arange(10).to(device())},
                                 {"d", td::tensor(1.f).to(device())}};
  io::save_safetensors_shards("shards_model", tensors, 30, {{"format", "pt"}});
  EXPECT_EQ(files_in("shards_model"), (std::set<std::string>{"model-00001-of-00003.safetensors", "model-00002-of-00003.safetensors",
                                                             "model-00003-of-00003.safetensors", "model.safetensors.index.json"}));
  for (const char* path : {"shards_model", "shards_model/", "shards_model/model.safetensors.index.json"}) {
    const auto file = io::read_safetensors_shards(path, device());
    ASSERT_EQ(file.tensors.size(), 4U) << path;
    for (const auto& [name, tensor] : tensors) {
      EXPECT_TRUE(td::equal(file.tensors.at(name), tensor)) << name;
      EXPECT_EQ(file.tensors.at(name).device(), tensor.device()) << name;
    }
    EXPECT_EQ(file.metadata, (io::Metadata{{"format", "pt"}, {"total_size", "110"}}));
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Shards, testing::Values("cpu", "cuda:0", "cuda:1"), device_name);

TEST(ShardFolder, HasTheIndexThatOthersRead) {
  io::save_safetensors_shards("shards_indexed", {{"x", td::ones({2})}, {"y\"z", td::ones({2})}}, 8);
  EXPECT_EQ(read_file("shards_indexed/model.safetensors.index.json"),
            "{\n  \"metadata\": {\n    \"total_size\": 16\n  },\n  \"weight_map\": {\n"
            "    \"x\": \"model-00001-of-00002.safetensors\",\n    \"y\\\"z\": \"model-00002-of-00002.safetensors\"\n  }\n}\n");
}

TEST(ShardFolder, OpensOnlyTheShardsThatAreWanted) {
  io::save_safetensors_shards("shards_some", {{"x", td::ones({2})}, {"y", td::zeros({2})}}, 8);
  write_file("shards_some/model-00002-of-00002.safetensors", "damaged");
  const auto some = io::load_safetensors_shards("shards_some", td::cpu(), {"x"});
  ASSERT_EQ(some.size(), 1U);
  EXPECT_TRUE(td::equal(some.at("x"), td::ones({2})));
  EXPECT_NE(error_of([] { (void)io::load_safetensors_shards("shards_some"); }).find("shards_some/model-00002-of-00002.safetensors: "),
            std::string::npos);
  EXPECT_EQ(error_of([] { (void)io::load_safetensors_shards("shards_some", td::cpu(), {"z"}); }),
            "[load_safetensors_shards] shards_some/model.safetensors.index.json: the index has no tensor 'z'; there is 'x', 'y'");
}

TEST(ShardFolder, IsWrittenAnewWithoutLeftovers) {
  fs::remove_all("shards_anew");
  const auto x = td::ones({4}), y = td::zeros({4});
  io::save_safetensors_shards("shards_anew", {{"x", x}, {"y", y}, {"z", x}}, 16);
  EXPECT_EQ(files_in("shards_anew").size(), 4U);
  write_file("shards_anew/notes.txt", "mine");
  io::save_safetensors_shards("shards_anew", {{"x", y}, {"y", x}}, 16);
  EXPECT_EQ(files_in("shards_anew"), (std::set<std::string>{"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors",
                                                            "model.safetensors.index.json", "notes.txt"}));
  EXPECT_TRUE(td::equal(io::load_safetensors_shards("shards_anew").at("x"), y));
  // The same names with other tensors; then all of it in one file, and back.
  io::save_safetensors_shards("shards_anew", {{"v", y}, {"w", x}}, 16);
  EXPECT_EQ(io::load_safetensors_shards("shards_anew").count("w"), 1U);
  io::save_safetensors_shards("shards_anew", {{"x", x}});
  EXPECT_EQ(files_in("shards_anew"), (std::set<std::string>{"model.safetensors", "notes.txt"}));
  EXPECT_TRUE(td::equal(io::load_safetensors_shards("shards_anew", td::cpu(), {"x"}).at("x"), x));
  io::save_safetensors_shards("shards_anew", {{"x", x}, {"y", y}}, 1);
  EXPECT_EQ(files_in("shards_anew").count("model.safetensors"), 0U);
  EXPECT_EQ(io::load_safetensors_shards("shards_anew").size(), 2U);
}

TEST(ShardFolder, StaysAsItWasWhereWritingFails) {
  const auto x = td::ones({4});
  io::save_safetensors_shards("shards_kept", {{"x", x}, {"y", x}}, 16);
  const auto before = files_in("shards_kept");
  EXPECT_NE(error_of([&] { io::save_safetensors_shards("shards_kept", {{"x", x}, {"\xff", x}}, 16); }).find("UTF-8"), std::string::npos);
  EXPECT_NE(error_of([&] {
              io::save_safetensors_shards("shards_kept", {{"x", td::Tensor()}}, 16);
            }).find("tensor 'x' is undefined"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              io::save_safetensors_shards("shards_kept", {{"x", x}}, 0);
            }).find("max_bytes must be at least 1, not 0"),
            std::string::npos);
  EXPECT_EQ(files_in("shards_kept"), before);
  EXPECT_TRUE(td::equal(io::load_safetensors_shards("shards_kept").at("y"), x));
  EXPECT_NE(error_of([&] {
              io::save_safetensors_shards("shards_none/below", {{"x", x}});
            }).find("shards_none/below: cannot make the folder"),
            std::string::npos);
}

TEST(ShardFolder, MayHaveOtherNames) {
  fs::remove_all("shards_other");
  fs::create_directory("shards_other");
  io::save_safetensors("shards_other/part.safetensors", {{"x", td::ones({1})}});
  EXPECT_EQ(io::load_safetensors_shards("shards_other").size(), 1U);
  EXPECT_EQ(io::load_safetensors_shards("shards_other/part.safetensors").size(), 1U);
  fs::create_directory("shards_other/deep");
  io::save_safetensors("shards_other/deep/b.safetensors", {{"y", td::ones({1})}});
  write_file(
      "shards_other/net.safetensors.index.json",
      R"( {"metadata": {"a": 1.5, "b": [[{"c": 1}]], "d": null}, "more": [{"weight_map": 3}], "weight_map": {"x": "part.safetensors", "y": "deep/b.safetensors"}})");
  const auto file = io::read_safetensors_shards("shards_other");
  EXPECT_EQ(file.tensors.size(), 2U);
  EXPECT_EQ(file.metadata, (io::Metadata{{"a", "1.5"}}));
  write_file("shards_other/z.safetensors.index.json", "{}");
  EXPECT_NE(error_of([] { (void)io::load_safetensors_shards("shards_other"); }).find("several files"), std::string::npos);
  fs::create_directory("shards_empty");
  EXPECT_EQ(error_of([] { (void)io::load_safetensors_shards("shards_empty"); }),
            "[load_safetensors_shards] shards_empty: the folder has no file NAME.safetensors and no index NAME.safetensors.index.json");
}

TEST(ShardIndex, ThatCannotBeIsAnError) {
  fs::create_directory("shards_bad");
  io::save_safetensors("shards_bad/a.safetensors", {{"x", td::ones({1})}});
  io::save_safetensors("outside.safetensors", {{"x", td::ones({1})}});
  const auto has = [](const std::string& error, const std::string& part) { EXPECT_NE(error.find(part), std::string::npos) << error; };
  for (const char* name : {"../outside.safetensors", "/etc/passwd", "", "a/../../outside.safetensors", "..", "a/", "a\\u0000b"})
    has(error_for(R"({"weight_map": {"x": ")" + std::string(name) + "\"}}"), "which does not lie in its folder");
  has(error_for(R"({"weight_map": {"x": "a.safetensors", "y": "a.safetensors"}})"),
      "shards_bad/a.safetensors: there is no tensor 'y', which the index shards_bad/model.safetensors.index.json has in the shard "
      "'a.safetensors'");
  has(error_for(R"({"weight_map": {"x": "b.safetensors"}})"), "shards_bad/b.safetensors: cannot open the file");
  has(error_for(R"({"weight_map": {"x": "a.safetensors", "x": "a.safetensors"}})"), "tensor 'x' twice");
  has(error_for(R"({"weight_map": {}, "weight_map": {}})"), "'weight_map' twice");
  has(error_for(R"({"weight_map": {"x": 3}})"), "no file's name for tensor 'x', but 3");
  has(error_for(R"({"weight_map": {"x": {"y": "z"}}})"), "no file's name for tensor 'x', but an object");
  has(error_for(R"({"weight_map": {"x": ["y"]}})"), "no file's name for tensor 'x', but a list");
  has(error_for(R"({"weight_map": ["x"]})"), "'weight_map' is not an object");
  has(error_for(R"({"weight_map": "x"})"), "'weight_map' is not an object");
  has(error_for(R"({"metadata": {}})"), "no 'weight_map'");
  has(error_for(R"({"weight_map": {"x": "a.safetensors"})"), "not valid JSON (at its byte ");
  has(error_for("[1]"), "not the index of a model in shards");
  has(error_for(""), "not the index of a model in shards");
  has(error_for("<html>"), "a web page");
  has(error_for("{\"weight_map\": " + std::string(100000, '[')), "is not an object");
  has(error_for("{\"metadata\": " + std::string(100000, '[')), "not valid JSON");
  EXPECT_EQ(error_for(R"({"weight_map": {"x": "a.safetensors"}})"), "no error");
}
