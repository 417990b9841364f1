// `./dev bench work`: what steps of training and inference of whole networks take.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tandem::bench {

struct BenchWorkOptions {
  bool list = false;               // only name the cases; with json also what they are
  bool json = false;               // a JSON document instead of a table
  bool serve = false;              // measure the one case whenever a line of standard input comes, and answer it with a document in a line
  std::vector<std::string> cases;  // names; empty: all
  std::string save;                // a folder: write CASE.safetensors there instead of measuring
  int64_t batch = 0;               // samples; 0: each case's own
  std::string device = "cpu";
  int threads = 0;   // of the thread pool; 0 leaves it as it is
  double ms = 1000;  // about how long each case is measured
};

/// Measures networks and prints to standard output. Returns the program's exit status, 0. UsageError for a case that there is not, for
/// `serve` without exactly one case, and where there is no such device.
int bench_work(const BenchWorkOptions& options);

}  // namespace tandem::bench
