// Datasets: what a sample is, how batches are gathered, and what is refused.
#include "data/dataset.h"

#include <gtest/gtest.h>

#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
using td::data::Batch;
using td::data::TensorDataset;

class TensorDatasets : public OnDevice {
 protected:
  td::Tensor x = td::arange(12).reshape({6, 2}).to(device());
  td::Tensor y = td::arange(6).to(device());
};

TEST_P(TensorDatasets, GiveSamples) {
  const TensorDataset dataset({x, y});
  EXPECT_EQ(dataset.size(), 6);
  EXPECT_TRUE(td::equal(dataset[2][0], td::tensor({4, 5}, device())));
  EXPECT_EQ(dataset[2][1].item<int64_t>(), 2);
  EXPECT_EQ(dataset[-1][1].item<int64_t>(), 5);
  EXPECT_EQ(error_of([&] { (void)dataset[6]; }), "[Dataset] index 6 is out of range for 6 samples");
  EXPECT_EQ(error_of([&] { (void)dataset[-7]; }), "[Dataset] index -7 is out of range for 6 samples");
  EXPECT_THROW((void)dataset[6], td::IndexError);
}

TEST_P(TensorDatasets, GatherRows) {
  const TensorDataset dataset({x, y});
  const std::vector<int64_t> indices = {5, 0, 3, 3};
  const Batch batch = dataset.get_batch(indices);
  EXPECT_EQ(batch.size(), 4);
  EXPECT_EQ(batch.input().device(), td::detail::resolve(device()));
  EXPECT_TRUE(td::equal(batch.input(), td::tensor({{10, 11}, {0, 1}, {6, 7}, {6, 7}}, device())));
  EXPECT_TRUE(td::equal(batch.target(), td::tensor({5, 0, 3, 3}, device())));
  const auto& [first, second] = batch;
  EXPECT_TRUE(first.is_same(batch[0]) && second.is_same(batch[1]));
}

TEST_P(TensorDatasets, GatherRowsOfStridedTensors) {
  const td::Tensor columns = td::arange(12).reshape({2, 6}).to(device()).t();
  ASSERT_FALSE(columns.is_contiguous());
  const TensorDataset dataset({columns});
  EXPECT_TRUE(td::equal(dataset.get_batch(std::vector<int64_t>{4, 1}).input(), td::tensor({{4, 10}, {1, 7}}, device())));
}

TEST_P(TensorDatasets, GiveNeighboursAsViews) {
  const TensorDataset dataset({x, y});
  const Batch batch = dataset.get_batch(std::vector<int64_t>{2, 3, 4});
  EXPECT_TRUE(td::equal(batch.target(), td::tensor({2, 3, 4}, device())));
  EXPECT_EQ(batch.target().impl().storage, y.impl().storage);
  // One that only looks like a run.
  EXPECT_TRUE(td::equal(dataset.get_batch(std::vector<int64_t>{2, 4, 3}).target(), td::tensor({2, 4, 3}, device())));
}

TEST_P(TensorDatasets, HaveSubsets) {
  const TensorDataset dataset({x, y});
  const TensorDataset part = dataset.subset(1, 4);
  EXPECT_EQ(part.size(), 3);
  EXPECT_TRUE(td::equal(part.tensors()[1], td::tensor({1, 2, 3}, device())));
  EXPECT_EQ(part.tensors()[1].impl().storage, y.impl().storage);
  EXPECT_EQ(dataset.subset(2, 2).size(), 0);
  const TensorDataset chosen = dataset.subset(std::vector<int64_t>{4, 0});
  EXPECT_TRUE(td::equal(chosen.tensors()[0], td::tensor({{8, 9}, {0, 1}}, device())));
  EXPECT_NE(error_of([&] { (void)dataset.subset(2, 7); }).find("samples 2 to 7 asked for, but there are 6"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)dataset.subset(3, 2); }), "no error");
  EXPECT_NE(error_of([&] { (void)dataset.subset(-1, 2); }), "no error");
  EXPECT_NE(error_of([&] { (void)dataset.subset(std::vector<int64_t>{6}); }), "no error");
}

INSTANTIATE_TEST_SUITE_P(Devices, TensorDatasets, testing::Values("cpu", "cuda:0", "cuda:1"), device_name);

TEST(TensorDataset, GathersIntoPinnedMemory) {
  const TensorDataset dataset({td::arange(6), td::arange(12).reshape({2, 6}).t()});
  for (const std::vector<int64_t>& indices : {std::vector<int64_t>{3, 1}, std::vector<int64_t>{2, 3}}) {
    const Batch batch = dataset.get_batch(indices, {.pin_memory = true});
    EXPECT_TRUE(batch[0].is_pinned() && batch[1].is_pinned());
    EXPECT_TRUE(td::equal(batch[0], td::tensor(indices)));
    const Batch moved = batch.to(td::gpu(1), {.non_blocking = true});
    EXPECT_TRUE(td::equal(moved[0].cpu(), batch[0]));
  }
}

TEST(TensorDataset, RefusesWhatDoesNotFitTogether) {
  EXPECT_EQ(error_of([] {
              TensorDataset dataset({td::zeros({3, 2}), td::zeros({4})});
            }),
            "[TensorDataset] size mismatch between tensors: tensor 0 has 3 samples, tensor 1 has 4: give each as many rows, the i-th of "
            "all belong to "
            "sample i");
  EXPECT_NE(error_of([] { TensorDataset dataset({td::zeros({})}); }).find("tensor 0 has no dimensions"), std::string::npos);
  EXPECT_NE(error_of([] { TensorDataset dataset({}); }), "no error");
  const TensorDataset dataset({td::zeros({3})});
  EXPECT_EQ(error_of([&] {
              (void)dataset.get_batch(std::vector<int64_t>{0, 3});
            }),
            "[TensorDataset] index 3 is out of range for 3 samples");
  EXPECT_NE(error_of([&] { (void)dataset[0][1]; }).find("tensor 1 asked for, but a sample has 1"), std::string::npos);
}

// A dataset of a user's own: only size and get.
class Squares : public td::data::Dataset {
 public:
  [[nodiscard]] int64_t size() const override { return 5; }
  [[nodiscard]] td::data::Sample get(int64_t index) const override {
    if (index == 4) return {{td::tensor(index)}};  // one tensor too few
    return {{td::full({2}, static_cast<double>(index)), td::tensor(index * index)}};
  }
};

TEST(Dataset, StacksSamplesOfItsOwn) {
  const Squares squares;
  const Batch batch = squares.get_batch(std::vector<int64_t>{3, 1}, {.pin_memory = true});
  EXPECT_TRUE(td::equal(batch.input(), td::tensor({{3., 3.}, {1., 1.}})));
  EXPECT_TRUE(td::equal(batch.target(), td::tensor({9, 1})));
  EXPECT_TRUE(batch.target().is_pinned());
  EXPECT_EQ(error_of([&] {
              (void)squares.get_batch(std::vector<int64_t>{3, 4});
            }),
            "[default_collate] sample 1 of the batch has 1 tensors, but the first one 2");
}
