// A step's node has the activated gates as an output of its own beside the states: so a gradient that is to be differentiated again can be
// written in terms of them, and reaches the gates through the same node.
#include "ops/recurrent/recurrent_cells.h"

#include <array>

#include "autograd/history.h"
#include "base/error.h"
#include "ops/creation.h"
#include "ops/join.h"
#include "ops/launch.h"
#include "ops/operators.h"
#include "ops/view.h"

namespace tandem::ops {
namespace {

using autograd::edge_of;
using autograd::needs_grad;
using autograd::Node;
using autograd::SavedTensor;

/// A kept output of a node, with its place among the outputs.
Tensor output_of(const SavedTensor& kept, const Node* node, uint32_t number) {
  Tensor x = kept.get(node);
  x.impl().output_nr = number;
  return x;
}

/// a + b, where either may be undefined.
Tensor sum_of(const Tensor& a, const Tensor& b) { return !a.defined() ? b : !b.defined() ? a : a + b; }

/// What nodes of steps share: saved tensors that are let go of together.
template <size_t inputs, size_t kept>
class StepNode : public Node {
 public:
  StepNode(const char* name, Site site, uint32_t outputs) : Node(name, site, outputs, edges, inputs) {}
  void forget_saved() override {
    for (SavedTensor& each : saved) each.reset();
    released = true;
  }
  autograd::Edge edges[inputs];
  std::array<SavedTensor, kept> saved;
  bool released = false;
};

class LstmNode final : public StepNode<2, 3> {  // saved: activated gates, new c, previous c
 public:
  explicit LstmNode(Site site) : StepNode("ThnnFusedLstmCellBackward0", site, 3) {}

  void backward(std::span<Tensor> gradients, std::span<Tensor> results) override {
    if (released) autograd::fail_released(*this);
    const Tensor active = output_of(saved[0], this, 2), c = output_of(saved[1], this, 1), previous = saved[2].get();
    const Tensor &gh = gradients[0], &gc = gradients[1], &ga = gradients[2];
    if (!gh.defined() && !gc.defined() && !ga.defined()) return;
    if (!ga.defined() && !needs_grad(gh, gc, active, previous)) {
      results[0] = empty_like(active);
      results[1] = empty_like(c);
      launch(c, "lstm_cell_backward", site(), &kernels::Table::lstm_cell_backward, results[0], results[1], gh, gc, active, c, previous);
      return;
    }
    const std::vector<Tensor> a = active.chunk(4, -1);
    const Tensor &i = a[0], &f = a[1], &g = a[2], &o = a[3];
    const Tensor t = tanh(c);
    Tensor to_cell = gc, to_output;
    if (gh.defined()) {
      to_cell = sum_of(to_cell, gh * o * (1 - t * t));
      to_output = gh * t;
    }
    if (!to_cell.defined()) to_cell = zeros_like(c);
    if (!to_output.defined()) to_output = zeros_like(c);
    Tensor to_active = cat({to_cell * g, to_cell * previous, to_cell * i, to_output}, -1);
    if (ga.defined()) to_active = to_active + ga;
    const Tensor slopes = cat({i * (1 - i), f * (1 - f), 1 - g * g, o * (1 - o)}, -1);
    results[0] = to_active * slopes;
    results[1] = to_cell * f;
  }
};

class GruNode final : public StepNode<3, 2> {  // saved: activated gates and the hidden part of the new one, previous h
 public:
  explicit GruNode(Site site) : StepNode("ThnnFusedGruCellBackward0", site, 2) {}

  void backward(std::span<Tensor> gradients, std::span<Tensor> results) override {
    if (released) autograd::fail_released(*this);
    const Tensor active = output_of(saved[0], this, 1), previous = saved[1].get();
    const Tensor& ga = gradients[1];
    if (!gradients[0].defined() && !ga.defined()) return;
    const Tensor gh = gradients[0].defined() ? gradients[0] : zeros_like(previous);
    if (!ga.defined() && !needs_grad(gh, active, previous)) {
      const int64_t n = previous.size(-1);
      const Options options{.dtype = previous.dtype(), .device = previous.device()};
      results[0] = empty({previous.size(0), 3 * n}, options);
      results[1] = empty_like(results[0]);
      results[2] = empty_like(previous);
      launch(gh, "gru_cell_backward", site(), &kernels::Table::gru_cell_backward, results[0], results[1], results[2], gh, active, previous);
      return;
    }
    const std::vector<Tensor> a = active.chunk(4, -1);
    const Tensor &r = a[0], &z = a[1], &fresh = a[2], &product = a[3];
    Tensor to_r, to_z = gh * (previous - fresh), to_new = gh * (1 - z), to_product;
    if (ga.defined()) {
      const std::vector<Tensor> more = ga.chunk(4, -1);
      to_r = more[0];
      to_z = to_z + more[1];
      to_new = to_new + more[2];
      to_product = more[3];
    }
    const Tensor inner = to_new * (1 - fresh * fresh);
    to_r = sum_of(to_r, inner * product);
    to_product = sum_of(to_product, inner * r);
    const Tensor reset = to_r * r * (1 - r), update = to_z * z * (1 - z);
    results[0] = cat({reset, update, inner}, -1);
    results[1] = cat({reset, update, to_product}, -1);
    results[2] = gh * z;
  }
};

// Of steps that were views of one sequence: their gradients, joined.
class StepsNode final : public Node {
 public:
  StepsNode(Site site, const Tensor& sequence, const std::vector<Tensor>& steps, bool packed)
      : Node(packed ? "SplitWithSizesBackward0" : "UnbindBackward0", site, static_cast<uint32_t>(steps.size()), &edge_, 1),
        edge_(edge_of(sequence)),
        packed_(packed),
        options_{.dtype = sequence.dtype(), .device = sequence.device()} {
    for (const Tensor& step : steps) sizes_.push_back(step.sizes());
  }
  void backward(std::span<Tensor> gradients, std::span<Tensor> results) override {
    std::vector<Tensor> parts;
    for (size_t t = 0; t < gradients.size(); ++t) parts.push_back(gradients[t].defined() ? gradients[t] : zeros(sizes_[t], options_));
    results[0] = packed_ ? cat(parts, 0) : stack(parts, 0);
  }

 private:
  autograd::Edge edge_;
  bool packed_;
  std::vector<Shape> sizes_;
  Options options_;
};

/// Makes the steps one result each of one node.
std::vector<Tensor> recorded(std::vector<Tensor> steps, const Tensor& sequence, bool packed, Site site) {
  if (!needs_grad(sequence) || steps.empty()) return steps;
  const Ref<Node> node(new StepsNode(site, sequence, steps, packed));
  for (size_t t = 0; t < steps.size(); ++t) autograd::set_history(steps[t], node, static_cast<uint32_t>(t));
  return steps;
}

}  // namespace

LstmState lstm_step(const Tensor& gates, const Tensor& c, Site site) {
  const Options options{.dtype = c.dtype(), .device = c.device()};
  LstmState next{empty(c.sizes(), options, site), empty(c.sizes(), options, site)};
  const Tensor active = empty(gates.sizes(), options, site);
  launch(c, "lstm_cell", site, &kernels::Table::lstm_cell, next.h, next.c, active, gates, c);
  if (!needs_grad(gates, c)) return next;
  auto* node = new LstmNode(site);
  const Ref<Node> held(node);
  node->edges[0] = edge_of(gates);
  node->edges[1] = edge_of(c);
  node->saved = {autograd::saved_output(active), autograd::saved_output(next.c), autograd::saved(c)};
  autograd::set_history(next.h, held, 0);
  autograd::set_history(next.c, held, 1);
  return next;
}

Tensor gru_step(const Tensor& from_input, const Tensor& from_hidden, const Tensor& h, Site site) {
  const Options options{.dtype = h.dtype(), .device = h.device()};
  const Tensor next = empty(h.sizes(), options, site), active = empty({h.size(0), 4 * h.size(1)}, options, site);
  launch(h, "gru_cell", site, &kernels::Table::gru_cell, next, active, from_input, from_hidden, h);
  if (!needs_grad(from_input, from_hidden, h)) return next;
  auto* node = new GruNode(site);
  const Ref<Node> held(node);
  node->edges[0] = edge_of(from_input);
  node->edges[1] = edge_of(from_hidden);
  node->edges[2] = edge_of(h);
  node->saved = {autograd::saved_output(active), autograd::saved(h)};
  autograd::set_history(next, held, 0);
  return next;
}

std::vector<Tensor> steps_of(const Tensor& sequence, Site site) {
  std::vector<Tensor> steps;
  const Tensor values = sequence.detach();
  for (int64_t t = 0; t < sequence.size(0); ++t) steps.push_back(values.select(0, t, site).detach());
  return recorded(std::move(steps), sequence, false, site);
}

std::vector<Tensor> steps_of(const Tensor& data, const Shape& batch_sizes, Site site) {
  std::vector<Tensor> steps;
  const Tensor values = data.detach();
  int64_t row = 0;
  for (const int64_t rows : batch_sizes) {
    steps.push_back(values.narrow(0, row, rows, site).detach());
    row += rows;
  }
  return recorded(std::move(steps), data, true, site);
}

}  // namespace tandem::ops
