// What a compiled module has at a call, and what keeps it from being compiled.
#pragma once

#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"
#include "compile/flow.h"
#include "nn/module.h"

namespace tandem::compiling {

/// A parameter or buffer as plans know it. It is held, so that no other can take its place: as long as it has the same version, it has
/// the same values in the same memory.
struct Known {
  Tensor tensor;
  const void* data;
  Shape sizes, strides;
  DType dtype;
  [[nodiscard]] bool is(const Known& other) const {
    return tensor.is_same(other.tensor) && data == other.data && dtype == other.dtype && sizes == other.sizes && strides == other.strides;
  }
};

struct Seen {
  Seen(const nn::ModuleBase& module, const Tensor& x);

  /// Why the module is to be called itself; an empty text where nothing stands in the way.
  const char* why = "";
  std::vector<nn::ModuleBase*> modules;  // the module and all below it
  std::vector<Known> known;              // parameters and buffers
  std::vector<uint32_t> versions;        // theirs
  std::vector<Range> memory;             // where they lie
  bool records = false;                  // gradients are recorded, and something wants one
  std::string mode;                      // which parts train, and which tensors want gradients; empty where nothing is recorded

  // Where gradients are recorded:
  std::vector<Tensor> tensors;  // parameters and buffers, each once
  std::vector<Tensor> wanted;   // what gets gradients: the input, where it wants one, and parameters
  bool input_wanted = false;    // the first of `wanted` is the input
};

}  // namespace tandem::compiling
