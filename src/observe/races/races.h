// Races between streams: work on one stream that uses memory which another's work, or the host, uses without having waited.
//
// A Checker follows which work comes behind which - streams, events, waits, copies, graphs, memory that is handed out again - and reports
// uses of the same bytes of which one writes and neither waits for the other, whether or not anything went wrong this time. On virtual and
// real GPUs. What host threads do to each other is the thread sanitizer's business, and not reported.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"
#include "runtime/device.h"

namespace tandem::races {

/// One of the two that use the memory of a race.
struct Operation {
  std::string name;  // "mul", also of mul_
  std::string file;  // the user's line; empty where it is not known, as that of `data_ptr`
  int line = 0;
  Device device{};     // of the stream; the CPU: the host itself
  int stream = -1;     // the stream's id, 0 the default stream; -1 the host
  bool writes = true;  // else it reads
};

/// A race, or all of one pair of lines.
struct Report {
  std::string text;               // all of it, for people
  Operation first, second;        // as they were asked for: nothing makes `second` wait for `first`
  Device device{};                // of the memory
  const void* address = nullptr;  // where the second's tensor begins: the kernels' address, and it may be handed out again
  size_t bytes = 0;               // from its first to its last one
  Shape sizes;
  DType dtype = DType::Float32;
  std::string missing;  // the wait that would have been needed
  int64_t count = 1;    // how often
};

/// Follows what happens from its constructor to its destructor, in all threads. Earlier uses are not known to it. Several may be at work.
/// Costs a few microseconds an operation.
class Checker {
 public:
  Checker();
  ~Checker();
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  /// What was found since the beginning, or since `clear`: one report for each pair of lines, in the order found, at most 1,000.
  [[nodiscard]] std::vector<Report> reports() const;
  /// Forgets the reports. What uses memory is still known.
  void clear();
  /// How many ranges of memory were given up because more than 65,536 were in use at once: races there are not found.
  [[nodiscard]] int64_t forgotten() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace tandem::races
