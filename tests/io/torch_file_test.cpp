// Files of torch.save's: those that PyTorch wrote, in torch_files/ (make.py there), what is written comes back, and files that mean harm.
#include "io/torch_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "io/file.h"
#include "io/pickle.h"
#include "io/plain_value.h"
#include "io/zip.h"
#include "support/files.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
namespace io = td::io;

namespace {

using io::PlainValue;
using Kind = PlainValue::Kind;
using std::string_literals::operator""s;

std::string of_torch(const std::string& name) { return TANDEM_TESTS_DIR "/io/torch_files/" + name; }

constexpr td::DType kAll[] = {td::kBool,  td::kUInt8,   td::kInt8,     td::kInt16,   td::kInt32,
                              td::kInt64, td::kFloat16, td::kBFloat16, td::kFloat32, td::kFloat64};

/// Whether both have the same dtype, sizes and elements.
bool same(const td::Tensor& a, const td::Tensor& b) {
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() && td::equal(a.cpu(), b.cpu());
}

/// An archive with this pickle and storages.
void write_archive(const std::string& pickle, const std::vector<std::string>& storages = {}) {
  io::AtomicFile file("test", "made.pt");
  io::ZipWriter zip(file, "test", "made.pt");
  zip.add("archive/data.pkl", pickle, "");
  for (size_t i = 0; i < storages.size(); ++i) zip.add("archive/data/" + std::to_string(i), storages[i], "");
  zip.finish();
  file.commit();
}

std::string error_for(const std::string& pickle, const std::vector<std::string>& storages = {}) {
  write_archive(pickle, storages);
  return error_of([] { (void)io::read_torch("made.pt"); });
}

/// The value of a pickle.
PlainValue value_of(const std::string& pickle) {
  write_archive(pickle);
  return io::read_torch("made.pt");
}

/// A pickle with one tensor of the first storage, as the numbers say.
struct TensorPickle {
  std::string storage = "FloatStorage";
  int64_t numel = 6, offset = 0;
  std::vector<int64_t> sizes = {2, 3}, strides = {3, 1};

  [[nodiscard]] std::string bytes() const {
    io::PickleWriter out;
    const auto numbers = [&](const std::vector<int64_t>& values) {
      out.begin_tuple();
      for (const int64_t value : values) out.number(value);
      out.end_tuple();
    };
    out.global("torch._utils", "_rebuild_tensor_v2");
    out.begin_tuple();
    out.begin_tuple();
    out.text("storage");
    out.global("torch", storage);
    out.text("0");
    out.text("cpu");
    out.number(numel);
    out.end_tuple();
    out.outside();
    out.number(offset);
    numbers(sizes);
    numbers(strides);
    out.boolean(false);
    out.begin_dict();
    out.end_dict();
    out.end_tuple();
    out.call();
    return out.finish();
  }
};

}  // namespace

class TorchFiles : public OnDevice {};

TEST_P(TorchFiles, OfPyTorchAreRead) {
  for (const char* name : {"values_2.pt", "values_3.pt", "values_4.pt", "values_5.pt", "old_2.pt", "old_3.pt", "old_4.pt", "old_5.pt"}) {
    SCOPED_TRACE(name);
    const PlainValue file = io::read_torch(of_torch(name), device());
    const td::Tensor bits = td::tensor({{0, 1, 0}, {1, 1, 0}});
    for (const td::DType dtype : kAll) {
      const td::Tensor& read = file["dtypes"][td::name(dtype)].to_tensor();
      EXPECT_EQ(read.device(), device());
      EXPECT_TRUE(same(read, bits.to(dtype))) << dtype;
    }
    const td::Tensor flat = td::arange(12, {.dtype = td::kFloat32}), rows = flat.view({3, 4});
    EXPECT_TRUE(same(file["rows"].to_tensor(), rows));
    EXPECT_TRUE(same(file["column"].to_tensor(), rows.select(1, 1)));
    EXPECT_TRUE(same(file["part"].to_tensor(), flat.slice(0, 4, 7)));
    EXPECT_TRUE(same(file["turned"].to_tensor(), rows.t()));
    EXPECT_EQ(file["turned"].to_tensor().strides(), (td::Shape{1, 4}));
    file["rows"].to_tensor().fill_(9);  // one storage
    EXPECT_TRUE(same(file["part"].to_tensor(), td::full({3}, 9.0F)));
    EXPECT_TRUE(same(file["scalar"].to_tensor(), td::tensor(2.5F)));
    EXPECT_EQ(file["empty"].to_tensor().sizes(), (td::Shape{2, 0, 3}));
    EXPECT_TRUE(file["parameter"].to_tensor().requires_grad());
    EXPECT_TRUE(file["leaf"].to_tensor().requires_grad());
    EXPECT_FALSE(file["rows"].to_tensor().requires_grad());

    EXPECT_EQ(td::str(file["numbers"]), "[0, 1, 255, 256, 65536, -1, -1099511627776, 4611686018427387904, True, False, None, 0.5, inf]");
    EXPECT_EQ(file["texts"][1].to_text(), "plain");
    EXPECT_EQ(file["texts"][2].to_text(),
              "Gr\xc3\xbc\xc3\x9f"
              "e, \xe4\xb8\x96\xe7\x95\x8c");
    EXPECT_EQ(file["texts"][3].to_text(), std::string(300, 'a'));
    EXPECT_EQ(file["bytes"].to_text(), "\0\x7f\x80\xff"s);
    EXPECT_EQ(file["bytes"].kind(), Kind::Bytes);
    EXPECT_EQ(file["set"].items().at(0).to_int(), 3);
    EXPECT_EQ(td::str(file["size"]), "(2, 3)");
    EXPECT_EQ(file["device"].to_text(), "cuda:1");
    EXPECT_EQ(file["dtype"].to_dtype(), td::kBFloat16);
    EXPECT_EQ(td::str(file["ordered"]), "{'a': 1, 'b': []}");
    EXPECT_EQ(td::str(file["default"]), "{'x': [1]}");
    const auto tensors = io::load_torch(of_torch(name), device());
    EXPECT_TRUE(same(tensors.at("7.nested.0.deep"), td::tensor({int64_t{7}})));
    EXPECT_EQ(tensors.size(), 10U + 9);
  }
}

TEST_P(TorchFiles, AndTheOlderFormatGiveOneCheckpoint) {
  const PlainValue now = io::read_torch(of_torch("checkpoint.pt"), device()), before = io::read_torch(of_torch("old_checkpoint.pt"));
  EXPECT_EQ(now["epoch"].to_int(), 3);
  const td::StateDict tensors = io::tensors_of(now), others = io::tensors_of(before);
  ASSERT_EQ(tensors.keys(), others.keys());
  for (const auto& [name, tensor] : tensors) EXPECT_TRUE(same(tensor, others.at(name))) << name;
  EXPECT_TRUE(tensors.contains("model.1.running_mean"));
  EXPECT_TRUE(tensors.contains("optimizer.state.0.exp_avg"));
  EXPECT_DOUBLE_EQ(now["optimizer"]["param_groups"][0]["lr"].to_double(), 0.25);

  // Into a module: the parts of the file that are its state.
  td::nn::Sequential net(td::nn::Linear(3, 4), td::nn::BatchNorm1d(4), td::nn::Linear(4, 2));
  net.to(device());
  net.load_state_dict(tensors.under("model."));
  EXPECT_TRUE(same(net.state_dict().at("0.weight"), others.at("model.0.weight")));
}

TEST_P(TorchFiles, ComeBackAsTheyWereSaved) {
  td::StateDict state;
  for (const td::DType dtype : kAll) {
    state[td::name(dtype)] = td::tensor({{0, 1, 2}, {0, 7, 1}}).to(dtype).to(device());
    state[std::string(td::name(dtype)) + ".scalar"] = td::tensor(1).to(dtype).to(device());
    state[std::string(td::name(dtype)) + ".empty"] = td::zeros({0, 3}, dtype).to(device());
  }
  const td::Tensor flat = td::arange(12, {.dtype = td::kFloat32}).to(device());
  const PlainValue value = PlainValue::dict({{"state", state},
                                             {"rows", flat.view({3, 4})},
                                             {"part", flat.slice(0, 4, 7)},
                                             {"leaf", td::ones({2}).requires_grad_()},
                                             {3, PlainValue::list({1, -2.5, true, {}, "text"})},
                                             {"pair", PlainValue::tuple({int64_t{1} << 40, std::nan("")})},
                                             {"set", PlainValue::set({"a"})},
                                             {"bytes", PlainValue::bytes("\0\xff"s)},
                                             {"device", PlainValue::device("cuda:3")},
                                             {"dtype", td::kInt16}});
  io::save_torch("saved.pt", value);
  const PlainValue read = io::read_torch("saved.pt", device());
  const td::StateDict tensors = io::tensors_of(value), others = io::tensors_of(read);
  ASSERT_EQ(tensors.keys(), others.keys());
  for (const auto& [name, tensor] : tensors) EXPECT_TRUE(same(tensor, others.at(name))) << name;
  EXPECT_TRUE(read["leaf"].to_tensor().requires_grad());
  read["rows"].to_tensor().fill_(9);
  EXPECT_TRUE(same(read["part"].to_tensor(), td::full({3}, 9.0F)));
  EXPECT_EQ(td::str(read.pairs().at(4).first, read.pairs().at(4).second), "3[1, -2.5, True, None, 'text']");
  for (const char* name : {"pair", "set", "bytes", "device", "dtype"}) {
    EXPECT_EQ(td::str(read[name]), td::str(value[name]));
    EXPECT_EQ(read[name].kind(), value[name].kind());
  }
}
INSTANTIATE_TEST_SUITE_P(Devices, TorchFiles, testing::Values("cpu", "cuda:0", "cuda:1"), device_name);

TEST(TorchFile, TextsAreUtf8OrTheFileIsNotWritten) {
  io::save_torch("texts.pt", io::PlainValue::list({"gr\u00fc\u00dfe"}));
  EXPECT_EQ(error_of([] {
              io::save_torch("texts.pt", io::PlainValue::dict({{"r\xe1te", 0.5}}));
            }),
            "[save_torch] texts.pt: the text 'r\xe1te' is not UTF-8, as PyTorch reads them: change it before it is saved");
  EXPECT_NE(error_of([] { io::save_torch("texts.pt", io::PlainValue::device("\xe1")); }).find("is not UTF-8"), std::string::npos);
  EXPECT_EQ(io::read_torch("texts.pt").items()[0].to_text(), "gr\u00fc\u00dfe");
}

TEST(TorchFile, ReadsOnlyTheTensorsThatAreNamed) {
  const auto some = io::load_torch(of_torch("checkpoint.pt"), td::cpu(), {"model.0.bias"});
  ASSERT_EQ(some.size(), 1U);
  EXPECT_EQ(some.at("model.0.bias").sizes(), (td::Shape{4}));
  const std::string error = error_of([] { (void)io::load_torch(of_torch("checkpoint.pt"), td::cpu(), {"bias"}); });
  EXPECT_NE(error.find("checkpoint.pt: there is no tensor 'bias'; there is 'model.0.bias'"), std::string::npos) << error;
}

TEST(TorchFile, GivesTheWeightsOfATorchScriptArchive) {
  const PlainValue script = io::read_torch(of_torch("script.pt"));
  EXPECT_DOUBLE_EQ(script["scale"].to_double(), 2.0);
  EXPECT_TRUE(same(script["linear"]["weight"].to_tensor(), td::full({3, 2}, 0.5F)));
  EXPECT_TRUE(same(io::load_torch(of_torch("script.pt")).at("linear.bias"), td::full({3}, 1.5F)));
}

TEST(TorchFile, OfAClassIsRefusedByItsName) {
  const std::string model = error_of([] { (void)io::read_torch(of_torch("model.pt")); });
  EXPECT_NE(model.find("model.pt: the pickle names torch.nn.modules.linear.Linear, which is no plain value: save what it holds, such as "
                       "model.state_dict()"),
            std::string::npos)
      << model;
  const std::string complex = error_of([] { (void)io::read_torch(of_torch("complex.pt")); });
  EXPECT_NE(complex.find("has a tensor of a kind that tandem has none of (torch.ComplexFloatStorage)"), std::string::npos) << complex;
}

TEST(TorchFile, ThatIsAnotherKindOfFileIsCalledByItsName) {
  write_file("other.pt", "\x93NUMPY\1\0\0\0"s);
  EXPECT_EQ(error_of([] { (void)io::read_torch("other.pt"); }),
            "[load_torch] other.pt: not a file of torch.save's, but a .npy file: read it with load_npy");
  io::save_npz("other.npz", {{"a", td::ones({1})}});
  EXPECT_NE(error_of([] { (void)io::read_torch("other.npz"); }).find("but an archive of NumPy's (.npz)"), std::string::npos);
  write_file("other.pt", "");
  EXPECT_NE(error_of([] { (void)io::read_torch("other.pt"); }).find("an empty file"), std::string::npos);
}

TEST(TorchFile, CutOffIsAnError) {
  for (const char* name : {"values_2.pt", "old_2.pt", "old_4.pt"}) {
    const std::string whole = read_file(of_torch(name));
    for (size_t bytes = 0; bytes < whole.size(); bytes += 7) {
      write_file("cut.pt", whole.substr(0, bytes));
      EXPECT_NE(error_of([] { (void)io::read_torch("cut.pt"); }), "no error") << name << " of " << bytes << " bytes";
    }
  }
}

TEST(TorchFile, TensorsStayInTheirStorages) {
  const std::vector<std::string> storage = {std::string(24, '\1')};
  write_archive(TensorPickle().bytes(), storage);
  EXPECT_EQ(io::read_torch("made.pt").to_tensor().sizes(), (td::Shape{2, 3}));
  const auto refused = [&](const TensorPickle& tensor) { return error_for(tensor.bytes(), storage); };
  EXPECT_NE(refused({.offset = 1}).find("from element 1 on, outside of its storage of 6"), std::string::npos);
  EXPECT_NE(refused({.sizes = {3, 3}}).find("outside of its storage"), std::string::npos);
  EXPECT_NE(refused({.strides = {int64_t{1} << 62, 1}}).find("outside of its storage"), std::string::npos);
  EXPECT_NE(refused({.strides = {-1, 1}}).find("strides are not all whole numbers from 0 up"), std::string::npos);
  EXPECT_NE(refused({.offset = -1}).find("outside of its storage"), std::string::npos);
  EXPECT_NE(refused({.sizes = {int64_t{1} << 40, int64_t{1} << 40}, .strides = {0, 0}}).find("more elements than can be counted"),
            std::string::npos);
  EXPECT_NE(refused({.sizes = {2}}).find("of 1 sizes and 2 strides"), std::string::npos);
  EXPECT_NE(refused({.numel = 7}).find("the storage '0' is to have 28 bytes, but has 24"), std::string::npos);
  EXPECT_NE(refused({.numel = -1}).find("a storage of -1 elements"), std::string::npos);
  EXPECT_NE(refused({.numel = INT64_MAX}).find("a storage of"), std::string::npos);
  EXPECT_NE(refused({.storage = "QInt8Storage"}).find("a kind that tandem has none of"), std::string::npos);
  EXPECT_NE(error_for(TensorPickle().bytes()).find("refers to the storage '0', which the archive does not have"), std::string::npos);
  EXPECT_NE(error_for(TensorPickle{.storage = "BoolStorage"}.bytes(), {std::string(6, '\2')}).find("the value 2 in a bool"),
            std::string::npos);
}

TEST(TorchFile, APickleCallsNothing) {
  const auto refused = [](const std::string& pickle) { return error_for(pickle); };
  EXPECT_NE(refused("\x80\x02"
                    "cos\nsystem\n(X\x02\0\0\0lstR."s)
                .find("names os.system, which is no plain value"),
            std::string::npos);
  EXPECT_NE(refused("\x80\x04\x8c\x08"
                    "builtins\x8c\x04"
                    "eval\x93."s)
                .find("names builtins.eval"),
            std::string::npos);
  EXPECT_NE(refused("ctorch\nTensor\n."s).find("is a name or a storage, and no value"), std::string::npos);
  EXPECT_NE(refused("(ctorch\nTensor\nl."s).find("among values"), std::string::npos);
  EXPECT_NE(refused("ctorch\nTensor\n(tR."s).find("calls torch.Tensor, which is nothing to be called"), std::string::npos);
  EXPECT_NE(refused("K\1)R."s).find("calls what is no name"), std::string::npos);
  EXPECT_NE(refused("(K\1ios\nsystem\n."s).find("opcode"), std::string::npos);
}

TEST(TorchFile, APickleThatMeansHarmIsRefused) {
  const auto refused = [](const std::string& pickle) { return error_for(pickle); };
  // A list that holds itself, at once and by way of another.
  EXPECT_NE(refused("]q\0h\0a."s).find("puts a container into itself"), std::string::npos);
  EXPECT_NE(refused("]q\0]q\1h\0aa."s).find("changes a container that another one has already"), std::string::npos);
  EXPECT_NE(refused("}q\0K\1h\0s."s).find("puts a container into itself"), std::string::npos);
  // Lists in lists, deeper than anyone needs.
  EXPECT_NE(refused(std::string(100'000, '(') + std::string(100'000, 'l') + "."s).find("nests values more than 200 deep"),
            std::string::npos);
  // A list of the list before it, twice, forty times: 2^40 values.
  std::string bomb = "]";
  for (char i = 0; i < 40; ++i) bomb += "q"s + i + "(h"s + i + "h"s + i + "l"s;
  EXPECT_NE(refused(bomb + ".").find("so often that they would be too many"), std::string::npos);
  // Texts and numbers that say they are longer than the file.
  EXPECT_NE(refused("X\xff\xff\xff\x7f."s).find("has a text or bytes of 2147483647"), std::string::npos);
  EXPECT_NE(refused("\x8e\xff\xff\xff\xff\xff\xff\xff\xff."s).find("has a text or bytes of"), std::string::npos);
  EXPECT_NE(refused("\x8b\xff\xff\xff\xff."s).find("has a text or bytes of"), std::string::npos);
  EXPECT_NE(refused("\x8a\x09\0\0\0\0\0\0\0\0\1."s).find("a whole number of 9 bytes"), std::string::npos);
  // More than such a file can hold.
  EXPECT_NE(refused(std::string(3'000'000, ']') + "."s).find("would take more memory"), std::string::npos);
  // The stack and the memo.
  for (const std::string& empty :
       {"0."s, "a."s, "R."s, "s."s, "u."s, "t."s, "2."s, "q\0."s, "b."s, "\x85."s, "Q."s, "."s, "K\1K\2."s, "(."s})
    EXPECT_NE(refused(empty), "no error");
  EXPECT_NE(refused("h\7."s).find("takes value 7 from its memo"), std::string::npos);
  EXPECT_NE(refused("\x80\x06N."s).find("is of protocol 6"), std::string::npos);
  EXPECT_NE(refused("]K\1s."s), "no error");
  EXPECT_NE(refused("}]K\1s."s).find("has a key that can be none: a list"), std::string::npos);
  EXPECT_NE(refused("}(K\1u."s).find("has a key without a value"), std::string::npos);
  EXPECT_NE(refused("K\1"s).find("is cut off"), std::string::npos);
}

TEST(TorchFile, PicklesOfAllProtocolsAreRead) {
  EXPECT_EQ(td::str(value_of("(lp0\nI1\naI01\naI00\naL12L\naF0.5\naS'a b'\naVc\na(I1\nI2\nta."s)),
            "[1, True, False, 12, 0.5, 'a b', 'c', (1, 2)]");
  EXPECT_EQ(td::str(value_of("\x80\x04\x95\x10\0\0\0\0\0\0\0}\x94(\x8c\1a\x94K\1\x8c\1b\x94h\1u."s)), "{'a': 1, 'b': 'a'}");
  EXPECT_EQ(td::str(value_of("\x80\x04\x8f(K\1K\2\x90."s)), "{1, 2}");
  EXPECT_EQ(td::str(value_of("\x80\x04(K\1\x91."s)), "{1}");
  EXPECT_EQ(td::str(value_of("\x80\x05\x96\2\0\0\0\0\0\0\0ab."s)), "b'ab'");
  EXPECT_EQ(td::str(value_of("ccollections\nOrderedDict\n((lp1\n(lp2\nS'k'\naI1\naatR."s)), "{'k': 1}");
}

TEST(PlainValues, SayWhatTheyAreNot) {
  const PlainValue dict = PlainValue::dict({{"a", 1}, {"a", 2}});
  EXPECT_EQ(dict.size(), 1U);
  EXPECT_EQ(dict["a"].to_int(), 2);
  EXPECT_EQ(error_of([&] { (void)dict["b"]; }), "[PlainValue] there is no key 'b'; there is 'a'");
  EXPECT_EQ(error_of([&] { (void)dict["a"].to_text(); }), "[PlainValue] the value is a whole number, not a text: 2");
  EXPECT_EQ(error_of([&] { (void)PlainValue::list({1})[1]; }), "[PlainValue] there is no item 1 in a list of 1");
  EXPECT_EQ(error_of([] {
              (void)PlainValue::dict({{PlainValue::list({}), 1}});
            }),
            "[PlainValue.dict] a list is no key: keys are texts, numbers, truth values or None");
}
