// Which call of a trace reads and writes what, and which calls are the same whatever the input is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compile/trace.h"

namespace tandem::compiling {

/// Memory that is there before the module is called.
struct Range {
  const char* begin;
  size_t bytes;
  bool may_change = false;  // forward may write there: a buffer, while gradients are recorded
  [[nodiscard]] bool has(const char* address) const { return address >= begin && address < begin + bytes; }
};

/// Where an address goes.
struct Use {
  static constexpr int kInput = -1, kModule = -2;

  Address address;
  int block;  // of the trace, or one of the above
};

/// A call and its uses.
struct Node {
  std::unique_ptr<Call> call;
  std::vector<Use> uses;
};

/// What is known of a block, by the places of nodes in `Flow::nodes`. A node that reads it twice is there twice.
struct BlockFlow {
  std::vector<int> writers, readers;
  bool constant = true;  // the same in each call
  bool plain = false;    // one call writes all of it, and all that read it read all of it; its elements lie in order
};

struct Flow {
  std::string why;              // why it cannot be done again for another input; empty where it can
  std::vector<Node> constants;  // whose results do not depend on the input, in order
  std::vector<Node> nodes;      // the others, in order
  std::vector<std::shared_ptr<Block>> memory;
  std::vector<BlockFlow> blocks;  // as many; readers and writers of `nodes`
  int result = -1;                // the block that the result lies in
  int backward_from = 0;          // the place in `nodes` where backward begins; their number where there is none

  /// Whether all that a node reads at `address` is the same in each call.
  [[nodiscard]] bool is_constant(const Node& node, const void* address) const;
  /// The node's use that begins at `address`; nullptr where there is none.
  [[nodiscard]] static const Use* use_of(const Node& node, const void* address, Touch kind = Touch::Read);
};

/// `module`: the memory of parameters and buffers; where gradients were recorded nothing that depends on it is constant. Where the result
/// has a `why`, nothing else of it counts.
[[nodiscard]] Flow flow_of(Trace& trace, const Range& input, const std::vector<Range>& module);

}  // namespace tandem::compiling
