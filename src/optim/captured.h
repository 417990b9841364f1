// What is different for an optimizer in the capture of a graph: its kernels are replayed with the memory and the numbers of now.
#pragma once

#include "base/error.h"
#include "runtime/capture.h"
#include "tensor/tensor.h"

namespace tandem::optim::detail {

/// Whether a step for `device` is captured. Error where it would make `state` then, since each replay would begin with a new one.
inline bool is_captured(const char* op, Device device, const Tensor& state) {
  if (!device.is_cuda() || !runtime::capture_of_current_stream(device)) return false;
  if (!state.defined()) fail("[", op, "] a step can be captured once the optimizer has its state: take a step before the capture");
  return true;
}

[[noreturn]] inline void fail_stepped_outside(const char* op, int64_t steps, int64_t expected) {
  fail("[", op, "] the optimizer has taken ", steps, " steps, but the graph that is replayed goes on from ", expected,
       ": it was stepped or loaded outside of the graph; capture it again");
}

}  // namespace tandem::optim::detail
