// `./dev bench loader`: whether a loader's workers keep a device busy.
#pragma once

#include <string>
#include <vector>

namespace tandem::bench {

struct BenchLoaderOptions {
  bool json = false;                     // a JSON document instead of a table
  std::vector<int> workers = {0, 1, 2};  // numbers of workers to measure
  int batches = 60;                      // an epoch
  int rounds = 5;                        // epochs of each kind, in turn; the figures are medians
  double decode_ms = 5;                  // what reading a batch costs one core
  double compute_ms = 5;                 // what the device takes for a step
  std::string device = "cuda";
};

/// Measures epochs of reading alone, of computing alone and of both, and prints them to standard output. Returns the program's exit status,
/// 0. UsageError where there is no such device.
int bench_loader(const BenchLoaderOptions& options);

}  // namespace tandem::bench
