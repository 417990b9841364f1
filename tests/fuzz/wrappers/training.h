// The loop of a cell: what one process with the whole batch goes through, and each rank against it.
#pragma once

#include <optional>

#include "wrapped.h"

namespace fuzz {

/// What a training went through.
struct Trace {
  struct Step {
    std::vector<Tensor> losses;  // of each row, a vector a micro-batch
    td::StateDict gradients;     // before they are clipped
    std::optional<double> norm;
    double scale = 1, rate = 0;
    bool taken = true;
  };
  std::vector<Step> steps;
  td::StateDict parameters, optimizer, average;
  std::vector<td::StateDict> buffers;  // of each rank
};

/// One process with the whole batch.
[[nodiscard]] Trace reference(const Cell& cell);

/// A rank's part of a cell, or all of DataParallel's: steps before the checkpoint (`second` false) or after it. Compares with the reference
/// as it goes. Throws std::logic_error at the first difference, and what the library throws. `folder` is for the checkpoint.
void train_rank(const Cell& cell, bool second, int rank, const Trace& expected, const std::string& folder);

}  // namespace fuzz
