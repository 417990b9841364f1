#include "train/report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "base/version.h"
#include "io/file.h"
#include "io/html.h"
#include "io/png.h"
#include "tensor/host_values.h"
#include "train/report_assets.h"
#include "train/svg_chart.h"
#include "train/ticks.h"
#include "train/trainer.h"

namespace tandem::train {
namespace {

using detail::Chart;
using detail::kReportColors;
using io::base64;
using io::escaped;
using Series = ProgressBoard::Series;

std::string section(const std::string& title, const std::string& content) {
  return content.empty() ? "" : str("<section><h2>", title, "</h2>", content, "</section>\n");
}

// --- Curves

/// "val_loss" -> {"val", "loss"}; names that begin with no such word are of no part.
std::pair<std::string, std::string> part_and_figure(const std::string& name) {
  for (const char* part : {"train", "val", "test"})
    if (name.rfind(str(part, "_"), 0) == 0) return {part, name.substr(std::string(part).size() + 1)};
  return {"", name};
}

/// A part has the same colour in every chart.
int color_of_part(const std::string& part, int otherwise) {
  return part == "train" ? 0 : part == "val" ? 1 : part == "test" ? 2 : otherwise % kReportColors;
}

/// Whether a chart says more than a number would: some line has two points at different heights.
bool says_something(const Chart& chart) {
  return std::any_of(chart.lines.begin(), chart.lines.end(), [](const detail::Line& line) {
    const auto first = std::find_if(line.points.begin(), line.points.end(), finite);
    return std::any_of(first, line.points.end(), [&](const Point& point) { return finite(point) && point.y != first->y; });
  });
}

/// Charts two in a row; where one would stand alone, or `always`, `table` stands beside them.
std::string chart_rows(const std::vector<Chart>& charts, const std::string& table, bool always) {
  std::string out;
  for (const Chart& chart : charts) out += detail::svg(chart);
  if (always || charts.size() % 2 == 1) out += "<div class=\"card\">" + table + "</div>";
  return out.empty() ? "" : str("<div class=\"charts\">", out, "</div>");
}

std::string figure_text(double value);

/// What each curve came to: of a figure of the epochs, that of the last one.
std::string last_values(const Series& series, const Series& figures) {
  std::string rows;
  for (const auto& [name, curve] : series) {
    const auto figure = figures.find(name);
    const std::vector<Point>& points = figure == figures.end() ? curve : figure->second;
    const auto last = std::find_if(points.rbegin(), points.rend(), finite);
    if (last != points.rend()) rows += "<tr><td>" + escaped(name) + "</td><td>" + figure_text(last->y) + "</td></tr>";
  }
  return "<table class=\"numbers\"><thead><tr><th>at the end</th><th></th></tr></thead><tbody>" + rows + "</tbody></table>";
}

/// A chart for each figure that changes, with the parts of the data as its lines.
std::string curves(const Series& series, const Series& figures) {
  std::map<std::string, Chart> by_figure;
  for (const auto& [name, points] : series) {
    const auto [part, figure] = part_and_figure(name);
    Chart& chart = by_figure[figure];
    chart.title = figure;
    chart.x_name = "epoch";
    chart.lines.push_back({name, points, color_of_part(part, static_cast<int>(chart.lines.size())), false, part});
  }
  std::vector<Chart> charts;
  for (auto& [figure, chart] : by_figure)
    if (says_something(chart)) charts.push_back(std::move(chart));
  // The loss first: it is what is minimized.
  std::stable_partition(charts.begin(), charts.end(), [](const Chart& chart) { return chart.title == "loss"; });
  return chart_rows(charts, last_values(series, figures), false);
}

// --- Memory

struct Unit {
  const char* name;
  double bytes;
};
Unit unit_for(double most) {
  constexpr double kKiB = 1024, kMiB = kKiB * 1024, kGiB = kMiB * 1024;
  return most >= 2 * kGiB ? Unit{"GiB", kGiB} : most >= 2 * kMiB ? Unit{"MiB", kMiB} : Unit{"KiB", kKiB};
}

std::string memory(const Report& report) {
  if (report.memory.empty()) return "";
  double most = 0;
  for (const MemorySample& sample : report.memory)
    for (const auto& device : sample.devices) most = std::max(most, static_cast<double>(device.reserved));
  const Unit unit = unit_for(most);
  std::vector<Chart> charts;
  std::string rows;
  bool all_drawn = true;
  for (size_t i = 0; i < report.memory_devices.size(); ++i) {
    const int color = static_cast<int>(i) % kReportColors;
    Chart chart{str("Memory of ", report.memory_devices[i].str(), ", ", unit.name), "epoch", {}, true};
    detail::Line allocated{"allocated", {}, color}, peak{"peak", {}, color, true}, reserved{"reserved", {}, 5, true};
    for (const MemorySample& sample : report.memory) {
      if (i >= sample.devices.size()) continue;
      const auto add = [&](detail::Line& line, size_t bytes) {
        line.points.push_back({sample.x, static_cast<double>(bytes) / unit.bytes});
      };
      add(allocated, sample.devices[i].allocated);
      add(peak, sample.devices[i].peak);
      add(reserved, sample.devices[i].reserved);
    }
    if (allocated.points.empty()) continue;
    const auto cell = [](const detail::Line& line) {
      const double last = line.points.back().y;
      return "<td>" + (last > 0 && last < 0.005 ? "&lt;0.01" : short_number(std::round(last * 100) / 100)) + "</td>";
    };
    rows += str("<tr><td>", report.memory_devices[i].str(), "</td>", cell(allocated), cell(peak), cell(reserved), "</tr>");
    chart.lines = {std::move(allocated), std::move(peak), std::move(reserved)};
    if (says_something(chart)) charts.push_back(std::move(chart));
    else all_drawn = false;
  }
  const std::string table = str("<table class=\"numbers\"><thead><tr><th>at the end, ", unit.name,
                                "</th><th>allocated</th><th>peak</th><th>reserved</th></tr></thead><tbody>", rows, "</tbody></table>");
  return rows.empty() ? "" : chart_rows(charts, table, !all_drawn);
}

// --- Figures of each epoch

/// The epoch that a curve's point belongs to, from 1. A curve has points within its epochs, from 0 on, or one at each epoch's end.
std::map<int64_t, double> by_epoch(const std::vector<Point>& points) {
  const bool at_ends = std::all_of(points.begin(), points.end(), [](const Point& p) { return p.x >= 1 && std::floor(p.x) == p.x; });
  std::map<int64_t, std::pair<double, int>> sums;
  for (const Point& point : points) {
    if (!(std::fabs(point.x) < 1e15)) continue;  // no epoch: nan, or from a damaged checkpoint
    auto& [sum, count] = sums[static_cast<int64_t>(std::floor(point.x)) + (at_ends ? 0 : 1)];
    sum += point.y;
    ++count;
  }
  std::map<int64_t, double> means;
  for (const auto& [epoch, sum] : sums) means[epoch] = sum.first / sum.second;
  return means;
}

/// With four decimals, so that a column's numbers stand in line, where that says enough.
std::string figure_text(double value) {
  if (const double size = std::fabs(value); size >= 1e5 || (size < 1e-3 && size > 0) || std::isnan(value)) return short_number(value);
  return fixed_number(value, 4);
}

std::string epochs(const Series& series, const Series& figures) {
  std::set<int64_t> rows;
  std::vector<std::pair<std::string, std::map<int64_t, double>>> columns;
  for (const auto& [name, points] : series) {
    const auto figure = figures.find(name);
    columns.emplace_back(name, by_epoch(figure == figures.end() ? points : figure->second));
    for (const auto& [epoch, value] : columns.back().second) rows.insert(epoch);
  }
  if (rows.empty()) return "";
  std::string out = "<div class=\"card scroll\"><table class=\"numbers\"><thead><tr><th>epoch</th>";
  for (const auto& [name, values] : columns) out += "<th>" + escaped(name) + "</th>";
  out += "</tr></thead><tbody>";
  // The best epoch by data it did not learn from stands out: the lowest of a loss or an error, else the highest.
  const auto best = [](const std::string& name, const std::map<int64_t, double>& values) {
    if (const std::string part = part_and_figure(name).first; part.empty() || part == "train") return values.end();
    const bool low = name.find("loss") != std::string::npos || name.find("err") != std::string::npos;
    return std::max_element(values.begin(), values.end(),
                            [&](const auto& a, const auto& b) { return low ? a.second > b.second : a.second < b.second; });
  };
  for (const int64_t row : rows) {
    out += str("<tr><td>", row, "</td>");
    for (const auto& [name, values] : columns) {
      const auto value = values.find(row);
      if (value == values.end()) out += "<td></td>";
      else out += str(value == best(name, values) ? "<td class=\"best\">" : "<td>", figure_text(value->second), "</td>");
    }
    out += "</tr>";
  }
  return out + "</tbody></table></div>";
}

// --- Confusion matrix

class Confusion {
 public:
  Confusion(const ReportConfusion& confusion, Site site) : confusion_(confusion) {
    const Tensor& matrix = confusion.matrix;
    if (!matrix.defined() || matrix.dim() != 2 || matrix.size(0) != matrix.size(1) || !is_integral(matrix.dtype()))
      fail("[write_report] the confusion matrix must be a square of integers",
           matrix.defined() ? str(", but is ", matrix.dtype(), matrix.sizes()) : "");
    classes_ = static_cast<size_t>(matrix.size(0));
    if (!confusion.classes.empty() && confusion.classes.size() != classes_)
      fail("[write_report] the confusion matrix has ", classes_, " classes, but there are names for ", confusion.classes.size());
    counts_ = read_values(matrix, -1, "write_report", site).integers;
    for (const ReportSample& sample : confusion.samples)
      for (const int64_t label : {sample.actual, sample.predicted})
        if (label < 0 || label >= matrix.size(0))
          fail("[write_report] a sample is of class ", label, ", but the confusion matrix has ", classes_, " classes");
  }

  [[nodiscard]] std::string html(Site site) const {
    std::string out = "<div class=\"side\"><div class=\"card\">" + table() + "</div>";
    if (!confusion_.samples.empty()) out += "<div class=\"card\">" + samples(site) + "</div>";
    return out + "</div>";
  }

 private:
  [[nodiscard]] int64_t count(size_t actual, size_t predicted) const { return counts_[actual * classes_ + predicted]; }
  [[nodiscard]] std::string name(size_t i) const { return confusion_.classes.empty() ? str(i) : escaped(confusion_.classes[i]); }

  static std::string percent(int64_t part, int64_t whole) {
    return whole == 0 ? "–" : str(static_cast<int64_t>(std::lround(100.0 * static_cast<double>(part) / static_cast<double>(whole))), "%");
  }

  [[nodiscard]] std::string table() const {
    std::string out = str("<table class=\"matrix\"><thead><tr><td></td><th class=\"axis-name\" colspan=\"", classes_,
                          "\">predicted →</th><td></td></tr><tr><th>actual ↓</th>");
    for (size_t i = 0; i < classes_; ++i) out += "<th>" + name(i) + "</th>";
    out += "<th>recall</th></tr></thead><tbody>";
    std::vector<int64_t> predicted(classes_);
    for (size_t actual = 0; actual < classes_; ++actual) {
      int64_t whole = 0;
      for (size_t i = 0; i < classes_; ++i) {
        whole += count(actual, i);
        predicted[i] += count(actual, i);
      }
      out += "<tr><th>" + name(actual) + "</th>";
      for (size_t i = 0; i < classes_; ++i) out += cell(actual, i, whole);
      out += "<th>" + percent(count(actual, actual), whole) + "</th></tr>";
    }
    out += "<tr><th>precision</th>";
    for (size_t i = 0; i < classes_; ++i) out += "<th>" + percent(count(i, i), predicted[i]) + "</th>";
    return out + "<td></td></tr></tbody></table>";
  }

  [[nodiscard]] std::string cell(size_t actual, size_t predicted, int64_t whole) const {
    const int64_t here = count(actual, predicted);
    if (here == 0) return "<td class=\"cell none\">·</td>";
    const bool right = actual == predicted;
    const double share = static_cast<double>(here) / static_cast<double>(whole);
    // Few mistakes must be seen, too.
    const double strength = right ? 0.15 + 0.8 * share : 0.25 + 0.7 * std::sqrt(share);
    // The letters are black or white, whichever is farther from the ground: "strong" on a light page, "bright" on a dark one.
    return str("<td class=\"cell", right && strength > 0.87 ? " strong" : "", strength > (right ? 0.76 : 0.71) ? " bright" : "",
               "\" data-cell=\"", actual, "-", predicted, "\" title=\"", here, " of ", whole, " that are ", name(actual), ": ",
               name(predicted), "\" style=\"background:rgba(var(--", right ? "right" : "wrong", "),", std::round(strength * 100) / 100,
               ")\">", here, "</td>");
  }

  [[nodiscard]] std::string samples(Site site) const {
    int64_t wrong = 0;
    for (size_t i = 0; i < classes_; ++i)
      for (size_t j = 0; j < classes_; ++j) wrong += i == j ? 0 : count(i, j);
    const auto shown = static_cast<int64_t>(confusion_.samples.size());
    std::string out = str("<p class=\"note\">", shown, shown == wrong ? "" : str(" of ", wrong), wrong == 1 ? " mistake" : " mistakes",
                          ": what it is → what it was taken for, and how sure the model was.</p><div class=\"samples\">");
    for (const ReportSample& sample : confusion_.samples) {
      const auto actual = static_cast<size_t>(sample.actual), predicted = static_cast<size_t>(sample.predicted);
      out += str("<figure class=\"sample\" data-cell=\"", actual, "-", predicted, "\"><img alt=\"", name(actual), " taken for ",
                 name(predicted), "\" src=\"data:image/png;base64,", base64(io::encode_png(sample.image, site)), "\">", name(actual),
                 " → <b>", name(predicted), "</b> <span>", std::lround(sample.probability * 100), "%</span></figure>");
    }
    return out + "</div>";
  }

  const ReportConfusion& confusion_;
  size_t classes_ = 0;
  std::vector<int64_t> counts_;
};

// --- Facts

std::string tiles(const Report::Facts& facts) {
  std::string out;
  for (const auto& [name, value] : facts) out += "<div class=\"tile\"><dt>" + escaped(name) + "</dt><dd>" + escaped(value) + "</dd></div>";
  return out.empty() ? "" : "<dl class=\"tiles\">" + out + "</dl>";
}

std::string fact_rows(const Report::Facts& facts) {
  std::string rows;
  for (const auto& [name, value] : facts) rows += "<tr><th>" + escaped(name) + "</th><td>" + escaped(value) + "</td></tr>";
  return rows;
}

std::string fact_table(const char* title, const Report::Facts& facts, const Report::Facts& defaults = {}) {
  std::string rows = fact_rows(facts);
  if (!defaults.empty()) rows += "<tr class=\"part\"><th colspan=\"2\">left at its default</th></tr>" + fact_rows(defaults);
  return rows.empty() ? "" : str("<div><h2>", title, "</h2><div class=\"card\"><table class=\"facts\">", rows, "</table></div></div>");
}

std::string bytes_text(size_t bytes) {
  const Unit unit = unit_for(static_cast<double>(bytes));
  return str(short_number(std::round(static_cast<double>(bytes) / unit.bytes * 10) / 10), " ", unit.name);
}

}  // namespace

Report make_report(const Trainer& trainer) {
  Report report;
  report.curves = trainer.board().series();
  report.figures = trainer.figures().series();
  report.memory_devices = trainer.memory().devices();
  report.memory = trainer.memory().samples();
  for (const Device device : trainer.devices()) {
    if (device.is_cpu()) {
      report.devices.emplace_back("cpu", "CPU");
      continue;
    }
    const auto& properties = cuda::get_device_properties(device);
    report.devices.emplace_back(device.str(), str(properties.name, ", ", bytes_text(properties.total_memory)));
  }
  const TrainerOptions& options = trainer.options();
  report.configuration = {{"epochs", str(trainer.epoch())}, {"steps", str(trainer.step())}, {"devices", str(trainer.devices().size())}};
  if (options.accumulate > 1) report.configuration.emplace_back("accumulate", str(options.accumulate));
  if (options.gradient_clip_val > 0) report.configuration.emplace_back("gradient_clip_val", str(options.gradient_clip_val));
  if (const std::string precision = options.precision.str(); precision != "32") report.configuration.emplace_back("precision", precision);
  if (options.seed) report.configuration.emplace_back("seed", str(*options.seed));
  return report;
}

std::string report_html(const Report& report, Site site) {
  std::string out =
      str("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">",
          "<link rel=\"icon\" href=\"data:,\"><title>", escaped(report.title), "</title><style>", detail::kReportStyle,
          "</style></head>\n<body><main><header><h1>", escaped(report.title), "</h1>");
  if (!report.subtitle.empty()) out += "<p class=\"subtitle\">" + escaped(report.subtitle) + "</p>";
  out += "</header>\n" + tiles(report.highlights);
  out += section("Curves", curves(report.curves, report.figures));
  if (report.confusion) out += section("Confusion matrix", Confusion(*report.confusion, site).html(site));
  out += section("Memory", memory(report));
  out += section("Epochs", epochs(report.curves, report.figures));
  out += "<div class=\"pairs\">" + fact_table("Configuration", report.configuration, report.defaults) +
         fact_table("Devices", report.devices) + "</div>";
  return out + "<footer>Written by tandem " + kVersion + "</footer></main><script>" + detail::kReportScript + "</script></body></html>\n";
}

void write_report(const std::string& path, const Report& report, Site site) {
  io::write_file("write_report", path, report_html(report, site), io::MissingFolder::IsMade);
}

}  // namespace tandem::train
