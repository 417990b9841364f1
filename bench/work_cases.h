// The networks of `./dev bench work`, each on one batch that does not change.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "io/safetensors.h"
#include "runtime/device.h"

namespace tandem::bench {

/// A network, its batch and, for training, its optimizer, on a device.
struct Work {
  std::function<void()> run;  // one step of training, or one inference; on a GPU it is queued
  /// All that another library needs to do the same, and what comes out: the network's state under "model.", its input "x" and "output"; of
  /// training also "target", "loss" and "gradient_norm", that of all gradients together. To be called before `run`.
  std::function<io::TensorMap()> answers;
  std::function<int64_t()> flops;  // of one `run`: two for each multiply-add; a step of training counts as three forward passes
};

struct WorkCase {
  const char* name;
  const char* what;
  int64_t batch;                               // samples, unless another number is asked for
  Work (*make)(int64_t batch, Device device);  // draws weights and data from the default generator
};

[[nodiscard]] std::span<const WorkCase> work_cases();

}  // namespace tandem::bench
