// A GPU's memory over time: an area for each line that held most at the peak, and the table of who held it then.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/format.h"
#include "observe/memory/memory_page_html.h"
#include "runtime/memory_text.h"

namespace tandem::cuda::memory::detail {
namespace {

using runtime::readable_size;
using tandem::detail::formatted;

constexpr double kWidth = 1000, kHeight = 240;  // of what is drawn; the page stretches it
constexpr size_t kMostNumbers = 50;             // rows of "as numbers"
constexpr size_t kMostRows = 40;                // lines at the peak

std::string number(double value) { return formatted("%.1f", value); }

/// What there are of each moment, the later of a bunch of equal ones left out.
template <class Figure>
std::string steps(const std::vector<Moment>& moments, double seconds, double most, Figure figure) {
  std::string path, last;
  for (const Moment& moment : moments) {
    const std::string y = number(kHeight - static_cast<double>(figure(moment)) / most * kHeight);
    if (y == last) continue;
    const std::string x = number(moment.seconds / seconds * kWidth);
    path += path.empty() ? str("M", x, " ", y) : str("H", x, "V", y);
    last = y;
  }
  return path + str("H", kWidth);
}

/// Bytes at a power of two, three to five of them, as text beside the chart.
std::string byte_labels(double most) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double step = 1;
  while (most / step > 4) step *= 2;
  double unit = 1;
  size_t name = 0;
  for (; step >= unit * 1024 && name + 1 < std::size(kUnits); ++name) unit *= 1024;
  std::string out;
  for (double at = 0; at <= most; at += step)
    out += str("<span style=\"bottom:", number(at / most * 100), "%\">", formatted("%.0f ", at / unit), kUnits[name], "</span>");
  return out;
}

/// Times at 1, 2 or 5 times a power of ten, three to six of them, as text below the chart.
std::string time_labels(double seconds) {
  const double unit = seconds < 1e-3 ? 1e-6 : seconds < 1 ? 1e-3 : 1;
  const char* const name = seconds < 1e-3 ? "µs" : seconds < 1 ? "ms" : "s";
  double step = std::pow(10, std::floor(std::log10(seconds)) - 1);
  for (const double factor : {2.0, 2.5, 2.0, 2.0, 2.5, 2.0})  // 1, 2, 5, 10, ...
    if (seconds / step > 5) step *= factor;
  const int last = static_cast<int>(seconds * (1 + 1e-9) / step);
  // The last label stands to the left of its place where that is at the edge: on a telephone it meets the one before, if that is close.
  const bool crowded = last * step / seconds > 0.94 && step / seconds < 0.28;
  std::string out;
  for (int i = 0; i <= last; ++i) {
    if (crowded && i == last - 1) continue;
    const double at = i * step / seconds * 100;
    out += str("<span class=\"",
               i == 0    ? "first"
               : at > 94 ? "last"
                         : "",
               "\" style=\"left:", number(at), "%\">", formatted("%g", std::round(i * step / unit * 1e6) / 1e6), i == 0 ? "" : " ",
               i == 0 ? "" : name, "</span>");
  }
  return out;
}

std::string chart(const OverTime& all, double seconds, const std::string& words) {
  size_t most = 1, reserved = 0;
  for (const Moment& moment : all.moments) {
    most = std::max(most, moment.allocated);
    reserved = std::max(reserved, moment.reserved);
  }
  // What lines hold is what the chart is about: far more that is reserved would make it flat, and is told in words.
  const bool draws_reserved = reserved <= 3 * most;
  const double top = static_cast<double>(draws_reserved ? std::max(most, reserved) : most);
  const size_t areas = all.moments.front().by_line.size();
  std::string out = str("<div class=\"chart\"><div class=\"ys\">", byte_labels(top), "</div><svg viewBox=\"0 0 ", kWidth, " ", kHeight,
                        "\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"", words, "\">");
  // From the whole down to the first line alone: each area covers the lower part of the one before.
  for (size_t area = areas + 1; area-- > 0;) {
    const auto up_to = [area, areas](const Moment& moment) {
      if (area == areas) return moment.allocated;
      size_t sum = 0;
      for (size_t i = 0; i <= area; ++i) sum += moment.by_line[i];
      return std::min(sum, moment.allocated);
    };
    const std::string path = steps(all.moments, seconds, top, up_to);
    out += str("<path class=\"area ", area == areas ? "rest" : str("a", area), "\" d=\"M0 ", kHeight, "L", path.substr(1), "V", kHeight,
               "Z\"><title>", area == areas ? "all other lines" : line_words(all.at_peak[area].file, all.at_peak[area].line),
               "</title></path>");
  }
  const std::string peak = number(all.peak.seconds / seconds * kWidth);
  if (draws_reserved)
    out += str("<path class=\"line reserved\" d=\"", steps(all.moments, seconds, top, [](const Moment& moment) { return moment.reserved; }),
               "\"/>");
  out += str("<path class=\"line peak\" d=\"M", peak, " 0V", kHeight, "\"/></svg><div class=\"xs\">", time_labels(seconds),
             "</div></div><p class=\"keys\"><span class=\"key line-key\">at the peak</span>");
  if (draws_reserved) out += "<span class=\"key line-key dashed\">reserved</span>";
  out += "<span class=\"key\"><span class=\"swatch rest\"></span>all other lines</span>";
  return out + (draws_reserved ? "" : str("reserved, above the chart: ", readable_size(reserved))) + "</p>";
}

std::string numbers(const std::vector<Moment>& moments) {
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 0; i < moments.size(); i += moments.size() / kMostNumbers + 1)
    rows.push_back({seconds_text(moments[i].seconds), readable_size(moments[i].allocated), readable_size(moments[i].reserved)});
  return "<details><summary>As numbers</summary>" + table("", {"seconds", "allocated", "reserved"}, rows) + "</details>";
}

std::string peak_table(const OverTime& all) {
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 0; i < std::min(all.at_peak.size(), kMostRows); ++i) {
    const Holder& holder = all.at_peak[i];
    rows.push_back(
        {str("<span class=\"swatch ", i < kLinesOverTime ? str("a", i) : "rest", "\"></span>", line_cell(holder.file, holder.line)),
         readable_size(holder.bytes), percent(holder.bytes, all.peak.allocated), str(holder.blocks), readable_size(holder.requested)});
  }
  std::string caption = str("At the peak, ", seconds_text(all.peak.seconds), " seconds after the first event, ",
                            readable_size(all.peak.allocated), " were held");
  if (rows.size() < all.at_peak.size()) caption += str("; the first ", rows.size(), " of ", plural(all.at_peak.size(), "line"));
  return str("<div class=\"panel\">", table(caption, {"line", "bytes", "of the peak", "blocks", "asked for"}, rows), "</div>");
}

}  // namespace

std::string over_time_panels(const OverTime& all, size_t events) {
  if (all.moments.empty()) return "<h3>Over time</h3><p>No history: call cuda::memory::record_history() before what is to be seen.</p>";
  const double seconds = std::max(all.moments.back().seconds, 1e-6);
  const Moment& last = all.moments.back();
  const std::string words =
      str("Over ", seconds_text(seconds), " seconds and ", plural(events, "event"), " at most ", readable_size(all.peak.allocated),
          " were allocated; at the end ", readable_size(last.allocated), " of ", readable_size(last.reserved), " reserved.");
  return str("<h3>Over time, by the line that asked</h3><figure class=\"panel\"><figcaption>", words, "</figcaption>",
             chart(all, seconds, words), numbers(all.moments), "</figure><h3>Who held memory at the peak</h3>", peak_table(all));
}

}  // namespace tandem::cuda::memory::detail
