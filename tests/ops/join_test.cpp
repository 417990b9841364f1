// Tensors that are joined, many and few, of widths that are moved in units of different sizes, and of other dtypes and layouts among them.
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

class Joining : public OnDevice {};

const std::vector<int64_t> kWidths[] = {{16, 32, 16},
                                        {8, 24},
                                        {1, 2, 3, 5},
                                        {7},
                                        {4, 0, 4},
                                        {5, 5, 5, 6},
                                        {3001, 0, 1, 2200, 7},
                                        std::vector<int64_t>(70, 3),
                                        std::vector<int64_t>(64, 16)};

TEST_P(Joining, PartsLieOneBehindTheOther) {
  const auto number = [](const td::Shape& sizes, int64_t from) {
    td::Tensor x = td::empty(sizes);
    return td::arange(from, from + x.numel(), {.dtype = td::kInt64}).remainder(100).reshape(sizes);
  };
  for (const td::DType dtype : {td::kFloat32, td::kBFloat16, td::kUInt8, td::kFloat64, td::kBool}) {
    for (const std::vector<int64_t>& widths : kWidths) {
      for (const int64_t dim : {0, 1, 2}) {
        std::vector<td::Tensor> here, there;
        for (size_t i = 0; i < widths.size(); ++i) {
          td::Shape sizes{3, 4, 5};
          sizes[static_cast<size_t>(dim)] = widths[i];
          const td::Tensor part = number(sizes, static_cast<int64_t>(i)).to(dtype);
          here.push_back(part);
          there.push_back(part.to(device()));
        }
        EXPECT_TRUE(td::equal(td::cat(there, dim).cpu(), td::cat(here, dim))) << dtype << ", " << widths.size() << " along " << dim;
        int64_t start = 0;
        const td::Tensor joined = td::cat(there, dim).cpu();
        for (size_t i = 0; i < widths.size(); start += widths[i++])
          EXPECT_TRUE(td::equal(joined.narrow(dim, start, widths[i]), here[i])) << dtype << ", part " << i << " along " << dim;
      }
    }
  }
  // Parts of other dtypes and layouts among them.
  const auto placed = [&](const td::Shape& sizes, int64_t from) { return number(sizes, from).to(device(), td::kFloat32); };
  const std::vector<td::Tensor> parts{placed({6, 8}, 0),
                                      placed({8, 6}, 3).t(),
                                      placed({6, 8}, 9).to(td::kInt32),
                                      placed({6, 16}, 5).slice(1, 0, 16, 2),
                                      placed({1, 8}, 7).expand({6, 8}),
                                      placed({6, 8}, 2)};
  const td::Tensor joined = td::cat(parts, 1).cpu();
  for (size_t i = 0; i < parts.size(); ++i)
    EXPECT_TRUE(td::equal(joined.narrow(1, static_cast<int64_t>(i) * 8, 8), parts[i].cpu().to(td::kFloat32))) << i;
  EXPECT_EQ(td::stack({parts[0], parts[3]}, 0).cpu().sum().item<float>(), (parts[0].sum() + parts[3].sum()).item<float>());
  EXPECT_EQ(td::cat({td::empty({0}, {.device = device()}), td::empty({0, 8}, {.device = device()})}, 0).sizes(), (td::Shape{0, 8}));
}

INSTANTIATE_TEST_SUITE_P(Devices, Joining, testing::Values("cpu", "cuda:0"), device_name);

}  // namespace
