#include "bench/parallel_text.h"

#include <cstdio>
#include <iostream>

#include "base/error.h"
#include "bench/link_model.h"
#include "bench/measure.h"

namespace tandem::bench {
namespace {

using nlohmann::ordered_json;

std::string size_text(int64_t bytes) {
  return bytes >= 1 << 20 ? str(bytes >> 20, " MiB") : bytes >= 1 << 10 ? str(bytes >> 10, " KiB") : str(bytes, " B");
}

}  // namespace

void print_cases(const ordered_json& rows) {
  char line[200];
  for (const ordered_json& row : rows) {
    std::snprintf(line, sizeof line, "%-12s %d GPU%s x %-4lld %10.1f %-10s (%.1f to %.1f)   %5.2fx   efficiency %3.0f%%",
                  row["name"].get<std::string>().c_str(), row["gpus"].get<int>(), row["gpus"] == 1 ? " " : "s",
                  static_cast<long long>(row["batch"].get<int64_t>()), row["per_s"].get<double>(), row["unit"].get<std::string>().c_str(),
                  row["lowest"].get<double>(), row["highest"].get<double>(), row["speed_up"].get<double>(),
                  100 * row["efficiency"].get<double>());
    std::cout << line << std::endl;
  }
}

void print_overlap(const Overlap& o) {
  char line[240];
  std::snprintf(line, sizeof line,
                "overlap      %d products and their copies to the host: run %.1f ms, copy %.1f ms, in turn %.1f ms, overlapped %.1f ms: "
                "%.2fx the longer",
                o.products, o.run_ms, o.copy_ms, o.in_turn_ms, o.overlapped_ms, o.of_longer());
  std::cout << line << std::endl;
}

void print_moves(const std::vector<Moved>& rows) {
  char line[200];
  for (const Moved& row : rows) {
    std::snprintf(line, sizeof line, "%-16s %d GPU%s %8s %10s %8.2f GB/s  %3.0f%% of a copy", row.name.c_str(), row.gpus,
                  row.gpus == 1 ? " " : "s", size_text(row.bytes).c_str(), readable(row.ns).c_str(), row.gb_per_s,
                  100 * row.gb_per_s / row.limit);
    std::cout << line << std::endl;
  }
}

void print_model(const ordered_json& rows, const std::vector<std::string>& links) {
  char line[240];
  for (const std::string& name : links) {
    const Link link = link_named(name);
    std::cout << "\nmodelled, not measured. " << assumptions(link) << '\n';
    for (const ordered_json& row : rows) {
      if (row["link"] != name) continue;
      std::snprintf(
          line, sizeof line,
          "  %-12s %.1f pictures/s on one GPU, batch %.0f (%s): %.1f on %d (%.0f%%); overlapped %.1f (%.0f%%); gradients take %.2f ms",
          row["name"].get<std::string>().c_str(), row["one_per_s"].get<double>(), row["batch"].get<double>(),
          row["measured_here"] ? "measured" : "given", row["in_turn_per_s"].get<double>(), link.count,
          100 * row["in_turn_efficiency"].get<double>(), row["overlapped_per_s"].get<double>(),
          100 * row["overlapped_efficiency"].get<double>(), row["reduce_ms"].get<double>());
      std::cout << line << std::endl;
    }
  }
}

}  // namespace tandem::bench
