// Every collective, over ranks that are threads: on the CPU and on virtual GPUs, against a serial reference in the order of the ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "comm/ranks.h"

namespace td = tandem;
namespace dist = td::distributed;
using dist::ReduceOp;

namespace {

constexpr td::DType kAll[] = {td::kBool,  td::kUInt8,   td::kInt8,     td::kInt16,   td::kInt32,
                              td::kInt64, td::kFloat16, td::kBFloat16, td::kFloat32, td::kFloat64};

// One element of a reduction, computed as the header promises: in rank order, half types in float32, rounded once.
template <class T>
T reduced(const std::vector<const T*>& inputs, int64_t at, ReduceOp op) {
  using W = std::conditional_t<std::is_same_v<T, td::Half> || std::is_same_v<T, td::BFloat16>, float, T>;
  auto result = static_cast<W>(inputs[0][at]);
  for (size_t r = 1; r < inputs.size(); ++r) {
    const auto next = static_cast<W>(inputs[r][at]);
    switch (op) {
      case ReduceOp::SUM:
      case ReduceOp::AVG: result = std::is_same_v<W, bool> ? W(result || next) : static_cast<W>(result + next); break;
      case ReduceOp::PRODUCT: result = std::is_same_v<W, bool> ? W(result && next) : static_cast<W>(result * next); break;
      case ReduceOp::MIN: result = std::min(result, next); break;
      case ReduceOp::MAX: result = std::max(result, next); break;
    }
  }
  if (op == ReduceOp::AVG) result = static_cast<W>(result / static_cast<W>(inputs.size()));
  return static_cast<T>(result);
}

td::Tensor reference(const std::vector<td::Tensor>& inputs, ReduceOp op) {
  const td::Tensor result = inputs[0].clone();
  td::visit(inputs[0].dtype(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<const T*> data;
    for (const td::Tensor& t : inputs) data.push_back(static_cast<const T*>(t.data_ptr()));
    for (int64_t i = 0; i < result.numel(); ++i) static_cast<T*>(result.data_ptr())[i] = reduced<T>(data, i, op);
  });
  return result;
}

bool same_bits(const td::Tensor& a, const td::Tensor& b) {
  const td::Tensor x = a.cpu().contiguous(), y = b.cpu().contiguous();
  return x.dtype() == y.dtype() && x.sizes() == y.sizes() && (x.numel() == 0 || std::memcmp(x.data_ptr(), y.data_ptr(), x.nbytes()) == 0);
}

/// A device for a rank: the CPU, or one virtual GPU each.
td::Device device_of(bool on_gpus, int rank) { return on_gpus ? td::gpu(rank % td::num_gpus()) : td::cpu(); }

class Collectives : public testing::TestWithParam<std::tuple<int, bool>> {
 protected:
  [[nodiscard]] static int count() { return std::get<0>(GetParam()); }
  [[nodiscard]] static td::Device device(int rank) { return device_of(std::get<1>(GetParam()), rank); }
  /// Every dtype and size, on every rank: `f(rank, inputs of all ranks, own input on its device)`.
  template <class F>
  void for_all(const std::vector<int64_t>& sizes, F f) {
    for (const td::DType dtype : kAll) {
      for (const int64_t size : sizes) {
        SCOPED_TRACE(td::str(dtype, " of ", size));
        std::vector<td::Tensor> inputs;
        for (int rank = 0; rank < count(); ++rank) inputs.push_back(values(size, dtype, rank));
        dist::run_ranks(count(), [&](int rank) { f(rank, inputs, inputs[static_cast<size_t>(rank)].to(device(rank), {.copy = true})); });
      }
    }
  }
};

const std::vector<int64_t> kSizes = {0, 1, 7, 1000, 100003};

TEST_P(Collectives, AllReduceGivesAllRanksTheReductionInTheirOrder) {
  for_all(kSizes, [&](int rank, const std::vector<td::Tensor>& inputs, const td::Tensor& own) {
    for (const ReduceOp op : {ReduceOp::SUM, ReduceOp::PRODUCT, ReduceOp::MIN, ReduceOp::MAX, ReduceOp::AVG}) {
      if (op == ReduceOp::AVG && !own.is_floating_point()) continue;
      const td::Tensor t = own.clone();
      dist::all_reduce(t, op);
      EXPECT_TRUE(same_bits(t, reference(inputs, op))) << "rank " << rank << ' ' << td::comm::name(op);
    }
  });
}

TEST_P(Collectives, BroadcastGivesTheRootsValues) {
  for_all(kSizes, [&](int, const std::vector<td::Tensor>& inputs, const td::Tensor& own) {
    for (int root = 0; root < count(); ++root) {
      const td::Tensor t = own.clone();
      dist::broadcast(t, root);
      EXPECT_TRUE(same_bits(t, inputs[static_cast<size_t>(root)]));
    }
  });
}

TEST_P(Collectives, ReduceChangesTheRootAlone) {
  for_all(kSizes, [&](int rank, const std::vector<td::Tensor>& inputs, const td::Tensor& own) {
    const int root = count() - 1;
    const td::Tensor t = own.clone();
    dist::reduce(t, root);
    EXPECT_TRUE(same_bits(t, rank == root ? reference(inputs, ReduceOp::SUM) : inputs[static_cast<size_t>(rank)]));
  });
}

TEST_P(Collectives, AllGatherAndGatherKeepTheOrderOfTheRanks) {
  for_all(kSizes, [&](int rank, const std::vector<td::Tensor>& inputs, const td::Tensor& own) {
    const auto all = dist::all_gather(own);
    ASSERT_EQ(all.size(), inputs.size());
    for (size_t r = 0; r < all.size(); ++r) EXPECT_TRUE(same_bits(all[r], inputs[r]) && all[r].device() == own.device());
    const auto gathered = dist::gather(own, 1);
    ASSERT_EQ(gathered.size(), rank == 1 ? inputs.size() : 0);
    for (size_t r = 0; r < gathered.size(); ++r) EXPECT_TRUE(same_bits(gathered[r], inputs[r]));
    const td::Tensor joined = td::empty({count() * own.numel()}, {.dtype = own.dtype(), .device = own.device()});
    dist::all_gather_into_tensor(joined, own);
    EXPECT_TRUE(same_bits(joined, td::cat(inputs)));
  });
}

TEST_P(Collectives, ReduceScatterGivesEachRankItsPart) {
  std::vector<int64_t> sizes;
  for (const int64_t size : kSizes) sizes.push_back(size / count() * count());
  for_all(sizes, [&](int rank, const std::vector<td::Tensor>& inputs, const td::Tensor& own) {
    const int64_t part = own.numel() / count();
    const td::Tensor mine = dist::reduce_scatter(own);
    EXPECT_TRUE(same_bits(mine, reference(inputs, ReduceOp::SUM).narrow(0, rank * part, part)));
  });
}

TEST_P(Collectives, ScatterGivesEachRankItsTensor) {
  for_all(kSizes, [&](int rank, const std::vector<td::Tensor>& inputs, const td::Tensor& own) {
    const td::Tensor out = td::zeros_like(own);
    std::vector<td::Tensor> parts;
    if (rank == 1)
      for (const td::Tensor& t : inputs) parts.push_back(t.to(own.device()));
    dist::scatter(out, parts, 1);
    EXPECT_TRUE(same_bits(out, inputs[static_cast<size_t>(rank)]));
  });
}

TEST_P(Collectives, AllToAllTransposes) {
  for_all({0, 1, 7, 1000, 30011}, [&](int rank, const std::vector<td::Tensor>& inputs, const td::Tensor& own) {
    // Rank r gives its first s + 1 shares of elements to rank s, in another shape.
    std::vector<td::Tensor> given;
    const auto part = [&](const td::Tensor& t, int to) { return t.narrow(0, 0, t.numel() * (to + 1) / count()).unsqueeze(to % 2); };
    for (int to = 0; to < count(); ++to) given.push_back(part(own, to));
    const auto taken = dist::all_to_all(given);
    ASSERT_EQ(taken.size(), inputs.size());
    for (size_t from = 0; from < taken.size(); ++from) EXPECT_TRUE(same_bits(taken[from], part(inputs[from], rank)));
  });
}

TEST_P(Collectives, SendAndRecvGoRoundTheRing) {
  for_all(kSizes, [&](int rank, const std::vector<td::Tensor>& inputs, const td::Tensor& own) {
    const int next = (rank + 1) % count(), before = (rank + count() - 1) % count();
    const td::Tensor got = td::zeros_like(own);
    const auto sent = dist::isend(own, next, 5);
    dist::recv(got, before, 5);
    sent.wait();
    EXPECT_TRUE(same_bits(got, inputs[static_cast<size_t>(before)]));
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, Collectives, testing::Combine(testing::Values(2, 3, 4, 8), testing::Bool()),
                         [](const auto& info) { return td::str(std::get<1>(info.param) ? "gpu" : "cpu", std::get<0>(info.param)); });

}  // namespace
