// With use_deterministic_algorithms what many indices bring to one place comes to the same bits as on the CPU, however many they are.
#include "base/backends.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

class Deterministic : public OnDevice {
 protected:
  void SetUp() override { td::use_deterministic_algorithms(true); }
  void TearDown() override { td::use_deterministic_algorithms(false); }

  /// Expects the same elements of what `of` computes on the device and on the CPU, given a function that takes tensors there.
  template <class F>
  static void expect_same(const char* what, F of) {
    const td::Tensor found = of([](const td::Tensor& x) { return x.to(device()); }).cpu();
    const td::Tensor expected = of([](const td::Tensor& x) { return x; });
    EXPECT_TRUE(td::equal(found, expected)) << what;
  }
};

TEST_P(Deterministic, Switch) {
  EXPECT_TRUE(td::are_deterministic_algorithms_enabled());
  td::use_deterministic_algorithms(false);
  EXPECT_FALSE(td::are_deterministic_algorithms_enabled());
}

TEST_P(Deterministic, WritingToPlacesThatIndicesName) {
  td::manual_seed(3);
  constexpr int64_t count = 20'000, rows = 7, width = 3;
  const td::Tensor places = td::randint(0, rows, {count}), columns = td::randint(0, width, {count});
  for (const td::DType dtype : {td::kFloat32, td::kBFloat16}) {
    SCOPED_TRACE(td::str(dtype));
    const td::Tensor values = td::randn({count, width}).to(dtype), start = td::randn({rows, width}).to(dtype);
    for (const bool accumulate : {true, false}) {
      SCOPED_TRACE(accumulate ? "added" : "the last one");
      expect_same("index_put_ of rows", [&](auto on) { return on(start).clone().index_put_({on(places)}, on(values), accumulate); });
      expect_same("index_put_ of elements", [&](auto on) {
        return on(start).clone().index_put_({on(places), on(columns)}, on(values).select(1, 0).contiguous(), accumulate);
      });
    }
    const td::Tensor spread = places.unsqueeze(1).expand({count, width});
    expect_same("scatter", [&](auto on) { return td::scatter(on(start), 0, on(spread), on(values)); });
    expect_same("scatter_add", [&](auto on) { return td::scatter_add(on(start), 0, on(spread), on(values)); });
    expect_same("index_add", [&](auto on) { return td::index_add(on(start), 0, on(places), on(values)); });
  }
}

TEST_P(Deterministic, GradientsOfLookingUp) {
  td::manual_seed(4);
  const td::Tensor table = td::randn({5, 6}), indices = td::randint(0, 5, {17'000}), weights = td::randn({17'000, 6});
  expect_same("embedding", [&](auto on) {
    const td::Tensor from = on(table).clone().requires_grad_();
    (td::embedding(on(indices), from) * on(weights)).sum().backward();
    return from.grad();
  });
  const td::Tensor image = td::randn({1, 2, 3, 3}), grid = td::rand({1, 60, 50, 2}) * 2 - 1, slopes = td::randn({1, 2, 60, 50});
  expect_same("grid_sample", [&](auto on) {
    const td::Tensor from = on(image).clone().requires_grad_();
    (td::grid_sample(from, on(grid), {.mode = "nearest"}) * on(slopes)).sum().backward();
    return from.grad();
  });
}

INSTANTIATE_TEST_SUITE_P(Devices, Deterministic, testing::Values("cpu", "cuda:0"), device_name);

}  // namespace
