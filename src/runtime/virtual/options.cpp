// The grammar of TANDEM_VIRTUAL_GPUS, read by hand: a count, a size, then name=value after commas.
#include "runtime/virtual/options.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <string>

#include "base/cgroup.h"
#include "base/error.h"
#include "base/number_in.h"
#include "runtime/stream_record.h"

namespace tandem::runtime::virtual_gpu {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr const char* kGrammar =
    "COUNT[xMEMORY][,link=SPEED][,latency=TIME][,delay_seed=NUMBER][,peer=on|off], such as 2, 2x256MiB or "
    "2x16GiB,link=25GB/s,latency=10us";

struct Unit {
  std::string_view name;
  double factor;
};
constexpr Unit kBytes[] = {{"B", 1},    {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40},
                           {"KB", 1e3}, {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12}};
constexpr Unit kSpeeds[] = {{"KiB/s", 0x1p10}, {"MiB/s", 0x1p20}, {"GiB/s", 0x1p30}, {"KB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}};
constexpr Unit kTimes[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

struct Parser {
  std::string_view whole, source;

  [[noreturn]] void wrong(std::string_view part, std::string_view why) const {
    fail(source, "='", whole, "': '", part, "' ", why, "; expected ", kGrammar);
  }

  template <class T>
  T integer(std::string_view text, std::string_view why) const {
    const auto value = tandem::detail::number_in<T>(text);
    if (!value) wrong(text, why);
    return *value;
  }

  // A decimal number directly followed by one of the units.
  double quantity(std::string_view text, std::span<const Unit> units, std::string_view why) const {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    const std::string_view rest = text.substr(static_cast<size_t>(end - text.data()));
    const auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == rest; });
    if (error != std::errc() || unit == units.end() || !(value >= 0) || value * unit->factor > 0x1p60) wrong(text, why);
    return value * unit->factor;
  }
};

}  // namespace

size_t default_memory(int count) {
  const size_t share = std::min(tandem::detail::usable_memory() / 2 / static_cast<size_t>(std::max(count, 1)), size_t{16} << 30);
  return std::max(share / (2 * kMiB) * (2 * kMiB), 2 * kMiB);
}

Options parse_options(std::string_view text, std::string_view source) {
  const Parser parser{text, source};
  Options options;
  bool seen[4] = {};
  bool first = true;
  for (std::string_view rest = text;; first = false) {
    const size_t comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    if (first) {
      const size_t x = part.find('x');
      options.count = parser.integer<int>(part.substr(0, x), "is no number of GPUs");
      if (options.count < 0 || options.count > kMaxDevices)
        parser.wrong(part.substr(0, x), str("is no number of GPUs from 0 to ", kMaxDevices));
      if (x != std::string_view::npos) {
        options.memory = static_cast<size_t>(parser.quantity(part.substr(x + 1), kBytes, "is no amount of memory like 256MiB"));
        if (options.memory < 2 * kMiB) parser.wrong(part.substr(x + 1), "is too little memory for a GPU: 2MiB is the least");
      }
    } else {
      const size_t equals = part.find('=');
      const std::string_view name = part.substr(0, equals);
      const std::string_view value = equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1);
      constexpr std::string_view kNames[] = {"link", "latency", "delay_seed", "peer"};
      const auto which = static_cast<size_t>(std::find(std::begin(kNames), std::end(kNames), name) - std::begin(kNames));
      if (which == std::size(kNames)) parser.wrong(part, "is no option");
      if (seen[which]) parser.wrong(part, "is given twice");
      seen[which] = true;
      switch (which) {
        case 0:
          options.link = parser.quantity(value, kSpeeds, "is no speed like 25GB/s");
          if (options.link <= 0) parser.wrong(value, "is no speed like 25GB/s");
          break;
        case 1: options.latency_ns = static_cast<int64_t>(parser.quantity(value, kTimes, "is no time like 10us")); break;
        case 2: options.delay_seed = parser.integer<uint64_t>(value, "is no seed like 7"); break;
        default:
          if (value != "on" && value != "off") parser.wrong(part, "is neither peer=on nor peer=off");
          options.peer = value == "on";
      }
    }
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (options.memory == 0) options.memory = default_memory(options.count);
  return options;
}

}  // namespace tandem::runtime::virtual_gpu
