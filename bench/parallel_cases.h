// What is measured on one and on several GPUs: four networks in training, and products.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "runtime/device.h"

namespace tandem::bench {

/// How large the work is.
struct ParallelSizes {
  int64_t batch = 0;  // pictures a GPU; 0: each case's own
  int64_t picture = 224;
  int64_t product = 1000;  // rows and columns
  bool virtual_gpus = true;
};

/// Work for some devices, which live as long as it does.
struct ParallelWork {
  std::function<void()> step;  // queues one step
  double units = 0;            // pictures or products a step
  int64_t batch = 0;           // of these, how many a device gets
};

struct ParallelCase {
  const char* name;
  const char* what;
  const char* unit;
  ParallelWork (*make)(std::span<const Device> devices, const ParallelSizes& sizes);
  int64_t batch;       // a GPU, as published
  int64_t parameters;  // whose gradients the GPUs exchange at each step; 0: nothing is exchanged
};

[[nodiscard]] std::span<const ParallelCase> parallel_cases();

/// Waits for all work of the devices.
void wait_for(std::span<const Device> devices);

}  // namespace tandem::bench
