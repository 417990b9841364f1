// The reducer over parameters that are in no module: what DistributedDataParallel for Python is built on.
#include "parallel/reducer.h"

#include "parallel/ranks.h"

namespace tandem::testing {
namespace {

namespace dist = distributed;
using parallel::detail::FullBucket;
using parallel::detail::NamedTensors;
using parallel::detail::Reducer;
using parallel::detail::ReducerOptions;
using Names = std::vector<std::vector<std::string>>;

class OfParameters : public OnRanks {
 protected:
  /// A product of all parameters with x, averaged.
  static void step(Reducer& reducer, const std::vector<Tensor>& parameters, double x) {
    reducer.check();
    reducer.prepare(Site::here());
    Tensor y = zeros({2}, parameters[0].device());
    for (const Tensor& parameter : parameters) y = y + parameter.to(y.device()) * x;
    reducer.after_forward({&y, 1}, true);
    y.sum().backward();
  }
  static Tensor parameter(Device device) { return ones({2}, device).requires_grad_(); }
};

TEST_P(OfParameters, GradientsKeepTheirOwnMemory) {
  run([&](int rank, Device device) {
    const Tensor a = parameter(device), b = parameter(device);
    Reducer reducer({{"a", a}, {"b", b}}, {.label = "test ", .gradient_as_bucket_view = false}, Site::here());
    step(reducer, {a, b}, rank + 1);
    const double average = (world() + 1) / 2.0;
    const Tensor kept = a.grad();
    expect_near(kept, {average, average}, 1e-5);
    for (const Tensor& one : {a, b}) one.grad() = Tensor();
    step(reducer, {a, b}, 10);
    expect_near(kept, {average, average}, 1e-5);  // those of the step before are as they were
    expect_near(b.grad(), {10, 10}, 1e-5);
    step(reducer, {a, b}, rank + 1);  // adds up in the same memory
    expect_near(b.grad(), {10 + average, 10 + average}, 1e-4);
  });
}

TEST_P(OfParameters, AGradientWithAHistoryKeepsIt) {
  run([&](int rank, Device device) {
    const Tensor a = parameter(device);
    Reducer reducer({{"a", a}}, {.label = "test ", .gradient_as_bucket_view = false}, Site::here());
    reducer.prepare(Site::here());
    const Tensor y = a.square() * (rank + 1);
    reducer.after_forward({&y, 1}, true);
    y.sum().backward({}, {.create_graph = true});
    EXPECT_TRUE(a.grad().requires_grad());
    expect_near(a.grad().detach(), {world() + 1.0, world() + 1.0}, 1e-5);
    a.grad() = Tensor();
  });
}

TEST_P(OfParameters, AHookAverages) {
  run([&](int rank, Device device) {
    const Tensor a = parameter(device), b = parameter(device), unused = parameter(device);
    Reducer reducer({{"a", a}, {"b", b}, {"unused", unused}},
                    {.label = "test ", .find_unused_parameters = true, .first_bucket_mb = 1e-6, .bucket_cap_mb = 1e-6}, Site::here());
    std::vector<std::string> seen;
    reducer.set_comm_hook([&](const FullBucket& bucket) -> std::function<Tensor()> {
      seen.push_back(str(bucket.index, bucket.is_last ? " last of " : " of ", bucket.parameters.size()));
      EXPECT_EQ(bucket.flat.numel(), 2);
      const Tensor sum = bucket.flat.clone();
      const auto work = dist::all_reduce(sum, dist::ReduceOp::SUM, {.async_op = true});
      return [sum, work]() mutable {
        work.wait();
        return sum * 100;
      };
    });
    step(reducer, {a, b}, rank + 1);
    EXPECT_EQ(seen, (std::vector<std::string>{"0 of 1", "1 of 1", "2 last of 1"}));
    const double sum = 50.0 * world() * (world() + 1);  // the hook is given what is not divided yet
    expect_near(a.grad(), {sum, sum}, 1e-2);
    EXPECT_FALSE(unused.grad().defined());
  });
}

TEST_P(OfParameters, BucketsHaveOneDeviceAndSomeComeLast) {
  run([&](int rank, Device device) {
    const Tensor a = parameter(device), b = parameter(device), c = parameter(device), elsewhere = parameter(gpu(device == gpu(1) ? 0 : 1));
    const NamedTensors named{{"a", a}, {"b", b}, {"c", c}, {"elsewhere", elsewhere}};
    const Tensor frozen = ones({2}, device);
    NamedTensors all = named;
    all.emplace_back("frozen", frozen);
    Reducer reducer(all, {.label = "test ", .delayed = {"c"}}, Site::here());
    EXPECT_EQ(reducer.buckets(), (Names{{"elsewhere"}, {"b", "a"}, {"c"}}));
    for (int i = 0; i < 2; ++i) {
      step(reducer, {a, b, c, elsewhere}, rank + 1);
      for (const auto& [name, tensor] : named) {
        expect_near(tensor.grad(), {(world() + 1) / 2.0, (world() + 1) / 2.0}, 1e-5);
        tensor.grad() = Tensor();
      }
    }
    frozen.requires_grad_();
    EXPECT_NE(error_of([&] { reducer.check(); }).find("'frozen' requires a gradient now"), std::string::npos);
  });
}

TEST_P(OfParameters, FreezingIsAllowedWhereUnusedOnesAreLookedFor) {
  run([&](int rank, Device device) {
    const Tensor a = parameter(device), b = parameter(device);
    Reducer reducer({{"a", a}, {"b", b}}, {.label = "test "}, Site::here());
    b.requires_grad_(false);
    EXPECT_NE(error_of([&] { reducer.check(); }).find("'b' requires no gradient any more"), std::string::npos);
    reducer.look_for_unused(Site::here());
    step(reducer, {a, b}, rank + 1);
    expect_near(a.grad(), {(world() + 1) / 2.0, (world() + 1) / 2.0}, 1e-5);
    EXPECT_FALSE(b.grad().defined());
    b.requires_grad_();
    step(reducer, {a, b}, rank + 1);
    expect_near(b.grad(), {(world() + 1) / 2.0, (world() + 1) / 2.0}, 1e-5);
  });
}

TEST_P(OfParameters, RanksWithoutSamplesTakePart) {
  run([&](int rank, Device device) {
    const Tensor a = parameter(device), b = parameter(device);
    Reducer reducer(
        {{"a", a}, {"b", b}},
        {.label = "test ", .first_bucket_mb = 1e-6, .bucket_cap_mb = 1e-6, .gradient_as_bucket_view = false, .last_beside = true},
        Site::here());
    reducer.set_scale(0.5);
    for (int i = 0; i < 2; ++i) {  // before and after the buckets are put in order
      for (const Tensor& one : {a, b}) one.grad() = Tensor();
      if (rank == 0) {
        step(reducer, {a, b}, 3);
        expect_near(a.grad(), {1.5, 1.5});
      } else {
        reducer.prepare(Site::here());
        reducer.take_part(Site::here());
        EXPECT_FALSE(a.grad().defined());
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, OfParameters, every_world(), world_name);
INSTANTIATE_TEST_SUITE_P(Processes, OfParameters, worlds_of_processes(), world_name);

}  // namespace
}  // namespace tandem::testing
