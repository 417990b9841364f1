// Planted faults: loops that wait where they need not. Each is found by file and line, and the loop that does it right gives silence.
#include <gtest/gtest.h>

#include <functional>
#include <sstream>
#include <string>

#include "observe/ledger/ledger.h"
#include "runtime/driver.h"
#include "tandem.h"

namespace td = tandem;
namespace ledger = td::ledger;

namespace {

constexpr int kSteps = 5;

/// A model's step, which waits for nothing: its loss, on the GPU.
struct Step {
  td::Tensor x = td::randn({8, 4}, td::gpu(0)), y = td::randn({8, 1}, td::gpu(0));
  td::Tensor w = td::randn({4, 1}, td::gpu(0)).requires_grad_();
  td::optim::SGD optimizer{{w}, {.lr = 0.01}};

  td::Tensor operator()() {
    optimizer.zero_grad();
    td::Tensor loss = td::mse_loss(x.matmul(w), y);
    loss.backward();
    optimizer.step();
    return loss.detach();
  }
};

class Faults : public testing::Test {
 protected:
  /// The faulty loop is found at `line`, `kSteps` times, as `kind`, by a recorder, by a guard and by the helper of tests; nothing else is.
  void expect_found(int line, ledger::Kind kind, const std::function<void()>& body) {
    {
      const ledger::Recorder recorder;
      for (int i = 0; i < kSteps; ++i) body();
      int found = 0;
      for (const auto& entry : recorder.entries()) {
        if (!entry.blocking) continue;
        EXPECT_TRUE(entry.file.ends_with("ledger_faults_test.cpp") && entry.line == line && entry.kind == kind && !entry.own)
            << recorder.report();
        ++found;
      }
      EXPECT_EQ(found, kSteps) << recorder.report();
      EXPECT_NE(recorder.report().find(ledger::advice(kind)), std::string::npos) << recorder.report();
    }
    const std::string place = td::str("ledger_faults_test.cpp:", line);
    EXPECT_NE(ledger::waits(body).find(place), std::string::npos);
    const ledger::Guard guard(ledger::Mode::forbid);
    try {
      body();
      ADD_FAILURE() << "not refused";
    } catch (const ledger::ForbiddenError& error) {
      EXPECT_NE(std::string(error.what()).find(place), std::string::npos) << error.what();
    }
  }
  /// The loop waits for nothing, and lets no two streams race.
  void expect_silence(const std::function<void()>& body) {
    const td::races::Checker races;
    EXPECT_EQ(ledger::waits([&] {
                for (int i = 0; i < kSteps; ++i) body();
              }),
              "");
    const ledger::Guard guard(ledger::Mode::forbid);
    EXPECT_NO_THROW(body());
    for (const auto& report : races.reports()) ADD_FAILURE() << report.text;
  }

  Step step;
  std::ostringstream out;
  td::Tensor sum = td::zeros({}, td::gpu(0));
};

TEST_F(Faults, AHiddenItem) {
  double total = 0;
  const int line = __LINE__ + 1;
  const auto faulty = [&] { total += step().item<double>(); };
  expect_found(line, ledger::Kind::Item, faulty);
  expect_silence([&] { sum.add_(step()); });
  EXPECT_GT(sum.item<float>(), 0) << "read once, after the loop";
}

TEST_F(Faults, ATensorPrintedEachStep) {
  const int line = __LINE__ + 1;
  const auto faulty = [&] { out << step(); };
  expect_found(line, ledger::Kind::Printing, faulty);
  int steps = 0;
  expect_silence([&] {
    const auto loss = step();
    if (++steps == 1000) out << loss;
  });
}

TEST_F(Faults, APageableCopy) {
  const auto batch = td::randn({8, 4});
  const int line = __LINE__ + 1;
  const auto faulty = [&] { step.x = batch.to(td::gpu(0), {.non_blocking = true}); };
  expect_found(line, ledger::Kind::Pageable, faulty);
  const auto pinned = batch.pin_memory();
  expect_silence([&] { step.x = pinned.to(td::gpu(0), {.non_blocking = true}); });
}

TEST_F(Faults, ABlockingCopyToTheGpu) {
  const auto batch = td::randn({8, 4});
  const int line = __LINE__ + 1;
  const auto faulty = [&] { step.x = batch.cuda(); };
  expect_found(line, ledger::Kind::Upload, faulty);
  expect_silence([&] { step.x = td::randn({8, 4}, td::gpu(0)); });
}

TEST_F(Faults, AMaskAsAnIndex) {
  const int line = __LINE__ + 1;
  const auto faulty = [&] { sum.add_(step.x.index({step.x > 0}).sum()); };
  expect_found(line, ledger::Kind::Values, faulty);
  expect_silence([&] { sum.add_(td::where(step.x > 0, step.x, 0).sum()); });
}

TEST_F(Faults, Nonzero) {
  const int line = __LINE__ + 1;
  const auto faulty = [&] { sum.add_(step.x.nonzero().sum()); };
  expect_found(line, ledger::Kind::Values, faulty);
  expect_silence([&] { sum.add_((step.x != 0).sum()); });
}

TEST_F(Faults, MaskedSelect) {
  const int line = __LINE__ + 1;
  const auto faulty = [&] { sum.add_(td::masked_select(step.x, step.x > 0).sum()); };
  expect_found(line, ledger::Kind::Values, faulty);
  expect_silence([&] { sum.add_(step.x.masked_fill(step.x <= 0, 0).sum()); });
}

TEST_F(Faults, Unique) {
  const int line = __LINE__ + 1;
  const auto faulty = [&] { sum.add_(td::unique(step.x).output.sum()); };
  expect_found(line, ledger::Kind::Values, faulty);
  expect_silence([&] { sum.add_(step.x.sum()); });
}

TEST_F(Faults, AnIfOnATensor) {
  const int line = __LINE__ + 2;
  const auto faulty = [&] {
    if (step.x.sum() > 1e9) sum.zero_();
  };
  expect_found(line, ledger::Kind::Condition, faulty);
  expect_silence([&] { sum = td::where(step.x.sum() > 1e9, td::zeros_like(sum), sum); });
}

TEST_F(Faults, CpuInALoop) {
  std::vector<td::Tensor> losses;
  const int line = __LINE__ + 1;
  const auto faulty = [&] { losses.push_back(step().cpu()); };
  expect_found(line, ledger::Kind::Download, faulty);
  losses.clear();
  expect_silence([&] { losses.push_back(step()); });
  EXPECT_EQ(td::stack(losses).cpu().numel(), kSteps + 1) << "moved once, after the loop";
}

TEST_F(Faults, SynchronizeInALoop) {
  const int line = __LINE__ + 3;
  const auto faulty = [&] {
    (void)step();
    td::cuda::synchronize();
  };
  expect_found(line, ledger::Kind::Synchronize, faulty);
  const td::cuda::Stream side(td::gpu(0));
  expect_silence([&] {
    (void)step();
    side.wait_stream(td::cuda::current_stream(td::gpu(0)));
  });
}

TEST_F(Faults, AnEventWaitedForByTheHost) {
  td::cuda::Event event;
  const int line = __LINE__ + 4;
  const auto faulty = [&] {
    (void)step();
    event.record();
    event.synchronize();
  };
  expect_found(line, ledger::Kind::Synchronize, faulty);
  const td::cuda::Stream side(td::gpu(0));
  expect_silence([&] {
    (void)step();
    event.record();
    event.wait(side);
  });
}

TEST_F(Faults, AnItemInAHookOfTheGradient) {
  double last = 0;
  const int line = __LINE__ + 2;
  step.w.register_hook([&](const td::Tensor& gradient) {
    last = gradient.norm().item<double>();
    return gradient;
  });
  expect_found(line, ledger::Kind::Item, [&] { (void)step(); });
  EXPECT_GT(last, 0);
}

TEST_F(Faults, AnItemAsABound) {
  const auto bound = td::zeros({}, td::gpu(0));
  const int line = __LINE__ + 1;
  const auto faulty = [&] { sum.add_(td::clamp(step.x, bound.item<double>()).sum()); };
  expect_found(line, ledger::Kind::Item, faulty);
  expect_silence([&] { sum.add_(td::maximum(step.x, bound).sum()); });
}

/// The line is that of the innermost call, two functions below the loop.
TEST_F(Faults, AnItemWithinAModulesForward) {
  struct Gate : td::nn::Module {
    bool reads = true;
    int line = 0;
    void fields(td::nn::Fields&) override {}
    td::Tensor forward(const td::Tensor& x) override {
      if (!reads) return td::where(x.abs().max() > 1e9, td::zeros_like(x), x);
      line = __LINE__ + 1;
      return x.abs().max().item<float>() > 1e9 ? td::zeros_like(x) : x;
    }
  } gate;
  (void)gate.forward(step.x);
  const auto body = [&] { sum.add_(gate.forward(step.x).sum()); };
  expect_found(gate.line, ledger::Kind::Item, body);
  gate.reads = false;
  expect_silence(body);
}

TEST_F(Faults, AViewOfAViewMovedEachStep) {
  const int line = __LINE__ + 1;
  const auto faulty = [&] { (void)step.x.transpose(0, 1).slice(0, 1, 2).cpu(); };
  expect_found(line, ledger::Kind::Download, faulty);
  expect_silence([&] { (void)step.x.transpose(0, 1).slice(0, 1, 2).to(td::cpu(), {.non_blocking = true}); });
}

/// Replicas compute on threads of the library.
TEST_F(Faults, AnItemInAReplica) {
  struct Reader : td::nn::Module {
    bool reads = true;
    td::nn::Linear linear{4, 1};
    void fields(td::nn::Fields& f) override { f("linear", linear); }
    td::Tensor forward(const td::Tensor& x) override {
      const auto y = linear(x);
      if (reads && y.device() == td::gpu(td::num_gpus() - 1)) (void)y.sum().item<float>();
      return y;
    }
  } reader;
  const int line = __LINE__ - 4;
  reader.to(td::gpu(0));
  td::parallel::DataParallel replicas(reader);
  expect_found(line, ledger::Kind::Item, [&] { (void)replicas(step.x); });
  reader.reads = false;
  expect_silence([&] { (void)replicas(step.x); });
}

TEST_F(Faults, AnItemInARank) {
  if (!td::runtime::devices_are_virtual()) GTEST_SKIP() << "ranks that share a real GPU exchange by way of the host";
  int line = 0;
  const auto run = [&](bool reads) {
    td::distributed::run_ranks(2, [&](int rank) {
      const auto t = td::ones({8}, td::gpu(rank % td::num_gpus()));
      td::distributed::all_reduce(t);
      if (rank == 0) line = __LINE__ + 1;
      if (reads && rank == 1) (void)t.sum().item<float>();
    });
  };
  run(true);
  expect_found(line, ledger::Kind::Item, [&] { run(true); });
  expect_silence([&] { run(false); });
}

}  // namespace
