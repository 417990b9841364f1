// What ranks owe each other: the same calls in the same order, in time; and what they are told where one of them fails.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "comm/ranks.h"
#include "runtime/graph.h"

namespace td = tandem;
namespace dist = td::distributed;
using dist::ReduceOp;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Every rank's error has all the parts.
void expect_all(const std::vector<std::string>& errors, const std::vector<std::string>& parts) {
  for (size_t rank = 0; rank < errors.size(); ++rank)
    for (const std::string& part : parts)
      EXPECT_TRUE(has(errors[rank], part)) << "rank " << rank << ": " << errors[rank] << "\nlacks: " << part;
}

}  // namespace

TEST(Order, DifferentCallsAreAnErrorOnEveryRankWithBothLines) {
  const auto errors = errors_of_ranks(3, [](int rank) {
    const auto t = td::ones({3});
    if (rank == 2) dist::broadcast(t, 0);
    else dist::all_reduce(t);
  });
  expect_all(errors, {"rank 0 called all_reduce of float32 [3] (SUM) at ", "rank 2 called broadcast of float32 [3] from rank 0 at ",
                      "order_test.cpp:"});
}

TEST(Order, EveryPartOfACallIsCompared) {
  const std::vector<std::pair<const char*, std::function<void(int)>>> cases = {
      {"rank 1 called all_reduce of float32 [4]", [](int rank) { dist::all_reduce(td::ones({3 + rank})); }},
      {"rank 1 called all_reduce of float32 [1, 6]",
       [](int rank) {
         dist::all_reduce(rank ? td::ones({1, 6}) : td::ones({6}));
       }},
      {"rank 1 called all_reduce of int64 [3]", [](int rank) { dist::all_reduce(td::ones({3}).to(rank ? td::kInt64 : td::kFloat32)); }},
      {"rank 1 called all_reduce of float32 [3] (MAX)",
       [](int rank) { dist::all_reduce(td::ones({3}), rank ? ReduceOp::MAX : ReduceOp::SUM); }},
      {"rank 1 called all_reduce of float32 [3] (SUM) for 'bucket 1' at",
       [](int rank) { dist::all_reduce(td::ones({3}), ReduceOp::SUM, {.label = td::str("bucket ", rank)}); }},
      {"rank 1 called broadcast of float32 [3] from rank 1", [](int rank) { dist::broadcast(td::ones({3}), rank); }},
      {"rank 1 called reduce of float32 [3] (SUM) to rank 1", [](int rank) { dist::reduce(td::ones({3}), rank); }},
      {"rank 1 called barrier", [](int rank) { rank ? dist::barrier() : dist::all_reduce(td::ones({3})); }},
      {"rank 0 gives 1 elements to rank 1, which takes 2",
       [](int rank) {
         dist::all_to_all_single(td::ones({2 + rank}), td::ones({2}), {1 + rank, 1}, {1, 1});
       }},
      {"rank 1 called new_group of ranks [1]", [](int rank) { (void)dist::new_group({rank}); }},
  };
  for (const auto& [text, f] : cases) {
    const auto errors = errors_of_ranks(2, f);
    for (const std::string& error : errors) EXPECT_TRUE(has(error, text)) << error << "\nlacks: " << text;
  }
}

TEST(Order, ADeadGroupSaysSo) {
  const auto errors = errors_of_ranks(2, [](int rank) {
    EXPECT_NE(error_of([&] { dist::all_reduce(td::ones({3 + rank})); }), "no error");
    dist::barrier();
  });
  expect_all(errors, {"[barrier] the group was aborted: [all_reduce] ranks differ"});
}

TEST(Order, TheTimeLimitNamesAllThatAreMissingAndWhatTheyDid) {
  std::atomic<bool> over = false;
  const auto errors = errors_of_ranks(4,
                                      [&](int rank) {
                                        dist::barrier();
                                        if (rank == 2) {
                                          over.wait(false);
                                          return dist::barrier(), void();
                                        }
                                        if (rank == 3) dist::recv(td::ones({2}), 2);
                                        struct Over {
                                          std::atomic<bool>& flag;
                                          ~Over() {
                                            flag = true;
                                            flag.notify_all();
                                          }
                                        } const sets{over};
                                        dist::all_reduce(td::ones({3}));
                                      },
                                      {.timeout = std::chrono::milliseconds(150)});
  EXPECT_TRUE(has(errors[0], "the time limit was reached in all_reduce of float32 [3] (SUM) at ") ||
              has(errors[0], "the time limit was reached in recv"))
      << errors[0];
  expect_all(errors, {"the time limit was reached", "rank 2, last seen outside of collectives since barrier at "});
}

TEST(Order, AbortWakesEverybodyFromAnyThread) {
  const auto errors = errors_of_ranks(3, [](int rank) {
    if (rank != 0) return dist::all_reduce(td::ones({3})), void();
    const auto late = dist::irecv(td::ones({2}), 1);
    dist::ProcessGroup().abort("somebody pulled the plug");
    late.wait();
  });
  expect_all(errors, {"somebody pulled the plug"});
}

TEST(Order, ARankThatEndsWithAnErrorEndsTheOthers) {
  EXPECT_TRUE(has(error_of([] {
                    dist::run_ranks(3, [](int rank) {
                      if (rank == 1) td::fail("it went wrong on rank 1");
                      dist::barrier();
                    });
                  }),
                  "it went wrong on rank 1"));
}

TEST(Order, ARankThatLeavesIsNamed) {
  const auto errors = errors_of_ranks(2, [](int rank) {
    if (rank == 1) return dist::destroy_process_group();
    dist::all_reduce(td::ones({3}));
  });
  EXPECT_TRUE(has(errors[0], "rank 1 has left the group, but all_reduce of float32 [3] (SUM) at ")) << errors[0];
  EXPECT_EQ(errors[1], "no error");
}

TEST(Order, WorkThatFailedBeforeIsToldToAllAndTheGroupGoesOn) {
  // An index out of range poisons rank 1's stream.
  dist::run_ranks(3, [](int rank) {
    const td::Tensor t = td::ones({3}, td::gpu(rank));
    if (rank == 1) t.copy_(t.index_select(0, td::tensor({7, 0, 0}, td::gpu(rank))));
    dist::all_reduce(t);
    const std::string error = error_of([&] { td::cuda::synchronize(rank); });
    if (rank == 1) EXPECT_TRUE(has(error, "index 7 is out of bounds")) << error;
    else EXPECT_TRUE(has(error, "[all_reduce] work of rank 1 before it failed: ") && has(error, "index 7 is out of bounds")) << error;
    EXPECT_TRUE(has(error_of([&] { (void)t.cpu(); }), "never computed"));
    const td::Tensor again = td::ones({3}, td::gpu(rank));
    dist::all_reduce(again);
    EXPECT_TRUE(td::equal(again.cpu(), td::full({3}, 3.)));
  });
}

TEST(Order, CpuAndDeviceCollectivesTakeTurns) {
  dist::run_ranks(2, [](int rank) {
    const td::Tensor on_gpu = td::ones({1000}, td::gpu(rank)), on_cpu = td::ones({1000});
    for (int i = 0; i < 20; ++i) {
      dist::all_reduce(on_gpu, ReduceOp::AVG);
      dist::all_reduce(on_cpu, ReduceOp::AVG);
      const auto later = dist::all_reduce(on_gpu, ReduceOp::MAX, {.async_op = true});
      const auto also_later = dist::all_reduce(on_cpu, ReduceOp::MAX, {.async_op = true});
      dist::barrier();
      later.wait();
      also_later.wait();
    }
    EXPECT_TRUE(td::equal(on_gpu.cpu(), td::ones({1000})) && td::equal(on_cpu, td::ones({1000})));
  });
}

TEST(Order, ACollectiveComesBehindTheWorkOfItsStream) {
  dist::run_ranks(2, [](int rank) {
    const td::Device device = td::gpu(rank);
    const td::cuda::Stream side(device);
    td::Tensor t = td::zeros({300000}, device);
    for (int i = 0; i < 10; ++i) {
      side.wait_stream(td::cuda::current_stream(device));
      {
        const td::cuda::StreamGuard guard(side);
        for (int k = 0; k < 5; ++k) t.add_(1);
        dist::all_reduce(t, ReduceOp::AVG);
        t.add_(1);
      }
      td::cuda::current_stream(device).wait_stream(side);
      t.add_(1);
      const auto later = dist::all_reduce(t, ReduceOp::AVG, {.async_op = true});
      later.wait();
      t.add_(1);
    }
    EXPECT_TRUE(td::equal(t.cpu(), td::full({300000}, 80.)));
  });
}

TEST(Order, AsynchronousWorkCanBeAskedAndWaitedFor) {
  dist::run_ranks(2, [](int rank) {
    const td::Tensor t = td::full({1000}, rank + 1.);
    const auto work = dist::all_reduce(t, ReduceOp::SUM, {.async_op = true});
    work.wait();
    EXPECT_TRUE(work.is_completed());
    EXPECT_TRUE(td::equal(t, td::full({1000}, 3.)));
    const td::Tensor strided = td::full({10, 4}, rank + 1.).t();
    dist::all_reduce(strided, ReduceOp::SUM, {.async_op = true}).wait();
    EXPECT_TRUE(td::equal(strided, td::full({4, 10}, 3.)));
    const td::Tensor there = td::full({10}, rank + 1., td::gpu(rank));
    const auto behind = dist::all_reduce(there, ReduceOp::SUM, {.async_op = true});
    behind.synchronize();
    EXPECT_TRUE(behind.is_completed());
    EXPECT_TRUE(td::equal(there.cpu(), td::full({10}, 3.)));
  });
}

TEST(Order, ViewsAndStridesAreReducedInPlace) {
  for (const bool on_gpu : {false, true}) {
    dist::run_ranks(2, [&](int rank) {
      const td::Device device = on_gpu ? td::gpu(rank) : td::cpu();
      const td::Tensor whole = td::zeros({6, 4}, device);
      const auto version = whole.version();
      whole.narrow(0, 1, 2).fill_(rank + 1.);
      dist::all_reduce(whole.narrow(0, 1, 2));              // dense, inside of another
      dist::all_reduce(whole.select(1, 3), ReduceOp::MAX);  // strided
      dist::broadcast(whole.t(), 1);
      EXPECT_GT(whole.version(), version + 2);
      const td::Tensor expected = td::zeros({6, 4});
      expected.narrow(0, 1, 2).fill_(3.);
      EXPECT_TRUE(td::equal(whole.cpu(), expected));
    });
  }
}

TEST(Order, SubGroupsHaveOrdersOfTheirOwn) {
  dist::run_ranks(4, [](int rank) {
    const auto low = dist::new_group({0, 1}), high = dist::new_group({3, 2});
    const auto& mine = rank < 2 ? low : high;
    EXPECT_EQ((rank < 2 ? high : low).is_member(), false);
    EXPECT_EQ(dist::get_rank(mine), rank < 2 ? rank : 3 - rank);
    EXPECT_EQ(dist::get_rank(rank < 2 ? high : low), -1);
    EXPECT_EQ(mine.ranks(), rank < 2 ? (std::vector<int>{0, 1}) : (std::vector<int>{3, 2}));
    const auto t = td::full({3}, rank + 1.);
    for (int i = 0; i < (rank < 2 ? 3 : 5); ++i) dist::all_reduce(t, ReduceOp::MAX, {.group = mine});
    EXPECT_TRUE(td::equal(t, td::full({3}, rank < 2 ? 2. : 4.)));
    dist::broadcast(t, 2 * (rank / 2), {.group = mine});  // ranks are the program's
    EXPECT_TRUE(has(error_of([&] { dist::broadcast(t, rank < 2 ? 3 : 0, {.group = mine}); }), "the group's ranks are"));
    dist::barrier();
    const auto reversed = dist::all_gather(td::full({1}, 1. * rank), {.group = mine});
    EXPECT_EQ(reversed[0].item<int>(), rank < 2 ? 0 : 3);
  });
}

TEST(Order, MessagesFindTheirTags) {
  dist::run_ranks(2, [](int rank) {
    const auto a = td::full({3}, 1.), b = td::full({50000}, 2.), c = td::full({3}, 3.);
    if (rank == 0) {
      dist::send(a, 1, 10);
      dist::send(b, 1, 20);
      dist::send(c, 1, 10);
      return;
    }
    const auto x = td::zeros({3}), y = td::zeros({50000}), z = td::zeros({3});
    const auto late = dist::irecv(y, 0, 20);
    dist::recv(x, 0, 10);
    dist::recv(z, 0, 10);
    late.wait();
    EXPECT_TRUE(td::equal(x, a) && td::equal(y, b) && td::equal(z, c));
  });
  expect_all(errors_of_ranks(2,
                             [](int rank) {
                               if (rank == 0) dist::send(td::ones({3}), 1), dist::barrier();
                               else dist::recv(td::ones({2}), 0);
                             }),
             {"rank 1 called recv of float32 [2] from rank 0", ", 8 bytes, but the message of rank 0 has 12"});
}

TEST(Order, ChecksNameTheCallAndTheValue) {
  EXPECT_TRUE(
      has(error_of([] { dist::all_reduce(td::ones({1})); }), "[all_reduce] there is no process group: call init_process_group first"));
  dist::run_ranks(2, [](int rank) {
    const auto t = td::ones({3});
    const auto refuses = [](auto f, const std::string& text) {
      const std::string error = error_of(f);
      EXPECT_TRUE(has(error, text)) << error << "\nlacks: " << text;
    };
    refuses([] { dist::all_reduce(td::Tensor()); }, "[all_reduce] expected a tensor, but got an undefined one");
    refuses([&] { dist::all_reduce(t.to(td::kInt64), ReduceOp::AVG); }, "[all_reduce] AVG is for floating dtypes, but the tensor is int64");
    refuses([&] { dist::all_reduce(td::ones({2}, {.requires_grad = true})); }, "[all_reduce] a leaf Variable that requires grad");
    refuses([&] { dist::broadcast(t, 2); }, "[broadcast] src is rank 2, but the group's ranks are [0, 1]");
    refuses([&] { dist::reduce(t, -1); }, "[reduce] dst is rank -1");
    refuses([&] { dist::send(t, rank); }, "[send] dst is rank ");
    refuses([&] { dist::all_gather_into_tensor(td::ones({5}), t); }, "the output needs 2 times the input's 3 elements, but has 5");
    refuses([&] { dist::all_gather_into_tensor(td::ones({6}).to(td::kInt64), t); }, "tensors must have one dtype");
    refuses([&] { (void)dist::reduce_scatter(t); }, "[reduce_scatter] dimension 0 must be cut into 2 equal parts, but the sizes are [3]");
    refuses([&] { (void)dist::all_to_all({t}); }, "there must be a tensor for each of the 2 ranks, but there are 1");
    refuses([&] { dist::all_to_all_single(td::ones({4}), td::ones({4}), {1, 2}, {}); }, "split sizes for 2 ranks that add up to 4");
    refuses([&] { dist::scatter(t, {t}, rank); }, "gives a tensor for each of the 2 ranks");
    refuses([&] { (void)dist::new_group({0, 0}); }, "[new_group] rank 0 is given twice");
    refuses([&] { (void)dist::new_group({2}); }, "[new_group] there is no rank 2 in a program of 2");
    refuses([&] { dist::init_process_group(); }, "there is a process group already");
    dist::barrier();  // nothing of that has reached the other rank
  });
}

TEST(Order, OneRankAloneIsAProgramToo) {
  dist::init_process_group("local");
  EXPECT_EQ(dist::get_rank(), 0);
  EXPECT_EQ(dist::get_world_size(), 1);
  EXPECT_EQ(dist::get_backend(), "local");
  const auto t = td::full({3}, 2.);
  dist::all_reduce(t);
  dist::broadcast(t, 0);
  EXPECT_TRUE(td::equal(t, td::full({3}, 2.)));
  EXPECT_TRUE(td::equal(dist::all_gather(t)[0], t));
  EXPECT_TRUE(has(dist::ProcessGroup().recorded_calls(), "1 all_reduce of float32 [3] (SUM) at "));
  EXPECT_TRUE(has(dist::ProcessGroup().recorded_calls(true), "\"state\": \"completed\", \"call\": \"broadcast of float32 [3] from rank 0"));
  dist::destroy_process_group();
  EXPECT_FALSE(dist::is_initialized());
  EXPECT_TRUE(has(error_of([] { dist::init_process_group("gloo"); }), "there is no back end gloo"));
}

TEST(Order, TheRecorderKeepsTheLastCalls) {
  dist::run_ranks(2, [](int rank) {
    const auto t = td::ones({3});
    for (int i = 0; i < 1100; ++i) dist::all_reduce(t, ReduceOp::MAX);
    const std::string text = dist::ProcessGroup().recorded_calls();
    const std::string who = td::str("rank ", rank, ": ");  // the other one may be further
    EXPECT_TRUE(has(text, who + "1100 all_reduce"));
    EXPECT_FALSE(has(text, who + "76 all_reduce"));
    EXPECT_TRUE(has(text, who + "77 all_reduce"));
    dist::barrier();
  });
}

TEST(Order, ACollectiveCannotBeCaptured) {
  dist::run_ranks(2, [](int rank) {
    const td::Tensor t = td::ones({3}, td::gpu(rank));
    td::cuda::synchronize(rank);
    td::cuda::Graph graph;
    const std::string error = error_of([&] { td::cuda::graph(graph, [&] { dist::all_reduce(t); }); });
    EXPECT_TRUE(has(error, "[all_reduce] a collective cannot be captured in a graph")) << error;
  });
}
