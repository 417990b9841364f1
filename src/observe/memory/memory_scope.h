// Leaks: which lines still hold memory that was taken within a scope.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device.h"

namespace tandem::cuda::memory {

/// What was taken while the scope lives, by any thread, of GPUs' memory and of page-locked host memory, and is held still:
///
///     const td::cuda::memory::Scope scope;
///     train_one_step();
///     EXPECT_EQ(scope.report(), "");
///
/// Scopes may be nested and live in several threads at once; each sees what all threads take. What was there before does not count,
/// whatever becomes of it. The host's pageable memory is not followed.
class Scope {
 public:
  Scope();
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  /// Blocks that a line holds of one device's memory; the device is the CPU for page-locked memory.
  struct Held {
    Device device;
    std::string file;
    int line = 0;
    size_t bytes = 0, count = 0;
  };
  /// By line, those that hold most first.
  [[nodiscard]] std::vector<Held> held() const;
  /// A line for each: "train.cpp:33 holds 4.00 MiB in 2 blocks of cuda:0". Empty where nothing is held.
  [[nodiscard]] std::string report() const;

 private:
  class Followed;
  std::unique_ptr<Followed> followed_;
};

}  // namespace tandem::cuda::memory
