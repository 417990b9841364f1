// From a model's message to a program.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "onnx/model.h"
#include "onnx/program.h"

namespace tandem::onnx {

/// What is built of a file.
struct Built {
  Program program;
  std::vector<Tensor> tensors;  // in the order of program.stored
  Summary summary;
};

/// Gives each name a place, and each node its function. Operators that are unknown are listed in the summary, and their nodes have no
/// function. Error, which does not name the file, for a model that makes no sense.
[[nodiscard]] Built build(const ModelProto& model, const std::string& folder, Site site);

}  // namespace tandem::onnx
