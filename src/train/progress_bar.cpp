// Put together from parts; on a narrow terminal the least important part goes first, so that the line never wraps (a wrapped line cannot be
// drawn over).
#include "train/progress_bar.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ostream>

#include "base/error.h"
#include "base/format.h"
#include "train/ticks.h"

namespace tandem::train {
namespace {

using tandem::detail::formatted;
using tandem::detail::with_commas;

constexpr double kSecondsBetweenDraws = 0.1;
constexpr int kWidestBar = 30, kNarrowestBar = 6;
constexpr int kRoomForInterrupt = 3;  // at the end of the line: the ^C that a terminal shows, and the cursor
constexpr size_t kParts = 3;          // that may be left out, besides figures: the rate, the time, the bar

std::string figures_text(const Figures& figures, const char* between) {
  std::string text;
  for (const auto& [name, value] : figures) text += (text.empty() ? "" : between) + name + " " + fixed_number(value, 4);
  return text;
}

/// Columns that text takes: characters, of which our UTF-8 ones take several bytes and one column each.
int columns(const std::string& text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](unsigned char c) { return (c & 0xc0U) != 0x80U; }));
}

std::string bar_text(double share, int width, bool unicode) {
  const int halves = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * 2 * width));
  std::string text;
  for (int i = 0; i < width; ++i) {
    const bool full = 2 * i + 2 <= halves, half = 2 * i + 1 == halves;
    if (unicode) text += full ? "━" : half ? "╸" : "·";
    else text += full ? "=" : half ? ">" : ".";
  }
  return text;
}

}  // namespace

double seconds_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::string clock_text(double seconds) {
  const auto whole = static_cast<long long>(std::ceil(std::clamp(seconds, 0.0, 1e9)));
  if (whole >= 3600) return formatted("%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
  return formatted("%lld:%02lld", whole / 60, whole % 60);
}

std::string seconds_text(double seconds) { return formatted(seconds < 10 ? "%.2f s" : "%.1f s", seconds); }

std::string count_text(int64_t count) { return with_commas(std::to_string(count)); }

std::string rate_text(double rate) { return rate < 99.95 ? formatted("%.1f", rate) : with_commas(formatted("%.0f", rate)); }

ProgressBar::ProgressBar(std::ostream& out, Terminal terminal, double (*now)()) : out_(out), terminal_(terminal), now_(now) {}

ProgressBar::~ProgressBar() {
  if (line_open_) out_ << '\n' << std::flush;
}

void ProgressBar::begin_epoch(int epoch, int epochs, int64_t batches, int64_t done) {
  epoch_began_ = now_();
  if (epochs_ == 0) {
    run_began_ = epoch_began_;
    first_epoch_ = epoch;
    drawn_ = -1e9;
  }
  epoch_ = epoch;
  epochs_ = epochs;
  batches_ = batches;
  first_batch_ = batch_ = done;
  samples_ = 0;
  trained_ = -1;
}

void ProgressBar::advance(int64_t samples) {
  ++batch_;
  samples_ += samples;
}

void ProgressBar::end_training() { trained_ = now_() - epoch_began_; }

bool ProgressBar::due() const { return terminal_.interactive && now_() - drawn_ >= kSecondsBetweenDraws; }

std::string ProgressBar::rate() const {
  const double seconds = trained_ >= 0 ? trained_ : now_() - epoch_began_;
  const int64_t trained = batch_ - first_batch_;
  if (trained == 0 || seconds <= 0) return "";
  return rate_text(static_cast<double>(trained) / seconds) + " batches/s (" + rate_text(static_cast<double>(samples_) / seconds) +
         " samples/s)";
}

std::string ProgressBar::time_left() const {
  const double part = batches_ ? static_cast<double>(batch_) / static_cast<double>(batches_) : 1;
  const double done = epoch_ - first_epoch_ + part, left = epochs_ - epoch_ + 1 - part;
  if (done <= 0) return "";
  return "ETA " + clock_text((now_() - run_began_) * left / done);
}

void ProgressBar::put_line(const std::string& head, double share, const std::string& speed, const std::string& time,
                           const Figures& figures) {
  // What the width has no room for is left out: the rate, the time, the bar, then figures from the first on (the last is what it is all
  // about). What was left out stays away until the epoch's last line.
  const int width = terminal_.width - kRoomForInterrupt;
  const size_t most_left_out = 3 + figures.size();
  for (size_t left_out = std::min(left_out_, kParts); left_out <= most_left_out; ++left_out) {
    const size_t first_figure = left_out > kParts ? left_out - kParts : 0;
    const std::string shown = figures_text({figures.begin() + static_cast<std::ptrdiff_t>(first_figure), figures.end()}, "  ");
    std::string tail;
    if (left_out < 1 && !speed.empty()) tail += "  " + speed;
    if (left_out < 2 && !time.empty()) tail += "  " + time;
    if (!shown.empty()) tail += "  " + shown;
    const bool with_bar = left_out < kParts;
    const int room = width - columns(head) - columns(tail) - 1;  // for the bar and the space before it
    const bool fits = room >= (with_bar ? kNarrowestBar : -1);
    if (!fits && left_out < most_left_out) continue;
    left_out_ = left_out;
    std::string bar;
    if (with_bar && fits) {
      bar_width_ = std::min(room, bar_width_ ? bar_width_ : kWidestBar);
      bar = " " + bar_text(share, bar_width_, terminal_.unicode);
    }
    // Over the old line, then whatever of it is left is wiped out.
    out_ << '\r' << head << bar << tail << "\x1b[K" << std::flush;
    break;
  }
  line_open_ = true;
  drawn_ = now_();
}

std::string ProgressBar::head() const { return str("Epoch ", epoch_, "/", epochs_); }

double ProgressBar::share() const { return batches_ ? static_cast<double>(batch_) / static_cast<double>(batches_) : 1; }

void ProgressBar::say(const std::string& text) {
  if (line_open_) out_ << '\n';
  line_open_ = false;
  out_ << text << std::endl;
}

void ProgressBar::draw(const Figures& figures) {
  if (!terminal_.interactive) return;
  put_line(head(), share(), rate(), time_left(), figures);
}

void ProgressBar::draw_validation(int64_t done, int64_t batches) {
  if (!terminal_.interactive) return;
  put_line(head() + " validation", batches ? static_cast<double>(done) / static_cast<double>(batches) : 1, "", "", {});
}

void ProgressBar::end_epoch(const Figures& figures) {
  const double seconds = now_() - epoch_began_;
  if (terminal_.interactive) {
    left_out_ = 0;
    put_line(head(), share(), rate(), seconds_text(seconds), figures);
    left_out_ = 0;
    out_ << '\n' << std::flush;
    line_open_ = false;
    return;
  }
  const std::string speed = rate();
  out_ << "epoch " << epoch_ << '/' << epochs_ << ": " << figures_text(figures, ", ") << (figures.empty() ? "" : ", ")
       << (speed.empty() ? "" : speed + ", ") << seconds_text(seconds) << std::endl;
}

}  // namespace tandem::train
