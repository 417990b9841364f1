// An optimizer's state, where each rank steps parts of the parameters: as one dictionary, and divided again. For the library.
#pragma once

#include <vector>

#include "comm/api/distributed.h"
#include "tensor/state_dict.h"
#include "tensor/tensor.h"

namespace tandem::parallel::detail {

/// What the leaves of a rank's optimizer are parts of. Leaves and whole parameters are numbered through all groups.
struct StateLayout {
  /// Some elements of a whole parameter, in row-major order, and where they lie in a leaf. None is empty.
  struct Part {
    size_t leaf = 0;
    int64_t offset = 0;
    size_t parameter = 0;
    int64_t begin = 0, count = 0;
  };
  std::vector<Part> parts;            // this rank's
  std::vector<Tensor> parameters;     // whole ones: their sizes and dtypes
  std::vector<size_t> group_sizes;    // whole parameters in each group
  std::vector<Shape> leaves;          // sizes
  std::vector<size_t> leaves_groups;  // leaves in each group
};

/// The state of an optimizer of the whole parameters, on every rank and on the CPU. Every rank calls it.
[[nodiscard]] StateDict whole_state(const StateDict& divided, const StateLayout& layout, const distributed::ProcessGroup& group, Site site);
/// And back: this rank's part of it. Error for `op` where groups or sizes differ.
[[nodiscard]] StateDict divided_state(const char* op, const StateDict& whole, const StateLayout& layout);

}  // namespace tandem::parallel::detail
