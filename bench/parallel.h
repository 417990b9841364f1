// `./dev bench parallel`: what several GPUs do that one does not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tandem::bench {

struct BenchParallelOptions {
  bool json = false;              // a JSON document instead of a table
  bool quick = false;             // small pictures, small batches, one round: whether it works, no figures
  std::vector<std::string> only;  // these cases alone
  std::vector<int> gpus = {1, 2};
  int64_t batch = 0;               // pictures a GPU; 0: the published number, fewer on virtual GPUs
  int64_t size = 224;              // of DenseNet's pictures
  int rounds = 5;                  // each once forwards and once backwards through `gpus`
  double ms = 2000;                // about how long a measurement takes
  std::string serve;               // a case: measured when a line of standard input says on how many GPUs
  std::vector<std::string> links;  // links to be modelled
  std::vector<std::string> rates;  // CASE=IMAGES: a GPU's rate for the model, where it was measured elsewhere
};

/// Measures and prints to standard output. Returns the program's exit status, 0. UsageError for a case, a number of GPUs or a link that is
/// not there. Makes virtual GPUs where there are no others.
int bench_parallel(BenchParallelOptions options);

}  // namespace tandem::bench
