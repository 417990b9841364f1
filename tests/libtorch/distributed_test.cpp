// c10d's process groups over tandem's ranks, which are threads here.
#include "libtorch/distributed.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "libtorch/torch.h"

namespace {

constexpr int kRanks = 3;

/// A group as MPI's is, of the ranks of run_ranks.
struct Ranks : c10d::ProcessGroup {
  Ranks() : ProcessGroup(tandem::distributed::ProcessGroup()) {}
};

TEST(Distributed, CollectivesOfALibtorchProgram) {
  tandem::distributed::run_ranks(kRanks, [](int rank) {
    Ranks group;
    EXPECT_EQ(group.getRank(), rank);
    EXPECT_EQ(group.getSize(), kRanks);

    std::vector<torch::Tensor> one = {torch::full({2, 2}, double(rank + 1))};
    const std::shared_ptr<c10d::ProcessGroup::Work> work = group.allreduce(one);
    EXPECT_TRUE(work->wait());
    EXPECT_TRUE(work->isCompleted());
    EXPECT_TRUE(one[0].equal(torch::full({2, 2}, 6.0)));
    EXPECT_TRUE(work->result()[0].is_same(one[0]));

    one = {torch::full({1}, double(rank))};
    group.allreduce(one, {.reduceOp = c10d::ReduceOp::MAX})->wait();
    EXPECT_EQ(one[0].item<float>(), kRanks - 1);

    one = {torch::full({3}, double(rank))};
    group.broadcast(one, {.rootRank = 2})->wait();
    EXPECT_TRUE(one[0].equal(torch::full({3}, 2.0)));

    one = {torch::full({1}, double(rank))};
    group.reduce(one, {.rootRank = 1})->wait();
    EXPECT_EQ(one[0].item<float>(), rank == 1 ? 3 : rank);

    one = {torch::full({2}, double(rank))};
    std::vector<std::vector<torch::Tensor>> all = {{torch::zeros({2}), torch::zeros({2}), torch::zeros({2})}};
    group.allgather(all, one)->wait();
    for (int i = 0; i < kRanks; ++i) EXPECT_TRUE(all[0][static_cast<size_t>(i)].equal(torch::full({2}, double(i))));

    // Around in a ring.
    std::vector<torch::Tensor> mine = {torch::full({1}, double(rank))}, theirs = {torch::zeros({1})};
    const auto sent = group.send(mine, (rank + 1) % kRanks, 7), got = group.recv(theirs, (rank + kRanks - 1) % kRanks, 7);
    sent->wait();
    got->wait();
    EXPECT_EQ(theirs[0].item<float>(), (rank + kRanks - 1) % kRanks);
    group.barrier()->wait();
  });
}

TEST(Distributed, WrongListsAreErrorsThatSayWhatIsTaken) {
  tandem::distributed::run_ranks(1, [](int) {
    Ranks group;
    std::vector<torch::Tensor> two = {torch::zeros({1}), torch::zeros({1})}, one = {torch::zeros({1})};
    const auto text = [](auto call) -> std::string {
      try {
        call();
      } catch (const c10::Error& error) {
        return error.what();
      }
      return "";
    };
    EXPECT_NE(text([&] { group.allreduce(two); }).find("[ProcessGroup.allreduce] takes a list of one tensor, got 2"), std::string::npos);
    EXPECT_NE(text([&] { group.broadcast(one, {.rootRank = 1}); }).find("rank 1 is none of the group's 1"), std::string::npos);
    std::vector<std::vector<torch::Tensor>> none(1);
    EXPECT_NE(text([&] { group.allgather(none, one); }).find("an output for each of the group's 1 ranks, got 0"), std::string::npos);
  });
}

// Not started by MPI, a process is a group by itself; without MPI on the machine there is an error.
TEST(Distributed, AProcessOnItsOwnIsAGroupOfOne) {
  try {
    const std::shared_ptr<c10d::ProcessGroupMPI> group = c10d::ProcessGroupMPI::createProcessGroupMPI();
    EXPECT_EQ(group->getSize(), 1);
    EXPECT_EQ(group->getRank(), 0);
    EXPECT_EQ(group->getBackendName(), "mpi");
    tandem::distributed::destroy_process_group();
  } catch (const c10::Error& error) {
    EXPECT_NE(std::string(error.what()).find("mpi"), std::string::npos) << error.what();
  }
}

}  // namespace
