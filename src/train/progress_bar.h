// The line a training run draws: epoch, bar, rate, time left, figures. Over itself on a terminal, one plain line an epoch elsewhere.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "train/figures.h"
#include "train/terminal.h"

namespace tandem::train {

/// Seconds of a clock that only goes forward.
[[nodiscard]] double seconds_now();

class ProgressBar {
 public:
  /// Draws into `out`, at most ten times a second. `now` is the clock; tests bring their own.
  ProgressBar(std::ostream& out, Terminal terminal, double (*now)() = seconds_now);
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  /// Leaves a half-drawn line standing and goes to the next one.
  ~ProgressBar();

  /// Epoch `epoch` of `epochs`, counted from 1, of `batches` batches, `done` of which are done already. The first call starts the clock of
  /// the time left.
  void begin_epoch(int epoch, int epochs, int64_t batches, int64_t done = 0);
  /// `samples` more have been trained on.
  void advance(int64_t samples);
  /// All batches of the epoch are done: what comes until its end, validation, is no part of the rate.
  void end_training();
  /// Whether it is time to draw: only then figures need to be found out.
  [[nodiscard]] bool due() const;
  void draw(const Figures& figures);
  /// `done` of the `batches` that the epoch is judged by: a bar of its own.
  void draw_validation(int64_t done, int64_t batches);
  /// The epoch's last line, which stays.
  void end_epoch(const Figures& figures);
  /// A line of its own.
  void say(const std::string& text);

 private:
  [[nodiscard]] std::string head() const;
  [[nodiscard]] double share() const;
  [[nodiscard]] std::string rate() const;
  [[nodiscard]] std::string time_left() const;
  void put_line(const std::string& head, double share, const std::string& speed, const std::string& time, const Figures& figures);

  std::ostream& out_;
  Terminal terminal_;
  double (*now_)();
  int epoch_ = 0, epochs_ = 0, first_epoch_ = 0;
  int64_t batches_ = 0, first_batch_ = 0, batch_ = 0, samples_ = 0;
  double run_began_ = 0, epoch_began_ = 0, drawn_ = 0;
  int bar_width_ = 0;    // the narrowest so far: a bar that grew and shrank with the figures would flicker; 0: none was drawn
  size_t left_out_ = 0;  // parts that there was no room for while the bar was drawn
  double trained_ = -1;  // seconds that the epoch's batches took; negative while they run
  bool line_open_ = false;
};

/// 83 -> "1:23", 3723 -> "1:02:03". Rounded up to whole seconds.
[[nodiscard]] std::string clock_text(double seconds);
/// 0.123 -> "0.12 s", 12.34 -> "12.3 s".
[[nodiscard]] std::string seconds_text(double seconds);
/// 1234567 -> "1,234,567".
[[nodiscard]] std::string count_text(int64_t count);
/// The same of a rate: 1234.5 -> "1,234"; below 100 with one decimal.
[[nodiscard]] std::string rate_text(double rate);

}  // namespace tandem::train
