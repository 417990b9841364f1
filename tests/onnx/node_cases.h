// ONNX's own tests: folders of a model with inputs and the outputs that it has to give.
#pragma once

#include <string>

namespace node_cases {

/// How a case ended.
enum class Outcome { Passed, Failed, Missing, DType };

/// What became of a case: Missing where an operator is, DType where an element type is none of ours.
struct Result {
  Outcome outcome;
  std::string why;
};

/// Runs the model of a folder on each of its sets of data, `test_data_set_0` and so on, and compares.
[[nodiscard]] Result run(const std::string& folder, const std::string& device);

}  // namespace node_cases
