// `./dev bench ops`: how fast each operation is, held against what the machine can do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tandem::bench {

struct BenchOpsOptions {
  std::vector<std::string> names;  // operations; all that have something to measure where empty
  bool json = false;
  bool list = false;         // only names them
  int64_t size = 1'000'000;  // elements, about
  std::string device = "cpu";
  int threads = 0;  // of the thread pool; 0 leaves it as it is
  double ms = 100;  // about how long each is measured
};

/// Measures and prints to standard output. Returns the program's exit status, 0. UsageError for an unknown name or device.
int bench_ops(const BenchOpsOptions& options);

}  // namespace tandem::bench
