// `./dev bench comm`: what it costs ranks of one machine to reduce CPU tensors, and to train together.
#pragma once

#include <string>
#include <vector>

namespace tandem::bench {

struct BenchCommOptions {
  bool json = false;              // a JSON document instead of a table
  std::string backend;            // empty: the one that the ranks were started by
  std::string meet;               // where ranks of one machine meet
  std::vector<std::string> only;  // these cases alone
  int threads = 1;                // of each rank
  double ms = 200;                // about how long each case is measured
};

/// Measures as one rank of those that were started together; the first one prints to standard output. Returns the program's exit status, 0.
/// UsageError where a name in `only` is no case.
int bench_comm(const BenchCommOptions& options);

}  // namespace tandem::bench
