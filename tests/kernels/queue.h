// A queue on the CPU for kernel tests.
#pragma once

#include "base/queue.h"

namespace tandem::kernels::testing {

/// A queue of its own status.
struct TestQueue : Queue {
  explicit TestQueue(int count = 2) {
    op = "test";
    threads = count;
    status = &own;
  }
  TestQueue(const TestQueue&) = delete;
  [[nodiscard]] Trouble trouble() const { return own.trouble.load(); }
  Status own;
};

}  // namespace tandem::kernels::testing
