// Reads lists of GPUs the way strtoul would: "1gpu2,2ampere" is 1,2.
#include "runtime/visible_devices.h"

#include <algorithm>
#include <charconv>
#include <climits>

namespace tandem::runtime {
namespace {

constexpr std::string_view kUuidPrefix = "GPU-";

std::vector<std::string_view> split(std::string_view list) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t comma = list.find(',');
    parts.push_back(list.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    list.remove_prefix(comma + 1);
  }
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\r\f\v";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// The number that the text begins with; -1 where it begins with none. A number too large for any GPU is INT_MAX.
int leading_number(std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument) return -1;
  if (error != std::errc() || value > INT_MAX) value = INT_MAX;
  return negative ? -static_cast<int>(value) : static_cast<int>(value);
}

bool contains(const std::vector<int>& list, int value) { return std::find(list.begin(), list.end(), value) != list.end(); }

std::vector<int> by_uuid(std::string_view value, std::span<const std::string> uuids) {
  std::vector<int> gpus;
  std::vector<std::string_view> seen;
  for (const std::string_view name : split(value)) {
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) return {};
    if (!name.starts_with(kUuidPrefix)) break;
    seen.push_back(name);
  }
  for (std::string_view name : seen) {
    name.remove_prefix(kUuidPrefix.size());
    int match = -1;
    for (size_t i = 0; i < uuids.size(); ++i) {
      if (!uuids[i].starts_with(name)) continue;
      if (match >= 0) return gpus;  // ambiguous
      match = static_cast<int>(i);
    }
    if (match < 0) break;
    if (contains(gpus, match)) return {};
    gpus.push_back(match);
  }
  return gpus;
}

}  // namespace

std::vector<int> visible_devices(std::optional<std::string_view> value, std::span<const std::string> uuids) {
  const int count = static_cast<int>(uuids.size());
  std::vector<int> gpus;
  if (!value) {
    for (int i = 0; i < count; ++i) gpus.push_back(i);
    return gpus;
  }
  if (value->starts_with(kUuidPrefix)) return by_uuid(*value, uuids);
  for (const std::string_view part : split(*value)) {
    const int number = leading_number(trimmed(part));
    if (contains(gpus, number)) return {};  // counted before the range is looked at
    if (number < 0) break;
    gpus.push_back(number);
  }
  const auto end = std::find_if(gpus.begin(), gpus.end(), [&](int gpu) { return gpu >= count; });
  gpus.erase(end, gpus.end());
  return gpus;
}

}  // namespace tandem::runtime
