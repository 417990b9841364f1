// How much memory a piece of a test fills.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <string>

/// A line of /proc/self/status such as "VmHWM:    1234 kB", in bytes.
inline size_t status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (size_t number = 0; word == name + ":" && status >> number) return number << 10;
  return 0;
}

/// The bytes by which the process's memory exceeds that of before at the highest moment of `f`.
template <class F>
size_t touched_by(F&& f) {
  std::ofstream("/proc/self/clear_refs") << 5;  // the highest moment so far is forgotten
  const size_t before = std::max(status_bytes("VmRSS"), status_bytes("VmHWM"));
  f();
  return std::max(status_bytes("VmHWM"), before) - before;
}
