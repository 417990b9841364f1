// An exported program as it is done: its nodes with places in the place of names, and what its file holds beside them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "exported/model.h"
#include "tensor/tensor.h"

namespace tandem::exported {

struct OperatorRow;

/// What operations take and give. Nothing stands for None, and for devices, layouts and memory formats, which the module has its own of.
using Value =
    std::variant<std::monostate, Tensor, std::vector<Tensor>, Scalar, std::vector<Scalar>, std::string, std::vector<std::string>, DType>;

/// No place: an output that nobody wants, an item of a list that is a constant.
inline constexpr int kNoPlace = -1;

/// An argument of a node: a constant, a place, or a list some of whose items are places.
struct Argument {
  std::string name;
  Value value;                   // a constant; of a list, its items that are none stay
  std::vector<int> places = {};  // empty for a constant; of a list, one an item
  bool is_list = false;
};

/// An operation, ready to be called.
struct Node {
  /// How `self` is written to: not at all, by the result in its place where nobody else sees it, or by a copy into its memory.
  enum class Writes : uint8_t { Nothing, Name, Memory };

  std::string name;    // as errors show it: 'conv2d_1'
  std::string target;  // as the file has it: torch.ops.aten.conv2d.default
  const OperatorRow* row = nullptr;
  Writes writes = Writes::Nothing;
  std::vector<Argument> arguments;
  std::vector<int> outputs;
  std::vector<int> last;  // places that nobody reads after it
};

/// A tensor that the file holds.
struct Stored {
  enum class Kind : uint8_t { Parameter, Buffer, Constant };
  std::string name;
  int place = kNoPlace;
  Kind kind = Kind::Constant;
};

/// A buffer, or an input, that takes a value when the nodes are done.
struct Mutation {
  int from = kNoPlace, to = kNoPlace;
};

/// The smallest and the largest that a size may be.
struct Range {
  std::optional<int64_t> least, most;
};

/// All of it. Models share it, and nothing changes it.
struct Program {
  std::string file;  // as errors show it
  int places = 0;
  std::vector<Node> nodes;
  std::vector<Stored> stored;
  std::vector<InputInfo> inputs;
  std::vector<int> input_places;        // one an input
  std::vector<Argument> outputs;        // what the program gives
  std::vector<Mutation> mutations;      // what it changes beside
  std::map<std::string, Range> ranges;  // of sizes that are known only when the program runs, by name
};

}  // namespace tandem::exported
