// GGUF: metadata and tensors of every type, against what llama.cpp's own package decodes, and files that are not what they say.
#include "io/gguf.h"

#include <gtest/gtest.h>

#include "io/npy.h"
#include "support/files.h"
#include "support/gguf_bytes.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
namespace io = td::io;
using namespace std::string_literals;
using namespace gguf_bytes;

namespace {

std::string error_for(const std::string& bytes) {
  write_file("bad.gguf", bytes);
  return error_of([] { (void)io::load_gguf("bad.gguf"); });
}
std::string error_for(const Parts& parts) { return error_for(gguf(parts)); }

const std::string kFolder = TANDEM_TESTS_DIR "/io/";

}  // namespace

class Gguf : public OnDevice {};

TEST_P(Gguf, GivesTheNumbersOfEveryType) {
  const auto loaded = io::load_gguf(kFolder + "gguf_blocks.gguf", device());
  const auto expected = io::load_npz(kFolder + "gguf_blocks.npz", device());
  ASSERT_EQ(loaded.size(), expected.size());
  for (const auto& [name, tensor] : expected) {
    const td::Tensor& own = loaded.at(name);
    EXPECT_EQ(own.dtype(), tensor.dtype()) << name;
    EXPECT_EQ(own.device(), tensor.device()) << name;
    ASSERT_EQ(own.sizes(), tensor.sizes()) << name;
    EXPECT_TRUE(td::equal(own, tensor)) << name << "\n" << own << tensor;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Gguf, testing::Values("cpu", "cuda:0", "cuda:1"), device_name);

TEST(GgufFile, HasMetadata) {
  const auto metadata = io::load_gguf_metadata(kFolder + "gguf_blocks.gguf");
  EXPECT_EQ(*metadata.at("general.architecture").get_if<std::string>(), "tests");
  EXPECT_EQ(*metadata.at("tests.text").get_if<std::string>(), "größe");
  EXPECT_EQ(*metadata.at("tests.u8").get_if<int64_t>(), 200);
  EXPECT_EQ(*metadata.at("tests.i8").get_if<int64_t>(), -3);
  EXPECT_EQ(*metadata.at("tests.u64").get_if<int64_t>(), int64_t{1} << 40);
  EXPECT_EQ(*metadata.at("tests.f32").get_if<double>(), 0.25);
  EXPECT_EQ(*metadata.at("tests.bool").get_if<bool>(), true);
  EXPECT_EQ(*metadata.at("tests.words").get_if<std::vector<std::string>>(), (std::vector<std::string>{"a", "", "ccc"}));
  EXPECT_EQ(*metadata.at("tests.numbers").get_if<std::vector<int64_t>>(), (std::vector<int64_t>{1, -2, 3}));
  EXPECT_EQ(*metadata.at("tests.reals").get_if<std::vector<double>>(), (std::vector<double>{0.5, -1.5}));
  EXPECT_EQ(metadata.at("tests.reals").get_if<bool>(), nullptr);
}

TEST(GgufFile, MayHaveListsOfListsAndLargeNumbers) {
  const std::string inner = bytes_of<uint32_t>(kBoolType) + bytes_of<uint64_t>(2) + "\1\0"s;
  write_file(
      "values.gguf",
      gguf({.values = {value("lists", kListType, bytes_of<uint32_t>(kListType) + bytes_of<uint64_t>(2) + inner + inner),
                       value("large", kU64Type, bytes_of(UINT64_MAX)),
                       value("all", kListType,
                             bytes_of<uint32_t>(kU64Type) + bytes_of<uint64_t>(2) + bytes_of(uint64_t{1} << 63) + bytes_of<uint64_t>(1))},
            .tensors = {},
            .data = ""}));
  const auto metadata = io::load_gguf_metadata("values.gguf");
  const auto& lists = *metadata.at("lists").get_if<io::MetadataValue::List>();
  ASSERT_EQ(lists.size(), 2U);
  EXPECT_EQ(*lists[1].get_if<std::vector<bool>>(), (std::vector<bool>{true, false}));
  EXPECT_EQ(*metadata.at("large").get_if<double>(), 0x1p64);
  EXPECT_EQ(*metadata.at("all").get_if<std::vector<double>>(), (std::vector<double>{0x1p63, 1}));
}

TEST(GgufFile, IsReadByNameInVersionTwoWithItsOwnAlignment) {
  write_file("named.gguf", gguf({.values = {value("general.alignment", kU32Type, bytes_of<uint32_t>(8))},
                                 .tensors = {tensor("w", {3, 2}, 0, 8), tensor("b", {2}, 0, 0), tensor("odd", {256}, 16, 32)},
                                 .data = floats({7, 8, 1, 2, 3, 4, 5, 6}) + std::string(66, 'x'),
                                 .version = 2,
                                 .alignment = 8}));
  const auto file = io::read_gguf("named.gguf", td::cpu(), {"w", "b"});
  ASSERT_EQ(file.tensors.size(), 2U);
  EXPECT_TRUE(td::equal(file.tensors.at("w"), td::tensor({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}})));
  EXPECT_TRUE(td::equal(file.tensors.at("b"), td::tensor({7.f, 8.f})));
  EXPECT_EQ(file.metadata.size(), 1U);
  EXPECT_EQ(error_of([] { (void)io::load_gguf("named.gguf", td::cpu(), {"v"}); }),
            "[load_gguf] named.gguf: there is no tensor 'v'; there is 'b', 'odd', 'w'");
  EXPECT_EQ(error_of([] {
              (void)io::load_gguf("named.gguf");
            }).rfind("[load_gguf] named.gguf: tensor 'odd' is of IQ2_XXS, which is none of F32", 0),
            0U);
}

TEST(GgufFile, MayHoldNothing) {
  write_file("none.gguf", "GGUF" + bytes_of<uint32_t>(3) + std::string(16, '\0'));
  EXPECT_TRUE(io::load_gguf("none.gguf").empty());
  write_file("empty.gguf", gguf({.values = {}, .tensors = {tensor("none", {0, 5}, 0, 0), tensor("one", {}, 0, 0)}, .data = floats({4})}));
  const auto tensors = io::load_gguf("empty.gguf");
  EXPECT_EQ(tensors.at("none").sizes(), td::Shape({5, 0}));
  EXPECT_TRUE(td::equal(tensors.at("one"), td::tensor(4.f)));
}

TEST(GgufFile, ThatIsDamagedIsAnError) {
  const auto has = [](const std::string& error, const std::string& part) {
    EXPECT_NE(error.find(part), std::string::npos) << error;
    EXPECT_EQ(error.rfind("[load_gguf] bad.gguf: ", 0), 0U) << error;
  };
  const std::string w = tensor("w", {2}, 0, 0), data = floats({1, 2});
  has(error_for("GGU"), "not a GGUF file");
  has(error_for("\x89PNG\r\n\x1a\n"s), "but a PNG picture");
  has(error_for("GGUF"), "truncated");
  has(error_for("GGUF\0\0\0\3"s + std::string(16, '\0')), "high byte first");
  has(error_for("GGUF\1\0\0\0"s + std::string(16, '\0')), "has version 1 of the GGUF format");
  has(error_for("GGUF\3\0\0\0"s + bytes_of(UINT64_MAX) + bytes_of<uint64_t>(0)), "would have 18446744073709551615 tensors");
  has(error_for("GGUF\3\0\0\0"s + bytes_of<uint64_t>(0) + bytes_of<uint64_t>(9)), "would have 9 values of metadata");
  // Metadata.
  const auto with_value = [&](const std::string& bytes) {
    return Parts{.values = {bytes + std::string(40, '\0')}, .tensors = {}, .data = ""};
  };
  has(error_for(with_value(bytes_of<uint64_t>(1 << 20))), "a text at byte 32 would take 1048576 bytes");
  has(error_for(with_value(value("k", 13, ""))), "'k' has the type 13");
  has(error_for(with_value(value("k", kBoolType, "\2"))), "'k' has the value 2 in a bool");
  has(error_for(with_value(value("k", kListType, bytes_of<uint32_t>(0) + bytes_of(UINT64_MAX)))), "values in a list of metadata");
  std::string deep;
  for (int i = 0; i < 20; ++i) deep += bytes_of<uint32_t>(kListType) + bytes_of<uint64_t>(1);
  has(error_for(with_value(value("k", kListType, deep))), "lists more than 8 deep");
  has(error_for({.values = {value("k", kU32Type, "1234"), value("k", kU32Type, "1234")}, .tensors = {}, .data = ""}), "the key 'k' twice");
  for (const uint32_t alignment : {0U, 3U, 0x80000000U})
    has(error_for({.values = {value("general.alignment", kU32Type, bytes_of(alignment))}, .tensors = {}, .data = ""}), "power of two");
  // Tensors.
  has(error_for({.values = {}, .tensors = {w, w}, .data = data}), "tensor 'w' comes twice");
  has(error_for({.values = {}, .tensors = {w, tensor("v", {2}, 0, 0)}, .data = data}), "overlaps another one at byte 0");
  has(error_for({.values = {}, .tensors = {tensor("w", {2}, 0, 4)}, .data = data}), "no multiple of the alignment 32");
  has(error_for({.values = {}, .tensors = {tensor("w", {3}, 0, 0)}, .data = data}),
      "takes 12 bytes from byte 0 of the data on, but there are only 8");
  has(error_for({.values = {}, .tensors = {tensor("w", {2}, 0, uint64_t{1} << 63)}, .data = data}), "but there are only 8");
  has(error_for({.values = {}, .tensors = {tensor("w", {33}, 2, 0)}, .data = data}),
      "33 elements in a row, but its type Q4_0 comes in blocks of 32");
  has(error_for({.values = {}, .tensors = {tensor("w", {uint64_t{1} << 40, uint64_t{1} << 40}, 0, 0)}, .data = data}),
      "more elements than can be counted");
  has(error_for({.values = {}, .tensors = {tensor("w", {uint64_t{1} << 62}, 0, 0)}, .data = data}), "more bytes than can be counted");
  has(error_for({.values = {}, .tensors = {tensor("w", std::vector<uint64_t>(13, 1), 0, 0)}, .data = data}), "has 13 dimensions");
  has(error_for({.values = {}, .tensors = {tensor("w", {2}, 99, 0)}, .data = data}), "tensor 'w' is of type 99, which is none of F32");
  // Cut anywhere, it is an error or has nothing to read.
  const std::string whole = gguf({.values = {value("k", kTextType, text("v"))}, .tensors = {w}, .data = data});
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_NE(error_for(whole.substr(0, size)), "no error") << size;
  EXPECT_EQ(error_for(whole), "no error");
}
