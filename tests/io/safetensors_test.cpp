// The safetensors format: every dtype and layout there and back on every device, the bytes themselves, and files that are not what they
// say.
#include "io/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "support/files.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
namespace io = td::io;

namespace {

std::string length_of(uint64_t length) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes;
}

/// A file with this header and that much data.
std::string file_with(const std::string& header, size_t data_bytes = 0) {
  return length_of(header.size()) + header + std::string(data_bytes, '\1');
}

std::string error_for(const std::string& bytes) {
  write_file("bad.safetensors", bytes);
  return error_of([] { (void)io::load_safetensors("bad.safetensors"); });
}

/// How many files of this folder begin so.
int files_named(const std::string& prefix) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(".")) count += entry.path().filename().string().starts_with(prefix);
  return count;
}

}  // namespace

class Safetensors : public OnDevice {};

TEST_P(Safetensors, KeepEveryDtypeAndShape) {
  io::TensorMap tensors;
  for (const td::DType dtype :
       {td::kBool, td::kUInt8, td::kInt8, td::kInt16, td::kInt32, td::kInt64, td::kFloat16, td::kBFloat16, td::kFloat32, td::kFloat64}) {
    const std::string name = td::name(dtype);
    tensors[name] = td::tensor({{0, 1, 2}, {0, 7, 1}}).to(dtype).to(device());
    tensors[name + ".zero"] = td::tensor(1).to(dtype).to(device());
    tensors[name + ".empty"] = td::zeros({0, 3}, dtype).to(device());
  }
  io::save_safetensors("all.safetensors", tensors);
  const auto loaded = io::load_safetensors("all.safetensors", device());
  ASSERT_EQ(loaded.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    const td::Tensor& other = loaded.at(name);
    EXPECT_EQ(other.dtype(), tensor.dtype()) << name;
    EXPECT_EQ(other.sizes(), tensor.sizes()) << name;
    EXPECT_EQ(other.device(), tensor.device()) << name;
    EXPECT_TRUE(td::equal(other, tensor)) << name;
  }
}

TEST_P(Safetensors, WriteWhatViewsShow) {
  const td::Tensor base = td::arange(24).to(td::kFloat32).reshape({4, 6}).to(device());
  const td::Tensor columns = base.t(), slice = base.slice(1, 1, 6, 2), wide = td::ones({1, 3}, device()).expand({2, 3});
  const td::Tensor learned = td::ones({2}, {.device = device(), .requires_grad = true}) * 3;
  io::save_safetensors("views.safetensors", {{"t", columns}, {"s", slice}, {"e", wide}, {"g", learned}});
  const auto loaded = io::load_safetensors("views.safetensors");
  EXPECT_TRUE(td::equal(loaded.at("t"), columns.cpu()));
  EXPECT_TRUE(td::equal(loaded.at("s"), slice.cpu()));
  EXPECT_TRUE(td::equal(loaded.at("e"), wide.cpu()));
  EXPECT_TRUE(td::equal(loaded.at("g"), td::tensor({3., 3.})));
  EXPECT_FALSE(loaded.at("g").requires_grad());
}

INSTANTIATE_TEST_SUITE_P(Devices, Safetensors, testing::Values("cpu", "cuda:0", "cuda:1"), device_name);

TEST(SafetensorsFile, HasTheFormatsBytes) {
  io::save_safetensors("bytes.safetensors",
                       {{"b", td::tensor({true, false, true})}, {"a", td::tensor({1.f, -2.f})}, {"n", td::tensor({258})}},
                       {{"made_by", "tandem"}});
  const std::string bytes = read_file("bytes.safetensors");
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ((8 + length) % 8, 0U);
  std::string header = bytes.substr(8, length);
  while (header.back() == ' ') header.pop_back();
  EXPECT_EQ(header, R"({"__metadata__":{"made_by":"tandem"},"a":{"data_offsets":[8,16],"dtype":"F32","shape":[2]},)"
                    R"("b":{"data_offsets":[16,19],"dtype":"BOOL","shape":[3]},"n":{"data_offsets":[0,8],"dtype":"I64","shape":[1]}})");
  EXPECT_EQ(bytes.substr(8 + length), std::string("\x02\x01\0\0\0\0\0\0\0\0\x80\x3f\0\0\0\xc0\x01\0\x01", 19));
  // The same content gives the same bytes.
  io::save_safetensors("bytes2.safetensors",
                       {{"n", td::tensor({258})}, {"a", td::tensor({1.f, -2.f})}, {"b", td::tensor({true, false, true})}},
                       {{"made_by", "tandem"}});
  EXPECT_EQ(read_file("bytes2.safetensors"), bytes);
}

TEST(SafetensorsFile, OfAnotherProgramIsRead) {
  // Keys in another order, white space, offsets that begin anywhere, text beyond ASCII.
  const std::string header =
      "{ \"w\u00e9\": {\"shape\": [2, 1], \"data_offsets\": [4, 8], \"dtype\": "
      "\"F16\"},\n\"x\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[3,4]},"
      "\"z\":{\"dtype\":\"I8\",\"shape\":[3],\"data_offsets\":[0,3]}}  ";
  write_file("other.safetensors", length_of(header.size()) + header + std::string("\xff\x02\x03\x09\0\x3c\0\xc0", 8));
  const auto file = io::read_safetensors("other.safetensors");
  EXPECT_TRUE(file.metadata.empty());
  EXPECT_TRUE(td::equal(file.tensors.at("w\u00e9"), td::tensor({{1.}, {-2.}}, td::kFloat16)));
  EXPECT_TRUE(td::equal(file.tensors.at("x"), td::tensor(9, td::kUInt8)));
  EXPECT_TRUE(td::equal(file.tensors.at("z"), td::tensor({-1, 2, 3}, td::kInt8)));
}

TEST(SafetensorsFile, LargeTensorsAreTheFilesPages) {
  const std::string path = "large.safetensors";
  const auto written = td::arange(600000, {.dtype = td::kFloat32});
  td::io::save_safetensors(path, {{"large", written}, {"small", td::ones({3})}, {"whole", written.to(td::kInt64)}});
  auto first = td::io::load_safetensors(path);
  const auto named = td::io::load_safetensors(path, td::cpu(), {"whole"});
  EXPECT_TRUE(td::equal(first.at("large"), written));
  first.at("large").mul_(2).add_(1);  // the file is not changed by that
  EXPECT_TRUE(td::equal(first.at("large"), written * 2 + 1));
  EXPECT_TRUE(td::equal(td::io::load_safetensors(path).at("large"), written));
  td::io::save_safetensors(path, {{"large", td::zeros({4})}});
  std::remove(path.c_str());
  EXPECT_TRUE(td::equal(named.at("whole"), written.to(td::kInt64))) << "what was read stays";
  EXPECT_TRUE(td::equal((first.at("small") + 1).sum(), td::tensor(6.0)));
}

TEST(SafetensorsFile, LargeTensorsThatLieUnevenlyAreRead) {
  const std::string path = "uneven.safetensors";
  const auto written = td::arange(300000, {.dtype = td::kFloat32});
  std::string header = R"({"x":{"dtype":"F32","shape":[300000],"data_offsets":[0,1200000]}})";
  while (header.size() % 4 != 1) header += ' ';
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> (8 * i));
  bytes += header + std::string(static_cast<const char*>(written.data_ptr()), 1200000);
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_TRUE(td::equal(td::io::load_safetensors(path).at("x"), written));
  std::remove(path.c_str());
}

TEST(SafetensorsFile, MayHoldNothing) {
  io::save_safetensors("none.safetensors", {});
  EXPECT_TRUE(io::load_safetensors("none.safetensors").empty());
  io::save_safetensors("none.safetensors", {}, {{"key", "line\nbreak \"quoted\" \u00e9"}});
  EXPECT_EQ(io::read_safetensors("none.safetensors").metadata.at("key"), "line\nbreak \"quoted\" \u00e9");
}

TEST(SafetensorsFile, TakesItsNameOnlyWhenWhole) {
  const auto good = td::tensor({1.f, 2.f});
  io::save_safetensors("kept.safetensors", {{"x", good}});
  const std::string before = read_file("kept.safetensors");
  EXPECT_NE(error_of([&] {
              io::save_safetensors("kept.safetensors", {{"x", td::Tensor()}});
            }).find("kept.safetensors: tensor 'x' is undefined"),
            std::string::npos);
  EXPECT_NE(error_of([&] { io::save_safetensors("kept.safetensors", {{"__metadata__", good}}); }), "no error");
  EXPECT_NE(error_of([&] { io::save_safetensors("kept.safetensors", {{"\xff", good}}); }).find("UTF-8"), std::string::npos);
  EXPECT_NE(error_of([&] {
              io::save_safetensors("kept.safetensors", {{"x", good}}, {{"note", "\xc3"}});
            }).find("UTF-8"),
            std::string::npos);
  EXPECT_EQ(read_file("kept.safetensors"), before);
  io::save_safetensors("kept.safetensors", {{"y", good}});
  EXPECT_TRUE(io::load_safetensors("kept.safetensors").contains("y"));
  EXPECT_EQ(files_named("kept.safetensors"), 1);  // nothing is left beside it
}

TEST(SafetensorsFile, NamesWhereItCannotBeWrittenOrRead) {
  const auto x = td::ones({2});
  io::save_safetensors("kept.safetensors", {{"x", x}});
  EXPECT_EQ(error_of([&] {
              io::save_safetensors("kept.safetensors/x.safetensors", {{"x", x}});
            }),
            "[save_safetensors] kept.safetensors/x.safetensors: cannot create the file: kept.safetensors is no folder: give another path");
  std::filesystem::create_directory("folder.safetensors");
  EXPECT_NE(error_of([&] { io::save_safetensors("folder.safetensors", {{"x", x}}); }).find("folder.safetensors: "), std::string::npos);
  EXPECT_NE(error_of([&] { (void)io::load_safetensors("folder.safetensors"); }).find("folder.safetensors: "), std::string::npos);
  EXPECT_EQ(error_of([&] { (void)io::load_safetensors("absent.safetensors"); }),
            "[load_safetensors] absent.safetensors: cannot open the file: No such file or directory; the folder " +
                std::filesystem::current_path().string() + " has no such file");
  EXPECT_NE(error_of([&] { (void)io::load_safetensors("/dev/null"); }).find("/dev/null: cannot read this: it is not a regular file"),
            std::string::npos);
}

struct BadHeader {
  const char* header;
  size_t data_bytes;
  const char* text;  // a part of the error
};

class BadHeaders : public testing::TestWithParam<BadHeader> {};

TEST_P(BadHeaders, AreRefused) {
  const std::string error = error_for(file_with(GetParam().header, GetParam().data_bytes));
  EXPECT_EQ(error.rfind("[load_safetensors] bad.safetensors: ", 0), 0U) << error;
  EXPECT_NE(error.find(GetParam().text), std::string::npos) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadHeaders,
    testing::Values(
        BadHeader{"", 0, "header does not begin with '{'"}, BadHeader{"[]", 0, "header does not begin with '{'"},
        BadHeader{"{", 0, "header is not valid JSON"}, BadHeader{"{}x", 0, "header is not valid JSON"},
        BadHeader{"{\"a\":nan}", 0, "header is not valid JSON"}, BadHeader{"{\"\xff\":1}", 0, "header is not valid JSON"},
        BadHeader{"{}", 1, "has 1 bytes of data, but the header accounts for 0"},
        BadHeader{R"({"a":1})", 0, "tensor 'a' in the header is not an object"}, BadHeader{R"({"a":{}})", 0, "has no dtype"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[1]}})", 4, "has no data_offsets"},
        BadHeader{R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", 4, "has no shape"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"more":1}})", 4, "unknown key 'more'"},
        BadHeader{R"({"a":{"dtype":3,"shape":[1],"data_offsets":[0,4]}})", 4, "dtype that is not text"},
        BadHeader{R"({"a":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}})", 1, "dtype 'F8_E4M3', which is none of"},
        BadHeader{R"({"a":{"dtype":"f32","shape":[1],"data_offsets":[0,4]}})", 4, "dtype 'f32', which is none of"},
        BadHeader{R"({"a":{"dtype":"F32","shape":1,"data_offsets":[0,4]}})", 4, "shape that is not a list"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, "not a whole number from 0 on: -1"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})", 4, "not a whole number from 0 on: 1.0"},
        BadHeader{R"({"a":{"dtype":"F32","shape":["1"],"data_offsets":[0,4]}})", 4, "not a whole number from 0 on"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4]}})", 4, "not a whole number from 0 on"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[9223372036854775807],"data_offsets":[0,4]}})", 4, "more bytes than can be counted"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0, "more bytes than can be counted"},
        BadHeader{R"({"a":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,1,1,1,1,1],"data_offsets":[0,1]}})", 1, "13 dimensions"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", 4, "data_offsets that are not two whole numbers"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}})", 4, "data_offsets that are not two whole numbers"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4, "begins at byte 4 of the data, behind its end at 0"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 3, "the file has only 3 (truncated?)"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[250000000000],"data_offsets":[0,1000000000000]}})", 4, "the file has only 4"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4,
                  "takes 8 bytes by its sizes [2] and dtype F32, but its offsets leave 4"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 5, "5 bytes of data, but the header accounts for 4"},
        BadHeader{R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", 2, "leaves bytes 0 to 1 of the data to no tensor"},
        BadHeader{R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})", 3,
                  "'b' in the header overlaps"},
        BadHeader{R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 2,
                  "overlaps"},
        BadHeader{R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1,
                  "the key 'a' twice"},
        BadHeader{R"({"a":{"dtype":"U8","dtype":"I8","shape":[1],"data_offsets":[0,1]}})", 1, "the key 'dtype' twice"},
        BadHeader{R"({"__metadata__":1})", 0, "__metadata__ is not an object"},
        BadHeader{R"({"__metadata__":{"a":1}})", 0, "not text, for 'a'"}));

TEST(BadSafetensors, WithImpossibleLengthsAreRefused) {
  EXPECT_NE(error_for(std::string(8, '\xff') + "{}").find("header would take 18446744073709551615 bytes"), std::string::npos);
  EXPECT_NE(error_for(length_of(100'000'001) + "{}").find("header would take 100000001 bytes"), std::string::npos);
  EXPECT_NE(error_for(length_of(3) + "{}").find("header would take 3 bytes, but the file has only 2 more"), std::string::npos);
  EXPECT_NE(error_for("").find("not a safetensors file, but an empty file"), std::string::npos);
  EXPECT_NE(error_for("{}").find("not a safetensors file, but text (JSON, as it seems)"), std::string::npos);
  EXPECT_NE(error_for("\1\2").find("too few for the header's length"), std::string::npos);
}

TEST(BadSafetensors, WithOtherBytesInABoolAreRefused) {
  const std::string header = R"({"flag":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})";
  EXPECT_NE(error_for(length_of(header.size()) + header + std::string("\1\2", 2)).find("tensor 'flag' has the value 2 in a bool"),
            std::string::npos);
}

TEST(BadSafetensors, DeeplyNestedAreRefused) {
  EXPECT_NE(error_for(file_with("{\"a\":" + std::string(1'000'000, '[') + "}")).find("header"), std::string::npos);
}

TEST(BadSafetensors, CutOffAnywhereAreRefused) {
  io::save_safetensors("whole.safetensors", {{"x", td::ones({3})}, {"flag", td::tensor({true})}}, {{"note", "text"}});
  const std::string whole = read_file("whole.safetensors");
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    const std::string error = error_for(whole.substr(0, bytes));
    EXPECT_EQ(error.rfind("[load_safetensors] bad.safetensors: ", 0), 0U) << bytes << " bytes: " << error;
  }
  EXPECT_NE(error_for(whole + "x").find("the header accounts for"), std::string::npos);
}

TEST(BadSafetensors, WithAnyByteChangedAreReadOrRefused) {
  // Whatever byte of length or header is changed to whatever: a clean error or tensors of the file's size, nothing else.
  io::save_safetensors("whole.safetensors", {{"x", td::ones({3})}, {"flag", td::tensor({true})}});
  const std::string whole = read_file("whole.safetensors");
  int refused = 0, read = 0;
  for (size_t at = 0; at < whole.size() - 13; ++at) {
    for (const char value : {'\0', '\xff', '"', '{', '}', '[', ']', ',', ':', '0', '9', '-', ' ', 'e', '1'}) {
      std::string changed = whole;
      changed[at] = value;
      write_file("bad.safetensors", changed);
      try {
        int64_t bytes = 0;
        for (const auto& [name, tensor] : io::load_safetensors("bad.safetensors")) bytes += static_cast<int64_t>(tensor.nbytes());
        EXPECT_EQ(bytes, 13) << at;
        ++read;
      } catch (const td::Error& error) {
        EXPECT_EQ(std::string(error.what()).rfind("[load_safetensors] bad.safetensors: ", 0), 0U) << error.what();
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 500);
  EXPECT_GT(read, 100);  // names may be anything, and a byte may stay as it was
}
