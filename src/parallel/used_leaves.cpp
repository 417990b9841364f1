#include "parallel/used_leaves.h"

#include <unordered_set>
#include <vector>

#include "autograd/history.h"

namespace tandem::parallel::detail {

std::unordered_map<const TensorImpl*, const autograd::Node*> leaves_behind(std::span<const Tensor> outputs) {
  std::unordered_map<const TensorImpl*, const autograd::Node*> leaves;
  std::unordered_set<const autograd::Node*> met;
  std::vector<const autograd::Node*> pending;
  const auto reach = [&](const autograd::Edge& edge, const autograd::Node* user) {
    if (edge.leaf) leaves.emplace(edge.leaf.get(), user);
    if (edge.node && met.insert(edge.node.get()).second) pending.push_back(edge.node.get());
  };
  for (const Tensor& output : outputs) reach(autograd::edge_of(output), nullptr);
  while (!pending.empty()) {
    const autograd::Node* node = pending.back();
    pending.pop_back();
    for (const autograd::Edge& edge : node->edges()) reach(edge, node);
  }
  return leaves;
}

}  // namespace tandem::parallel::detail
