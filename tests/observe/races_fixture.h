// Two streams of the first GPU, a checker of races, and a ledger that forbids every wait that a test does not allow.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tandem.h"

namespace td = tandem;
namespace cuda = td::cuda;

/// `main` is current, `side` the other stream.
class Races : public testing::Test {
 protected:
  void SetUp() override { settle(); }
  void TearDown() override { settle(); }

  /// The host waits because it needs what it waits for.
  template <class Wait>
  static void allowed(Wait&& wait) {
    const td::ledger::Guard guard(td::ledger::Mode::allow, "the host needs it");
    wait();
  }
  /// Waits for all GPUs.
  static void settle() {
    allowed([] {
      for (int i = 0; i < td::num_gpus(); ++i) cuda::synchronize(td::gpu(i));
    });
  }
  /// Error unless the one race is of these lines of the test's file.
  void expect_race(int first, int second) {
    const auto reports = races.reports();
    ASSERT_EQ(reports.size(), 1U) << all(reports);
    const auto& report = reports[0];
    EXPECT_TRUE(report.first.file.ends_with(file) && report.second.file.ends_with(file)) << report.text;
    EXPECT_EQ(report.first.line, first) << report.text;
    EXPECT_EQ(report.second.line, second) << report.text;
    for (const int line : {first, second}) EXPECT_NE(report.text.find(td::str(file, ':', line)), std::string::npos) << report.text;
    EXPECT_NE(report.text.find(report.missing), std::string::npos);
    EXPECT_GT(report.bytes, 0U);
    races.clear();
  }
  void expect_silence() {
    EXPECT_TRUE(races.reports().empty()) << all(races.reports());
    races.clear();
  }
  static std::string all(const std::vector<td::races::Report>& reports) {
    std::string text = "reports:";
    for (const auto& report : reports) text += "\n" + report.text;
    return text;
  }

  const std::string file = [] {
    const std::string path = testing::UnitTest::GetInstance()->current_test_info()->file();
    return path.substr(path.rfind('/') + 1);
  }();
  cuda::Stream main = cuda::current_stream(td::gpu(0));
  cuda::Stream side{td::gpu(0)};
  td::Tensor x = td::ones({1000}, td::gpu(0));
  td::races::Checker races;
  td::ledger::Guard no_waits{td::ledger::Mode::forbid};
};
