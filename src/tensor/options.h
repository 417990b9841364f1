// How a new tensor is to be made, and how one is to be moved: structs with PyTorch's keyword names.
#pragma once

#include <optional>

#include "base/dtype.h"
#include "runtime/device.h"

namespace tandem {

/// For factories. What is left out is the default: float32 (or the data's own type), the CPU, no gradient.
struct Options {
  std::optional<DType> dtype = {};
  std::optional<Device> device = {};
  bool requires_grad = false;
  bool pin_memory = false;
};

/// For `to`.
struct ToOptions {
  bool non_blocking = false;  // do not wait for a copy between a card and pinned memory
  bool copy = false;          // a new tensor even where nothing changes
};

}  // namespace tandem
