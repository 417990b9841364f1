// `./dev bench micro`: what the smallest things cost. Our half of the comparison that bench/micro.py makes with another library.
#pragma once

#include <string>
#include <vector>

namespace tandem::bench {

struct BenchMicroOptions {
  bool json = false;              // a JSON document instead of a table
  std::vector<std::string> only;  // names of the cases to run; all where empty
  int threads = 0;                // of the thread pool; 0 leaves it as it is
  double ms = 200;                // about how long each case is measured, in milliseconds
};

/// Measures the cases and prints them to standard output. Returns the program's exit status, 0. Error for an unknown name in `only`, or
/// where `threads` or `ms` is out of range. The case `queue` makes a virtual GPU where TANDEM_VIRTUAL_GPUS is not set.
int bench_micro(const BenchMicroOptions& options);

}  // namespace tandem::bench
