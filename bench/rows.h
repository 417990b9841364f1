// A table whose rows appear as soon as they are measured.
#pragma once

#include <cstdio>
#include <iostream>

#include "bench/measure.h"

namespace tandem::bench {

inline void print_row(const char* name, const char* median, const char* fastest, const char* what) {
  char line[160];
  std::snprintf(line, sizeof line, "%-18s %10s %10s   %s", name, median, fastest, what);
  std::cout << line << std::endl;
}
inline void print_heading() { print_row("case", "median", "fastest", "what"); }
inline void print_row(const Measured& measured, const char* what) {
  print_row(measured.name.c_str(), readable(measured.ns).c_str(), readable(measured.best_ns).c_str(), what);
}

}  // namespace tandem::bench
