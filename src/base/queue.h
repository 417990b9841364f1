// What a kernel is handed besides its data: the stream it runs on, its share of the cores, and a word to report trouble to.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/site.h"

namespace tandem {

/// What a kernel can find wrong with values that only it sees.
enum class Trouble : int32_t {
  None = 0,
  IndexOutOfRange,  // a = the index, b = the size it must stay below
  DivisionByZero,   // integer division or remainder by zero
  Unsupported,      // this backend has no kernel for the dtype: a = the dtype
  Library,          // a library failed: a = its code, -1 for a missing one; b = 1: the GPU's, for a launch; b = 2: a = a lasting text
  Singular,         // a matrix has no inverse: a = its place in the batch, or -1; b = the first zero on the diagonal, counted from 1
  NotPositive,      // a matrix is not positive-definite: a = its place in the batch, or -1; b = the order of the leading minor
  NoConvergence,    // an iteration over a matrix did not end: a = its place in the batch, or -1
  NotProbability,   // a number outside [0, 1]: a = its bits as a double, b = 1 for a loss' input, 2 for its target, else 0
};

/// The first trouble met on a queue; later ones are dropped.
struct Status {
  std::atomic<Trouble> trouble{Trouble::None};
  std::atomic<int64_t> a{0}, b{0};
  const char* op = "";  // whose it was, where many operations share a status: a GPU's kernels write it
  Site site = Site::none();

  void report(Trouble what, int64_t first = 0, int64_t second = 0) {
    Trouble none = Trouble::None;
    if (!trouble.compare_exchange_strong(none, what)) return;
    a.store(first);
    b.store(second);
  }
};

/// What a replayed graph changes: its kernels were queued once, with numbers that would be new each time.
struct Replay {
  uint64_t random_seed = 0;    // in place of the seed of random numbers
  uint64_t random_offset = 0;  // added to their offset
  int64_t steps = 0;           // added to the step counts of optimizers
};

/// Where a kernel runs. Made on the caller's stack for the CPU and CUDA, by the stream's thread on a virtual GPU.
struct Queue {
  void* stream = nullptr;          // the backend's own handle: a cudaStream_t, a virtual stream, nothing for the CPU
  Status* status = nullptr;        // where trouble is reported that shows at once
  const char* op = "";             // the operation, for messages
  Site site = Site::none();        // the user's line
  int threads = 1;                 // the most threads the kernel may use, its own included
  int device = -1;                 // the device's index, -1 for the CPU
  Status* late = nullptr;          // where a CUDA kernel reports while it runs, read at the next synchronization
  const Replay* replay = nullptr;  // in a graph, memory of the GPU; nullptr elsewhere
};

}  // namespace tandem
