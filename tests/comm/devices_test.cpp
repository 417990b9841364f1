// Collectives of the devices of one process, called by one thread.
#include <gtest/gtest.h>

#include "comm/ranks.h"

namespace td = tandem;
using td::comm::ReduceOp;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::vector<td::Tensor> on_gpus(const std::vector<td::Tensor>& values) {
  std::vector<td::Tensor> all;
  for (size_t i = 0; i < values.size(); ++i) all.push_back(values[i].to(td::gpu(static_cast<int>(i)), {.copy = true}));
  return all;
}
std::vector<td::Tensor> values(int count, int64_t size) {
  std::vector<td::Tensor> all;
  for (int i = 0; i < count; ++i) all.push_back((td::arange(size).remainder(11 + i) * 0.5).to(td::kFloat32));
  return all;
}
td::Tensor sum(const std::vector<td::Tensor>& values) {
  td::Tensor result = values[0].cpu();
  for (size_t i = 1; i < values.size(); ++i) result = result + values[i].cpu();
  return result;
}

class Devices : public testing::TestWithParam<int> {
 protected:
  std::vector<td::Device> devices = [] {
    std::vector<td::Device> all;
    for (int i = 0; i < GetParam(); ++i) all.push_back(td::gpu(i));
    return all;
  }();
};

}  // namespace

TEST_P(Devices, ReduceOverAllOfThem) {
  for (const int64_t size : {0, 1, 1000, 100003}) {
    const auto inputs = values(GetParam(), size);
    const auto data = on_gpus(inputs);
    td::comm::all_reduce(data);
    for (const auto& t : data) EXPECT_TRUE(td::equal(t.cpu(), sum(inputs)));
    td::comm::all_reduce(data, ReduceOp::AVG);  // of equal values
    for (const auto& t : data) EXPECT_TRUE(td::allclose(t.cpu(), sum(inputs)));
    const auto again = on_gpus(inputs);
    const td::Tensor total = td::comm::reduce_add(again, td::gpu(1));
    EXPECT_TRUE(total.device() == td::gpu(1) && td::equal(total.cpu(), sum(inputs)));
    for (size_t i = 0; i < again.size(); ++i) EXPECT_TRUE(td::equal(again[i].cpu(), inputs[i]));  // they stay as they were
    EXPECT_TRUE(td::equal(td::comm::reduce_add(again, td::cpu()), sum(inputs)));
  }
}

TEST_P(Devices, BroadcastGatherAndScatter) {
  for (const int64_t size : {0, 1, 999, 100003}) {
    const td::Tensor source = values(2, size)[1].to(td::gpu(GetParam() - 1));
    const auto copies = td::comm::broadcast(source, devices);
    for (size_t i = 0; i < copies.size(); ++i) EXPECT_TRUE(copies[i].device() == devices[i] && td::equal(copies[i].cpu(), source.cpu()));
    EXPECT_TRUE(copies.back().is_same(source));
    const auto from_host = td::comm::broadcast(source.cpu(), devices);
    for (const auto& t : from_host) EXPECT_TRUE(td::equal(t.cpu(), source.cpu()));
    const auto all = td::comm::all_gather(copies);
    for (size_t i = 0; i < all.size(); ++i)
      EXPECT_TRUE(all[i].device() == devices[i] && td::equal(all[i].cpu(), td::cat(std::vector<td::Tensor>(devices.size(), source.cpu()))));
  }
  const auto parts = td::comm::scatter(td::arange(10), devices);
  EXPECT_TRUE(td::equal(td::comm::gather(parts, td::cpu()), td::arange(10)));
}

TEST_P(Devices, ReduceScatterGivesEachItsPart) {
  const int64_t part = 30001;
  const auto inputs = values(GetParam(), part * GetParam());
  const auto parts = td::comm::reduce_scatter(on_gpus(inputs));
  for (size_t i = 0; i < parts.size(); ++i)
    EXPECT_TRUE(parts[i].device() == devices[i] && td::equal(parts[i].cpu(), sum(inputs).narrow(0, static_cast<int64_t>(i) * part, part)));
}

TEST_P(Devices, ManyTensorsAtOnce) {
  std::vector<std::vector<td::Tensor>> tensors;
  for (int i = 0; i < GetParam(); ++i)
    tensors.push_back({td::full({3, 2}, i + 1., td::gpu(i)), td::full({4}, 2. * i, td::gpu(i)).narrow(0, 1, 2)});
  td::comm::all_reduce_coalesced(tensors);
  const int n = GetParam();
  for (const auto& list : tensors)
    EXPECT_TRUE(td::equal(list[0].cpu(), td::full({3, 2}, n * (n + 1) / 2.)) && td::equal(list[1].cpu(), td::full({2}, n * (n - 1.))));
}

TEST_P(Devices, ComeBehindTheWorkOfEveryStream) {
  std::vector<td::Tensor> data;
  for (const auto device : devices) data.push_back(td::zeros({200000}, device));
  for (int k = 0; k < 10; ++k) {
    for (const auto& t : data) t.add_(1);
    td::comm::all_reduce(data, ReduceOp::MAX);
    const td::cuda::Stream side(devices[0]);
    side.wait_stream(td::cuda::current_stream(devices[0]));
    const td::cuda::StreamGuard guard(side);
    td::comm::all_reduce(data, ReduceOp::MIN);
    td::cuda::default_stream(devices[0]).wait_stream(side);
  }
  for (const auto& t : data) EXPECT_TRUE(td::equal(t.cpu(), td::full({200000}, 10.)));
}

INSTANTIATE_TEST_SUITE_P(Gpus, Devices, testing::Values(2, 3, 4, 8));

TEST(SomeDevices, TheCpuAndRepeatedDevicesWorkByCopies) {
  for (const ReduceOp op : {ReduceOp::SUM, ReduceOp::PRODUCT, ReduceOp::MIN, ReduceOp::MAX, ReduceOp::AVG}) {
    const auto inputs = values(3, 1001);
    const std::vector<td::Tensor> mixed = {inputs[0].clone(), inputs[1].to(td::gpu(0)), inputs[2].to(td::gpu(0), {.copy = true})};
    const auto straight = on_gpus(inputs);
    td::comm::all_reduce(mixed, op);
    td::comm::all_reduce(straight, op);
    for (const auto& t : mixed) EXPECT_TRUE(td::equal(t.cpu(), straight[0].cpu())) << td::comm::name(op);
  }
  const auto one = td::ones({3});
  td::comm::all_reduce({one});
  EXPECT_TRUE(td::equal(one, td::ones({3})) && td::comm::broadcast(one, {td::cpu()})[0].is_same(one));
}

TEST(SomeDevices, ChecksNameBothTensors) {
  const std::vector<td::Tensor> sizes = {td::ones({3}, td::gpu(0)), td::ones({4}, td::gpu(1))};
  EXPECT_TRUE(has(error_of([&] { td::comm::all_reduce(sizes); }),
                  "[all_reduce] tensors must have one size and dtype, but there are float32 [3] on cuda:0 and float32 [4] on cuda:1"));
  EXPECT_TRUE(has(error_of([] { td::comm::all_reduce(std::vector<td::Tensor>{}); }), "no tensors were given"));
  EXPECT_TRUE(has(error_of([] {
                    (void)td::comm::reduce_scatter({td::ones({3}, td::gpu(0)), td::ones({3}, td::gpu(1))});
                  }),
                  "must be cut into 2 equal parts, but the sizes are [3]"));
}

TEST(SomeDevices, AnErrorBeforeIsToldToAllOfThem) {
  const std::vector<td::Tensor> data = {td::ones({3}, td::gpu(0)), td::ones({3}, td::gpu(1))};
  data[1].copy_(data[1].index_select(0, td::tensor({9, 0, 0}, td::gpu(1))));
  td::comm::all_reduce(data);
  EXPECT_TRUE(has(error_of([] { td::cuda::synchronize(0); }), "work of rank 1 before it failed"));
  EXPECT_TRUE(has(error_of([] { td::cuda::synchronize(1); }), "index 9 is out of bounds"));
  for (const auto& t : data) t.fill_(1.);
  td::comm::all_reduce(data);
  for (const auto& t : data) EXPECT_TRUE(td::equal(t.cpu(), td::full({3}, 2.)));
}
