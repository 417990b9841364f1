#include "compile/flow.h"

#include <algorithm>

#include "base/error.h"
#include "tensor/tensor_impl.h"

namespace tandem::compiling {
namespace {

/// Finds out where each address goes. What stands in the way of doing it again, or an empty text.
std::string place(Trace& trace, const Range& input, const std::vector<Range>& module, std::vector<Node>& nodes) {
  std::vector<bool> written(trace.blocks().size());
  const int result = trace.find(trace.result()), output_gradient = trace.find(trace.output_gradient());
  if (output_gradient >= 0) written[static_cast<size_t>(output_gradient)] = true;
  for (std::unique_ptr<Call>& call : trace.calls()) {
    const bool backward = trace.has_gradients() && nodes.size() >= trace.backward_from();
    Node node{std::move(call), {}};
    const char* const op = node.call->op();
    for (const Address& address : node.call->addresses()) {
      const int found = trace.find(address.begin);
      Use use{address, found};
      if (found < 0) {
        const auto owner = std::find_if(module.begin(), module.end(), [&](const Range& range) { return range.has(address.begin); });
        if (input.has(address.begin)) use.block = Use::kInput;
        else if (owner != module.end()) use.block = Use::kModule;
        else return str('[', op, "] uses a tensor that is neither the input nor a parameter or buffer: name it in fields()");
        if (address.kind != Touch::Read && (use.block == Use::kInput || !owner->may_change || backward))
          return str('[', op, "] changes a tensor that was there before");
      } else if (backward && address.kind != Touch::Read && (found == result || found == output_gradient)) {
        return str('[', op, "] of its backward changes what it was given");
      } else if (address.kind == Touch::Read && !written[static_cast<size_t>(found)] &&
                 !trace.blocks()[static_cast<size_t>(found)]->host_written) {
        return str('[', op, "] reads what no operation has written");
      }
      node.uses.push_back(use);
    }
    for (const Use& use : node.uses) {
      if (use.address.kind != Touch::Written || use.block < 0) continue;
      if (trace.blocks()[static_cast<size_t>(use.block)]->host_written)
        return str('[', op, "] changes values that were written by the host");
      written[static_cast<size_t>(use.block)] = true;
    }
    nodes.push_back(std::move(node));
  }
  return {};
}

/// Whether what a call uses is the same each time.
bool is_constant(const Use& use, const std::vector<BlockFlow>& blocks, bool module_changes) {
  if (use.block >= 0) return blocks[static_cast<size_t>(use.block)].constant;
  return use.block == Use::kModule && !module_changes;
}

/// Marks the blocks that depend on the input, until nothing changes: what reads one writes only such, and so does what writes one.
void find_constants(const std::vector<Node>& nodes, std::vector<BlockFlow>& blocks, bool module_changes) {
  const auto varies = [&](const Use& use) { return !is_constant(use, blocks, module_changes); };
  for (bool changed = true; changed;) {
    changed = false;
    for (const Node& node : nodes) {
      if (std::none_of(node.uses.begin(), node.uses.end(), varies)) continue;
      for (const Use& use : node.uses)
        if (use.address.kind != Touch::Read && use.block >= 0 && blocks[static_cast<size_t>(use.block)].constant) {
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

const Use* Flow::use_of(const Node& node, const void* address, Touch kind) {
  for (const Use& use : node.uses)
    if (*use.address.at == address && use.address.kind == kind) return &use;
  return nullptr;
}

Flow flow_of(Trace& trace, const Range& input, const std::vector<Range>& module) {
  Flow flow;
  flow.memory = trace.blocks();
  flow.blocks.resize(flow.memory.size());
  flow.result = trace.find(trace.result());
  std::vector<Node> all;
  flow.why = place(trace, input, module, all);
  if (!flow.why.empty()) return flow;
  const bool module_changes = trace.has_gradients();
  // What is given away is new in each call.
  for (const Tensor& gradient : trace.gradients())
    if (const int block = trace.find(gradient); block >= 0) flow.blocks[static_cast<size_t>(block)].constant = false;
  if (const int block = trace.find(trace.output_gradient()); block >= 0) flow.blocks[static_cast<size_t>(block)].constant = false;
  find_constants(all, flow.blocks, module_changes);
  if (flow.blocks[static_cast<size_t>(flow.result)].constant) {
    flow.why = "its result does not depend on its input";
    return flow;
  }
  for (size_t i = 0; i < all.size(); ++i) {
    if (module_changes && i == trace.backward_from()) flow.backward_from = static_cast<int>(flow.nodes.size());
    const bool constant =
        std::all_of(all[i].uses.begin(), all[i].uses.end(), [&](const Use& use) { return is_constant(use, flow.blocks, module_changes); });
    (constant ? flow.constants : flow.nodes).push_back(std::move(all[i]));
  }
  if (!module_changes || trace.backward_from() == all.size()) flow.backward_from = static_cast<int>(flow.nodes.size());
  std::vector<bool> partly(flow.blocks.size());
  for (size_t i = 0; i < flow.nodes.size(); ++i)
    for (const Use& use : flow.nodes[i].uses) {
      if (use.block < 0) continue;
      const auto b = static_cast<size_t>(use.block);
      (use.address.kind == Touch::Read ? flow.blocks[b].readers : flow.blocks[b].writers).push_back(static_cast<int>(i));
      if (!use.address.dense || use.address.begin != flow.memory[b]->data || use.address.bytes != flow.memory[b]->bytes ||
          *use.address.at != use.address.begin)
        partly[b] = true;
    }
  for (size_t b = 0; b < flow.blocks.size(); ++b) flow.blocks[b].plain = !partly[b] && flow.blocks[b].writers.size() == 1;
  return flow;
}

}  // namespace tandem::compiling
