// `./dev bench gpu`: what a GPU does in a second - copies, products, steps of training.
#pragma once

#include <string>
#include <vector>

namespace tandem::bench {

struct BenchGpuOptions {
  bool json = false;              // a JSON document instead of a table
  std::vector<std::string> only;  // cases; all where none is named
  std::string device = "cuda";
  double ms = 500;  // about how long to measure each
  int shrink = 1;   // divides the sizes: for a quick look on a virtual GPU
};

/// Measures and prints to standard output. Returns the program's exit status, 0. Error where there is no such device or case.
int bench_gpu(const BenchGpuOptions& options);

}  // namespace tandem::bench
