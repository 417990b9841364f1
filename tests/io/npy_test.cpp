// NumPy's files: there and back on every device, the bytes as NumPy writes them, and files that are not what they say.
#include "io/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "support/files.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
namespace io = td::io;

namespace {

/// A .npy file of version 1 with this dictionary and these bytes of data.
std::string npy(const std::string& dictionary, const std::string& data = "") {
  const auto length = static_cast<uint16_t>(dictionary.size());
  return std::string("\x93NUMPY\1\0", 8) + static_cast<char>(length & 0xff) + static_cast<char>(length >> 8) + dictionary + data;
}

std::string error_for(const std::string& bytes) {
  write_file("bad.npy", bytes);
  return error_of([] { (void)io::load_npy("bad.npy"); });
}

}  // namespace

class NumpyFiles : public OnDevice {};

TEST_P(NumpyFiles, KeepEveryDtypeAndShape) {
  io::TensorMap all;
  for (const td::DType dtype :
       {td::kBool, td::kUInt8, td::kInt8, td::kInt16, td::kInt32, td::kInt64, td::kFloat16, td::kFloat32, td::kFloat64}) {
    for (const td::Tensor& tensor :
         {td::tensor({{0, 1, 2}, {0, 7, 1}}), td::tensor(1), td::zeros({0, 3}), td::arange(4), td::arange(6).reshape({3, 2}).t()}) {
      const td::Tensor there = tensor.to(device(), dtype);
      io::save_npy("x.npy", there);
      const td::Tensor back = io::load_npy("x.npy", device());
      EXPECT_EQ(back.dtype(), dtype);
      EXPECT_EQ(back.device(), there.device());
      EXPECT_TRUE(td::equal(back, there)) << dtype << " " << tensor;
      all[td::str(td::name(dtype), all.size())] = there;
    }
  }
  io::save_npz("all.npz", all);
  const auto loaded = io::load_npz("all.npz", device());
  ASSERT_EQ(loaded.size(), all.size());
  for (const auto& [name, tensor] : all) EXPECT_TRUE(td::equal(loaded.at(name), tensor)) << name;
}

INSTANTIATE_TEST_SUITE_P(Devices, NumpyFiles, testing::Values("cpu", "cuda:0", "cuda:1"), device_name);

TEST(NumpyFile, HasTheBytesThatNumpyWrites) {
  io::save_npy("bytes.npy", td::tensor({{1.f, -2.f}}));
  const std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }";
  EXPECT_EQ(read_file("bytes.npy"),
            npy(dictionary + std::string(118 - dictionary.size() - 1, ' ') + "\n", std::string("\0\0\x80\x3f\0\0\0\xc0", 8)));
  io::save_npy("vector.npy", td::tensor({true}));
  EXPECT_NE(read_file("vector.npy").find("{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }"), std::string::npos);
  io::save_npy("number.npy", td::tensor(3));
  EXPECT_NE(read_file("number.npy").find("{'descr': '<i8', 'fortran_order': False, 'shape': (), }"), std::string::npos);
}

TEST(NumpyFile, IsReadAsOtherProgramsWriteIt) {
  // Column-major, of versions 2 and 3, with keys in another order and white space.
  write_file("f.npy", npy("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }\n", std::string("\1\0\2\0\3\0\4\0\5\0\6\0", 12)));
  EXPECT_TRUE(td::equal(io::load_npy("f.npy"), td::tensor({{1, 3, 5}, {2, 4, 6}}, td::kInt16)));
  const std::string dictionary = "{ \"shape\" : ( 2L , ) , 'fortran_order':False, \"descr\":'<u1'}";
  for (const char version : {'\2', '\3'}) {
    write_file("v.npy", std::string("\x93NUMPY", 6) + version + '\0' + static_cast<char>(dictionary.size()) + std::string(3, '\0') +
                            dictionary + "\7\x8");
    EXPECT_TRUE(td::equal(io::load_npy("v.npy"), td::tensor({7, 8}, td::kUInt8)));
  }
}

TEST(NumpyFile, CannotHoldBfloat16) {
  EXPECT_EQ(error_of([] { io::save_npy("half.npy", td::ones({1}, td::kBFloat16)); }),
            "[save_npy] half.npy: NumPy has no type for bfloat16; convert the tensor, as with .to(kFloat32)");
  EXPECT_FALSE(std::filesystem::exists("half.npy"));
  EXPECT_NE(error_of([] { io::save_npz("half.npz", {{"x", td::ones({1}, td::kBFloat16)}}); }).find("half.npz"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists("half.npz"));
}

TEST(NumpyFile, NamesWhereItCannotBeWrittenOrRead) {
  EXPECT_EQ(error_of([] { io::save_npy("no/such/folder/x.npy", td::ones({1})); }),
            "[save_npy] no/such/folder/x.npy: cannot create the file: there is no folder no/such/folder: make it first");
  io::save_npy("a_file.npy", td::ones({1}));
  EXPECT_EQ(error_of([] { io::save_npy("a_file.npy/x.npy", td::ones({1})); }),
            "[save_npy] a_file.npy/x.npy: cannot create the file: a_file.npy is no folder: give another path");
  EXPECT_EQ(error_of([] { (void)io::load_npy("absent.npy"); }),
            "[load_npy] absent.npy: cannot open the file: No such file or directory; the folder " +
                std::filesystem::current_path().string() + " has no such file");
  EXPECT_EQ(error_of([] { (void)io::load_npz("absent.npz"); }),
            "[load_npz] absent.npz: cannot open the file: No such file or directory; the folder " +
                std::filesystem::current_path().string() + " has no such file");
}

struct BadNpy {
  const char* dictionary;
  size_t data_bytes;
  const char* text;
};

class BadNumpyFiles : public testing::TestWithParam<BadNpy> {};

TEST_P(BadNumpyFiles, AreRefused) {
  const std::string error = error_for(npy(GetParam().dictionary, std::string(GetParam().data_bytes, '\1')));
  EXPECT_EQ(error.find("[load_npy] bad.npy: "), 0U) << error;
  EXPECT_NE(error.find(GetParam().text), std::string::npos) << error;
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadNumpyFiles,
    testing::Values(BadNpy{"", 0, "not the dictionary"}, BadNpy{"{", 0, "not the dictionary"}, BadNpy{"{}", 0, "lacks one of"},
                    BadNpy{"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), } x", 4, "not the dictionary"},
                    BadNpy{"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}", 4, "the key 'more'"},
                    BadNpy{"{'descr': '<f4', 'descr': '<f4', 'shape': (1,), }", 4, "the key 'descr'"},
                    BadNpy{"{'descr': '<f4', 'fortran_order': 0, 'shape': (1,), }", 4, "not the dictionary"},
                    BadNpy{"{'descr': '<f4', 'fortran_order': False, 'shape': 1, }", 4, "not the dictionary"},
                    BadNpy{"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", 4, "not the dictionary"},
                    BadNpy{"{'descr': '<f4', 'fortran_order': False, 'shape': (1, ", 4, "not the dictionary"},
                    BadNpy{"{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", 8, "complex (type '<c8')"},
                    BadNpy{"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", 8, "objects (type '|O')"},
                    BadNpy{"{'descr': '|f4', 'fortran_order': False, 'shape': (1,), }", 4, "of the type '|f4'"},
                    BadNpy{"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 4, "takes 8 bytes, but there are 4"},
                    BadNpy{"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", 5, "takes 4 bytes, but there are 5"},
                    BadNpy{"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }", 4, "but there are 4"},
                    BadNpy{"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 0, "too large to be counted"},
                    BadNpy{"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", 0, "too large to be counted"},
                    BadNpy{"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1), }", 4,
                           "more than the 12 dimensions"}));

TEST(BadNumpyFile, IsRefused) {
  EXPECT_NE(error_for("").find("bad.npy: not a .npy file"), std::string::npos);
  EXPECT_NE(error_for("\x93NUMPY\x01").find("bad.npy: not a .npy file"), std::string::npos);
  EXPECT_NE(error_for("PK\3\4 something else entirely").find("bad.npy: not a .npy file"), std::string::npos);
  EXPECT_NE(error_for(std::string("\x93NUMPY\4\0\2\0{}", 12)).find("has version 4"), std::string::npos);
  EXPECT_NE(error_for(std::string("\x93NUMPY\1\0\xff\xff{}", 12)).find("header would take 65535 bytes"), std::string::npos);
  EXPECT_NE(error_for(std::string("\x93NUMPY\2\0\xff\xff\xff\xff{}", 14)).find("header would take 4294967295 bytes"), std::string::npos);
  EXPECT_NE(error_for(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }", "\2")).find("the value 2 in a bool"),
            std::string::npos);
}

TEST(BadNumpyFile, CutOffAnywhereIsRefused) {
  io::save_npy("whole.npy", td::ones({3}));
  const std::string array = read_file("whole.npy");
  for (size_t bytes = 0; bytes < array.size(); ++bytes)
    EXPECT_EQ(error_for(array.substr(0, bytes)).find("[load_npy] bad.npy: "), 0U) << bytes;
}

// numpy.savez_compressed(file, a=numpy.full(500, 3, numpy.uint8)), by NumPy 2.4.
constexpr std::string_view kPackedArchive =
    "504b03042d0000000800000021001e72e01affffffffffffffff05001400612e6e70790100100074020000000000004b000000000000009bec17ea1b"
    "10c9c850c650ad9e925a9c5ca46ea5a05e536aa8aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91aa606063a9a3a0ab5"
    "0a64032ee65130e20000504b01022d032d0000000800000021001e72e01a4b00000074020000050000000000000000000000800100000000612e6e70"
    "79504b0506000000000100010033000000820000000000";

TEST(NumpyArchive, IsReadPackedToo) {
  std::string bytes;
  for (size_t i = 0; i < kPackedArchive.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(kPackedArchive.substr(i, 2)), nullptr, 16));
  write_file("packed.npz", bytes);
  EXPECT_TRUE(td::equal(io::load_npz("packed.npz").at("a"), td::full({500}, 3, td::kUInt8)));
  // A changed byte in the packed data does not come through.
  for (const size_t at : {60U, 90U, 110U}) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    write_file("packed.npz", changed);
    EXPECT_NE(error_of([] { (void)io::load_npz("packed.npz"); }).find("packed.npz: the entry a.npy: "), std::string::npos) << at;
  }
}

TEST(NumpyArchive, WithAnyByteChangedOrCutOffIsReadOrRefused) {
  io::save_npz("whole.npz", {{"x", td::ones({3})}, {"flag", td::tensor({true})}});
  const std::string whole = read_file("whole.npz");
  const auto attempt = [](const std::string& bytes) {
    write_file("bad.npz", bytes);
    const std::string error = error_of([] { (void)io::load_npz("bad.npz"); });
    EXPECT_TRUE(error == "no error" || error.rfind("[load_npz] bad.npz: ", 0) == 0) << error;
    return error != "no error";
  };
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) EXPECT_TRUE(attempt(whole.substr(0, bytes))) << bytes;
  int refused = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int change : {0xff, 0x01, 0x80}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ change);
      refused += attempt(changed);
    }
  }
  // The checksum covers each entry's bytes, so most changes are found.
  EXPECT_GT(refused, static_cast<int>(whole.size()));
  EXPECT_TRUE(io::load_npz("whole.npz").contains("flag"));
}
