// The curves as text, to the letter, and the way they are drawn over themselves.
#include "train/board.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "train/live_board.h"
#include "train/ticks.h"

namespace train = tandem::train;
using train::ProgressBoard;

namespace {

ProgressBoard cross() {
  ProgressBoard board;
  board.draw("a", 0, 0);
  board.draw("a", 4, 4);
  board.draw("b", 0, 4);
  board.draw("b", 4, 0);
  return board;
}

std::string labels(double low, double high, int most) {
  std::string text;
  for (const train::Tick& tick : train::ticks(low, high, most)) text += tick.label + " ";
  return text;
}

}  // namespace

TEST(Board, DrawsWithBrailleDots) {
  EXPECT_EQ("\n" + cross().render(24, 8), R"(
● a  ■ b
4 ┤⠉⠒⠤⣀             ⣀⠤⠒●
  │    ⠉⠒⠤⢄⡀   ⢀⡠⠤⠒⠉
2 ┤        ⢈⡱■⢎⡁
  │    ⣀●⠒⠊⠁   ⠈⠑⠒⠤⣀
0 ┤⣀⠤⠒⠉             ⠉⠒⠤■
  └┬─────────┬─────────┬
   0         2         4
)");
}

TEST(Board, DrawsWithPlainCharacters) {
  EXPECT_EQ("\n" + cross().render(24, 8, {.unicode = false}), R"(
* a  + b
4 ++++               ***
  |   +++++     *****
2 +        +++++
  |   *****     +++++
0 +***               +++
  ++---------+---------+
   0         2         4
)");
}

TEST(Board, DrawsInColours) {
  // Signs are not needed then; neighbours of one curve change the colour once.
  const std::string text = cross().render(24, 6, {.color = true});
  EXPECT_EQ(text.find("●"), std::string::npos);
  EXPECT_EQ(text.substr(0, text.find('\n')), "\x1b[38;5;33m━━\x1b[0m a  \x1b[38;5;208m━━\x1b[0m b");
  EXPECT_NE(text.find("  │\x1b[38;5;208m⠉⠒⠒⠤⠤⣀⣀\x1b[0m\x1b[38;5;33m       ⣀⣀⠤⠤⠒⠒⠉\x1b[0m\n"), std::string::npos) << text;
}

TEST(Board, BreaksLinesWhereThereIsNoNumber) {
  ProgressBoard board;
  board.draw("loss", 1, 5);
  board.draw("loss", 2, NAN);
  board.draw("loss", 2.5, -1e308);  // nor is there one for the distance to the others
  board.draw("loss", 3, 5.5);
  board.draw("loss", 4, 6);
  EXPECT_EQ("\n" + board.render(24, 6, {.unicode = false}), R"(
* loss
6 +                 ****
  |             ****
5 +*
  +-------+------------+
          2            4
)");
}

TEST(Board, TakesAsManyLinesForTheLegendAsItNeeds) {
  ProgressBoard board;
  for (const char* name : {"train_loss", "val_loss", "val_acc"}) board.draw(name, 1, 1);
  EXPECT_EQ("\n" + board.render(24, 9, {.unicode = false}), R"(
* train_loss  + val_acc
o val_loss
1.0 +                  o
    |
0.5 +
    |
0.0 +
    ++--------+--------+
     0.0     0.5     1.0
)");
}

TEST(Board, TellsTheLearningRateBesideTheCurves) {
  ProgressBoard board;
  for (const auto& [x, y] : {std::pair(1., 2.), std::pair(2., 1.)}) board.draw("loss", x, y);
  const std::string without = board.render(24, 7, {.unicode = false});
  board.draw("lr", 1, 0.003);
  board.draw("lr", 2, 0.0015);
  std::string with = board.render(24, 7, {.unicode = false});
  const std::string told = "  lr 0.0015";
  ASSERT_NE(with.find("* loss" + told + "\n"), std::string::npos) << with;
  EXPECT_EQ(with.erase(with.find(told), told.size()), without);  // the axis is the loss's own
}

TEST(Board, IsAFrameWithoutCurves) {
  EXPECT_EQ("\n" + ProgressBoard().render(10, 2, {.unicode = false}), R"(

1 +
  |
0 +
  ++---------+---------+
   0.0      0.5      1.0
)");
}

TEST(Board, FillsItsSizeWhateverItIs) {
  ProgressBoard board;
  for (int i = 0; i < 50; ++i) {
    board.draw("a curve with a long name", i, std::sin(i) * 1e-3);
    board.draw("b", i, i * 1e6);
  }
  for (int width = 24; width < 100; width += 7) {
    for (int height = 6; height < 30; height += 5) {
      std::istringstream lines(board.render(width, height, {.unicode = false}));
      int count = 0;
      for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(static_cast<int>(line.size()), width) << line;
      EXPECT_EQ(count, height);
    }
  }
}

TEST(Ticks, AreRoundNumbers) {
  EXPECT_EQ(labels(0, 1, 5), "0.0 0.5 1.0 ");
  EXPECT_EQ(labels(0, 1, 6), "0.0 0.2 0.4 0.6 0.8 1.0 ");
  EXPECT_EQ(labels(0.03, 2.33, 4), "0.5 1.0 1.5 2.0 ");
  EXPECT_EQ(labels(0.97, 0.981, 5), "0.970 0.975 0.980 ");
  EXPECT_EQ(labels(0.1, 0.3, 3), "0.1 0.2 0.3 ");  // 3 * 0.1 is not 0.3
  EXPECT_EQ(labels(-1, 1, 3), "-1 0 1 ");
  EXPECT_EQ(labels(1e-7, 3e-7, 3), "1e-07 2e-07 3e-07 ");
  EXPECT_EQ(labels(0, 1e8, 4), "0 5e+07 1e+08 ");
  EXPECT_EQ(labels(1, 1, 4) + labels(2, 1, 4) + labels(0, INFINITY, 4) + labels(NAN, 1, 4) + labels(0, 1, 0) + labels(-1e308, 1e308, 4),
            "");
}

TEST(ShortNumber, KeepsWhatMatters) {
  EXPECT_EQ(train::short_number(0), "0");
  EXPECT_EQ(train::short_number(-0.0), "0");
  EXPECT_EQ(train::fixed_number(-0.0, 4), "0.0000");
  EXPECT_EQ(train::fixed_number(-0.00001, 4), "0.0000");
  EXPECT_EQ(train::fixed_number(-0.00006, 4), "-0.0001");
  EXPECT_EQ(train::fixed_number(-1.25, 4), "-1.2500");
  EXPECT_EQ(train::fixed_number(-std::numeric_limits<double>::infinity(), 4), "-inf");
  EXPECT_EQ(train::short_number(0.0123456), "0.01235");
  EXPECT_EQ(train::short_number(12.3456), "12.35");
  EXPECT_EQ(train::short_number(12345), "12345");
  EXPECT_EQ(train::short_number(123456), "1.23e+05");
  EXPECT_EQ(train::short_number(-1.234567e-5), "-1.23e-05");
}

TEST(LiveBoard, DrawsOverItself) {
  std::ostringstream out;
  train::LiveBoard live(out, {.interactive = true, .width = 25, .unicode = true}, 8);
  live.erase();
  EXPECT_EQ(out.str(), "");
  ProgressBoard board = cross();
  live.draw(board);
  EXPECT_EQ(out.str(), cross().render(24, 8));
  out.str("");
  board.draw("a", 5, 5);
  live.draw(board);
  EXPECT_EQ(out.str(), "\r\x1b[8A\x1b[J" + board.render(24, 8));
  out.str("");
  live.erase();
  EXPECT_EQ(out.str(), "\r\x1b[8A\x1b[J");
  live.erase();
  EXPECT_EQ(out.str(), "\r\x1b[8A\x1b[J");
}

TEST(LiveBoard, LeavesRoomInASmallWindow) {
  std::ostringstream out;
  train::LiveBoard live(out, {.interactive = true, .width = 25, .unicode = true, .height = 12});
  live.draw(cross());
  EXPECT_EQ(out.str(), cross().render(24, 8));
}

TEST(LiveBoard, TellsNewPointsInPlainLinesElsewhere) {
  std::ostringstream out;
  train::LiveBoard live(out, {});
  ProgressBoard board = cross();
  live.draw(board);
  live.draw(board);
  board.draw("b", 5, 0.25);
  live.draw(board);
  live.erase();
  EXPECT_EQ(out.str(), "4: a 4, b 0\n5: b 0.25\n");
}
