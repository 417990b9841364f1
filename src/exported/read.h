// From a program's JSON to nodes that can be done. The names are those of torch/_export/serde/schema.py.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "exported/archive.h"
#include "exported/program.h"

namespace tandem::exported {

/// A program, its tensors, and the operations that tandem does not have.
struct Read {
  Program program;
  std::vector<Tensor> tensors;  // in the order of the program's
  std::vector<std::string> missing;
};

/// Reads the program. `weights` are the file's tensors by name, constants too. Error for what makes no sense.
[[nodiscard]] Read read_program(const nlohmann::json& content, const std::map<std::string, Weight>& weights);

}  // namespace tandem::exported
