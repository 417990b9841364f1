// The progress bar's lines, to the letter, by a clock that the test turns.
#include "train/progress_bar.h"

#include <gtest/gtest.h>

#include <sstream>

using tandem::train::clock_text;
using tandem::train::count_text;
using tandem::train::Figures;
using tandem::train::ProgressBar;
using tandem::train::rate_text;
using tandem::train::Terminal;

namespace {

double time_now = 0;
double test_clock() { return time_now; }

class ProgressBars : public testing::Test {
 protected:
  void SetUp() override { time_now = 100; }
  /// What was printed since the last call.
  std::string printed() {
    std::string text = out.str();
    out.str("");
    return text;
  }
  std::ostringstream out;
};

/// The line without what draws over the one before.
std::string bare(const std::string& text) {
  EXPECT_EQ(text.rfind('\r', 0), 0U) << text;
  const auto end = text.find("\x1b[K");
  EXPECT_NE(end, std::string::npos) << text;
  return text.substr(1, end - 1);
}

}  // namespace

TEST_F(ProgressBars, DrawOverTheirLineOnATerminal) {
  ProgressBar bar(out, {.interactive = true, .width = 120}, test_clock);
  bar.begin_epoch(1, 2, 4);
  for (int i = 0; i < 2; ++i) bar.advance(32);
  time_now += 2;
  ASSERT_TRUE(bar.due());
  bar.draw({{"loss", 0.5}});
  // Two of four batches in two seconds; six are left of the two epochs.
  EXPECT_EQ(printed(), "\rEpoch 1/2 ===============...............  1.0 batches/s (32.0 samples/s)  ETA 0:06  loss 0.5000\x1b[K");
  EXPECT_FALSE(bar.due());
  time_now += 0.05;
  EXPECT_FALSE(bar.due());
  time_now += 0.06;
  EXPECT_TRUE(bar.due());

  for (int i = 0; i < 2; ++i) bar.advance(32);
  bar.end_training();
  time_now += 10;  // validation is no part of the rate
  bar.end_epoch({{"train_loss", 0.25}, {"val_acc", 1}});
  EXPECT_EQ(
      printed(),
      "\rEpoch 1/2 ==============================  1.9 batches/s (60.7 samples/s)  12.1 s  train_loss 0.2500  val_acc 1.0000\x1b[K\n");

  bar.begin_epoch(2, 2, 4);
  EXPECT_FALSE(bar.due());  // short epochs do not draw more often
  time_now += 0.11;
  EXPECT_TRUE(bar.due());
  bar.draw({});
  EXPECT_EQ(bare(printed()), "Epoch 2/2 ..............................  ETA 0:13");
}

TEST_F(ProgressBars, UseLinesOfUnicodeWhereTheTerminalCan) {
  ProgressBar bar(out, {.interactive = true, .width = 60, .unicode = true}, test_clock);
  bar.begin_epoch(1, 1, 12);
  for (int i = 0; i < 5; ++i) bar.advance(1);
  bar.draw({});
  EXPECT_EQ(bare(printed()), "Epoch 1/1 ━━━━━━━━━━━━╸·················  ETA 0:00");
}

TEST_F(ProgressBars, NeverAreWiderThanTheTerminal) {
  const auto line = [&](int width, const Figures& figures = {{"loss", 0.1234}, {"val_acc", 0.9}}) {
    std::ostringstream out;
    ProgressBar bar(out, {.interactive = true, .width = width}, test_clock);
    bar.begin_epoch(12, 30, 100);
    for (int i = 0; i < 50; ++i) bar.advance(1000);
    time_now += 1;
    bar.draw(figures);
    return bare(out.str());
  };
  EXPECT_EQ(line(110), "Epoch 12/30 ==========>..........  50.0 batches/s (50,000 samples/s)  ETA 0:37  loss 0.1234  val_acc 0.9000");
  EXPECT_EQ(line(80), "Epoch 12/30 =============.............  ETA 0:37  loss 0.1234  val_acc 0.9000");
  EXPECT_EQ(line(50), "Epoch 12/30 ===...  loss 0.1234  val_acc 0.9000");
  EXPECT_EQ(line(43), "Epoch 12/30  loss 0.1234  val_acc 0.9000");
  EXPECT_EQ(line(30), "Epoch 12/30  val_acc 0.9000");
  EXPECT_EQ(line(20), "Epoch 12/30");
  for (int width = 13; width < 140; ++width) {
    EXPECT_LT(static_cast<int>(line(width).size()) + 2, std::max(width, 14)) << "no room for ^C";
    EXPECT_LT(static_cast<int>(line(width, {}).size()) + 2, std::max(width, 14));
  }
}

TEST_F(ProgressBars, KeepTheWidthThatTheyHave) {
  ProgressBar bar(out, {.interactive = true, .width = 90}, test_clock);
  bar.begin_epoch(1, 3, 1000);
  const auto width = [&](const Figures& figures) {
    bar.advance(1);
    time_now += 1;
    bar.draw(figures);
    const std::string line = bare(printed());
    return line.find_first_not_of("=>.", 10) - 10;
  };
  EXPECT_EQ(width({{"loss", 100000}}), 17U);
  EXPECT_EQ(width({{"loss", 1}}), 17U) << "the figure is shorter, the bar no wider";
  EXPECT_EQ(width({}), 17U);
}

TEST_F(ProgressBars, ShowValidationAsItsOwn) {
  ProgressBar bar(out, {.interactive = true, .width = 80}, test_clock);
  bar.begin_epoch(1, 2, 4);
  for (int i = 0; i < 4; ++i) bar.advance(1);
  bar.end_training();
  bar.draw_validation(1, 2);
  EXPECT_EQ(bare(printed()), "Epoch 1/2 validation ===============...............");
  bar.end_epoch({});
  EXPECT_EQ(bare(printed()).substr(0, 40), "Epoch 1/2 ==============================");
  ProgressBar plain(out, {}, test_clock);
  plain.begin_epoch(1, 2, 4);
  plain.draw_validation(1, 2);
  EXPECT_EQ(printed(), "");
}

TEST_F(ProgressBars, PrintOnePlainLineAnEpochElsewhere) {
  ProgressBar bar(out, {}, test_clock);
  bar.begin_epoch(1, 3, 2);
  bar.advance(64);
  time_now += 0.5;
  EXPECT_FALSE(bar.due());
  bar.draw({{"loss", 1}});
  EXPECT_EQ(printed(), "");
  bar.advance(64);
  bar.end_epoch({{"train_loss", 0.25}, {"val_loss", 2}});
  EXPECT_EQ(printed(), "epoch 1/3: train_loss 0.2500, val_loss 2.0000, 4.0 batches/s (256 samples/s), 0.50 s\n");
}

TEST_F(ProgressBars, LeaveAHalfDrawnLineBehindWhole) {
  {
    ProgressBar bar(out, {.interactive = true}, test_clock);
    bar.begin_epoch(1, 1, 2);
    bar.draw({});
    (void)printed();
  }
  EXPECT_EQ(printed(), "\n");
  { ProgressBar bar(out, {.interactive = true}, test_clock); }
  EXPECT_EQ(printed(), "");
}

TEST(ClockText, ShowsHoursOnlyWhereThereAreSome) {
  EXPECT_EQ(clock_text(0), "0:00");
  EXPECT_EQ(clock_text(0.2), "0:01");
  EXPECT_EQ(clock_text(83), "1:23");
  EXPECT_EQ(clock_text(3599.5), "1:00:00");
  EXPECT_EQ(clock_text(37230), "10:20:30");
  EXPECT_EQ(clock_text(-1), "0:00");
}

TEST(SecondsText, ShowsHundredthsWhereItIsShort) {
  using tandem::train::seconds_text;
  EXPECT_EQ(seconds_text(0.123), "0.12 s");
  EXPECT_EQ(seconds_text(12.34), "12.3 s");
}

TEST(CountText, GroupsThousands) {
  EXPECT_EQ(rate_text(0.04), "0.0");
  EXPECT_EQ(rate_text(12.34), "12.3");
  EXPECT_EQ(rate_text(99.96), "100");
  EXPECT_EQ(rate_text(999.4), "999");
  EXPECT_EQ(rate_text(1234), "1,234");
  EXPECT_EQ(rate_text(1234567), "1,234,567");
  EXPECT_EQ(count_text(0), "0");  // what is counted has no decimals
  EXPECT_EQ(count_text(64), "64");
  EXPECT_EQ(count_text(1234567), "1,234,567");
  EXPECT_EQ(count_text(-1234), "-1,234");
}
