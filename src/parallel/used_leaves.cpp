#include "parallel/used_leaves.h"

#include <vector>

#include "autograd/history.h"

namespace tandem::parallel::detail {

std::unordered_set<const TensorImpl*> leaves_behind(std::span<const Tensor> outputs) {
  std::unordered_set<const TensorImpl*> leaves;
  std::unordered_set<const autograd::Node*> met;
  std::vector<const autograd::Node*> pending;
  const auto reach = [&](const autograd::Edge& edge) {
    if (edge.leaf) leaves.insert(edge.leaf.get());
    if (edge.node && met.insert(edge.node.get()).second) pending.push_back(edge.node.get());
  };
  for (const Tensor& output : outputs) reach(autograd::edge_of(output));
  while (!pending.empty()) {
    const autograd::Node* node = pending.back();
    pending.pop_back();
    for (const autograd::Edge& edge : node->edges()) reach(edge);
  }
  return leaves;
}

}  // namespace tandem::parallel::detail
