// Elements of half types that meet at one place, by ways that the structs of tests/cases do not take: in tensors with far more places than
// elements, by negative indices, in views, in gradients that other gradients are made of.
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

constexpr int64_t kMany = 3000, kPlaces = 20 * kMany;

class OnePlace : public OnDevice {
 protected:
  static td::Options half() { return {.dtype = td::kBFloat16, .device = device()}; }
  static td::Tensor ones(const td::Shape& sizes) { return td::ones(sizes, half()); }
  static td::Tensor zeros(const td::Shape& sizes) { return td::zeros(sizes, half()); }
  static td::Tensor places(int64_t place) { return td::full({kMany}, place, {.dtype = td::kInt64, .device = device()}); }
  static double value(const td::Tensor& x) { return x.item<float>(); }
  static constexpr double kSum = 3008;  // 3000 in bfloat16
};

TEST_P(OnePlace, OfAWideTensorIsSummedWithoutACopyOfItAll) {
  const auto rows = ones({kPlaces, 2});
  rows.index_add_(0, places(7), ones({kMany, 2}));
  EXPECT_EQ(value(rows[7][1]), kSum);  // 3001
  EXPECT_EQ(value(rows[6][1]), 1);
  const auto line = ones({kPlaces});
  line.scatter_add_(0, places(9), ones({kMany}));
  EXPECT_EQ(value(line[9]), kSum);
  EXPECT_EQ(value(line[8]), 1);
  const auto matrix = zeros({4, kPlaces});
  matrix.scatter_add_(1, places(3).view({1, kMany}).expand({4, kMany}), ones({4, kMany}));
  EXPECT_EQ(value(matrix[2][3]), kSum);
  EXPECT_EQ(value(matrix[2][4]), 0);
  const auto put = zeros({kPlaces, 2});
  put.index_put_({places(5), places(1)}, ones({kMany}), true);
  EXPECT_EQ(value(put[5][1]), kSum);
  EXPECT_EQ(value(put[5][0]), 0);
}

TEST_P(OnePlace, HasOneNumberHoweverItIsCounted) {
  const auto line = zeros({kPlaces});
  line.index_put_({td::cat({places(-1), places(kPlaces - 1)})}, td::Scalar(1), true);
  EXPECT_EQ(value(line[-1]), 6016);  // 6000 in bfloat16
  const auto few = zeros({3});
  few.index_put_({td::cat({places(-1), places(2)})}, td::Scalar(1), true);
  EXPECT_EQ(value(few[2]), 6016);
}

TEST_P(OnePlace, OfAViewIsSummed) {
  const auto base = zeros({2, kPlaces});
  base.t().index_add_(0, places(4), ones({kMany, 2}));
  EXPECT_EQ(value(base[1][4]), kSum);
  EXPECT_EQ(value(base[1][3]), 0);
}

TEST_P(OnePlace, IsSummedInTheGradientOfEveryRead) {
  const auto x = ones({kPlaces, 2}).requires_grad_();
  const auto gradient = [&](const td::Tensor& y) { return td::grad({y.sum()}, {x})[0]; };
  const auto at = places(3);
  EXPECT_EQ(value(gradient(x.index_select(0, at))[3][0]), kSum);
  EXPECT_EQ(value(gradient(x.index({at}))[3][0]), kSum);
  EXPECT_EQ(value(gradient(td::embedding(at, x))[3][0]), kSum);
  EXPECT_EQ(value(gradient(td::embedding(at, x, 3))[3][0]), 0);                // padding
  EXPECT_EQ(value(gradient(td::embedding(at, x, {}, {}, 2, true))[3][0]), 1);  // divided by how often it is used
  EXPECT_EQ(value(gradient(x.take(at))[1][1]), kSum);
  EXPECT_EQ(value(gradient(x.gather(0, at.view({kMany, 1})))[3][0]), kSum);
  const auto line = ones({1999}).requires_grad_();
  EXPECT_EQ(value(td::grad({line.unfold(0, 1000, 1).sum()}, {line})[0][999]), 1000);
}

TEST_P(OnePlace, OfAnAsStridedViewOfOverlappingRowsIsSharedOut) {
  const auto x = ones({1}).expand({kMany}).requires_grad_();  // all of them lie at one place
  const auto y = x.as_strided({kMany, 2}, {0, 0}, 0);
  EXPECT_EQ(value(td::grad({y.sum()}, {x})[0][5]), 2);  // 6000 in 3000 equal parts
}

TEST_P(OnePlace, OfAReductionIsRoundedOnce) {
  const auto x = ones({2}), source = ones({kMany});
  EXPECT_EQ(value(td::index_reduce(x, 0, places(1), source, "mean")[1]), 1);
  const auto grown = source.clone().requires_grad_();
  const auto mean = td::scatter_reduce(x, 0, places(1), grown, "mean");
  EXPECT_EQ(value(mean[1]), 1);
  EXPECT_EQ(value(td::grad({mean.sum()}, {grown})[0][0]), value(td::full({}, 1. / (kMany + 1), half())));
  EXPECT_EQ(value(td::put(x, places(1), source, true)[1]), kSum);
}

TEST_P(OnePlace, OfABagOfManyRowsIsAMean) {
  const auto table = ones({4, 2}).requires_grad_(), weights = ones({kMany}).requires_grad_();
  const auto y = td::embedding_bag(
      places(1), table,
      {.offsets = td::zeros({1}, {.dtype = td::kInt64, .device = device()}), .mode = "sum", .per_sample_weights = weights});
  EXPECT_EQ(value(y[0][0]), kSum);
  const auto gradients = td::grad({y.sum()}, {table, weights});
  EXPECT_EQ(value(gradients[0][1][0]), kSum);
  EXPECT_EQ(value(gradients[1][9]), 2);
}

TEST_P(OnePlace, WithAnIndexOutOfRangeIsAnErrorThatLeavesAllUsable) {
  for (const int64_t size : {int64_t{4}, kPlaces}) {
    const auto x = ones({size, 2}), y = ones({2, size});
    const auto index = td::full({kMany}, size, {.dtype = td::kInt64, .device = device()});
    const auto told = error_of([&] {
      x.index_add_(0, index, ones({kMany, 2}));
      if (device().is_cuda()) td::cuda::synchronize(device());
    });
    EXPECT_NE(told.find("out of"), std::string::npos) << told;
    const auto again = error_of([&] {
      y.scatter_add_(1, index.view({1, kMany}), ones({1, kMany}));
      if (device().is_cuda()) td::cuda::synchronize(device());
    });
    EXPECT_NE(again.find("out of"), std::string::npos) << again;
    EXPECT_EQ(value(ones({kMany}).sum()), kSum);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, OnePlace, testing::Values("cpu", "cuda:0"), device_name);

}  // namespace
