#include "autograd/node.h"

#include "autograd/hooks.h"
#include "base/work_site.h"
#include "runtime/observer.h"

namespace tandem::autograd {
namespace {
// Sequence numbers count per thread, as only the order within one graph matters, and a graph is mostly one thread's.
thread_local constinit uint64_t next_sequence = 0;
}  // namespace

Edge::~Edge() = default;

Node::Node(const char* name, Site site, uint32_t outputs, Edge* edges, uint32_t edge_count)
    : name_(name),
      site_(tandem::detail::site_of_work(site)),
      sequence_(next_sequence++),
      edges_(edges),
      edge_count_(edge_count),
      outputs_(outputs) {
  runtime::tell([&] { return runtime::facts::Recorded{name_, site_, this, sequence_}; });
}

Node::~Node() = default;

NodeHooks& Node::make_hooks() { return hooks_.make(); }

std::vector<std::string> Node::next_functions() const {
  std::vector<std::string> names;
  for (const Edge& edge : edges()) names.emplace_back(edge.node ? edge.node->name() : edge.leaf ? "AccumulateGrad" : "None");
  return names;
}

// A deep graph must not be destroyed recursively: nodes that die while another one is dying wait in a list, linked through `stream`, which
// a dying node needs no more. Plain thread-local words, so that tensors of static lifetime may be destroyed at the end of the program too.
void Node::destroy() const {
  static thread_local constinit Node* waiting = nullptr;
  static thread_local constinit bool draining = false;
  auto* self = const_cast<Node*>(this);
  if (draining) {
    self->stream = reinterpret_cast<runtime::StreamRecord*>(waiting);
    waiting = self;
    return;
  }
  draining = true;
  delete self;
  while (waiting) {
    Node* next = waiting;
    waiting = reinterpret_cast<Node*>(next->stream);
    delete next;
  }
  draining = false;
}

}  // namespace tandem::autograd
