// One round: a list of collectives that every rank makes from the same number, and what goes wrong in it.
#pragma once

#include <cstdint>
#include <string>

namespace fuzz {

struct Round {
  uint64_t seed = 0;
  int ranks = 2;
  bool processes = false;
  /// What one of the ranks does instead of its call number `at`; Nothing: all is well.
  enum class Fault : uint8_t { Nothing, Throws, CallsAnother, OtherDtype, OtherSize, Leaves, Aborts, IsKilled } fault = Fault::Nothing;
  int calls = 10, at = 0, culprit = 0;
};

/// All of it from the seed.
[[nodiscard]] Round make_round(uint64_t seed, bool processes);
/// As a line to read.
[[nodiscard]] std::string describe(const Round& round);

/// A rank's part. Throws what its collectives throw, and std::logic_error where a result is wrong.
void play(const Round& round, int rank);

}  // namespace fuzz
