// Every collective between processes under mpirun: the same bits as between ranks that are threads, whose values tests/comm checks.
#include <gtest/gtest.h>

#include <cstring>

#include "comm/ranks.h"

namespace td = tandem;
namespace dist = td::distributed;
using dist::ReduceOp;
using Results = std::vector<td::Tensor>;

namespace {

constexpr td::DType kAll[] = {td::kBool,  td::kUInt8,   td::kInt8,     td::kInt16,   td::kInt32,
                              td::kInt64, td::kFloat16, td::kBFloat16, td::kFloat32, td::kFloat64};

bool same_bits(const td::Tensor& a, const td::Tensor& b) {
  const td::Tensor x = a.cpu().contiguous(), y = b.cpu().contiguous();
  return x.dtype() == y.dtype() && x.sizes() == y.sizes() && (x.numel() == 0 || std::memcmp(x.data_ptr(), y.data_ptr(), x.nbytes()) == 0);
}

/// What `f(rank)` gives on this process's rank, and on the same rank where all are threads of this process.
void expect_as_with_threads(const std::function<Results(int)>& f) {
  const int rank = dist::get_rank(), world = dist::get_world_size();
  std::vector<Results> expected(static_cast<size_t>(world));
  dist::run_ranks(world, [&](int thread) { expected[static_cast<size_t>(thread)] = f(thread); });
  const Results got = f(rank);
  const Results& wanted = expected[static_cast<size_t>(rank)];
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(same_bits(got[i], wanted[i])) << "rank " << rank << ", result " << i;
}

class Collectives : public testing::TestWithParam<const char*> {
 protected:
  /// `f(rank, own values)` with each dtype and size: nothing, small messages of one round, and large ones of several.
  static void for_all(const std::function<Results(int, const td::Tensor&)>& f) {
    for (const td::DType dtype : kAll) {
      for (const int64_t size : {0, 12, 1200, 120000}) {
        SCOPED_TRACE(td::str(td::name(dtype), " of ", size));
        expect_as_with_threads([&](int rank) { return f(rank, values(size, dtype, rank, td::Device(GetParam()))); });
      }
    }
  }
};

TEST_P(Collectives, AllReduceAndReduce) {
  for_all([](int, const td::Tensor& own) {
    Results results;
    for (const ReduceOp op : {ReduceOp::SUM, ReduceOp::PRODUCT, ReduceOp::MIN, ReduceOp::MAX, ReduceOp::AVG}) {
      if (op == ReduceOp::AVG && !own.is_floating_point()) continue;
      results.push_back(own.clone());
      dist::all_reduce(results.back(), op);
      results.push_back(own.clone());
      dist::reduce(results.back(), 1, op);
    }
    return results;
  });
}

TEST_P(Collectives, AReductionOfSeveralPieces) {
  expect_as_with_threads([](int rank) {
    const td::Tensor t = values(5'000'001, td::kFloat32, rank, td::Device(GetParam()));
    const td::Tensor at_root = t.clone();
    dist::all_reduce(t);
    dist::reduce(at_root, 0);
    return Results{t, at_root};
  });
}

TEST_P(Collectives, Broadcast) {
  for_all([](int, const td::Tensor& own) {
    Results results;
    for (int root = 0; root < dist::get_world_size(); ++root) {
      results.push_back(own.clone());
      dist::broadcast(results.back(), root);
    }
    return results;
  });
}

TEST_P(Collectives, AllGatherAndGather) {
  for_all([](int, const td::Tensor& own) {
    Results results = dist::all_gather(own);
    for (const td::Tensor& t : dist::gather(own, 1)) results.push_back(t);
    return results;
  });
}

TEST_P(Collectives, ReduceScatter) {
  for_all([](int, const td::Tensor& own) { return Results{dist::reduce_scatter(own), dist::reduce_scatter(own, ReduceOp::MAX)}; });
}

TEST_P(Collectives, Scatter) {
  for_all([](int rank, const td::Tensor& own) {
    Results parts;
    for (int i = 0; rank == 1 && i < dist::get_world_size(); ++i) parts.push_back(values(own.numel(), own.dtype(), i + 5, own.device()));
    dist::scatter(own, parts, 1);
    return Results{own};
  });
}

TEST_P(Collectives, AllToAllOfDifferentSizes) {
  for_all([](int rank, const td::Tensor& own) {
    Results inputs;
    for (int to = 0; to < dist::get_world_size(); ++to)
      inputs.push_back(values((rank + 2 * to) * own.numel() / 12, own.dtype(), rank + to, own.device()));
    return dist::all_to_all(inputs);
  });
}

TEST_P(Collectives, SendAndRecvRoundTheRing) {
  for_all([](int rank, const td::Tensor& own) {
    const int world = dist::get_world_size();
    const td::Tensor got = td::zeros_like(own), tagged = td::zeros_like(own);
    const auto one = dist::isend(own, (rank + 1) % world), two = dist::isend(own, (rank + 1) % world, 7);
    dist::recv(tagged, (rank + world - 1) % world, 7);
    dist::recv(got, (rank + world - 1) % world);
    one.wait();
    two.wait();
    return Results{got, tagged};
  });
}

TEST_P(Collectives, SubGroupsBesideEachOther) {
  expect_as_with_threads([](int rank) {
    const int world = dist::get_world_size();
    std::vector<int> low, high;
    for (int i = 0; i < world; ++i) (i < world / 2 ? low : high).push_back(i);
    const auto first = dist::new_group(low), second = dist::new_group(high);
    EXPECT_EQ(first.is_member(), rank < world / 2);
    const td::Tensor t = values(1000, td::kFloat32, rank, td::Device(GetParam()));
    dist::all_reduce(t, ReduceOp::SUM, {.group = first.is_member() ? first : second});
    dist::barrier();
    return Results{t};
  });
}

TEST_P(Collectives, AsynchronousOnesOfSeveralGroups) {
  expect_as_with_threads([](int rank) {
    std::vector<int> all;
    for (int i = 0; i < dist::get_world_size(); ++i) all.push_back(i);
    const auto other = dist::new_group(all);
    Results results;
    std::vector<dist::Work> works;
    for (int i = 0; i < 20; ++i) {
      results.push_back(values(100 * i, td::kFloat32, rank + i, td::Device(GetParam())));
      works.push_back(i % 2 ? dist::all_reduce(results.back(), ReduceOp::SUM, {.group = other, .async_op = true})
                            : dist::all_reduce(results.back(), ReduceOp::SUM, {.async_op = true}));
    }
    for (const dist::Work& work : works) work.wait();
    return results;
  });
}

INSTANTIATE_TEST_SUITE_P(On, Collectives, testing::Values("cpu", "cuda:0"),
                         [](const auto& device) { return std::string(device.param).substr(0, 4); });

TEST(Mpi, IsTheBackEnd) { EXPECT_EQ(dist::get_backend(), "mpi"); }

TEST(Mpi, AnotherNumberOfRanksIsRefused) {
  dist::destroy_process_group();
  const int rank = dist::is_initialized() ? -1 : 0;
  EXPECT_EQ(rank, 0);
  try {
    dist::init_process_group("mpi", {.world_size = 7});
    ADD_FAILURE() << "no error";
  } catch (const td::Error& error) {
    EXPECT_NE(std::string(error.what()).find("leave rank and world_size to MPI"), std::string::npos) << error.what();
  }
  dist::init_process_group("mpi");  // once more
  dist::barrier();
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  dist::init_process_group("mpi");
  const int status = RUN_ALL_TESTS();
  dist::destroy_process_group();
  return status;
}
