// `./dev bench features`: how many pictures a second a network takes the features of.
#pragma once

#include <cstdint>
#include <string>

namespace tandem::bench {

struct BenchFeaturesOptions {
  bool json = false;   // a JSON document instead of text
  int64_t batch = 32;  // pictures
  int64_t size = 224;  // of their sides
  std::string device = "cpu";
  int threads = 0;   // of the thread pool; 0 leaves it as it is
  double ms = 5000;  // about how long it is measured
};

/// Measures ResNet-50 without its last layer, in evaluation mode, on batches that come from the host and features that go back there, and
/// prints to standard output. Returns the program's exit status, 0. UsageError where there is no such device.
int bench_features(const BenchFeaturesOptions& options);

}  // namespace tandem::bench
