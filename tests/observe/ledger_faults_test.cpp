// Planted faults: loops that wait where they need not. Each is found by file and line, and the loop that does it right gives silence.
#include <gtest/gtest.h>

#include <functional>
#include <sstream>
#include <string>

#include "observe/ledger.h"
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
  /// The loop waits for nothing.
  void expect_silence(const std::function<void()>& body) {
    EXPECT_EQ(ledger::waits([&] {
                for (int i = 0; i < kSteps; ++i) body();
              }),
              "");
    const ledger::Guard guard(ledger::Mode::forbid);
    EXPECT_NO_THROW(body());
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

}  // namespace
