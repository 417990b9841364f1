#include "compile/flow.h"

#include <algorithm>

#include "base/error.h"
#include "tensor/tensor_impl.h"

namespace tandem::compiling {
namespace {

/// Finds out where each touch goes. What stands in the way of doing it again, or an empty text.
std::string place(Trace& trace, const Range& input, const std::vector<Range>& module, std::vector<Node>& nodes) {
  std::vector<bool> written(trace.blocks().size());
  for (std::unique_ptr<Call>& call : trace.calls()) {
    Node node{std::move(call), {}};
    const char* const op = node.call->op();
    for (const Touch& touch : node.call->touches()) {
      const int found = trace.find(touch.begin);
      Use use{touch, found};
      if (found < 0) {
        if (input.has(touch.begin)) use.block = Use::kInput;
        else if (std::any_of(module.begin(), module.end(), [&](const Range& range) { return range.has(touch.begin); }))
          use.block = Use::kModule;
        else return str('[', op, "] uses a tensor that is neither the input nor a parameter or buffer: name it in fields()");
        if (touch.kind != Touch::Reads) return str('[', op, "] changes a tensor that was there before");
      } else if (touch.kind == Touch::Reads && !written[static_cast<size_t>(found)] &&
                 !trace.blocks()[static_cast<size_t>(found)]->host_written) {
        return str('[', op, "] reads what no operation has written");
      }
      node.uses.push_back(use);
    }
    for (const Use& use : node.uses) {
      if (use.touch.kind != Touch::Writes || use.block < 0) continue;
      if (trace.blocks()[static_cast<size_t>(use.block)]->host_written)
        return str('[', op, "] changes values that were written by the host");
      written[static_cast<size_t>(use.block)] = true;
    }
    nodes.push_back(std::move(node));
  }
  return {};
}

/// Marks the blocks that depend on the input, until nothing changes: what reads one writes only such, and so does what writes one.
void find_constants(const std::vector<Node>& nodes, std::vector<BlockFlow>& blocks) {
  const auto varies = [&](const Use& use) {
    return use.block == Use::kInput || (use.block >= 0 && !blocks[static_cast<size_t>(use.block)].constant);
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const Node& node : nodes) {
      if (std::none_of(node.uses.begin(), node.uses.end(), varies)) continue;
      for (const Use& use : node.uses)
        if (use.touch.kind != Touch::Reads && use.block >= 0 && blocks[static_cast<size_t>(use.block)].constant) {
          blocks[static_cast<size_t>(use.block)].constant = false;
          changed = true;
        }
    }
  }
}

}  // namespace

bool Flow::is_constant(const Node& node, const void* address) const {
  const Use* const use = use_of(node, address);
  return use && (use->block == Use::kModule || (use->block >= 0 && blocks[static_cast<size_t>(use->block)].constant));
}

const Use* Flow::use_of(const Node& node, const void* address, Touch::Kind kind) {
  for (const Use& use : node.uses)
    if (*use.touch.at == address && use.touch.kind == kind) return &use;
  return nullptr;
}

Flow flow_of(Trace& trace, const Range& input, const std::vector<Range>& module, std::string& why) {
  Flow flow;
  flow.memory = trace.blocks();
  flow.blocks.resize(flow.memory.size());
  flow.result = trace.find(trace.result().impl().storage->data());
  std::vector<Node> all;
  why = place(trace, input, module, all);
  if (!why.empty()) return flow;
  find_constants(all, flow.blocks);
  if (flow.blocks[static_cast<size_t>(flow.result)].constant) why = "its result does not depend on its input";
  for (Node& node : all) {
    const bool constant = std::all_of(node.uses.begin(), node.uses.end(), [&](const Use& use) {
      return use.block == Use::kModule || (use.block >= 0 && flow.blocks[static_cast<size_t>(use.block)].constant);
    });
    (constant ? flow.constants : flow.nodes).push_back(std::move(node));
  }
  std::vector<bool> partly(flow.blocks.size());
  for (size_t i = 0; i < flow.nodes.size(); ++i)
    for (const Use& use : flow.nodes[i].uses) {
      if (use.block < 0) continue;
      const auto b = static_cast<size_t>(use.block);
      (use.touch.kind == Touch::Reads ? flow.blocks[b].readers : flow.blocks[b].writers).push_back(static_cast<int>(i));
      if (!use.touch.dense || use.touch.begin != flow.memory[b]->data || use.touch.bytes != flow.memory[b]->bytes ||
          *use.touch.at != use.touch.begin)
        partly[b] = true;
    }
  for (size_t b = 0; b < flow.blocks.size(); ++b) flow.blocks[b].plain = !partly[b] && flow.blocks[b].writers.size() == 1;
  return flow;
}

}  // namespace tandem::compiling
