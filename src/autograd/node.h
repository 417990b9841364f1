// A step of the graph that backward walks: what computes the gradients of an operation's inputs from those of its outputs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/lazy.h"
#include "base/ref.h"
#include "base/site.h"
#include "base/small_mutex.h"

namespace tandem {
class Tensor;
struct TensorImpl;
namespace runtime {
struct StreamRecord;
}
}  // namespace tandem

namespace tandem::autograd {

class Node;
class NodeHooks;

/// Where a gradient goes: into an input slot of a node, or, for a leaf, into its `.grad`. Empty where none is wanted.
struct Edge {
  Ref<Node> node;
  Ref<TensorImpl> leaf;
  uint32_t output_nr = 0;  // which output of `node` the gradient belongs to

  Edge() = default;
  Edge(const Edge&) = default;
  Edge(Edge&&) = default;
  Edge& operator=(const Edge&) = default;
  Edge& operator=(Edge&&) = default;
  ~Edge();
  explicit operator bool() const { return node || leaf; }
};

/// One recorded operation.
class Node : public Counted<Node> {
 public:
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// As PyTorch prints it: "MulBackward0".
  [[nodiscard]] const char* name() const { return name_; }
  /// `name` must live as long as the program.
  void rename(const char* name) { name_ = name; }
  /// Counts up with every node that its thread records: later ones are walked first.
  [[nodiscard]] uint64_t sequence() const { return sequence_; }
  /// The user's line that called the operation.
  [[nodiscard]] Site site() const { return site_; }
  /// Where the gradients of the inputs go, in the inputs' order.
  [[nodiscard]] std::span<const Edge> edges() const { return {edges_, edge_count_}; }
  /// The nodes of `edges`, by name, AccumulateGrad for leaves.
  [[nodiscard]] std::vector<std::string> next_functions() const;
  [[nodiscard]] uint32_t outputs() const { return outputs_; }

  /// From the gradients of the outputs (undefined: none came) to those of the inputs; unwanted ones may be left undefined.
  virtual void backward(std::span<Tensor> gradients, std::span<Tensor> results) = 0;
  /// Told that the only result, which nothing else will see, went through ReLU. True where `backward` takes the gradient of that from now
  /// on and does ReLU's part too.
  virtual bool relu_follows() { return false; }
  /// Lets go of saved tensors; a later `backward` is an error.
  virtual void forget_saved() {}
  /// nullptr where there are none.
  [[nodiscard]] NodeHooks* hooks() const { return hooks_.get(); }
  NodeHooks& make_hooks();
  /// Held while `backward` and `forget_saved` run: several threads may walk the same nodes.
  [[nodiscard]] tandem::detail::SmallMutex& mutex() { return mutex_; }
  /// Whether the gradient of that input is to be computed: it goes somewhere, and a walk towards some tensors alone reaches one of them
  /// there.
  [[nodiscard]] bool wants(size_t input) const { return edges_[input] && (input >= kAside || (aside_ >> input & 1) == 0); }

  /// While it lives, `mutex` held: the inputs whose bits are set, of the first kAside, are not wanted.
  static constexpr size_t kAside = 32;
  class Aside {
   public:
    Aside(Node& node, uint32_t inputs) : node_(node) { node_.aside_ = inputs; }
    ~Aside() { node_.aside_ = 0; }
    Aside(const Aside&) = delete;
    Aside& operator=(const Aside&) = delete;

   private:
    Node& node_;
  };

 protected:
  Node(const char* name, Site site, uint32_t outputs, Edge* edges, uint32_t edge_count);
  virtual ~Node();

 private:
  friend class tandem::Counted<Node>;
  void destroy() const;

  tandem::detail::SmallMutex mutex_;
  const char* name_;
  Site site_;
  uint64_t sequence_;
  Edge* edges_;
  uint32_t edge_count_;
  uint32_t outputs_;
  uint32_t aside_ = 0;
  tandem::detail::Lazy<NodeHooks> hooks_;

 public:
  runtime::StreamRecord* stream = nullptr;  // of the forward operation; nullptr on the CPU
};

}  // namespace tandem::autograd
