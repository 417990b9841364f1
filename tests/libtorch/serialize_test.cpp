// torch::save, torch::load and archives.
#include "libtorch/serialize.h"

#include <gtest/gtest.h>

#include <cstring>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "io/torch_file.h"
#include "libtorch/functions.h"

namespace {

using torch::IValue;
using torch::Tensor;
using torch::serialize::InputArchive;
using torch::serialize::OutputArchive;

std::string bytes_of(OutputArchive archive) {
  std::string bytes;
  archive.save_to([&](const void* data, size_t count) {
    const size_t taken = std::min<size_t>(count, 100);
    bytes.append(static_cast<const char*>(data), taken);
    return taken;
  });
  return bytes;
}
InputArchive archive_of(const std::string& bytes) {
  InputArchive archive;
  archive.load_from(bytes.data(), bytes.size());
  return archive;
}

class LibtorchSerialize : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Devices, LibtorchSerialize, testing::Values("cpu", "cuda:0"));

TEST_P(LibtorchSerialize, TensorsComeBackOntoTheDeviceThatIsAskedFor) {
  const Tensor x = tandem::randn({3, 4}).to(GetParam()).t();
  std::stringstream one, several;
  torch::save(x, one);
  torch::save(std::vector<Tensor>{x, x + 1}, several);
  Tensor y;
  torch::load(y, one, torch::Device(GetParam()));
  EXPECT_EQ(y.device(), x.device());
  EXPECT_TRUE(y.equal(x));
  std::vector<Tensor> list;
  torch::load(list, several);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_TRUE(list[1].equal(x.cpu() + 1));
}

TEST_P(LibtorchSerialize, ADefinedTensorKeepsItsPlace) {
  OutputArchive out;
  out.write("x", tandem::full({2}, 3));
  Tensor x = tandem::zeros({2}).to(GetParam());
  const Tensor same = x;
  archive_of(bytes_of(std::move(out))).read("x", x);
  EXPECT_TRUE(same.equal(tandem::full_like(same, 3)));
  EXPECT_EQ(x.device(), torch::Device(GetParam()));
}

TEST(LibtorchArchives, NestedNamesArePythonsOfAStateDict) {
  OutputArchive out, inner;
  inner.write("weight", tandem::ones({1}));
  inner.write("pair", IValue(std::make_tuple(0.5, 2.0)));
  out.write("fc", inner);
  out.write("name", IValue("net"));
  const std::string bytes = bytes_of(std::move(out));
  InputArchive in = archive_of(bytes), nested;
  EXPECT_EQ(in.keys(), (std::vector<std::string>{"fc", "name"}));
  IValue value;
  ASSERT_TRUE(in.try_read("fc.pair", value));
  EXPECT_EQ((value.to<std::tuple<double, double>>()), std::make_tuple(0.5, 2.0));
  ASSERT_TRUE(in.try_read("fc", nested));
  Tensor weight;
  nested.read("weight", weight);
  EXPECT_EQ(weight.item<float>(), 1);
  EXPECT_FALSE(in.try_read("f", nested));
}

TEST(LibtorchArchives, AnErrorNamesWhatIsMissingAndTheUsersLine) {
  OutputArchive out, inner;
  inner.write("weight", tandem::ones({1}));
  out.write("fc", inner);
  InputArchive in = archive_of(bytes_of(std::move(out))), fc, other;
  in.read("fc", fc);
  in.read("fc2", other);  // one that is empty has left no trace
  Tensor tensor;
  for (auto& [archive, message] :
       {std::pair{&fc, "No such serialized tensor 'fc.bias'"}, std::pair{&other, "No such serialized submodule: 'fc2'"}}) {
    try {
      archive->read("bias", tensor);
      FAIL();
    } catch (const tandem::Error& error) {
      EXPECT_NE(error.message().find(message), std::string::npos) << error.what();
      EXPECT_EQ(error.where().line, __LINE__ - 4);
    }
  }
}

TEST(LibtorchArchives, FilesOfPythonsDictionariesAreRead) {
  const std::string path = testing::TempDir() + "libtorch_archive.pt";
  using Value = tandem::io::PlainValue;
  tandem::io::save_torch(path, Value::dict({{"model", Value::dict({{"fc.weight", Value(tandem::ones({2}))}})}, {"epoch", Value(7)}}));
  InputArchive in, model, fc;
  in.load_from(path);
  IValue epoch;
  in.read("epoch", epoch);
  EXPECT_EQ(epoch.toInt(), 7);
  in.read("model", model);
  model.read("fc", fc);
  Tensor weight;
  fc.read("weight", weight);
  EXPECT_EQ(weight.numel(), 2);
  EXPECT_EQ(std::remove(path.c_str()), 0);
}

TEST(LibtorchArchives, ValuesGoIntoBytesAndBack) {
  const auto bytes = torch::pickle_save(std::vector<Tensor>{torch::ones({2}), torch::zeros({3})});
  const IValue back = torch::pickle_load(bytes);
  EXPECT_TRUE(back.isList());
  EXPECT_TRUE(torch::equal(back.toTensorVector()[1], torch::zeros({3})));
  EXPECT_EQ(torch::pickle_load(torch::pickle_save(7)).toInt(), 7);
  EXPECT_THROW((void)torch::pickle_load({'P', 'K', '?'}), tandem::Error);
}

TEST(LibtorchArchives, DamagedBytesAreAnErrorAndLeaveNothingBehind) {
  Tensor x;
  EXPECT_THROW(torch::load(x, "PK?", size_t{3}), tandem::Error);
  EXPECT_FALSE(x.defined());
}

}  // namespace
