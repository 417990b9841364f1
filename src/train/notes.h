// What a Trainer writes into a checkpoint beside model and optimizer, and reads back: epochs done, curves, the random generators.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/device.h"
#include "train/board.h"

namespace tandem::train::detail {

struct RunState {
  int epoch = 0;  // done
  ProgressBoard board;
};

/// The state as notes for save_checkpoint, with the generators of the CPU and of `devices` as they are now.
[[nodiscard]] std::map<std::string, std::string> to_notes(const RunState& state, const std::vector<Device>& devices);
/// Reads them back and sets the generators of the CPU and of those `devices` that the notes name. `path` is named in errors.
[[nodiscard]] RunState from_notes(const std::map<std::string, std::string>& notes, const std::vector<Device>& devices,
                                  const std::string& path);

}  // namespace tandem::train::detail
