// What is done row by row, against plain loops, for shapes that are shared out among threads in different ways: rows short and long, many
// and few, dense and side by side.
#include <algorithm>
#include <cmath>

#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

struct RowsShape {
  int64_t rows, length;
  bool apart;  // the elements of a row lie as far apart as there are rows
};
constexpr RowsShape kShapes[] = {{1, 1, false},      {2000, 5, false},  {50, 700, false}, {300, 2000, false}, {3, 20001, false},
                                 {2, 150001, false}, {2000, 5, true},   {70, 5003, true}, {3, 20000, true},   {1, 9, true},
                                 {1, 300004, false}, {6, 80064, false}, {3, 70001, true}, {20, 33000, true}};

class Rows : public OnDevice {
 protected:
  /// Calls f(x, numbers, shape) for each shape: whole numbers, on the device as float32 and as the loops read them. In every other row
  /// the largest one stands in the second half.
  template <class F>
  static void each(F f) {
    for (const RowsShape& shape : kShapes) {
      SCOPED_TRACE(testing::Message() << shape.rows << " rows of " << shape.length << (shape.apart ? ", side by side" : ""));
      td::manual_seed(5);
      const td::Tensor numbers = td::randint(-9, 10, {shape.rows, shape.length}).to(td::kFloat64);
      for (int64_t r = 0; r < shape.rows; ++r)
        numbers.data_ptr<double>()[r * shape.length + shape.length / 2 + r * 7919 % (shape.length - shape.length / 2)] = 9 + r % 2;
      const td::Tensor x = numbers.to(device(), td::kFloat32);
      f(shape.apart ? x.t().contiguous().t() : x, numbers.data_ptr<double>(), shape);
    }
  }
  /// A column of what `of(row)` gives for each row, as float64.
  template <class F>
  static td::Tensor column(const RowsShape& shape, const double* numbers, F of) {
    td::Tensor y = td::empty({shape.rows}, td::kFloat64);
    for (int64_t r = 0; r < shape.rows; ++r) y.data_ptr<double>()[r] = of(numbers + r * shape.length);
    return y;
  }
  static bool equal(const td::Tensor& a, const td::Tensor& b) { return td::equal(a.cpu().to(td::kFloat64), b); }
  static bool near(const td::Tensor& a, const td::Tensor& b) { return td::allclose(a.cpu().to(td::kFloat64), b, 1e-5, 1e-6); }
};

TEST_P(Rows, Totals) {
  each([](const td::Tensor& x, const double* numbers, const RowsShape& shape) {
    const auto total = [&](const double* row) {
      double sum = 0;
      for (int64_t i = 0; i < shape.length; ++i) sum += row[i];
      return sum;
    };
    EXPECT_TRUE(equal(td::sum(x, {1}), column(shape, numbers, total)));
    EXPECT_TRUE(equal(td::sum(x.to(td::kInt64), {1}), column(shape, numbers, total)));
    EXPECT_TRUE(equal(td::count_nonzero(x, {1}), column(shape, numbers, [&](const double* row) {
                        return static_cast<double>(shape.length - std::count(row, row + shape.length, 0.));
                      })));
    const td::VarMean moments = td::var_mean(x, {1}, 0);
    EXPECT_TRUE(near(moments.mean, column(shape, numbers, [&](const double* row) { return total(row) / double(shape.length); })));
    EXPECT_TRUE(near(moments.var, column(shape, numbers, [&](const double* row) {
                       const double mean = total(row) / double(shape.length);
                       double squares = 0;
                       for (int64_t i = 0; i < shape.length; ++i) squares += (row[i] - mean) * (row[i] - mean);
                       return squares / double(shape.length);
                     })));
  });
}

TEST_P(Rows, ExtremesAndTheirFirstPlace) {
  each([](const td::Tensor& x, const double* numbers, const RowsShape& shape) {
    const auto greatest = [&](const double* row) { return std::max_element(row, row + shape.length); };
    EXPECT_TRUE(equal(td::amax(x, {1}), column(shape, numbers, [&](const double* row) { return *greatest(row); })));
    EXPECT_TRUE(equal(td::argmax(x, 1), column(shape, numbers, [&](const double* row) { return double(greatest(row) - row); })));
    EXPECT_TRUE(equal(td::argmin(x, 1),
                      column(shape, numbers, [&](const double* row) { return double(std::min_element(row, row + shape.length) - row); })));
  });
}

TEST_P(Rows, RunningTotals) {
  each([](const td::Tensor& x, const double* numbers, const RowsShape& shape) {
    const td::Shape sizes{shape.rows, shape.length};
    const td::Tensor sums = td::empty(sizes, td::kFloat64), most = td::empty(sizes, td::kFloat64), places = td::empty(sizes, td::kFloat64);
    for (int64_t r = 0; r < shape.rows; ++r) {
      double sum = 0;
      int64_t best = 0;
      for (int64_t i = 0; i < shape.length; ++i) {
        const double* const row = numbers + r * shape.length;
        const int64_t at = r * shape.length + i;
        if (row[i] >= row[best]) best = i;
        sums.data_ptr<double>()[at] = sum += row[i];
        most.data_ptr<double>()[at] = row[best];
        places.data_ptr<double>()[at] = double(best);
      }
    }
    EXPECT_TRUE(equal(td::cumsum(x, 1), sums));
    EXPECT_TRUE(equal(td::cumsum(x.to(td::kInt32), 1), sums));
    const td::ValuesIndices running = td::cummax(x, 1);
    EXPECT_TRUE(equal(running.values, most));
    EXPECT_TRUE(equal(running.indices, places));
  });
}

TEST_P(Rows, SoftmaxAndNormalization) {
  each([](const td::Tensor& x, const double* numbers, const RowsShape& shape) {
    const td::Shape sizes{shape.rows, shape.length};
    const td::Tensor soft = td::empty(sizes, td::kFloat64), normal = td::empty(sizes, td::kFloat64);
    for (int64_t r = 0; r < shape.rows; ++r) {
      const double* const row = numbers + r * shape.length;
      double exponentials = 0, sum = 0, squares = 0;
      for (int64_t i = 0; i < shape.length; ++i) exponentials += std::exp(row[i]), sum += row[i];
      const double mean = sum / double(shape.length);
      for (int64_t i = 0; i < shape.length; ++i) squares += (row[i] - mean) * (row[i] - mean);
      for (int64_t i = 0; i < shape.length; ++i) {
        soft.data_ptr<double>()[r * shape.length + i] = std::exp(row[i]) / exponentials;
        normal.data_ptr<double>()[r * shape.length + i] = (row[i] - mean) / std::sqrt(squares / double(shape.length) + 1e-5);
      }
    }
    for (const double shift : {0., -1000., 1000.}) {
      EXPECT_TRUE(near(td::softmax(x + shift, 1), soft));
      EXPECT_TRUE(near(td::log_softmax(x + shift, 1), td::log(soft)));
    }
    EXPECT_TRUE(near(td::layer_norm(x, {shape.length}), normal));
  });
}

/// Far from the others, the first element is no number to take their differences from.
TEST_P(Rows, NormalizationOfARowThatBeginsWithAnOutlier) {
  for (const int64_t n : {100, 1000, 2048, 5000})
    for (const float outlier : {-1e3F, 1e4F, 1e6F}) {
      SCOPED_TRACE(testing::Message() << outlier << " before " << n - 1 << " others");
      td::manual_seed(0);
      const td::Tensor x = td::randn({3, n});
      td::Tensor first = x.narrow(1, 0, 1);
      first.fill_(outlier);
      const td::Tensor exact = td::layer_norm(x.to(td::kFloat64), {n}), found = td::layer_norm(x.to(device()), {n}).cpu().to(td::kFloat64);
      EXPECT_LT(td::amax(td::abs(found / exact - 1).narrow(1, 0, 1)).item<double>(), 2e-6);
    }
}

TEST_P(Rows, AVeryLongOne) {
  constexpr int64_t n = 8'500'001;
  const td::Tensor x = td::arange(n, {.dtype = td::kInt32, .device = device()});
  EXPECT_EQ(td::sum(x).item<int64_t>(), n * (n - 1) / 2);
  EXPECT_EQ(td::argmax(x).item<int64_t>(), n - 1);
  EXPECT_EQ(td::argmin(x - n / 2 * (x > n / 3)).item<int64_t>(), n / 3 + 1);
}

TEST_P(Rows, PlacesOfWhatIsNotZero) {
  for (const int64_t n : {1, 2048, 20001, 2100001})
    for (const int64_t every : {1, 3, 1009}) {
      SCOPED_TRACE(testing::Message() << "every " << every << " of " << n);
      const td::Tensor places = td::arange(n, {.device = device()});
      EXPECT_TRUE(td::equal(td::nonzero(places % every == 0), td::arange(0, n, every, {.device = device()}).view({-1, 1})));
    }
}

INSTANTIATE_TEST_SUITE_P(Devices, Rows, testing::Values("cpu", "cuda:0"), device_name);

}  // namespace
