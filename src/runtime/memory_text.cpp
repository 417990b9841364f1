#include "runtime/memory_text.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/format.h"

namespace tandem::runtime {
namespace {

const char* base_name(const char* path) {
  if (!path || !*path) return "unknown";
  const char* const slash = std::strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/// As PyTorch's table has it: whole numbers, in the unit that suits `leading`, the figure of both pools together.
std::string table_size(int64_t bytes, int64_t leading) {
  static constexpr const char* units[] = {"B  ", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t unit = 0;
  for (; unit + 1 < std::size(units) && leading >= int64_t{768} * 1024; ++unit) {
    bytes /= 1024;
    leading /= 1024;
  }
  return str(bytes, " ", units[unit]);
}

std::string table_count(int64_t count, int64_t leading) {
  static constexpr const char* units[] = {"   ", " K ", " M "};
  size_t unit = 0;
  for (; unit + 1 < std::size(units) && leading >= 750 * 1000; ++unit) {
    count /= 1000;
    leading /= 1000;
  }
  return str(count, units[unit]);
}

std::string rule(char mark) { return "|" + std::string(75, mark) + "|\n"; }

std::string centred(const std::string& text, size_t width) {
  const size_t left = text.size() < width ? (width - text.size()) / 2 : 0;
  std::string out = std::string(left, ' ') + text;
  out.resize(std::max(width, out.size()), ' ');
  return out;
}

template <class Format>
std::string row(const std::string& title, const cuda::Stat& stat, const cuda::Stat& leading, Format format) {
  std::string out = "| " + title + std::string(22 - title.size(), ' ');
  for (const auto value : {&cuda::Stat::current, &cuda::Stat::peak, &cuda::Stat::allocated, &cuda::Stat::freed})
    out += "| " + tandem::detail::padded(format(stat.*value, leading.*value), 10, true) + " ";
  return out + "|\n";
}

}  // namespace

std::string readable_size(size_t bytes) {
  const auto with_unit = [bytes](double unit, const char* name) {
    return tandem::detail::formatted("%.2f %s", static_cast<double>(bytes) / unit, name);
  };
  if (bytes <= 1024) return str(bytes, " bytes");
  if (bytes <= size_t{1} << 20) return with_unit(0x1p10, "KiB");
  if (bytes <= size_t{1} << 30) return with_unit(0x1p20, "MiB");
  return with_unit(0x1p30, "GiB");
}

std::string line_text(const char* file, int line) { return str(base_name(file), ":", line); }

std::string held_by(std::span<const Block* const> blocks) {
  struct Held {
    size_t bytes = 0, count = 0;
  };
  std::map<std::pair<std::string_view, int>, Held> by_site;
  for (const Block* block : blocks) {
    Held& held = by_site[{base_name(block->site.file), block->site.line}];
    held.bytes += block->size;
    ++held.count;
  }
  std::vector<std::pair<std::pair<std::string_view, int>, Held>> sites(by_site.begin(), by_site.end());
  std::stable_sort(sites.begin(), sites.end(), [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
  std::string out;
  for (size_t i = 0; i < std::min<size_t>(sites.size(), 5); ++i) {
    const auto& [site, held] = sites[i];
    out += str(i ? ", " : " Held by: ", site.first, ":", site.second, " (", readable_size(held.bytes), " in ", held.count,
               held.count == 1 ? " block)" : " blocks)");
  }
  return out;
}

void write_description(const Block& block, char* out, size_t size) noexcept {
  if (size == 0) return;
  char* const end = out + size - 1;
  const auto text = [&](const char* part) {
    while (*part && out < end) *out++ = *part++;
  };
  const auto number = [&](size_t value) {
    char digits[24];
    char* first = digits + sizeof digits - 1;
    *first = 0;
    do *--first = static_cast<char>('0' + value % 10);
    while (value /= 10);
    text(first);
  };
  if (block.free()) {
    number(block.size);
    text(" bytes that no tensor holds");
  } else {
    number(block.requested);
    text(block.allocated ? " bytes allocated at " : " bytes, freed already, allocated at ");
    text(base_name(block.site.file));
    text(":");
    number(static_cast<size_t>(block.site.line));
  }
  *out = 0;
}

std::string summary_table(const cuda::MemoryStats& stats, int device) {
  const auto half = [](const char* name, int64_t value) { return centred(str(name, ": ", value), 37); };
  std::string out = rule('=') + "|" + centred(str("tandem CUDA memory summary, device ID ", device), 75) + "|\n" + rule('-') + "|" +
                    half("CUDA OOMs", stats.num_ooms) + "|" + half("cudaMalloc retries", stats.num_alloc_retries) + "|\n" + rule('=') +
                    "|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |\n";
  const auto figure = [&out](const char* title, const cuda::StatByPool& stat, auto format) {
    out += rule('-') + row(title, stat.all, stat.all, format) + row("      from large pool", stat.large_pool, stat.all, format) +
           row("      from small pool", stat.small_pool, stat.all, format);
  };
  figure("Allocated memory", stats.allocated_bytes, table_size);
  figure("Active memory", stats.active_bytes, table_size);
  figure("Requested memory", stats.requested_bytes, table_size);
  figure("GPU reserved memory", stats.reserved_bytes, table_size);
  figure("Non-releasable memory", stats.inactive_split_bytes, table_size);
  figure("Allocations", stats.allocation, table_count);
  figure("Active allocs", stats.active, table_count);
  figure("GPU reserved segments", stats.segment, table_count);
  figure("Non-releasable allocs", stats.inactive_split, table_count);
  return out + rule('=');
}

}  // namespace tandem::runtime
