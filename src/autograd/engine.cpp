#include "autograd/engine.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "autograd/anomaly.h"
#include "autograd/autograd.h"
#include "autograd/hooks.h"
#include "base/error.h"
#include "base/wait_scope.h"
#include "base/work_site.h"
#include "ops/autocast.h"
#include "ops/operators.h"
#include "ops/reduce.h"
#include "runtime/capture.h"
#include "runtime/observer.h"
#include "runtime/stream.h"
#include "runtime/stream_record.h"

namespace tandem::autograd {
namespace {

using runtime::StreamRecord;
using tandem::detail::WorkSite;

/// What one walk knows of a node or a leaf: how many gradients are still to come, and their sum so far, per output.
struct State {
  const void* key;
  Node* node;        // nullptr for a leaf
  TensorImpl* leaf;  // nullptr for a node
  uint32_t waiting = 0;
  bool needed = true;        // is a target or leads to one
  bool runs = true;          // leads to one: its own gradient is wanted further on
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
  [[nodiscard]] int32_t find(const Edge& edge) const {
    return find(edge.node ? static_cast<const void*>(edge.node.get()) : edge.leaf.get());
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
  std::vector<std::function<void()>> callbacks;  // for the end of the walk
  int depth = 0;                                 // 1, or more of a walk within walks

  void clear() {
    graph.clear();
    ready.clear();
    pending.clear();
    callbacks.clear();
  }
};

thread_local constinit Walk* running_walk = nullptr;

/// A stream, and its GPU, are the calling thread's until the end of the scope. nullptr: all stays as it is.
class OnStream {
 public:
  explicit OnStream(StreamRecord* stream) {
    if (stream && (runtime::current_stream(stream->device) != stream || runtime::detail::current_device != stream->device))
      guard_.emplace(cuda::Stream(stream));
  }

 private:
  std::optional<cuda::StreamGuard> guard_;
};

/// The calling thread's stream where `device` is a GPU.
StreamRecord* current_stream_of(Device device) { return device.is_cuda() ? runtime::current_stream(device.index()) : nullptr; }

/// `x`, written by work on `from`, is used on `to` too.
void hand_over(const Tensor& x, const StreamRecord* from, StreamRecord* to) {
  if (from == to) return;
  runtime::order_streams(*from, *to);
  x.record_stream(cuda::Stream(to));
}

bool wanted_in_place(const Tensor& x) { return x.impl().reusable(); }

/// Adds `gradient` to the sum so far: moved where it is the first, in place where nothing else holds the sum.
void accumulate(Tensor& sum, Tensor gradient, bool create_graph) {
  if (!sum.defined()) {
    sum = std::move(gradient);
  } else if (!create_graph && wanted_in_place(sum) && sum.sizes() == gradient.sizes() && sum.dtype() == gradient.dtype()) {
    sum.add_(gradient);
  } else {
    sum = sum + gradient;
  }
}

/// Several threads may add to one leaf, each on a stream of its own: the current one goes on after the one before. A capture depends on
/// nothing outside.
void follow_grad_stream(TensorImpl& leaf) {
  StreamRecord* const now = runtime::current_stream(leaf.device.index());
  AutogradExtras* extras = leaf.extras.get();
  if ((!extras && now->id == 0) || runtime::capture_of_current_stream(leaf.device)) return;
  if (!extras) extras = &leaf.extras.make();
  const StreamRecord* last = extras->grad_stream ? extras->grad_stream : cuda::default_stream(leaf.device).record();
  if (leaf.grad.defined() && last->device == now->device) hand_over(leaf.grad, last, now);
  extras->grad_stream = now;
}

void add_to_grad(TensorImpl& leaf, Tensor gradient, bool create_graph) {
  Tensor before;  // let go of after the lock: anything may hang on it
  const std::lock_guard lock(leaf.grad_mutex);
  if (leaf.device.is_cuda()) follow_grad_stream(leaf);
  if (!leaf.grad.defined()) {
    leaf.grad = wanted_in_place(gradient) && leaf.contiguous ? std::move(gradient) : gradient.clone();
    return;
  }
  if (create_graph) before = std::exchange(leaf.grad, leaf.grad + gradient);
  else leaf.grad.add_(gradient);
}

class Runner {
 public:
  Runner(Walk& walk, const std::vector<Edge>& targets, bool retain_graph, bool create_graph, Site site)
      : walk_(walk), targets_(targets), captured_(targets.size()), retain_(retain_graph), create_(create_graph), site_(site) {}

  /// `roots` hold the graph while it is walked.
  std::vector<Tensor> run(const std::vector<Edge>& roots, std::vector<Tensor> gradients) {
    count(roots);
    if (!targets_.empty()) find_needed();
    const SetGradGuard mode(create_);
    const ops::AutocastScope as_recorded;  // gradients are computed in the dtypes of forward
    for (size_t i = 0; i < roots.size(); ++i) deliver(nullptr, roots[i], std::move(gradients[i]));
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
    for (size_t i = 0; i < graph.size(); ++i) graph[static_cast<int32_t>(i)].needed = graph[static_cast<int32_t>(i)].runs = false;
    for (const Edge& target : targets_) {
      const int32_t at = graph.find(target);
      if (at >= 0) graph[at].needed = true;
    }
    const auto leads_to = [&](int32_t from, int32_t to) {
      if (graph[to].needed) graph[from].needed = graph[from].runs = true;
    };
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
          if (!path.empty()) leads_to(path.back().first, done);
          continue;
        }
        const Edge& edge = node->edges()[next++];
        if (!edge) continue;
        const int32_t to = graph.find(edge);
        if (settled[static_cast<size_t>(to)]) {
          leads_to(at, to);
        } else {
          settled[static_cast<size_t>(to)] = true;
          path.emplace_back(to, 0);
        }
      }
    }
  }

  /// Hands a result of `from` (nullptr: a gradient from the caller) on; the last one that was waited for makes the receiver ready.
  void deliver(const Node* from, const Edge& edge, Tensor gradient) {
    if (!edge) return;
    const int32_t at = walk_.graph.find(edge);
    State& state = walk_.graph[at];
    if (gradient.defined() && state.needed) add(from, state.node, state.slot(edge.output_nr), std::move(gradient));
    if (--state.waiting > 0) return;
    if (state.node) {
      walk_.ready.emplace_back(state.node->sequence(), at);
      std::push_heap(walk_.ready.begin(), walk_.ready.end());
    } else if (state.sum.defined()) {
      finish_leaf(*state.leaf, std::move(state.sum));
    }
  }

  /// On the receiver's stream, which first waits for the giver's. A leaf and the caller have the calling thread's.
  void add(const Node* from, const Node* to, Tensor& sum, Tensor gradient) {
    StreamRecord* stream = nullptr;
    if (StreamRecord* const callers = current_stream_of(gradient.device())) {
      const auto stream_of = [&](const Node* node) {
        return node && node->stream && node->stream->device == callers->device ? node->stream : callers;
      };
      stream = stream_of(to);
      hand_over(gradient, stream_of(from), stream);
    }
    const OnStream here(stream);
    accumulate(sum, std::move(gradient), create_);
  }

  /// Keeps the gradient for the caller where it is a target's.
  bool capture(const Node* node, const TensorImpl* leaf, uint32_t output_nr, const Tensor& gradient) {
    bool any = false;
    for (size_t i = 0; i < targets_.size(); ++i) {
      const Edge& target = targets_[i];
      if (target.node.get() != node || target.leaf.get() != leaf || target.output_nr != output_nr) continue;
      captured_[i] = gradient;
      any = true;
    }
    return any;
  }

  void finish_leaf(TensorImpl& leaf, Tensor gradient) {
    const OnStream here(current_stream_of(leaf.device));
    if (AutogradExtras* extras = leaf.extras.get()) {
      const WorkSite users(nullptr);
      gradient = extras->hooks.run(0, std::move(gradient));
    }
    if (!targets_.empty()) {
      (void)capture(nullptr, &leaf, 0, gradient);
      return;
    }
    {
      using runtime::facts::Scope;
      const runtime::Telling told([] { return Scope{.kind = Scope::Backward, .name = "AccumulateGrad"}; });
      const AutogradExtras* const extras = leaf.extras.get();
      const std::shared_ptr<DividedGradient> divided = extras ? extras->divided : nullptr;
      if (!divided || !divided->take(Tensor(Ref<TensorImpl>(&leaf)), gradient)) add_to_grad(leaf, std::move(gradient), create_);
    }
    AutogradExtras* extras = leaf.extras.get();
    if (Hooks* after = extras ? extras->after_accumulation.get() : nullptr) {
      const WorkSite users(nullptr);
      (void)after->run(0, Tensor(Ref<TensorImpl>(&leaf)));
    }
  }

  /// The inputs, as bits, behind which there is no target.
  [[nodiscard]] uint32_t leading_nowhere(const Node& node) {
    uint32_t inputs = 0;
    if (targets_.empty()) return inputs;
    for (size_t i = 0; i < std::min(node.edges().size(), Node::kAside); ++i)
      if (const Edge& edge = node.edges()[i]; edge && !walk_.graph[walk_.graph.find(edge)].needed) inputs |= 1U << i;
    return inputs;
  }

  /// All of it on the node's stream and for its line; a hook's own lines are the user's.
  void execute(int32_t at) {
    State& state = walk_.graph[at];
    Node& node = *state.node;
    Tensor gradients_inside[4], results_inside[4];
    const size_t outputs = node.outputs(), inputs = node.edges().size();
    std::vector<Tensor> more_gradients(outputs > 4 ? outputs : 0), more_results(inputs > 4 ? inputs : 0);
    const std::span<Tensor> gradients(outputs > 4 ? more_gradients.data() : gradients_inside, outputs);
    const std::span<Tensor> results(inputs > 4 ? more_results.data() : results_inside, inputs);
    const Site site = node.site().line > 0 ? node.site() : site_;  // a layer that was called by its forward() knows no line
    const WorkSite line(&site);
    if (state.needed) {
      StreamRecord* const callers = node.stream ? runtime::current_stream(node.stream->device) : nullptr;
      const OnStream here(node.stream);
      bool any = false;
      for (uint32_t i = 0; i < outputs; ++i) {
        gradients[i] = std::move(state.slot(i));
        if (!gradients[i].defined()) continue;
        any = true;
        look_at(node, i, gradients[i], callers);
      }
      if (state.runs) {
        const std::lock_guard lock(node.mutex());
        const Node::Aside aside(node, leading_nowhere(node));
        if (any) run_node(node, gradients, results);
        if (!retain_) node.forget_saved();
      }
    }
    for (Tensor& gradient : gradients) gradient = Tensor();  // one that goes on as it is need not be copied for a leaf
    for (size_t i = 0; i < inputs; ++i) deliver(&node, node.edges()[i], std::move(results[i]));
  }

  static void run_node(Node& node, std::span<Tensor> gradients, std::span<Tensor> results) {
    using runtime::facts::Scope;
    const runtime::Telling told([&] { return Scope{Scope::Backward, node.name(), node.site(), &node, node.sequence()}; });
    node.backward(gradients, results);
    if (is_anomaly_enabled() && is_anomaly_check_nan_enabled()) [[unlikely]]
      refuse_nan(node, results);
  }

  static void refuse_nan(const Node& node, std::span<const Tensor> results) {
    const NoGradGuard no_grad;
    const tandem::detail::OwnWork own("the search for nan in backward (set_detect_anomaly)", node.site());
    for (size_t i = 0; i < results.size(); ++i)
      if (results[i].defined() && is_floating(results[i].dtype()) && isnan(results[i]).any().item<bool>())
        fail("Function '", node.name(), "' returned nan values in its ", i, "th output.");
  }

  /// The gradient of an output before its node sees it: through its hooks, and to the caller where it is retained or a target.
  void look_at(Node& node, uint32_t output, Tensor& gradient, StreamRecord* callers) {
    const auto hand_out = [&](const Tensor& x) {
      if (callers && x.defined() && x.device() == gpu(callers->device)) hand_over(x, node.stream, callers);
    };
    if (NodeHooks* hooks = node.hooks()) {
      {
        const WorkSite users(nullptr);
        gradient = hooks->hooks.run(output, std::move(gradient));
      }
      for (const auto& retained : hooks->retained(output)) hand_out(retained->add(gradient));
    }
    if (capture(&node, nullptr, output, gradient)) hand_out(gradient);
  }

  Walk& walk_;
  const std::vector<Edge>& targets_;
  std::vector<Tensor> captured_;
  bool retain_, create_;
  Site site_;  // backward's
};

}  // namespace

std::vector<Tensor> run_backward(const std::vector<Edge>& roots, std::vector<Tensor> gradients, const std::vector<Edge>& targets,
                                 bool retain_graph, bool create_graph, Site site) {
  thread_local std::unique_ptr<Walk> kept;  // a pointer: thread-local memory is scarce in a library that is opened later
  if (!kept) kept = std::make_unique<Walk>();
  std::optional<Walk> nested;  // a backward inside a hook or a custom function has its own
  Walk& walk = running_walk ? nested.emplace() : *kept;
  struct Use {
    Walk& walk;
    Walk* before;
    explicit Use(Walk& w) : walk(w), before(std::exchange(running_walk, &w)) { walk.depth = before ? before->depth + 1 : 1; }
    ~Use() {
      running_walk = before;
      walk.clear();
    }
  } use(walk);
  const WorkSite line(&site);
  auto captured = Runner(walk, targets, retain_graph, create_graph, site).run(roots, std::move(gradients));
  for (size_t i = 0; i < walk.callbacks.size(); ++i) {
    const auto callback = std::move(walk.callbacks[i]);  // it may queue others
    const WorkSite users(nullptr);
    callback();
  }
  return captured;
}

int backward_depth() { return running_walk ? running_walk->depth : 0; }

void queue_callback(std::function<void()> callback) {
  if (!running_walk)
    fail("[queue_callback] no backward is running on this thread: call it from a hook, or from the backward of a function of your own");
  running_walk->callbacks.push_back(std::move(callback));
}

}  // namespace tandem::autograd
