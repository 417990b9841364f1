// Indexing with few and with many indices, short and long lines: kernels take other ways there. Every device against the CPU, or against
// what must come out.
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

class Indexing : public OnDevice {
 protected:
  /// The same numbers on every device: about `names` of them among n.
  static td::Tensor some(int64_t n, int64_t names) { return td::arange(n) * 7919 % names; }
  static td::Tensor here(const td::Tensor& x) { return x.to(device()); }
};

TEST_P(Indexing, AccumulatesAtPlacesNamedOften) {
  for (const auto& [positions, width] : {std::pair<int64_t, int64_t>{5, 3}, {3000, 1}, {700, 300}, {20000, 5}}) {
    const auto rows = some(positions, 37);
    for (const auto dtype : {td::kFloat32, td::kFloat16, td::kInt64, td::kInt8, td::kBool}) {
      const auto values = (some(positions * width, 5) % 2).reshape({positions, width}).to(dtype);
      const auto expected = td::zeros({40, width}, dtype).index_put_({rows}, values, true);
      const auto found = td::zeros({40, width}, {.dtype = dtype, .device = device()}).index_put_({here(rows)}, here(values), true);
      EXPECT_TRUE(td::equal(found.cpu(), expected)) << positions << " positions, " << dtype;
    }
  }
}

TEST_P(Indexing, SumsInTheOrderOfTheIndices) {
  const auto rows = some(4000, 3);
  const auto values = (td::arange(4000).to(td::kFloat32) * 0.37F).sin().reshape({4000, 1}).expand({4000, 130}) * td::arange(130);
  const auto expected = td::zeros({3, 130}).index_put_({rows}, values, true);
  EXPECT_TRUE(td::equal(td::zeros({3, 130}, device()).index_put_({here(rows)}, here(values), true).cpu(), expected));
  const auto line = td::scatter_add(td::zeros({3}), 0, rows, values.select(1, 77));
  EXPECT_TRUE(td::equal(td::scatter_add(td::zeros({3}, device()), 0, here(rows), here(values.select(1, 77))).cpu(), line));
}

TEST_P(Indexing, NamesPlacesByManyIndices) {
  const auto x = td::arange(2 * 3 * 4 * 5).reshape({2, 3, 4, 5});
  const auto a = some(600, 2), b = some(600, 3).reshape({600, 1}), c = some(600, 4) - 4, d = some(7, 5);
  const auto expected = x.index({a.reshape({600, 1}), b, c.reshape({600, 1}), d});
  EXPECT_EQ(expected.sizes(), (td::Shape{600, 7}));
  EXPECT_TRUE(td::equal(here(x).index({here(a).reshape({600, 1}), here(b), here(c).reshape({600, 1}), here(d)}).cpu(), expected));
  const auto sums = td::zeros_like(x).index_put_({a.reshape({600, 1}), b, c.reshape({600, 1}), d}, expected, true);
  const auto found =
      td::zeros_like(here(x)).index_put_({here(a).reshape({600, 1}), here(b), here(c).reshape({600, 1}), here(d)}, here(expected), true);
  EXPECT_TRUE(td::equal(found.cpu(), sums));
}

TEST_P(Indexing, ReadsRowsOfAnyWidthAndAlignment) {
  const auto places = some(50, 7), all = td::arange(400) % 113;
  for (const auto dtype : {td::kInt8, td::kFloat16, td::kFloat32, td::kFloat64})
    for (const int64_t width : {1, 4, 6, 8, 12})
      for (const int64_t offset : {0, 1, 4}) {
        const auto from = [&](const td::Tensor& x) { return x.to(dtype).slice(0, offset, offset + 3 * 8 * width).view({3, 8, width}); };
        const auto rows = from(all), rows_here = from(here(all));
        const auto first = rows.select(0, 1).index({places}), second = rows.index({td::Slice(), places, td::Slice()});
        EXPECT_TRUE(td::equal(rows_here.select(0, 1).index({here(places)}).cpu(), first)) << dtype << ", " << width << " from " << offset;
        EXPECT_TRUE(td::equal(rows_here.index({td::Slice(), here(places), td::Slice()}).cpu(), second)) << dtype << ", " << width;
        EXPECT_TRUE(td::equal(rows_here.transpose(1, 2).index({td::tensor({2, 0}, device())}).cpu(),
                              rows.transpose(1, 2).index({td::tensor({2, 0})})));
      }
}

TEST_P(Indexing, ScattersAlongShortAndLongLines) {
  for (const int64_t length : {1, 20, 700, 5000})
    for (const int64_t lines : {1, 3})
      for (const int dim : {0, 1}) {
        const auto turned = [&](const td::Tensor& x) { return dim == 1 ? x : x.t(); };
        const auto index = turned(some(lines * length, 11).reshape({lines, length}));
        const auto source = turned((some(lines * length, 23) % 4 - 1).reshape({lines, length}));
        const auto start = turned(td::ones({lines, 12}, td::kInt32));
        for (const auto* const reduce : {"sum", "prod", "amax", "amin"}) {
          const auto values = source.to(td::kInt32);
          const auto expected = td::scatter_reduce(start, dim, index, values, reduce);
          const auto found = td::scatter_reduce(here(start), dim, here(index), here(values), reduce);
          EXPECT_TRUE(td::equal(found.cpu(), expected)) << reduce << " along dimension " << dim << ": " << lines << " of " << length;
        }
        const auto halves = td::scatter_add(start.to(td::kFloat16), dim, index, source.to(td::kFloat16));
        EXPECT_TRUE(
            td::equal(td::scatter_add(here(start).to(td::kFloat16), dim, here(index), here(source).to(td::kFloat16)).cpu(), halves));
      }
}

TEST_P(Indexing, TheLastOfThoseThatNameAPlaceStays) {
  const auto index = some(1000, 300);
  const auto source = td::arange(1000);
  const auto expected = td::scatter(td::zeros({300}, td::kInt64), 0, index, source);
  EXPECT_TRUE(
      td::equal(td::scatter(td::zeros({300}, {.dtype = td::kInt64, .device = device()}), 0, here(index), here(source)).cpu(), expected));
}

TEST_P(Indexing, ListsPositionsInOrder) {
  for (const int64_t n : {1, 17, 5000, 40000}) {
    const auto x = some(n * 3, 7).reshape({3, n}).t() == 2;
    const auto expected = td::nonzero(x);
    EXPECT_TRUE(td::equal(td::nonzero(here(x)).cpu(), expected)) << n;
  }
  for (const auto dtype : {td::kInt8, td::kInt64, td::kFloat16, td::kBFloat16, td::kFloat32, td::kFloat64}) {
    const auto x = (some(5000, 3) - 1).to(dtype) * -1;  // a third are 0, or -0
    EXPECT_EQ(td::nonzero(here(x)).size(0), 3334) << dtype;
    EXPECT_TRUE(td::equal(td::nonzero(here(x)).cpu(), td::nonzero(x))) << dtype;
  }
}

TEST_P(Indexing, GradientsOfAnEmbeddingSkipItsPadding) {
  const auto indices = some(20000, 9).reshape({100, 200});
  const auto gradient_on = [&](td::Device on) {
    auto table = td::ones({10, 16}, on).requires_grad_();
    td::embedding(indices.to(on), table, 4).sum().backward();
    return table.grad().cpu();
  };
  const auto gradient = gradient_on(device());
  EXPECT_TRUE(td::equal(gradient, gradient_on(td::Device("cpu"))));
  EXPECT_EQ(gradient[4].sum().item<float>(), 0);
  EXPECT_GT(gradient[3].sum().item<float>(), 0);
}

TEST_P(Indexing, AnIntegerInATensorGivesAViewAsTheIntegerDoes) {
  const td::Tensor x = here(td::arange(24).to(td::kFloat32).reshape({2, 3, 4})).requires_grad_();
  for (const auto dtype : {td::kInt64, td::kInt32, td::kInt8}) {
    const td::Tensor y = x.index({td::Ellipsis, here(td::tensor(-1)).to(dtype)});
    EXPECT_TRUE(td::equal(y, x.select(2, 3)));
    EXPECT_EQ(y.data_ptr(), x.select(2, 3).data_ptr());
    EXPECT_STREQ(y.grad_fn()->name(), "SelectBackward0");
  }
  // Beside a list it is an integer, too: the list's dimension stays in its place.
  EXPECT_EQ(x.index({here(td::tensor(1)), td::Slice(), here(td::tensor({0, 3}))}).sizes(), (td::Shape{3, 2}));
  EXPECT_NE(error_of([&] { (void)x.index({here(td::tensor(2))}); }).find("out of bounds for dimension 0 with size 2"), std::string::npos);

  const td::Tensor z = x.detach().clone();
  z.index({here(td::tensor(1))}).zero_();
  z.index_put_({here(td::tensor(0)), here(td::tensor(0))}, 5);
  EXPECT_TRUE(td::equal(z[1].cpu(), td::zeros({3, 4})));
  EXPECT_TRUE(td::equal(z[0][0].cpu(), td::full({4}, 5.)));
  // A single truth is a mask still.
  EXPECT_EQ(z.index({here(td::tensor(true))}).sizes(), (td::Shape{1, 2, 3, 4}));
}

TEST_P(Indexing, TheWholeIsAView) {
  const td::Tensor x = here(td::arange(6).to(td::kFloat32)).requires_grad_();
  for (const td::Tensor& y : {x.index({td::Ellipsis}), x.index({})}) {
    EXPECT_FALSE(y.is_same(x));
    EXPECT_EQ(y.data_ptr(), x.data_ptr());
    EXPECT_STREQ(y.grad_fn()->name(), "AliasBackward0");
    y.sum().backward();
  }
  EXPECT_TRUE(td::equal(x.grad().cpu(), td::full({6}, 2.)));
  const td::Tensor z = x.detach(), all = z.index({td::Ellipsis});
  all.unsqueeze_(0);
  EXPECT_EQ(z.dim(), 1);
}

TEST_P(Indexing, BroadcastingGivesTensorsOfTheSizesThemselves) {
  const td::Tensor x = here(td::ones({2, 3})), row = here(td::ones({3}));
  const auto both = td::broadcast_tensors({x, row});
  EXPECT_TRUE(both[0].is_same(x));
  EXPECT_EQ(both[1].strides(), (td::Shape{0, 1}));
  EXPECT_EQ(both[1].data_ptr(), row.data_ptr());
}

INSTANTIATE_TEST_SUITE_P(Devices, Indexing, testing::Values("cpu", "cuda:0", "cuda:1"), device_name);

TEST_P(Indexing, DimensionsOfOneInFrontOfWhatIsPutSayNothing) {
  const auto x = td::zeros({2, 3}, device()), values = here(td::tensor({1.0f, 2.0f, 3.0f}));
  x.index_put_({0}, values.view({1, 1, 3}));
  x.index_put_({here(td::tensor({1}))}, values.view({1, 1, 1, 3}));
  EXPECT_TRUE(td::equal(x.cpu(), td::stack({values, values}).cpu()));
  auto put = values.view({1, 1, 3}).clone().requires_grad_();
  x.index_put_({here(td::tensor({true, true}))}, put);
  x.sum().backward();
  EXPECT_TRUE(td::equal(put.grad().cpu(), td::full({1, 1, 3}, 2)));
  EXPECT_THROW(x.index_put_({0}, values.view({3, 1, 1}).expand({3, 1, 3})), td::Error);
}

}  // namespace
