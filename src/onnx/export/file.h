// From a graph to the bytes of an ONNX file.
#pragma once

#include <map>
#include <string>

#include "onnx/export/graph.h"

namespace tandem::onnx::exporting {

/// Writes the file whole or not at all. Tensors go into `path` + ".data" where that is asked for, or where the file would be larger than a
/// message may be. `names`: of sizes that depend on the inputs.
void write_file(const std::string& path, const Graph::Finished& graph, int64_t opset, const std::map<Size, std::string>& names,
                bool external_data);

}  // namespace tandem::onnx::exporting
