// The picture is drawn into a grid of cells. With Unicode a cell has two by four dots, which lines are drawn through; without, one.
#include "train/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "base/error.h"
#include "train/ticks.h"

namespace tandem::train {
namespace {

constexpr int kNarrowest = 24, kLowest = 6;
// Colours of the 256 that terminals have, told apart by most who don't see all colours, on dark and on light.
constexpr std::array<int, 6> kColors = {33, 208, 36, 170, 142, 245};
constexpr std::array<const char*, 6> kSigns = {"●", "■", "▲", "○", "□", "△"};
constexpr std::array<const char*, 6> kAsciiSigns = {"*", "+", "o", "x", "#", "@"};
// Columns between two signs on a curve that has no colour.
constexpr int kSignEvery = 16;

template <size_t n, class T>
T cycled(const std::array<T, n>& all, size_t i) {
  return all[i % n];
}

std::string colored(const std::string& text, size_t series, bool color) {
  return color ? str("\x1b[38;5;", cycled(kColors, series), "m", text, "\x1b[0m") : text;
}

std::string utf8(unsigned code) {  // of three bytes
  return {static_cast<char>(0xe0U | code >> 12U), static_cast<char>(0x80U | (code >> 6U & 0x3fU)),
          static_cast<char>(0x80U | (code & 0x3fU))};
}

class Canvas {
 public:
  Canvas(int columns, int rows, AxisRange x, AxisRange y, PlotOptions options)
      : columns_(columns), rows_(rows), x_(x), y_(y), options_(options), cells_(static_cast<size_t>(columns) * static_cast<size_t>(rows)) {}

  void draw(const std::vector<Point>& points, size_t series) {
    const Point* before = nullptr;
    for (const Point& point : points) {
      if (!finite(point)) {
        before = nullptr;
        continue;
      }
      draw_line(before ? *before : point, point, series);
      before = &point;
    }
  }

  /// Signs along a curve and at its end, for eyes that have no colours to go by.
  void sign(const std::vector<Point>& points, size_t series, size_t of) {
    std::vector<Point> seen;
    std::copy_if(points.begin(), points.end(), std::back_inserter(seen), finite);
    if (seen.empty()) return;
    const int first = kSignEvery * static_cast<int>(series + 1) / static_cast<int>(of + 1);
    for (int column = first; column < columns_; column += kSignEvery) {
      const double x = x_.low + (x_.high - x_.low) * column / std::max(columns_ - 1, 1);
      const auto next = std::find_if(seen.begin(), seen.end(), [&](const Point& point) { return point.x >= x; });
      if (next == seen.begin() || next == seen.end()) continue;
      const Point &a = *(next - 1), &b = *next;
      put_sign({x, b.x > a.x ? a.y + (b.y - a.y) * (x - a.x) / (b.x - a.x) : b.y}, series);
    }
    put_sign(seen.back(), series);
  }

  [[nodiscard]] int column_of(double x) const { return place(x, x_.low, x_.high, columns_); }
  [[nodiscard]] int row_of(double y) const { return place(y, y_.high, y_.low, rows_); }

  [[nodiscard]] std::string row(int row) const {
    std::string text, run;  // neighbours of one curve change the colour once
    size_t series = 0;
    int blanks = 0;  // those at the end are left out
    for (int column = 0; column < columns_; ++column) {
      const Cell& cell = cells_[index(column, row)];
      if (cell.dots == 0 && !cell.sign) {
        ++blanks;
        continue;
      }
      if (cell.series != series && !run.empty()) text += colored(std::exchange(run, ""), series, options_.color);
      series = cell.series;
      run += std::string(static_cast<size_t>(std::exchange(blanks, 0)), ' ') + (cell.sign ? cell.sign : utf8(0x2800U + cell.dots));
    }
    return run.empty() ? text : text + colored(run, series, options_.color);
  }

 private:
  struct Cell {
    uint8_t dots = 0;
    const char* sign = nullptr;
    size_t series = 0;
  };

  [[nodiscard]] size_t index(int column, int row) const {
    return static_cast<size_t>(row) * static_cast<size_t>(columns_) + static_cast<size_t>(column);
  }

  static int place(double value, double first, double last, int count) {
    return static_cast<int>(std::lround((value - first) / (last - first) * (count - 1)));
  }

  void put_sign(const Point& point, size_t series) {
    Cell& cell = cells_[index(column_of(point.x), row_of(point.y))];
    cell.sign = options_.unicode ? cycled(kSigns, series) : cycled(kAsciiSigns, series);
    cell.series = series;
  }

  void put_dot(int x, int y, size_t series) {
    if (!options_.unicode) {
      cells_[index(x, y)] = {0, cycled(kAsciiSigns, series), series};
      return;
    }
    // Bits of a braille pattern: the left column 1 2 4 40, the right one 8 10 20 80.
    static constexpr uint8_t kBits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    Cell& cell = cells_[index(x / 2, y / 4)];
    cell.dots |= kBits[y % 4][x % 2];
    cell.series = series;
  }

  void draw_line(const Point& from, const Point& to, size_t series) {
    const int across = options_.unicode ? 2 * columns_ : columns_, down = options_.unicode ? 4 * rows_ : rows_;
    const int x0 = place(from.x, x_.low, x_.high, across), y0 = place(from.y, y_.high, y_.low, down);
    const int x1 = place(to.x, x_.low, x_.high, across), y1 = place(to.y, y_.high, y_.low, down);
    const int steps = std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1});
    for (int i = 0; i <= steps; ++i) {
      const double share = static_cast<double>(i) / steps;
      put_dot(static_cast<int>(std::lround(x0 + (x1 - x0) * share)), static_cast<int>(std::lround(y0 + (y1 - y0) * share)), series);
    }
  }

  int columns_, rows_;
  AxisRange x_, y_;
  PlotOptions options_;
  std::vector<Cell> cells_;
};

/// The learning rate is told, not drawn: on the axis of a loss it would be a line along the bottom.
constexpr const char* kRate = "lr";

/// The names with their signs, in as many lines as they take; `told` at the end.
std::vector<std::string> legend(const ProgressBoard::Series& series, const std::string& told, int width, PlotOptions options) {
  std::vector<std::string> lines(1);
  int used = 0;
  size_t index = 0;
  for (const auto& [name, points] : series) {
    const char* sign = !options.unicode ? cycled(kAsciiSigns, index) : options.color ? "━━" : cycled(kSigns, index);
    const int columns = (options.unicode && options.color ? 3 : 2) + static_cast<int>(name.size());
    if (used > 0 && used + 2 + columns > width) {
      lines.emplace_back();
      used = 0;
    }
    lines.back() += (used > 0 ? "  " : "") + colored(sign, index, options.color) + " " + name.substr(0, static_cast<size_t>(width - 3));
    used += columns + (used > 0 ? 2 : 0);
    ++index;
  }
  if (told.empty()) return lines;
  if (used > 0 && used + 2 + static_cast<int>(told.size()) > width) lines.emplace_back(told);
  else lines.back() += (used > 0 ? "  " : "") + told;
  return lines;
}

}  // namespace

std::string plot(const ProgressBoard::Series& all, int width, int height, PlotOptions options) {
  ProgressBoard::Series series = all;
  const auto rate = series.extract(kRate);
  const std::string told = rate && !rate.mapped().empty() ? str(kRate, " ", short_number(rate.mapped().back().y)) : "";
  width = std::max(width, kNarrowest);
  height = std::max(height, kLowest);
  AxisRange x, y;
  for (const auto& [name, points] : series) {
    for (const Point& point : points) {
      if (!finite(point)) continue;
      x.add(point.x);
      y.add(point.y);
    }
  }
  x = x.opened();
  y = y.opened();

  auto head = legend(series, told, width, options);
  const int rows = std::max(height - 2 - static_cast<int>(head.size()), 3);
  head.resize(static_cast<size_t>(height - 2 - rows));  // what has no room
  const std::vector<Tick> levels = ticks(y.low, y.high, std::max(2, (rows + 1) / 2));
  size_t label_columns = 0;
  for (const Tick& level : levels) label_columns = std::max(label_columns, level.label.size());
  const int columns = std::max(width - static_cast<int>(label_columns) - 2, 8);

  Canvas canvas(columns, rows, x, y, options);
  size_t index = 0;
  for (const auto& [name, points] : series) canvas.draw(points, index++);
  index = 0;
  if (options.unicode && !options.color)
    for (const auto& [name, points] : series) canvas.sign(points, index++, series.size());

  std::string text;
  for (const std::string& line : head) text += line + "\n";
  for (int row = 0; row < rows; ++row) {
    const auto level = std::find_if(levels.begin(), levels.end(), [&](const Tick& tick) { return canvas.row_of(tick.at) == row; });
    const std::string label = level == levels.end() ? "" : level->label;
    const char* edge = options.unicode ? (label.empty() ? "│" : "┤") : (label.empty() ? "|" : "+");
    text += std::string(label_columns - label.size(), ' ') + label + " " + edge + canvas.row(row) + "\n";
  }

  std::string line, labels(label_columns + 2, ' ');
  int free = 0;  // the first column that has room for a label
  std::vector<bool> marked(static_cast<size_t>(columns));
  for (const Tick& tick : ticks(x.low, x.high, std::max(2, columns / 6))) {
    const int at = canvas.column_of(tick.at), length = static_cast<int>(tick.label.size());
    const int begin = std::clamp(at - length / 2, 0, std::max(columns - length, 0));
    marked[static_cast<size_t>(at)] = true;
    if (begin < free) continue;
    labels += std::string(static_cast<size_t>(begin) + label_columns + 2 - labels.size(), ' ') + tick.label;
    free = begin + length + 1;
  }
  for (const bool mark : marked) line += options.unicode ? (mark ? "┬" : "─") : (mark ? "+" : "-");
  text += std::string(label_columns + 1, ' ') + (options.unicode ? "└" : "+") + line + "\n" + labels + "\n";
  return text;
}

std::string ProgressBoard::render(int width, int height, PlotOptions options) const { return plot(series_, width, height, options); }

}  // namespace tandem::train
