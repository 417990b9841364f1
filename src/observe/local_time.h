// The time as people read it.
#pragma once

#include <array>
#include <ctime>
#include <string>

namespace tandem::observe {

/// Now, here: "2024-05-01 14:03:59".
inline std::string local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  std::array<char, 64> text = {};
  if (localtime_r(&now, &parts)) (void)std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
  return text.data();
}

}  // namespace tandem::observe
