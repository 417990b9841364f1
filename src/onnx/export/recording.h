// What a module does, as kernel calls: traced once for each set of sizes, and put side by side.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compile/trace.h"
#include "onnx/export/size.h"
#include "tensor/tensor.h"

namespace tandem::onnx::exporting {

/// Computes outputs from inputs.
using Forward = std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>;
/// A module's tensor under its name.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// Memory that was there before the module was called.
struct Range {
  const char* begin;
  size_t bytes;
};
/// A tensor that is neither an input nor the module's: its bytes, as they were when a kernel was to read them.
struct Captured {
  Range range;
  std::string bytes;
};

/// The module's tensors lie in memory of the CPU while this lives; GPUs' are given memory that nobody reads.
class OnHost {
 public:
  explicit OnHost(const NamedTensors& tensors);
  ~OnHost();
  OnHost(const OnHost&) = delete;
  OnHost& operator=(const OnHost&) = delete;

 private:
  struct Moved {
    Tensor tensor;
    Storage* storage;
    Device device;
  };
  std::vector<Moved> moved_;
};

/// One trace.
struct Recording {
  compiling::Trace trace;
  std::vector<Tensor> inputs, outputs;
  std::vector<Captured> captured;
  std::string error;  // empty where it went well
};

/// Calls `forward` without computing, on inputs of these sizes. `module`: the memory of the module's tensors.
[[nodiscard]] std::unique_ptr<Recording> record(const Forward& forward, const std::vector<Tensor>& examples,
                                                const std::vector<Shape>& sizes, const std::vector<Range>& module);

}  // namespace tandem::onnx::exporting
