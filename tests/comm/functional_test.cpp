// Collectives with gradients: what backward gives on every rank is the derivative of the sum of all ranks' losses.
#include <gtest/gtest.h>

#include "comm/ranks.h"

namespace td = tandem;
namespace dist = td::distributed;
using dist::ReduceOp;

namespace {

constexpr int kRanks = 3;

/// A leaf and the weights of the rank's loss, different on each.
td::Tensor leaf(int rank, int64_t count = 6) { return (td::arange(count).to(td::kFloat32) + rank).requires_grad_(); }
td::Tensor weights(int rank, int64_t count = 6) { return td::arange(count).remainder(5).to(td::kFloat32) * (rank + 1.) + 1.; }
td::Tensor sum_of_weights() { return weights(0) + weights(1) + weights(2); }

}  // namespace

TEST(Functional, AllReduce) {
  dist::run_ranks(kRanks, [](int rank) {
    const auto x = leaf(rank);
    const auto y = dist::nn::all_reduce(x);
    EXPECT_TRUE(td::equal(y.detach(), td::arange(6).to(td::kFloat32) * 3. + 3.));
    EXPECT_TRUE(td::equal(x.detach(), leaf(rank).detach()));
    (y * weights(rank)).sum().backward();
    EXPECT_TRUE(td::allclose(x.grad(), sum_of_weights()));
    x.grad() = td::Tensor();
    (dist::nn::all_reduce(x, ReduceOp::AVG) * weights(rank)).sum().backward();
    EXPECT_TRUE(td::allclose(x.grad(), sum_of_weights() / 3.));
    EXPECT_NE(error_of([&] { (void)dist::nn::all_reduce(x, ReduceOp::MAX); }).find("only SUM and AVG have a gradient, not MAX"),
              std::string::npos);
  });
}

TEST(Functional, AllReduceTwice) {
  dist::run_ranks(kRanks, [](int rank) {
    const auto x = leaf(rank);
    const auto y = dist::nn::all_reduce(x * x);
    const auto g = td::grad({(y * weights(rank)).sum()}, {x}, {.create_graph = true})[0];
    EXPECT_TRUE(td::allclose(g.detach(), sum_of_weights() * x.detach() * 2.));
    g.sum().backward();
    EXPECT_TRUE(td::allclose(x.grad(), sum_of_weights() * 2.));
  });
}

TEST(Functional, AllGather) {
  dist::run_ranks(kRanks, [](int rank) {
    const auto x = leaf(rank);
    const auto all = dist::nn::all_gather(x);
    ASSERT_EQ(all.size(), 3U);
    for (int r = 0; r < kRanks; ++r) EXPECT_TRUE(td::equal(all[static_cast<size_t>(r)].detach(), leaf(r).detach()));
    // Each rank weighs each part.
    td::Tensor loss = td::zeros({});
    for (int r = 0; r < kRanks; ++r) loss = loss + (all[static_cast<size_t>(r)] * weights(rank) * (r + 1.)).sum();
    loss.backward();
    EXPECT_TRUE(td::allclose(x.grad(), sum_of_weights() * (rank + 1.)));
  });
}

TEST(Functional, ReduceScatter) {
  dist::run_ranks(kRanks, [](int rank) {
    const auto x = leaf(rank);
    const auto y = dist::nn::reduce_scatter(x);
    EXPECT_TRUE(td::equal(y.detach(), (td::arange(6).to(td::kFloat32) * 3. + 3.).narrow(0, rank * 2, 2)));
    (y * weights(rank, 2)).sum().backward();
    EXPECT_TRUE(td::allclose(x.grad(), td::cat({weights(0, 2), weights(1, 2), weights(2, 2)})));
  });
}

TEST(Functional, Broadcast) {
  dist::run_ranks(kRanks, [](int rank) {
    const auto x = leaf(rank);
    const auto y = dist::nn::broadcast(x, 1);
    EXPECT_TRUE(td::equal(y.detach(), leaf(1).detach()));
    (y * weights(rank)).sum().backward();
    EXPECT_TRUE(td::allclose(x.grad(), rank == 1 ? sum_of_weights() : td::zeros({6})));
  });
}

TEST(Functional, AllToAll) {
  dist::run_ranks(kRanks, [](int rank) {
    const auto x = leaf(rank);
    // Rank r gets r + 1 elements from each.
    const auto taken = dist::nn::all_to_all(x.split({1, 2, 3}));
    ASSERT_EQ(taken.size(), 3U);
    td::Tensor loss = td::zeros({});
    for (int from = 0; from < kRanks; ++from) {
      const auto& part = taken[static_cast<size_t>(from)];
      EXPECT_TRUE(td::equal(part.detach(), leaf(from).detach().split({1, 2, 3})[static_cast<size_t>(rank)]));
      loss = loss + (part * ((rank + 1.) * 10 + from)).sum();
    }
    loss.backward();
    const double own = rank;
    EXPECT_TRUE(td::equal(x.grad(), td::tensor({10 + own, 20 + own, 20 + own, 30 + own, 30 + own, 30 + own}).to(td::kFloat32)));
  });
}

TEST(Functional, OnVirtualGpus) {
  dist::run_ranks(2, [](int rank) {
    const auto x = leaf(rank).detach().to(td::gpu(rank)).requires_grad_();
    (dist::nn::all_reduce(x) * weights(rank).to(td::gpu(rank))).sum().backward();
    EXPECT_TRUE(td::allclose(x.grad().cpu(), weights(0) + weights(1)));
  });
}
