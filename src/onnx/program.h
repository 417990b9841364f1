// A model as it is done: its graphs with places in the place of names, and what its file holds beside them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "onnx/proto.h"
#include "tensor/tensor.h"

namespace tandem::onnx {

class Call;
struct OperatorRow;

/// What stands at a place while a model runs.
struct Value {
  Tensor tensor;  // where the model computes
  Tensor host;    // the same values on the CPU, where they can be read without a wait; undefined where they are not known there
  std::shared_ptr<const std::vector<Tensor>> sequence;

  /// Whether there is anything.
  [[nodiscard]] bool defined() const { return tensor.defined() || host.defined() || sequence; }
};

/// No place: an input or output that is left out.
inline constexpr int kNoPlace = -1;

struct Graph;

/// An operator, ready to be called.
struct Node {
  std::string name;  // as errors show it: "node 'conv1' (Conv)"
  std::string op;
  const OperatorRow* row = nullptr;
  int64_t version = 0;  // of the operators that are meant
  std::vector<int> inputs, outputs;
  std::vector<AttributeProto> attributes;
  std::vector<std::pair<std::string, Tensor>> tensors;                 // attributes that are tensors
  std::vector<std::pair<std::string, std::unique_ptr<Graph>>> graphs;  // attributes that are graphs
  std::vector<int> reads;                                              // places that it, or a graph in it, reads
  std::vector<int> last;                                               // places that nobody reads after it
};

/// Nodes in the order in which they are done.
struct Graph {
  std::vector<Node> nodes;
  std::vector<int> inputs, outputs;
};

/// A tensor that the file holds.
struct Stored {
  enum class Kind : uint8_t { Parameter, Buffer, Constant };
  std::string name;
  int place = kNoPlace;
  Kind kind = Kind::Buffer;
  Tensor host;  // of what is small and no parameter
};

/// A named value that goes in or comes out.
struct Port {
  std::string name;
  int place = kNoPlace;
};

/// All of it. Models share it, and nothing changes it.
struct Program {
  std::string file;  // as errors show it
  int places = 0;
  Graph graph;
  std::vector<Stored> stored;
  std::vector<Port> inputs, defaults, outputs;  // `defaults`: inputs that the file has a value for
};

}  // namespace tandem::onnx
