// libtorch's names: options in chains, lists, checks, indices.
#include "libtorch/types.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "libtorch/cuda.h"
#include "libtorch/functions.h"
#include "libtorch/tempfile.h"

namespace {

int64_t first_of(c10::OptionalIntArrayRef sizes) { return sizes.value()[0]; }
size_t count_of(at::IntArrayRef sizes) { return sizes.size(); }
torch::TensorOptions taken(torch::TensorOptions options) { return options; }

TEST(LibtorchTypes, OptionsAreSetInAChain) {
  const auto options = torch::dtype(torch::kInt).device(torch::kCUDA, 1).requires_grad(true).pinned_memory(true);
  EXPECT_EQ(options.dtype(), torch::kInt32);
  EXPECT_EQ(options.device(), torch::Device("cuda:1"));
  EXPECT_TRUE(options.requires_grad());
  EXPECT_TRUE(options.pinned_memory());
  EXPECT_EQ(options.layout(), torch::kStrided);
  EXPECT_EQ(options.dtype<double>().dtype(), torch::kDouble);
}

TEST(LibtorchTypes, OptionsAreMadeOfOneEntry) {
  EXPECT_EQ(taken(torch::kLong).dtype(), torch::kInt64);
  EXPECT_EQ(taken(torch::kCUDA).device().type(), torch::kCUDA);
  EXPECT_EQ(taken("cuda:0").device(), torch::Device(torch::kCUDA, 0));
  EXPECT_EQ(torch::device({torch::kCUDA, 1}).device().index(), 1);
  EXPECT_EQ(taken({}).dtype(), torch::kFloat);
  EXPECT_FALSE(taken({}).has_dtype());
}

TEST(LibtorchTypes, ListsOfSizesComeFromNumbersAndVectors) {
  EXPECT_EQ(first_of(300), 300);
  EXPECT_EQ(first_of({400}), 400);
  EXPECT_EQ(count_of({1, 2}), 2U);
  EXPECT_EQ(count_of(std::vector<int64_t>{1, 2, 3}), 3U);
  const at::IntArrayRef sizes({2, 3});
  EXPECT_EQ(sizes, at::IntArrayRef({2, 3}));
  EXPECT_EQ(sizes.vec(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(c10::str(sizes), "[2, 3]");
  EXPECT_EQ(at::ArrayRef<bool>({true, false, true}).vec(), (std::vector<bool>{true, false, true}));
  EXPECT_THROW(static_cast<void>(sizes.at(2)), c10::IndexError);
}

TEST(LibtorchTypes, ADeviceStandsInBraces) {
  const auto x = torch::ones({2, 3});
  EXPECT_TRUE(x.to({torch::kCPU}).is_same(x));
  EXPECT_EQ(x.to({torch::kCPU}, torch::kDouble).dtype(), torch::kDouble);
  if (torch::cuda::is_available()) {
    EXPECT_EQ(x.to({torch::kCUDA, 0}).device().type(), torch::Device::Type::CUDA);
    EXPECT_EQ(x.to({torch::kCUDA, 0}, torch::kInt).device(), torch::Device("cuda:0"));
  }
  EXPECT_EQ(x.sizes().slice(1).vec(), std::vector<int64_t>({3}));
  EXPECT_TRUE(x.sizes().slice(2).empty());
  try {
    TORCH_CHECK(false, "why");
  } catch (const c10::Error& error) {
    EXPECT_NE(std::string(error.what_without_backtrace()).find("why"), std::string::npos);
  }
}

TEST(LibtorchTypes, OneValueFillsAnArray) {
  EXPECT_EQ(*torch::ExpandingArray<3>(5), (std::array<int64_t, 3>{5, 5, 5}));
  EXPECT_EQ((*torch::ExpandingArray<2>({3, 4}))[1], 4);
  EXPECT_EQ(c10::str(torch::ExpandingArrayWithOptionalElem<2>({3, torch::nullopt})), "[3, None]");
  EXPECT_EQ(c10::str(torch::ExpandingArray<1>(7)), "7");
  try {
    torch::ExpandingArray<5>({1, 2, 3});
    FAIL() << "three values are not five";
  } catch (const c10::Error& error) {
    EXPECT_NE(error.message().find("Expected 5 values, but instead got 3"), std::string::npos) << error.what();
  }
}

TEST(LibtorchTypes, ChecksNameTheLineTheyStandOn) {
  TORCH_CHECK(true, "never seen");
  const int line = __LINE__ + 2;
  try {
    TORCH_CHECK(1 > 2, "got ", 3, " of ", at::IntArrayRef({2}));
    FAIL() << "the check passed";
  } catch (const c10::Error& error) {
    EXPECT_EQ(error.message(), "got 3 of [2]");
    EXPECT_EQ(error.where().line, line);
  }
  EXPECT_THROW(TORCH_CHECK_INDEX(false, "none"), c10::IndexError);
  EXPECT_THROW(TORCH_CHECK_VALUE(false), c10::ValueError);
}

TEST(LibtorchTypes, SlicesKnowTheirBounds) {
  using namespace torch::indexing;
  EXPECT_EQ(Slice(1, None, 2).stop(), INDEX_MAX);
  EXPECT_EQ(Slice(None, 3, -1).start(), INDEX_MAX);
  EXPECT_EQ(Slice().step(), 1);
  EXPECT_EQ(c10::str(Slice(1, None, 2)), c10::str("1:", INDEX_MAX, ":2"));
  int64_t sum = 0;
  for (const auto i : c10::irange(4)) sum += i;
  EXPECT_EQ(sum, 6);
}

/// Keeps what it is told.
struct Warnings : c10::WarningHandler {
  void process(const c10::SourceLocation& location, const std::string& text, bool /*verbatim*/) override {
    texts.push_back(text);
    lines.push_back(location.line);
  }
  std::vector<std::string> texts;
  std::vector<uint32_t> lines;
};

TEST(LibtorchTypes, AHandlerIsToldOfTheWarningsOfItsThread) {
  Warnings mine, others;
  EXPECT_NE(c10::Warning::get_warning_handler(), nullptr);
  c10::Warning::set_warning_handler(&mine);
  EXPECT_EQ(c10::Warning::get_warning_handler(), &mine);
  TORCH_WARN("one of ", 2);
  const uint32_t line = __LINE__ - 1;
  tandem::warn("of the library's own");
  std::thread([&] {
    c10::Warning::set_warning_handler(&others);
    TORCH_WARN("elsewhere");
    c10::Warning::set_warning_handler(nullptr);
  }).join();
  c10::Warning::set_warning_handler(nullptr);
  EXPECT_EQ(mine.texts, (std::vector<std::string>{"one of 2", "of the library's own"}));
  EXPECT_EQ(mine.lines, (std::vector<uint32_t>{line, 0}));
  EXPECT_EQ(others.texts, std::vector<std::string>{"elsewhere"});
  EXPECT_EQ(c10::Join(", ", mine.texts), "one of 2, of the library's own");
  EXPECT_EQ(c10::Join(", ", {}), "");
}

TEST(LibtorchTypes, WithoutAHandlerOfTheThreadsWarningsGoWhereTheyWent) {
  std::vector<std::string> texts;
  const auto before = tandem::set_warning_handler([&](const std::string& text) { texts.push_back(text); });
  TORCH_WARN("of the program");
  tandem::set_warning_handler(before);
  EXPECT_EQ(texts, std::vector<std::string>{"of the program"});
}

TEST(LibtorchTypes, TemporaryFilesAreGoneAtTheEndOfTheirScope) {
  std::string file, folder;
  {
    const auto temporary = c10::make_tempfile();
    auto place = c10::make_tempdir();
    const auto moved = std::move(place);
    file = temporary.name;
    folder = moved.name;
    EXPECT_TRUE(std::filesystem::exists(file));
    EXPECT_TRUE(std::filesystem::is_directory(folder));
    EXPECT_NE(c10::make_tempfile().name, file);
  }
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_FALSE(std::filesystem::exists(folder));
  EXPECT_EQ(c10::try_make_tempfile("no/such/folder/"), std::nullopt);
  EXPECT_THROW(static_cast<void>(c10::make_tempdir("no/such/folder/")), c10::Error);
}

class TORCH_API Marked {
 public:
  int value = 1;
};

TEST(LibtorchTypes, ClassesMayBeMarkedAsExports) { EXPECT_EQ(Marked().value, 1); }

TEST(LibtorchTypes, NumbersHaveANegative) {
  const torch::Scalar half = 0.5, three = 3;
  EXPECT_EQ((-half).toDouble(), -0.5);
  EXPECT_EQ((-three).toLong(), -3);
  EXPECT_TRUE((-three).isIntegral(false));
  EXPECT_THROW((void)-torch::Scalar(true), c10::TypeError);
}

}  // namespace
