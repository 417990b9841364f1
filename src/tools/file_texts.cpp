#include "tools/file_texts.h"

#include <array>

#include "base/error.h"
#include "base/format.h"

namespace tandem::tools {

std::string size_text(uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) return str(bytes, " B");
  auto size = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; size >= 1023.95 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  return detail::formatted("%.1f %s", size, kUnits[unit]);
}

std::string counted(uint64_t count, const std::string& what) {
  return detail::with_commas(std::to_string(count)) + " " + what + (count == 1 ? "" : "s");
}

uint64_t element_count(const Shape& sizes) {
  uint64_t count = 1;
  bool fits = true;
  for (const int64_t size : sizes) {
    if (size == 0) return 0;
    fits = fits && !__builtin_mul_overflow(count, static_cast<uint64_t>(size), &count);
  }
  return fits ? count : UINT64_MAX;
}

nlohmann::ordered_json json_of(const io::MetadataValue& value) {
  if (const auto* const list = value.get_if<io::MetadataValue::List>()) {
    auto json = nlohmann::ordered_json::array();
    for (const io::MetadataValue& item : *list) json.push_back(json_of(item));
    return json;
  }
  return std::visit(
      [](const auto& plain) -> nlohmann::ordered_json {
        if constexpr (std::is_same_v<std::decay_t<decltype(plain)>, io::MetadataValue::List>) return nullptr;
        else return plain;
      },
      value.value);
}

}  // namespace tandem::tools
