// The embedded digits are whole, and come apart into two sets that share none.
#include "data/digits.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>

#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
using td::data::Digits;

namespace {

/// Each picture's bytes with its label, and how often it comes.
std::map<std::string, int> pictures(const td::data::TensorDataset& set) {
  std::map<std::string, int> counts;
  const td::Tensor images = set.tensors()[0].contiguous(), labels = set.tensors()[1].contiguous();
  const auto* pixels = reinterpret_cast<const char*>(images.data_ptr<float>());
  const size_t bytes = 64 * sizeof(float);
  for (int64_t i = 0; i < set.size(); ++i)
    ++counts[std::string(pixels + static_cast<size_t>(i) * bytes, bytes) + std::to_string(labels.data_ptr<int64_t>()[i])];
  return counts;
}

}  // namespace

TEST(Digits, AreWhole) {
  const Digits digits;
  EXPECT_EQ(digits.size(), 1797);
  EXPECT_EQ(digits.images().sizes(), (td::Shape{1797, 1, 8, 8}));
  EXPECT_EQ(digits.images().dtype(), td::kFloat32);
  EXPECT_EQ(digits.labels().dtype(), td::kInt64);
  EXPECT_EQ(td::min(digits.images()).item<float>(), 0);
  EXPECT_EQ(td::max(digits.images()).item<float>(), 1);
  // Sums over the file's columns, counted apart from this library.
  EXPECT_EQ((digits.images().to(td::kFloat64) * 16).sum().item<double>(), 561718);
  const std::vector<int64_t> counts = {178, 182, 177, 183, 181, 182, 181, 179, 174, 180};
  for (int64_t digit = 0; digit < 10; ++digit)
    EXPECT_EQ((digits.labels() == digit).sum().item<int64_t>(), counts[static_cast<size_t>(digit)]);
  EXPECT_TRUE(td::equal(digits[0].input()[0][0] * 16, td::tensor({0., 0., 5., 13., 9., 1., 0., 0.})));
  EXPECT_EQ(digits[0].target().item<int64_t>(), 0);
  EXPECT_EQ(digits[1796].target().item<int64_t>(), 8);
}

TEST(Digits, ComeApartWithoutOverlap) {
  const Digits digits;
  const auto train = digits.train(), held_out = digits.held_out();
  EXPECT_EQ(train.size(), 1437);
  EXPECT_EQ(held_out.size(), 360);
  auto together = pictures(train);
  for (const auto& [picture, count] : pictures(held_out)) {
    EXPECT_FALSE(together.contains(picture));
    together[picture] += count;
  }
  EXPECT_EQ(together, pictures(digits));
  EXPECT_TRUE(td::equal(held_out.tensors()[0], Digits().held_out().tensors()[0]));
  // Every digit is among those held out, about as often as the others.
  for (int64_t digit = 0; digit < 10; ++digit) EXPECT_GE((held_out.tensors()[1] == digit).sum().item<int64_t>(), 20);
}
