// Datasets made of others, and those made of nothing.
#include "data/combine.h"

#include <gtest/gtest.h>

#include <set>

#include "data/support.h"
#include "data/synthetic.h"
#include "support/on_device.h"

namespace td = tandem;
using namespace td::data;

namespace {

TensorDataset numbers(int64_t count) { return TensorDataset({td::arange(count), td::arange(count) * 2}); }

std::vector<int64_t> inputs_of(const Dataset& dataset) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < dataset.size(); ++i) all.push_back(dataset.get(i).input().item<int64_t>());
  return all;
}

}  // namespace

TEST(Subset, HasTheSamplesNamed) {
  EXPECT_EQ(inputs_of(subset(numbers(10), {7, 2, 2})), (std::vector<int64_t>{7, 2, 2}));
  EXPECT_EQ(inputs_of(subset(numbers(10), 3, 6)), (std::vector<int64_t>{3, 4, 5}));
  EXPECT_EQ(inputs_of(subset(subset(numbers(10), 3, 9), {5, 0})), (std::vector<int64_t>{8, 3}));
  EXPECT_EQ(error_of([] { (void)subset(numbers(4), {1, 4}); }), "[Subset] index 4 is out of range for 4 samples");
  EXPECT_EQ(error_of([] { (void)subset(numbers(4), 2, 5); }),
            "[subset] samples 2 to 5 asked for, but there are 4: 0 <= begin <= end <= 4 has to hold");
}

TEST(RandomSplit, SharesTheSamplesOut) {
  for (const std::vector<double>& lengths : {std::vector<double>{7, 4}, std::vector<double>{0.6, 0.4}}) {
    const auto parts = random_split(numbers(11), lengths, 5);
    ASSERT_EQ(parts.size(), 2U);
    EXPECT_EQ(parts[0].size(), 7);  // of 6.6 and 4.4, 6 and 4, and the one left over
    EXPECT_EQ(parts[1].size(), 4);
    std::set<int64_t> seen;
    for (const Subset& part : parts)
      for (const int64_t index : inputs_of(part)) seen.insert(index);
    EXPECT_EQ(seen.size(), 11U);
    EXPECT_EQ(parts[0].indices(), random_split(numbers(11), lengths, 5)[0].indices());
    EXPECT_NE(parts[0].indices(), random_split(numbers(11), lengths, 6)[0].indices());
  }
  EXPECT_EQ(random_split(numbers(1), {1})[0].size(), 1);
  EXPECT_EQ(error_of([] {
              (void)random_split(numbers(11), {7, 5});
            }),
            "[random_split] the lengths add up to 12, but the dataset has 11 samples: both must agree");
  EXPECT_EQ(error_of([] {
              (void)random_split(numbers(11), {0.5, 0.25});
            }),
            "[random_split] the lengths add up to 0.75: fractions must add up to 1");
  EXPECT_NE(error_of([] { (void)random_split(numbers(11), {12, -1}); }), "no error");
}

TEST(ConcatDataset, GoesOnFromOneToTheNext) {
  const ConcatDataset all({numbers(2), numbers(0), numbers(3)});
  EXPECT_EQ(inputs_of(all), (std::vector<int64_t>{0, 1, 0, 1, 2}));
  EXPECT_EQ(all[-1].target().item<int64_t>(), 4);
  EXPECT_THROW((void)all.get(5), td::IndexError);
  EXPECT_NE(error_of([] { ConcatDataset none({}); }), "no error");
}

TEST(Map, AppliesAFunctionToEachSample) {
  const auto doubled = map(numbers(4), [](Sample sample) { return Sample{{sample.input() * 10, sample.target()}}; });
  EXPECT_EQ(inputs_of(doubled), (std::vector<int64_t>{0, 10, 20, 30}));
  const auto noisy = map(doubled, [](Sample sample, Generator& generator) {
    return Sample{{sample.input() + td::tensor(generator.uniform()), td::rand({2})}};
  });
  // Twice the same from a loader's epoch, other numbers for each sample and each epoch, and by hand as td::manual_seed says.
  DataLoader loader(noisy, {.batch_size = 3, .seed = 1}), again(noisy, {.batch_size = 2, .seed = 1, .num_workers = 2});
  const auto sum = [](DataLoader& of) {
    double total = 0;
    for (const double number : numbers_of(of)) total += number;
    return total;
  };
  const double first = sum(loader);
  EXPECT_NEAR(sum(again), first, 1e-9);
  EXPECT_NE(sum(loader), first);
  const auto by_hand = [&] {
    td::manual_seed(4);
    return noisy.get(2).input().item<double>();
  };
  const double number = by_hand();
  EXPECT_NE(number, noisy.get(2).input().item<double>());
  EXPECT_EQ(number, by_hand());
}

TEST(Synthetic, FollowsFromItsSeed) {
  const Synthetic data({.num_samples = 20, .input = {2, 3}, .num_classes = 4, .seed = 9});
  EXPECT_EQ(data.size(), 20);
  EXPECT_EQ(data[6].input().sizes(), (td::Shape{2, 3}));
  EXPECT_EQ(data[6].input().dtype(), td::kFloat32);
  EXPECT_EQ(data[6].target().item<int64_t>(), 2);
  td::manual_seed(1);
  EXPECT_TRUE(td::equal(data[6].input(), Synthetic({.num_samples = 20, .input = {2, 3}, .num_classes = 4, .seed = 9})[6].input()));
  EXPECT_FALSE(td::equal(data[6].input(), data[10].input()));
  EXPECT_THROW((void)data.get(20), td::IndexError);
  EXPECT_EQ(error_of([] { Synthetic bad({.num_samples = -1}); }), "[Synthetic] num_samples must not be negative, but is -1");
}

TEST(Synthetic, CanBeLearned) {
  // Without noise all samples of a class are alike; with it they lie nearer to each other than to those of other classes.
  const Synthetic plain({.num_samples = 8, .input = {50}, .num_classes = 2, .noise = 0});
  EXPECT_TRUE(td::equal(plain[0].input(), plain[2].input()));
  EXPECT_FALSE(td::equal(plain[0].input(), plain[1].input()));
  // Least squares find the linear function behind a regression.
  const Synthetic line({.num_samples = 200, .input = {5}, .num_classes = 0, .noise = 0.01});
  std::vector<int64_t> all(200);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
  const Batch batch = line.get_batch(all);
  const td::Tensor weights = td::linalg::lstsq(batch.input(), batch.target().unsqueeze(1)).solution;
  const td::Tensor rest = td::matmul(batch.input(), weights).squeeze(1) - batch.target();
  EXPECT_LT((rest * rest).mean().item<double>(), 0.001);
  EXPECT_GT((batch.target() * batch.target()).mean().item<double>(), 0.3);
}
