#include "autograd/engine.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "autograd/autograd.h"
#include "autograd/history.h"
#include "base/error.h"
#include "ops/operators.h"
#include "runtime/stream.h"

namespace tandem::autograd {
namespace {

/// What one walk knows of a node or a leaf: how many gradients are still to come, and their sum so far, per output.
struct State {
  const void* key;
  Node* node;        // nullptr for a leaf
  TensorImpl* leaf;  // nullptr for a node
  uint32_t waiting = 0;
  bool needed = true;
  Tensor sum;                // output 0
  std::vector<Tensor> more;  // further outputs
  Tensor& slot(uint32_t output) {
    if (output == 0) return sum;
    if (more.size() < output) more.resize(output);
    return more[output - 1];
  }
};

/// Nodes and leaves of one walk, found by address: an open hash table over a vector.
class Graph {
 public:
  Graph() : table_(64, -1) {}

  /// The number of the node's or leaf's state; new ones get one.
  std::pair<int32_t, bool> insert(const void* key, Node* node, TensorImpl* leaf) {
    if (states_.size() * 2 >= table_.size()) grow();
    for (size_t at = hash(key);; at = (at + 1) & (table_.size() - 1)) {
      if (table_[at] < 0) {
        table_[at] = static_cast<int32_t>(states_.size());
        states_.emplace_back();
        states_.back().key = key;
        states_.back().node = node;
        states_.back().leaf = leaf;
        return {table_[at], true};
      }
      if (states_[static_cast<size_t>(table_[at])].key == key) return {table_[at], false};
    }
  }
  std::pair<int32_t, bool> insert(const Edge& edge) {
    return edge.node ? insert(edge.node.get(), edge.node.get(), nullptr) : insert(edge.leaf.get(), nullptr, edge.leaf.get());
  }
  [[nodiscard]] int32_t find(const void* key) const {
    for (size_t at = hash(key);; at = (at + 1) & (table_.size() - 1)) {
      if (table_[at] < 0) return -1;
      if (states_[static_cast<size_t>(table_[at])].key == key) return table_[at];
    }
  }
  State& operator[](int32_t i) { return states_[static_cast<size_t>(i)]; }
  [[nodiscard]] size_t size() const { return states_.size(); }
  void clear() {
    states_.clear();
    if (table_.size() > 4096) table_.assign(64, -1);
    else std::fill(table_.begin(), table_.end(), -1);
  }

 private:
  [[nodiscard]] size_t hash(const void* key) const {
    return (reinterpret_cast<uintptr_t>(key) * 0x9e3779b97f4a7c15ULL >> 32) & (table_.size() - 1);
  }
  void grow() {
    table_.assign(table_.size() * 2, -1);
    for (size_t i = 0; i < states_.size(); ++i) {
      size_t at = hash(states_[i].key);
      while (table_[at] >= 0) at = (at + 1) & (table_.size() - 1);
      table_[at] = static_cast<int32_t>(i);
    }
  }

  std::vector<State> states_;
  std::vector<int32_t> table_;
};

/// Vectors of a walk, kept for the next one of the thread.
struct Walk {
  Graph graph;
  std::vector<std::pair<uint64_t, int32_t>> ready;  // a heap: latest recorded first
  std::vector<int32_t> pending;
  std::vector<Tensor> gradients, results;
  bool in_use = false;

  void clear() {
    graph.clear();
    ready.clear();
    pending.clear();
    gradients.clear();
    results.clear();
  }
};

bool wanted_in_place(const Tensor& x) {
  return x.ref()->use_count() == 1 && x.impl().storage->use_count() == 1 && x.is_contiguous() && !x.impl().needs_grad();
}

/// The gradient of a leaf through its hooks.
Tensor through_hooks(TensorImpl& impl, Tensor gradient) {
  if (!impl.extras) return gradient;
  for (const auto& [number, hook] : impl.extras->hooks) {
    Tensor replaced = hook(gradient);
    if (replaced.defined()) gradient = std::move(replaced);
  }
  return gradient;
}

void add_to_grad(TensorImpl& leaf, Tensor gradient, bool create_graph) {
  if (!leaf.grad.defined()) {
    if (create_graph) {
      leaf.grad = gradient;
    } else if (wanted_in_place(gradient) && leaf.contiguous) {
      leaf.grad = std::move(gradient);  // moved: nothing else holds it
    } else {
      Tensor copy = Tensor(TensorImpl::make(leaf.sizes, gradient.dtype(), gradient.device(), false, Site::here()));
      copy.copy_(gradient);
      leaf.grad = copy;
    }
    return;
  }
  if (create_graph) leaf.grad = leaf.grad + gradient;
  else leaf.grad.add_(gradient);
}

class Runner {
 public:
  Runner(Walk& walk, const std::vector<Edge>& targets, bool retain_graph, bool create_graph)
      : walk_(walk), targets_(targets), captured_(targets.size()), retain_(retain_graph), create_(create_graph) {}

  std::vector<Tensor> run(const std::vector<Edge>& roots, std::vector<Tensor> gradients) {
    count(roots);
    if (!targets_.empty()) find_needed();
    const SetGradGuard mode(create_);
    for (size_t i = 0; i < roots.size(); ++i) deliver_from(nullptr, roots[i], std::move(gradients[i]));
    while (!walk_.ready.empty()) {
      std::pop_heap(walk_.ready.begin(), walk_.ready.end());
      const int32_t at = walk_.ready.back().second;
      walk_.ready.pop_back();
      execute(at);
    }
    return std::move(captured_);
  }

 private:
  /// Counts the gradients that every reachable node and leaf will get.
  void count(const std::vector<Edge>& roots) {
    auto& pending = walk_.pending;
    const auto reach = [&](const Edge& edge) {
      if (!edge) return;
      const auto [at, fresh] = walk_.graph.insert(edge);
      ++walk_.graph[at].waiting;
      if (fresh && edge.node) pending.push_back(at);
    };
    for (const Edge& root : roots) reach(root);
    while (!pending.empty()) {
      Node* node = walk_.graph[pending.back()].node;
      pending.pop_back();
      for (const Edge& edge : node->edges()) reach(edge);
    }
  }

  /// Marks what leads to a target: only that is computed. Nodes are settled after the nodes they lead to.
  void find_needed() {
    Graph& graph = walk_.graph;
    for (size_t i = 0; i < graph.size(); ++i) graph[static_cast<int32_t>(i)].needed = false;
    for (const Edge& target : targets_) {
      const int32_t at = graph.find(target.node ? static_cast<const void*>(target.node.get()) : target.leaf.get());
      if (at >= 0) graph[at].needed = true;
    }
    std::vector<std::pair<int32_t, uint32_t>> path;
    std::vector<bool> settled(graph.size(), false);
    for (size_t i = 0; i < graph.size(); ++i) {
      if (settled[i]) continue;
      path.emplace_back(static_cast<int32_t>(i), 0);
      settled[i] = true;
      while (!path.empty()) {
        auto& [at, next] = path.back();
        Node* node = graph[at].node;
        if (!node || next == node->edges().size()) {
          const int32_t done = at;
          path.pop_back();
          if (!path.empty() && graph[done].needed) graph[path.back().first].needed = true;
          continue;
        }
        const Edge& edge = node->edges()[next++];
        if (!edge) continue;
        const int32_t to = graph.find(edge.node ? static_cast<const void*>(edge.node.get()) : edge.leaf.get());
        if (settled[static_cast<size_t>(to)]) {
          if (graph[to].needed) graph[at].needed = true;
        } else {
          settled[static_cast<size_t>(to)] = true;
          path.emplace_back(to, 0);
        }
      }
    }
  }

  /// Hands a gradient on; the last one that was waited for makes the receiver ready.
  void deliver(const Edge& edge, Tensor gradient) {
    if (!edge) return;
    const int32_t at = walk_.graph.find(edge.node ? static_cast<const void*>(edge.node.get()) : edge.leaf.get());
    State& state = walk_.graph[at];
    if (gradient.defined() && state.needed) {
      accumulate(state.slot(edge.output_nr), std::move(gradient), create_);
    }
    if (--state.waiting > 0) return;
    if (state.node) {
      if (state.needed) {
        walk_.ready.emplace_back(state.node->sequence(), at);
        std::push_heap(walk_.ready.begin(), walk_.ready.end());
      } else {
        skip(at);
      }
    } else if (state.needed) {
      finish_leaf(at);
    }
  }

  /// A node that leads to no target passes nothing on, but those after it must not wait.
  void skip(int32_t at) {
    for (const Edge& edge : walk_.graph[at].node->edges()) deliver(edge, Tensor());
  }

  void capture(const Edge& at_edge, const Tensor& gradient) {
    for (size_t i = 0; i < targets_.size(); ++i) {
      const Edge& target = targets_[i];
      if (target.node == at_edge.node && target.leaf == at_edge.leaf && target.output_nr == at_edge.output_nr) captured_[i] = gradient;
    }
  }

  void finish_leaf(int32_t at) {
    State& state = walk_.graph[at];
    if (!state.sum.defined()) return;
    TensorImpl& leaf = *state.leaf;
    Tensor gradient = through_hooks(leaf, std::move(state.sum));
    state.sum = Tensor();
    if (!targets_.empty()) {
      Edge edge;
      edge.leaf = Ref<TensorImpl>(&leaf);
      capture(edge, gradient);
      return;
    }
    add_to_grad(leaf, std::move(gradient), create_);
  }

  void execute(int32_t at) {
    State& state = walk_.graph[at];
    Ref<Node> node(state.node);  // a graph that nobody else holds must outlive this step
    Tensor gradients_inside[4], results_inside[4];
    const size_t outputs = node->outputs(), inputs = node->edges().size();
    std::vector<Tensor> more_gradients(outputs > 4 ? outputs : 0), more_results(inputs > 4 ? inputs : 0);
    const std::span<Tensor> gradients(outputs > 4 ? more_gradients.data() : gradients_inside, outputs);
    const std::span<Tensor> results(inputs > 4 ? more_results.data() : results_inside, inputs);
    bool any = false;
    for (uint32_t i = 0; i < outputs; ++i) {
      gradients[i] = std::move(state.slot(i));
      any |= gradients[i].defined();
    }
    if (NodeHooks* hooks = node->hooks()) {
      for (uint32_t i = 0; i < outputs; ++i)
        if (gradients[i].defined()) gradients[i] = hooks->run(i, std::move(gradients[i]));
    }
    if (!targets_.empty()) {
      Edge edge;
      edge.node = node;
      for (uint32_t i = 0; i < outputs; ++i) {
        edge.output_nr = i;
        if (gradients[i].defined()) capture(edge, gradients[i]);
      }
    }
    if (any) run_node(*node, gradients, results);
    for (size_t i = 0; i < inputs; ++i) {
      if (results[i].defined() && !node->edges()[i]) results[i] = Tensor();
      deliver_from(node.get(), node->edges()[i], std::move(results[i]));
    }
    if (!retain_) node->forget_saved();
  }

  void run_node(Node& node, std::span<Tensor> gradients, std::span<Tensor> results) {
    if (node.stream && !(cuda::current_stream(cuda::Stream(node.stream).device()) == cuda::Stream(node.stream))) {
      const cuda::StreamGuard guard{cuda::Stream(node.stream)};
      node.backward(gradients, results);
    } else {
      node.backward(gradients, results);
    }
  }

  /// Hands a node's result (nullptr: a gradient from the caller) on, on the receiver's stream, which first waits for the node's where the
  /// two differ.
  void deliver_from(const Node* node, const Edge& edge, Tensor gradient) {
    if (!gradient.defined() || !gradient.is_cuda()) return deliver(edge, std::move(gradient));
    const cuda::Stream around = cuda::current_stream(gradient.device());
    const auto stream_of = [&](const Node* of) {
      return of && of->stream && cuda::Stream(of->stream).device() == gradient.device() ? cuda::Stream(of->stream) : around;
    };
    const cuda::Stream from = stream_of(node), to = stream_of(edge.node.get());
    if (!(from == to)) {
      to.wait_stream(from);
      gradient.record_stream(to);
    }
    if (to == around) return deliver(edge, std::move(gradient));
    const cuda::StreamGuard guard(to);
    deliver(edge, std::move(gradient));
  }

  Walk& walk_;
  const std::vector<Edge>& targets_;
  std::vector<Tensor> captured_;
  bool retain_, create_;
};

}  // namespace

void accumulate(Tensor& sum, Tensor gradient, bool create_graph) {
  if (!sum.defined()) {
    sum = std::move(gradient);
  } else if (!create_graph && wanted_in_place(sum) && sum.sizes() == gradient.sizes() && sum.dtype() == gradient.dtype()) {
    sum.add_(gradient);
  } else {
    sum = sum + gradient;
  }
}

std::vector<Tensor> run_backward(const std::vector<Edge>& roots, std::vector<Tensor> gradients, const std::vector<Edge>& targets,
                                 bool retain_graph, bool create_graph) {
  thread_local Walk kept;
  std::optional<Walk> nested;  // a backward inside a hook or a custom function has its own
  Walk& walk = kept.in_use ? nested.emplace() : kept;
  struct Use {
    Walk& walk;
    explicit Use(Walk& w) : walk(w) { walk.in_use = true; }
    ~Use() {
      walk.clear();
      walk.in_use = false;
    }
  } use(walk);
  return Runner(walk, targets, retain_graph, create_graph).run(roots, std::move(gradients));
}

}  // namespace tandem::autograd
