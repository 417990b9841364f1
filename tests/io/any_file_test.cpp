// Files of any format: the same call reads them, another says what is in them, and both say what they read where they cannot.
#include "io/any_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "io/npy.h"
#include "io/sharded.h"
#include "io/torch_file.h"
#include "support/files.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
namespace io = td::io;
using namespace std::string_literals;

namespace {

std::string safetensors(const std::string& header, const std::string& data) {
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + data;
}

const io::FileTensor& named(const io::FileContents& contents, const std::string& name) {
  for (const io::FileTensor& tensor : contents.tensors)
    if (tensor.name == name) return tensor;
  throw std::runtime_error("no tensor " + name);
}

}  // namespace

class AnyFile : public OnDevice {};

TEST_P(AnyFile, IsKnownByItsBytes) {
  const auto x = td::tensor({{1.f, 2.f}, {3.f, 4.f}}).to(device()), y = td::tensor({5, 6}).to(device());
  const io::TensorMap tensors = {{"x", x}, {"y", y}};
  // Names that say nothing.
  io::save_safetensors("s.bin", tensors, {{"made_by", "me"}});
  io::save_npz("z.bin", tensors);
  io::save_npy("x.npy", x);
  io::save_torch("t.bin", tensors);
  io::save_safetensors_shards("any_shards", tensors, 16);
  for (const char* path : {"s.bin", "z.bin", "t.bin", "any_shards", "any_shards/model.safetensors.index.json"}) {
    const auto loaded = io::load_tensors(path, device());
    ASSERT_EQ(loaded.size(), 2U) << path;
    EXPECT_TRUE(td::equal(loaded.at("x"), x)) << path;
    EXPECT_TRUE(td::equal(loaded.at("y"), y)) << path;
    EXPECT_EQ(loaded.at("y").device(), y.device()) << path;
    EXPECT_EQ(io::load_tensors(path, device(), {"y"}).size(), 1U) << path;
    EXPECT_NE(error_of([&] { (void)io::load_tensors(path, device(), {"z"}); }), "no error") << path;
  }
  EXPECT_TRUE(td::equal(io::load_tensors("x.npy", device()).at("x"), x));
  EXPECT_EQ(io::load_tensors("x.npy", device(), {"x"}).size(), 1U);
  EXPECT_EQ(error_of([&] { (void)io::load_tensors("x.npy", device(), {"y"}); }),
            "[load_tensors] x.npy: there is no tensor 'y'; there is 'x'");
  EXPECT_EQ(io::load_tensors(TANDEM_TESTS_DIR "/io/gguf_blocks.gguf", device(), {"Q4_0", "I8"}).size(), 2U);
}

INSTANTIATE_TEST_SUITE_P(Devices, AnyFile, testing::Values("cpu", "cuda:0"), device_name);

TEST(FileContents, SayWhatIsThere) {
  const auto x = td::ones({2, 3}), y = td::ones({4}, td::kInt64);
  const auto check = [](const std::string& path, const std::string& format, const std::string& type, const std::string& shard) {
    const auto contents = io::list_tensors(path);
    EXPECT_EQ(contents.format, format);
    ASSERT_EQ(contents.tensors.size(), 2U);
    const io::FileTensor& tensor = named(contents, "x");
    EXPECT_EQ(tensor.type, type);
    EXPECT_EQ(tensor.dtype, td::kFloat32);
    EXPECT_EQ(tensor.sizes, td::Shape({2, 3}));
    EXPECT_EQ(tensor.bytes, 24U);
    EXPECT_EQ(tensor.file, shard);
  };
  io::save_safetensors("c.safetensors", {{"x", x}, {"y", y}}, {{"made_by", "me"}});
  check("c.safetensors", "safetensors", "F32", "");
  EXPECT_EQ(*io::list_tensors("c.safetensors").metadata.at("made_by").get_if<std::string>(), "me");
  io::save_npz("c.npz", {{"x", x}, {"y", y}});
  check("c.npz", "npz", "float32", "");
  io::save_torch("c.pt", io::TensorMap{{"x", x}, {"y", y}});
  check("c.pt", "PyTorch", "float32", "");
  io::save_safetensors_shards("any_c", {{"x", x}, {"y", y}}, 32);
  check("any_c", "safetensors in shards", "F32", "model-00001-of-00002.safetensors");
  io::save_npy("one.npy", y);
  const auto one = io::list_tensors("./one.npy");
  EXPECT_EQ(one.format, "npy");
  EXPECT_EQ(named(one, "one").bytes, 32U);
  EXPECT_EQ(named(one, "one").dtype, td::kInt64);
  const auto gguf = io::list_tensors(TANDEM_TESTS_DIR "/io/gguf_blocks.gguf");
  EXPECT_EQ(gguf.format, "GGUF");
  EXPECT_EQ(named(gguf, "Q4_0").type, "Q4_0");
  EXPECT_EQ(named(gguf, "Q4_0").dtype, td::kFloat32);
  EXPECT_EQ(named(gguf, "Q4_0").sizes, td::Shape({2, 96}));
  EXPECT_EQ(named(gguf, "Q4_0").bytes, 108U);
  EXPECT_EQ(*gguf.metadata.at("tests.i8").get_if<int64_t>(), -3);
}

TEST(OtherTypes, AreLeftOutWhereThatIsAskedFor) {
  write_file(
      "f8.safetensors",
      safetensors(R"({"a":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[4,8]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
                  "\0\0\x80\x3f"
                  "1234"s));
  EXPECT_EQ(named(io::list_tensors("f8.safetensors"), "a").type, "F8_E4M3");
  EXPECT_FALSE(named(io::list_tensors("f8.safetensors"), "a").dtype.has_value());
  EXPECT_NE(error_of([] { (void)io::load_tensors("f8.safetensors"); }).find("F8_E4M3"), std::string::npos);
  std::vector<std::string> warnings;
  const auto before = td::set_warning_handler([&](const std::string& text) { warnings.push_back(text); });
  const auto left = io::OtherTypes::AreLeftOut;
  EXPECT_TRUE(td::equal(io::load_tensors("f8.safetensors", td::cpu(), {}, left).at("b"), td::ones({1})));
  EXPECT_TRUE(io::load_tensors("f8.safetensors", td::cpu(), {"a"}, left).empty());
  EXPECT_EQ(io::load_tensors("f8.safetensors", td::cpu(), {"a", "b"}, left).size(), 1U);
  td::set_warning_handler(before);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0], "[load_tensors] f8.safetensors: left out tensors of types that no tensor here has: 'a'");
}

TEST(OtherFiles, AreToldWhatIsRead) {
  write_file("x.png", "\x89PNG\r\n\x1a\n"s);
  const std::string error = error_of([] { (void)io::load_tensors("x.png"); });
  EXPECT_EQ(error.rfind("[load_tensors] x.png: not a file of tensors that can be read, but a PNG picture: read it with data::read_image; "
                        "what is read: safetensors (.safetensors), ",
                        0),
            0U)
      << error;
  EXPECT_NE(error.find("GGUF (.gguf)"), std::string::npos) << error;
  write_file("x.bin", "\1\2\3\4");
  EXPECT_EQ(
      error_of([] { (void)io::list_tensors("x.bin"); }).rfind("[list_tensors] x.bin: not a file of a known format; what is read: ", 0), 0U);
  EXPECT_NE(error_of([] { (void)io::list_tensors("none.bin"); }).find("none.bin: cannot open the file"), std::string::npos);
  std::filesystem::create_directory("any_folder");
  EXPECT_NE(error_of([] { (void)io::load_tensors("any_folder"); }).find("any_folder: the folder has no file NAME.safetensors"),
            std::string::npos);
}
