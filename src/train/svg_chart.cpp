#include "train/svg_chart.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/format.h"
#include "base/json_text.h"
#include "io/html.h"
#include "train/ticks.h"

namespace tandem::train::detail {
namespace {

using io::escaped;

// In the units of the viewBox.
constexpr double kWidth = 560, kHeight = 270, kLeft = 46, kRight = 92, kTop = 12, kBottom = 34;
constexpr double kLabelHeight = 17;
constexpr int kMostTicks = 8;        // of the x axis
constexpr size_t kMostLabel = 13;    // characters beside the chart
constexpr size_t kMostTitles = 100;  // a line
constexpr size_t kMostDots = 36;     // on a line with more points they would touch

std::string coordinate(double value) { return tandem::detail::formatted("%.1f", value); }

struct Frame {
  AxisRange x_range, y_range;

  explicit Frame(const Chart& chart) {
    for (const Line& line : chart.lines) {
      for (const Point& point : line.points) {
        if (!finite(point)) continue;
        x_range.add(point.x);
        y_range.add(point.y);
      }
    }
    auto& [x0, x1] = x_range;
    auto& [y0, y1] = y_range;
    if (x0 > x1) x_range = y_range = {0, 1};
    if (chart.from_zero) y0 = std::min(y0, 0.0);
    if (x0 == x1) x0 -= 0.5, x1 += 0.5;
    if (y0 == y1) {
      y_range = y_range.opened();
      return;
    }
    const double room = (y1 - y0) * 0.04, lowest = y0;
    y1 = lowest >= 0 && y1 <= 1 ? std::min(y1 + room, 1.0) : y1 + room;  // a share is never above 1
    if (!chart.from_zero) y0 -= room;
    if (lowest >= 0) y0 = std::max(y0, 0.0);  // an accuracy or a loss is never negative
  }
  [[nodiscard]] double x(double value) const {
    return kLeft + (value - x_range.low) / (x_range.high - x_range.low) * (kWidth - kLeft - kRight);
  }
  [[nodiscard]] double y(double value) const {
    return kTop + (y_range.high - value) / (y_range.high - y_range.low) * (kHeight - kTop - kBottom);
  }
};

/// Between whole epochs there is no epoch: only these are named, where there are any.
std::vector<Tick> x_ticks(const Chart& chart, const AxisRange& range) {
  const std::vector<Tick> all = ticks(range.low, range.high, kMostTicks);
  if (chart.x_name != "epoch") return all;
  const auto whole = [](const Tick& tick) { return tick.at == std::floor(tick.at); };
  for (int most = kMostTicks; most > 0; --most) {
    std::vector<Tick> fewer = ticks(range.low, range.high, most);
    if (!fewer.empty() && std::all_of(fewer.begin(), fewer.end(), whole)) return fewer;
  }
  return all;
}

std::string axes(const Chart& chart, const Frame& frame) {
  std::string out = "<g class=\"grid\">";
  const std::string left = coordinate(kLeft), right = coordinate(kWidth - kRight), bottom = coordinate(kHeight - kBottom);
  for (const Tick& tick : ticks(frame.y_range.low, frame.y_range.high, 6)) {
    const std::string y = coordinate(frame.y(tick.at));
    out += str("<line x1=\"", left, "\" x2=\"", right, "\" y1=\"", y, "\" y2=\"", y, "\"/><text x=\"", coordinate(kLeft - 7), "\" y=\"", y,
               "\" dy=\".32em\" text-anchor=\"end\">", tick.label, "</text>");
  }
  out += str("</g><g class=\"axis\"><line x1=\"", left, "\" x2=\"", right, "\" y1=\"", bottom, "\" y2=\"", bottom, "\"/>");
  for (const Tick& tick : x_ticks(chart, frame.x_range))
    out += str("<text x=\"", coordinate(frame.x(tick.at)), "\" y=\"", coordinate(kHeight - kBottom + 15), "\" text-anchor=\"middle\">",
               tick.label, "</text>");
  return out + str("<text x=\"", coordinate(kWidth - kRight), "\" y=\"", coordinate(kHeight - 3), "\" text-anchor=\"end\">",
                   escaped(chart.x_name), "</text></g>");
}

std::string path(const Line& line, const Frame& frame) {
  std::string steps;
  bool begun = false;
  for (const Point& point : line.points) {
    if (finite(point)) steps += str(begun ? "L" : "M", coordinate(frame.x(point.x)), " ", coordinate(frame.y(point.y)));
    begun = finite(point);
  }
  return steps;
}

std::string drawn(const Chart& chart, const Line& line, const Frame& frame) {
  std::string out = str("<g class=\"line c", line.color, line.dashed ? " dashed" : "", "\"><path d=\"", path(line, frame), "\"/>");
  const size_t every = line.points.size() / kMostTitles + 1;
  for (size_t i = 0; i < line.points.size(); i += every) {
    const Point& point = line.points[i];
    if (!finite(point)) continue;
    const std::string place = str("cx=\"", coordinate(frame.x(point.x)), "\" cy=\"", coordinate(frame.y(point.y)), "\"");
    if (line.points.size() <= kMostDots && !line.dashed) out += str("<circle class=\"dot\" ", place, " r=\"2.5\"/>");
    out += str("<circle class=\"hit\" ", place, " r=\"7\"><title>", escaped(line.name), " ", short_number(point.y), " at ",
               escaped(chart.x_name), " ", short_number(point.x), "</title></circle>");
  }
  return out + "</g>";
}

/// As much of a line's name as there is room for; the page's script shows all of it.
std::string label_of(const Line& line) {
  const std::string& label = line.label.empty() ? line.name : line.label;
  if (label.size() <= kMostLabel) return label;
  size_t end = kMostLabel - 1;
  while (end > 0 && (static_cast<unsigned char>(label[end]) & 0xC0) == 0x80) --end;  // never within a character
  return label.substr(0, end) + "…";
}

/// The lines' names at their ends, moved apart where they would overlap.
std::string end_labels(const Chart& chart, const Frame& frame) {
  struct Label {
    double y;
    const Line* line;
  };
  std::vector<Label> labels;
  for (const Line& line : chart.lines) {
    const auto last = std::find_if(line.points.rbegin(), line.points.rend(), finite);
    if (last != line.points.rend()) labels.push_back({frame.y(last->y), &line});
  }
  std::stable_sort(labels.begin(), labels.end(), [](const Label& a, const Label& b) { return a.y < b.y; });
  double free = kTop;
  for (Label& label : labels) {
    label.y = std::max(label.y, free);
    free = label.y + kLabelHeight;
  }
  double floor = kHeight - kBottom - kLabelHeight / 2;
  for (auto label = labels.rbegin(); label != labels.rend(); ++label) {
    label->y = std::min(label->y, floor);
    floor = label->y - kLabelHeight;
  }
  std::string out;
  for (const Label& label : labels)
    out += str("<text class=\"name c", label.line->color, "\" x=\"", coordinate(kWidth - kRight + 8), "\" y=\"", coordinate(label.y),
               "\" dy=\".32em\">", escaped(label_of(*label.line)), "</text>");
  return out;
}

/// What the page's script reads: places and values.
std::string data(const Chart& chart, const Frame& frame) {
  nlohmann::json lines = nlohmann::json::array();
  for (const Line& line : chart.lines) {
    nlohmann::json points = nlohmann::json::array();
    for (const Point& point : line.points)
      if (finite(point))
        points.push_back(
            {std::round(frame.x(point.x) * 10) / 10, std::round(frame.y(point.y) * 10) / 10, short_number(point.x), short_number(point.y)});
    lines.push_back({{"name", line.name}, {"color", line.color}, {"points", points}});
  }
  return tandem::detail::json_text(nlohmann::json{{"x", chart.x_name}, {"lines", lines}});
}

}  // namespace

std::string svg(const Chart& chart) {
  const Frame frame(chart);
  std::string out =
      str("<figure class=\"chart\"><figcaption>", escaped(chart.title), "</figcaption><svg viewBox=\"0 0 ", kWidth, " ", kHeight,
          "\" role=\"img\" aria-label=\"", escaped(chart.title), "\" data-lines=\"", escaped(data(chart, frame)), "\">");
  out += axes(chart, frame);
  for (const Line& line : chart.lines) out += drawn(chart, line, frame);
  return out + end_labels(chart, frame) + "</svg></figure>";
}

}  // namespace tandem::train::detail
