// `./dev bench observers`: what ledger, profiler and races cost an operation, off and on.
#pragma once

#include <string>
#include <vector>

namespace tandem::bench {

struct BenchObserversOptions {
  bool json = false;              // a JSON document instead of a table
  std::vector<std::string> only;  // names of the cases to run; all where empty
  double ms = 200;                // about how long each case is measured, in milliseconds
};

/// Measures an addition of 8 elements, on the CPU and queued on a virtual GPU, with nobody who watches and with each who can, and prints
/// them to standard output. Returns the program's exit status, 0. Error for an unknown name in `only`. Makes a virtual GPU where
/// TANDEM_VIRTUAL_GPUS is not set. A build without observers (TANDEM_OBSERVERS=OFF) has only the cases of nobody.
int bench_observers(const BenchObserversOptions& options);

}  // namespace tandem::bench
