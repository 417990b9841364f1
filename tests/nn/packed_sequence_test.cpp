// Packing and padding of sequences of different lengths.
#include "nn/support.h"

namespace tandem::testing {
namespace {

using namespace nn::utils::rnn;

class PackedOn : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, PackedOn, every_device(), device_name);

TEST_P(PackedOn, RowsOfAStepAfterThoseOfTheStepBefore) {
  const Tensor x = tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 0.0}, {6.0, 0.0, 0.0}}).to(device());  // (N, T)
  const PackedSequence packed = pack_padded_sequence(x, {3, 2, 1}, {.batch_first = true});
  expect_near(packed.data, {1, 4, 6, 2, 5, 3});
  EXPECT_EQ(packed.data.device(), device());
  EXPECT_EQ(values(packed.batch_sizes), (std::vector<double>{3, 2, 1}));
  EXPECT_EQ(packed.batch_sizes.device(), Device());
  EXPECT_FALSE(packed.sorted_indices.defined());
  const auto [again, lengths] = pad_packed_sequence(packed, {.batch_first = true, .padding_value = -1, .total_length = 4});
  expect_near(again, {1, 2, 3, -1, 4, 5, -1, -1, 6, -1, -1, -1});
  EXPECT_EQ(values(lengths), (std::vector<double>{3, 2, 1}));
  EXPECT_EQ(packed.to(Device()).data.device(), Device());
}

TEST_P(PackedOn, SortsWhereAsked) {
  const Tensor x = randn({4, 3, 2}, {.device = device(), .requires_grad = true});
  const PackedSequence packed = pack_padded_sequence(x, tensor({2, 4, 2}), {.enforce_sorted = false});
  EXPECT_EQ(values(packed.sorted_indices), (std::vector<double>{1, 0, 2}));
  EXPECT_EQ(values(packed.unsorted_indices), (std::vector<double>{1, 0, 2}));
  EXPECT_EQ(values(packed.batch_sizes), (std::vector<double>{3, 3, 1, 1}));
  const auto [again, lengths] = pad_packed_sequence(packed);
  EXPECT_EQ(values(lengths), (std::vector<double>{2, 4, 2}));
  EXPECT_TRUE(equal(again.select(1, 1), x.select(1, 1)));
  again.sum().backward();  // padding gets no gradient
  expect_near(x.grad().sum(-1), {2, 2, 2, 2, 2, 2, 0, 2, 0, 0, 2, 0});
}

TEST_P(PackedOn, ListsOfSequences) {
  const std::vector<Tensor> sequences{tensor({1.0, 2.0}).to(device()), tensor({3.0}).to(device()), tensor({4.0, 5.0, 6.0}).to(device())};
  expect_near(pad_sequence(sequences), {1, 3, 4, 2, 0, 5, 0, 0, 6});
  expect_near(pad_sequence(sequences, {.batch_first = true, .padding_value = 9, .left = true}), {9, 1, 2, 9, 9, 3, 4, 5, 6});
  const PackedSequence packed = pack_sequence(sequences, false);
  expect_near(packed.data, {4, 1, 3, 5, 2, 6});
  const std::vector<Tensor> again = unpack_sequence(packed);
  ASSERT_EQ(again.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(equal(again[i], sequences[i]));
  expect_near(unpad_sequence(pad_sequence(sequences), {2, 1, 3})[0], {1, 2});
}

TEST(Packed, Errors) {
  const Tensor x = ones({3, 2, 1});
  EXPECT_EQ(error_of([&] {
              (void)pack_padded_sequence(x, {2, 3});
            }),
            "[pack_padded_sequence] `lengths` array must be sorted in decreasing order when `enforce_sorted` is true, but is [2, 3]: pass "
            "{.enforce_sorted = false} to have the sequences sorted here");
  EXPECT_EQ(error_of([&] {
              (void)pack_padded_sequence(x, {3, 2, 1});
            }),
            "[pack_padded_sequence] Expected `len(lengths)` to be equal to batch_size, but got 3 (batch_size=2)");
  EXPECT_EQ(error_of([&] {
              (void)pack_padded_sequence(x, {3, 0});
            }),
            "[pack_padded_sequence] Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0: 0");
  EXPECT_NE(error_of([&] { (void)pack_padded_sequence(x, {4, 1}); }).find("at most the number of steps, 3, but got 4"), std::string::npos);
  EXPECT_NE(error_of([&] {
              (void)pad_packed_sequence(pack_padded_sequence(x, {3, 2}), {.total_length = 2});
            }).find("total_length=2"),
            std::string::npos);
  EXPECT_EQ(error_of([] { (void)pad_sequence({}); }), "[pad_sequence] received an empty list of sequences");
}

}  // namespace
}  // namespace tandem::testing
