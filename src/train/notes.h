// What a Trainer writes into a checkpoint beside model, optimizer and schedules, and reads back: where the run stands, its curves, the
// random generators, what callbacks remember.
#pragma once

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ops/random.h"
#include "runtime/device.h"
#include "train/board.h"
#include "train/losses.h"

namespace tandem::train::detail {

struct RunState {
  using Generators = std::map<std::string, GeneratorState>;            // by device
  using Callbacks = std::vector<std::pair<std::string, std::string>>;  // types and states

  int epoch = 0;                        // done
  int64_t batch = 0;                    // done of the next epoch
  int64_t batches = 0;                  // in an epoch
  int64_t step = 0;                     // of the optimizer, done
  std::array<LossMean, 2> losses = {};  // of the epoch under way
  Callbacks callbacks = {};
  Generators generators = {};
  ProgressBoard board = {};
  ProgressBoard figures = {};  // of each epoch
  double seconds = 0;          // that the run took so far
};

/// The generators of the CPU and of `devices` as they are now.
[[nodiscard]] RunState::Generators generators_now(const std::vector<Device>& devices);
/// Sets the generators of the CPU and of those `devices` that are named.
void set_generators(const RunState::Generators& generators, const std::vector<Device>& devices);

/// The state as notes for a checkpoint.
[[nodiscard]] std::map<std::string, std::string> to_notes(const RunState& state);
/// Reads them back. `path` is named in errors.
[[nodiscard]] RunState from_notes(const std::map<std::string, std::string>& notes, const std::string& path);

}  // namespace tandem::train::detail
