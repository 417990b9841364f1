// The mistakes of whole programs: batches that are refilled, hooks, replicas, ranks, graphs and copies between GPUs. Each is named by its
// lines; put right, it gives silence: no race, and no wait of the host but where it needs one.
#include <gtest/gtest.h>

#include <array>

#include "observe/races_fixture.h"
#include "runtime/driver.h"

namespace {

TEST_F(Races, AViewOfAView) {
  const auto row = x.view({10, 100}).transpose(0, 1).slice(0, 40, 41).squeeze(0);  // every hundredth element from the fortieth
  for (const bool right : {false, true}) {
    int first = 0;
    {
      const cuda::StreamGuard guard(side);
      row.mul_(2), first = __LINE__;
    }
    if (right) main.wait_stream(side);
    const auto y = x.slice(0, 40, 50).sum();
    if (right) expect_silence();
    else expect_race(first, __LINE__ - 2);
    settle();
  }
}

TEST_F(Races, AWaitInTheWrongDirection) {
  for (const bool right : {false, true}) {
    int first = 0;
    {
      const cuda::StreamGuard guard(side);
      x.mul_(2), first = __LINE__;
    }
    if (right) main.wait_stream(side);
    else side.wait_stream(main);
    const auto y = x + 1;
    if (right) expect_silence();
    else expect_race(first, __LINE__ - 2);
    settle();
  }
}

/// Uploads run ahead on a stream of their own; the step must wait for the event of its batch, not for that of the one before.
TEST_F(Races, TwoBuffersAndTheOtherOnesEvent) {
  std::array<td::Tensor, 2> pinned, batch;
  for (int i = 0; i < 2; ++i) pinned[i] = td::ones({1000}).pin_memory(), batch[i] = td::empty({1000}, td::gpu(0));
  std::array<cuda::Event, 2> uploaded, used;
  int upload = 0, step = 0;
  const auto run = [&](bool right) {
    for (int i = 0; i < 3; ++i) {
      const int slot = i % 2;
      {
        const cuda::StreamGuard guard(side);
        if (i >= 2) used[slot].wait(side);
        batch[slot].copy_(pinned[slot], true), upload = __LINE__;
        uploaded[slot].record(side);
      }
      if (right || i == 0) uploaded[slot].wait(main);
      else uploaded[1 - slot].wait(main);
      x.add_(batch[slot]), step = __LINE__;
      used[slot].record(main);
    }
  };
  run(true);
  expect_silence();
  settle();
  run(false);
  expect_race(upload, step);
}

/// One page-locked batch is filled for each step while the copy of the step before may still read it.
TEST_F(Races, APinnedBatchThatIsFilledAgain) {
  const auto staging = td::empty({1000}).pin_memory();
  const std::array<td::Tensor, 3> samples = {td::ones({1000}), td::ones({1000}), td::ones({1000})};
  for (const bool right : {false, true}) {
    cuda::Event copied;
    int fill = 0, upload = 0;
    for (const auto& sample : samples) {
      if (right) allowed([&] { copied.synchronize(); });
      staging.copy_(sample), fill = __LINE__;
      x.copy_(staging, true), upload = __LINE__;
      copied.record();
    }
    if (right) expect_silence();
    else expect_race(upload, fill);
    settle();
  }
}

/// A batch of a DataLoader is the user's own, page-locked memory too: while its copy is under way nobody may write there.
TEST_F(Races, ALoadersPinnedBatchChangedUnderItsCopy) {
  for (const bool right : {false, true}) {
    td::data::DataLoader loader(td::data::TensorDataset({td::ones({8, 4}), td::zeros({8})}),
                                {.batch_size = 4, .pin_memory = true, .num_workers = 1});
    int upload = 0, change = 0;
    for (const auto& [inputs, targets] : loader) {
      if (right) inputs.mul_(2);
      const auto there = inputs.to(td::gpu(0), {.non_blocking = true});
      upload = __LINE__ - 1;
      if (!right) inputs.mul_(2), change = __LINE__;
    }
    if (right) expect_silence();
    else expect_race(upload, change);
    settle();
  }
}

/// The library runs the hook, in the middle of backward; the line is the hook's.
TEST_F(Races, AHookThatLeavesTheStream) {
  const auto w = td::ones({1000}, td::gpu(0)).requires_grad_();
  settle();
  for (const bool right : {false, true}) {
    w.grad() = td::Tensor();
    int second = 0;
    const auto hook = w.register_hook([&](const td::Tensor& gradient) {
      if (right) side.wait_stream(main);
      {
        const cuda::StreamGuard guard(side);
        gradient.mul_(2), second = __LINE__;
      }
      if (right) main.wait_stream(side);
      return gradient;
    });
    const auto loss = (w * x).sum();
    loss.backward();
    if (right) {
      expect_silence();
    } else {
      const auto reports = races.reports();
      ASSERT_FALSE(reports.empty());
      for (const auto& report : reports)
        EXPECT_TRUE((report.first.file.ends_with(file) && report.first.line == second) ||
                    (report.second.file.ends_with(file) && report.second.line == second))
            << report.text;
      races.clear();
    }
    w.remove_hook(hook);
    settle();
  }
}

TEST_F(Races, AnOptimizerOnAnotherStream) {
  const auto w = td::ones({1000}, td::gpu(0)).requires_grad_();
  td::optim::SGD optimizer({w}, {.lr = 0.1});
  settle();
  for (const bool right : {false, true}) {
    w.grad() = td::ones({1000}, td::gpu(0));
    settle();
    int first = 0;
    {
      const cuda::StreamGuard guard(side);
      optimizer.step(), first = __LINE__;
    }
    if (right) main.wait_stream(side);
    const auto y = w.detach() + 1;
    if (right) expect_silence();
    else expect_race(first, __LINE__ - 2);
    settle();
  }
}

/// The replicas run on threads of the library; their parameters are copied from the module's.
TEST_F(Races, DataParallelOverParametersThatAreBeingWritten) {
  if (td::num_gpus() < 2) GTEST_SKIP() << "needs two GPUs";
  td::nn::Linear net(4, 2);
  allowed([&] { net.to(td::gpu(0)); });
  td::parallel::DataParallel replicated(net, {td::gpu(0), td::gpu(1)});
  const auto batch = td::ones({8, 4}, td::gpu(0));
  settle();
  for (const bool right : {false, true}) {
    const td::NoGradGuard no_grad;
    int first = 0;
    {
      const cuda::StreamGuard guard(side);
      net.weight.mul_(0.5), first = __LINE__;
    }
    if (right) main.wait_stream(side);
    const auto y = replicated(batch);
    const int second = __LINE__ - 1;
    if (right) {
      expect_silence();
    } else {
      const auto reports = races.reports();
      ASSERT_FALSE(reports.empty());
      for (const auto& report : reports) {
        EXPECT_EQ(report.first.line, first) << report.text;
        EXPECT_EQ(report.second.line, second) << report.text;
      }
      races.clear();
    }
    settle();
  }
}

/// Each rank looks at its gradients on a stream that has not waited for backward.
TEST_F(Races, RanksThatReadGradientsElsewhere) {
  if (!td::runtime::devices_are_virtual()) GTEST_SKIP() << "ranks that share a real GPU exchange by way of the host";
  for (const bool right : {false, true}) {
    int second = 0;
    td::distributed::run_ranks(2, [&](int rank) {
      td::nn::Linear net(4, 2);
      allowed([&] { net.to(td::gpu(rank % td::num_gpus())); });
      td::parallel::DistributedDataParallel<td::nn::Linear> ddp(net);
      const auto device = net.weight.device();
      const cuda::Stream other(device);
      ddp(td::ones({8, 4}, device)).sum().backward();
      if (right || rank == 1) other.wait_stream(cuda::current_stream(device));
      {
        const cuda::StreamGuard guard(other);
        const auto norm = net.weight.grad() + 1;
        if (rank == 0) second = __LINE__ - 1;
      }
      cuda::current_stream(device).wait_stream(other);  // which uses memory that is let go now
    });
    if (right) {
      expect_silence();
    } else {
      const auto reports = races.reports();
      ASSERT_FALSE(reports.empty());
      for (const auto& report : reports) {
        EXPECT_TRUE(report.second.file.ends_with(file)) << report.text;
        EXPECT_EQ(report.second.line, second) << report.text;
      }
      races.clear();
    }
    settle();
  }
}

/// What a graph reads is refilled while a replay may still read it.
TEST_F(Races, AGraphsInputRefilledElsewhere) {
  cuda::Graph graph;
  td::Tensor y;
  int captured = 0, refill = 0;
  allowed([&] { cuda::graph(graph, [&] { y = x + 1, captured = __LINE__; }); });
  const auto next = td::ones({1000}).pin_memory();
  for (const bool right : {false, true}) {
    graph.replay();
    if (right) side.wait_stream(main);
    {
      const cuda::StreamGuard guard(side);
      x.copy_(next, true), refill = __LINE__;
    }
    if (right) expect_silence();
    else expect_race(captured, refill);
    settle();
  }
}

/// A graph has addresses, not tensors: what it read may be another tensor's by the time of the replay. No order of streams mends that.
TEST_F(Races, AGraphReplayedOnMemoryThatWasLetGo) {
  for (const bool right : {false, true}) {
    auto input = td::ones({1000}, td::gpu(0));
    const int made = __LINE__ - 1;
    const void* const address = input.impl().data;
    cuda::Graph graph;
    td::Tensor y;
    int captured = 0;
    allowed([&] { cuda::graph(graph, [&] { y = input + 1, captured = __LINE__; }); });
    if (!right) input = td::Tensor();
    graph.replay();
    if (right) {
      expect_silence();
    } else {
      EXPECT_NE(all(races.reports()).find("was let go after the capture"), std::string::npos);
      expect_race(made, captured);
    }
    const auto another = td::zeros({1000}, td::gpu(0));
    const int handed_out = __LINE__ - 1;
    ASSERT_EQ(another.impl().data == address, !right);
    graph.replay();
    const int replayed = __LINE__ - 1;
    if (right) {
      expect_silence();
    } else {
      EXPECT_NE(all(races.reports()).find("handed out again"), std::string::npos);
      EXPECT_NE(all(races.reports()).find(td::str(file, ':', replayed)), std::string::npos);
      expect_race(handed_out, captured);
    }
    settle();
  }
}

/// Tensors that a capture makes and lets go are the graph's own, also of two graphs with one pool.
TEST_F(Races, AGraphsOwnMemoryIsItsOwn) {
  cuda::Graph first, second;
  td::Tensor y, z;
  allowed([&] { cuda::graph(first, [&] { y = ((x + 1) * 2).exp() - 1; }); });
  allowed([&] { cuda::graph(second, [&] { z = ((x + 2) * 3).exp() - 2; }, {.pool = first.pool()}); });
  y = td::Tensor();
  for (int i = 0; i < 3; ++i) {
    const auto other = td::zeros({1000}, td::gpu(0)) + 1;
    first.replay();
    second.replay();
  }
  expect_silence();
}

TEST_F(Races, TheSourceOfACopyBetweenGpusOverwritten) {
  if (td::num_gpus() < 2) GTEST_SKIP() << "needs two GPUs";
  for (const bool right : {false, true}) {
    const auto moved = x.to(td::gpu(1));
    const int first = __LINE__ - 1;
    if (right) side.wait_stream(main);
    int second = 0;
    {
      const cuda::StreamGuard guard(side);
      x.mul_(2), second = __LINE__;
    }
    if (right) expect_silence();
    else expect_race(first, second);
    settle();
  }
}

TEST_F(Races, TheTargetOfACopyBetweenGpusInUse) {
  if (td::num_gpus() < 2) GTEST_SKIP() << "needs two GPUs";
  const auto there = td::ones({1000}, td::gpu(1));
  const cuda::Stream other(td::gpu(1));
  settle();
  for (const bool right : {false, true}) {
    int first = 0;
    {
      const cuda::StreamGuard guard(other);
      const auto y = there + 1;
      first = __LINE__ - 1;
    }
    if (right) cuda::current_stream(td::gpu(1)).wait_stream(other);
    there.copy_(x);
    const int second = __LINE__ - 1;
    if (right) expect_silence();
    else expect_race(first, second);
    settle();
  }
}

/// What was thrown over the end of a scope has queued its work all the same.
TEST_F(Races, WorkBeforeAnException) {
  for (const bool right : {false, true}) {
    int first = 0;
    try {
      const cuda::StreamGuard guard(side);
      x.mul_(2), first = __LINE__;
      (void)x.view({7});
      ADD_FAILURE() << "a view of another size";
    } catch (const td::Error&) {
      if (right) main.wait_stream(side);
    }
    const auto y = x + 1;
    if (right) expect_silence();
    else expect_race(first, __LINE__ - 2);
    settle();
  }
}

}  // namespace
