#include "compile/gradient_plan.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "autograd/history.h"
#include "base/align.h"
#include "base/error.h"
#include "base/parallel.h"
#include "compile/chain.h"

namespace tandem::compiling {

/// What backward uses up, taken out of what forward has left: there may be another backward.
class GradientPlan::CopyStep final : public Step {
 public:
  CopyStep(size_t bytes, Site where) : Step("copy", where), bytes_(bytes) {}
  void run(const Queue&) override { std::memcpy(to, from, bytes_); }
  void *to = nullptr, *from = nullptr;

 private:
  size_t bytes_;
};

GradientPlan::GradientPlan(Flow flow, const Trace& trace, const Range& input, const std::vector<Tensor>& tensors)
    : flow_(std::move(flow)), traced_(input), form_(trace.result(), flow_.memory[static_cast<size_t>(flow_.result)]->bytes) {
  base_of_.assign(flow_.blocks.size(), kMemory);
  base_of_[static_cast<size_t>(flow_.result)] = kResult;
  if (const int block = trace.find(trace.output_gradient()); block >= 0) base_of_[static_cast<size_t>(block)] = kOutputGradient;
  for (const Tensor& gradient : trace.gradients()) {
    if (const int block = trace.find(gradient); block >= 0)
      base_of_[static_cast<size_t>(block)] = kGradients + static_cast<int>(gradients_.size());
    gradients_.push_back(gradient.defined() ? Gradient{true, gradient.sizes(), gradient.dtype()} : Gradient{false, {}, kFloat32});
  }
  for (const Node& node : flow_.constants) {
    CallStep step(*node.call);
    run_step(step);
  }
  find_kept();
  for (const Tensor& tensor : tensors) {
    const TensorImpl& impl = tensor.impl();
    const Range range{static_cast<const char*>(impl.storage->data()), impl.storage->bytes()};
    bool changed = false, read = false;
    for (size_t n = 0; n < flow_.nodes.size(); ++n)
      for (const Use& use : flow_.nodes[n].uses) {
        if (use.block != Use::kModule || !range.has(use.address.begin)) continue;
        changed |= use.address.kind != Touch::Read;
        read |= n >= static_cast<size_t>(flow_.backward_from);
      }
    if (changed) changed_.push_back(tensor);
    if (!read) continue;
    read_.push_back(tensor);
    places_.push_back(impl.data);
  }
  make_steps();
  plan_memory();
  for (size_t b = 0; b < flow_.blocks.size(); ++b)
    if (!flow_.blocks[b].constant) flow_.memory[b].reset();
}

/// What both forward and backward use.
void GradientPlan::find_kept() {
  kept_offsets_.resize(flow_.blocks.size());
  copied_.resize(flow_.blocks.size());
  const auto of_forward = [&](int node) { return node < flow_.backward_from; };
  const auto of_backward = [&](int node) { return node >= flow_.backward_from; };
  const auto any = [](const std::vector<int>& nodes, const auto& is) { return std::any_of(nodes.begin(), nodes.end(), is); };
  for (size_t b = 0; b < flow_.blocks.size(); ++b) {
    const BlockFlow& block = flow_.blocks[b];
    if (block.constant || base_of_[b] != kMemory) continue;
    if (!any(block.writers, of_forward) || !(any(block.readers, of_backward) || any(block.writers, of_backward))) continue;
    base_of_[b] = kKept;
    kept_offsets_[b] = kept_bytes_;
    copied_[b] = any(block.writers, of_backward);
    kept_bytes_ = align_up(kept_bytes_ + flow_.memory[b]->bytes);
  }
}

void GradientPlan::patch_and_use(const Use& use) {
  std::vector<Patch>& patches = in_backward() ? backward_patches_ : forward_patches_;
  if (use.block == Use::kModule) return;  // stays where it is
  if (use.block == Use::kInput) {
    patches.push_back({use.address.at, static_cast<size_t>(static_cast<const char*>(*use.address.at) - traced_.begin), kInput});
    reads_input_ |= in_backward();
    return;
  }
  const auto b = static_cast<size_t>(use.block);
  if (flow_.blocks[b].constant) return;
  const auto offset = static_cast<size_t>(static_cast<const char*>(*use.address.at) - flow_.memory[b]->data);
  const int base = copied_[b] && in_backward() ? kMemory : base_of_[b];
  if (base == kMemory) {
    rooms_[b].use(static_cast<int>(steps_.size()), flow_.memory[b]->bytes);
    in_memory_.push_back({use.address.at, offset, b});
    return;
  }
  reads_result_ |= base == kResult && in_backward();
  patches.push_back({use.address.at, offset + (base == kKept ? kept_offsets_[b] : 0), base});
}

void GradientPlan::make_copies() {
  for (size_t b = 0; b < copied_.size(); ++b) {
    if (!copied_[b]) continue;
    auto step = std::make_unique<CopyStep>(flow_.memory[b]->bytes, Site::none());
    rooms_[b].use(static_cast<int>(steps_.size()), flow_.memory[b]->bytes);
    in_memory_.push_back({&step->to, 0, b});
    backward_patches_.push_back({&step->from, kept_offsets_[b], kKept});
    steps_.push_back(std::move(step));
  }
}

void GradientPlan::make_steps() {
  rooms_.resize(flow_.blocks.size());
  const std::vector<bool> none(flow_.nodes.size());
  std::vector<bool> needed(flow_.blocks.size());
  for (size_t b = 0; b < needed.size(); ++b) needed[b] = base_of_[b] != kMemory;
  const auto count = static_cast<int>(flow_.nodes.size());
  for (int n = 0; n < count;) {
    if (n == flow_.backward_from) {
      forward_steps_ = steps_.size();
      make_copies();
    }
    const std::vector<int> chain = chain_from(flow_, n, n < flow_.backward_from ? flow_.backward_from : count, none, none);
    n += static_cast<int>(chain.size());
    const Node& node = flow_.nodes[static_cast<size_t>(chain[0])];
    if (chain.size() == 1) {
      for (const Use& use : node.uses) patch_and_use(use);
      steps_.push_back(std::make_unique<CallStep>(*node.call));
      continue;
    }
    auto step = std::make_unique<ChainStep>(flow_, chain, needed, get_num_threads());
    for (const Use* const use : step->uses()) patch_and_use(*use);
    if (const size_t bytes = step->scratch_bytes(); bytes > 0) {
      const auto at = static_cast<int>(steps_.size());
      in_memory_.push_back({&step->scratch, 0, rooms_.size()});
      rooms_.push_back({.bytes = bytes, .first = at, .last = at});
    }
    steps_.push_back(std::move(step));
  }
  if (!in_backward()) forward_steps_ = steps_.size();
}

void GradientPlan::plan_memory() {
  memory_ = std::make_unique<Block>(std::max(place(rooms_), size_t{1}));
  for (const InMemory& each : in_memory_) *each.at = memory_->data + rooms_[each.room].offset + each.offset;
}

void GradientPlan::run(size_t first, size_t last, const std::vector<Patch>& patches, std::span<void* const> bases) {
  for (const Patch& each : patches) *each.at = static_cast<char*>(bases[static_cast<size_t>(each.base)]) + each.offset;
  for (size_t i = first; i < last; ++i) run_step(*steps_[i]);
}

Tensor GradientPlan::forward(const Tensor& x, ForBackward& kept, Site site) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return {};
  Ref<TensorImpl> result = form_.memory(site);
  kept = {};
  if (kept_bytes_ > 0) kept.memory = Tensor(TensorImpl::make({static_cast<int64_t>(kept_bytes_)}, kUInt8, Device(), false, site));
  for (const Tensor& buffer : changed_) buffer.impl().bump_version();
  const std::array<void*, kGradients> bases{nullptr, x.impl().data, result->data, nullptr,
                                            kept.memory.defined() ? kept.memory.impl().data : nullptr};
  run(0, forward_steps_, forward_patches_, bases);
  Tensor y = form_.tensor(std::move(result));
  if (reads_input_) kept.input = x;
  if (reads_result_) kept.result = y.detach();
  return y;
}

std::vector<Tensor> GradientPlan::backward(const ForBackward& kept, const Tensor& gradient, Site site) {
  if (!(gradient.sizes() == form_.sizes()))
    fail("[compile] the gradient of a result of sizes ", form_.sizes(), " must have its sizes, but has ", gradient.sizes());
  const Tensor given = gradient.to(form_.dtype(), {}, site).contiguous(site);
  const auto data = [](const Tensor& x) { return x.defined() ? x.impl().data : nullptr; };
  std::vector<Tensor> found;
  std::vector<void*> bases{nullptr, data(kept.input), data(kept.result), data(given), data(kept.memory)};
  for (const Gradient& each : gradients_) {
    found.push_back(each.defined ? Tensor(TensorImpl::make(each.sizes, each.dtype, Device(), false, site)) : Tensor());
    bases.push_back(data(found.back()));
  }
  const std::lock_guard lock(mutex_);
  run(forward_steps_, steps_.size(), backward_patches_, bases);
  return found;
}

void GradientPlan::check_places() const {
  for (size_t i = 0; i < read_.size(); ++i)
    if (read_[i].impl().data != places_[i])
      fail("[compile] a parameter or buffer of sizes ", read_[i].sizes(),
           " was moved to other memory between forward and backward: call backward() before to(), or forward again");
}

std::string GradientPlan::text() const {
  const std::unique_ptr<Step>* const all = steps_.data();
  return text_of(all, all + forward_steps_) + "backward:\n" + text_of(all + forward_steps_, all + steps_.size());
}

namespace {

/// The backward of one call.
class CompiledNode final : public autograd::Node {
 public:
  CompiledNode(Site site, std::vector<autograd::Edge> to, std::shared_ptr<GradientPlan> plan, const Tensor& y, ForBackward kept)
      : Node("CompiledBackward", site, 1, to.data(), static_cast<uint32_t>(to.size())),
        edges_(std::move(to)),
        plan_(std::move(plan)),
        memory_(std::move(kept.memory)) {
    if (plan_->reads_input()) input_ = autograd::saved(kept.input);
    if (plan_->reads_result()) result_ = autograd::saved_output(y);
    for (const Tensor& tensor : plan_->read()) read_.push_back(autograd::saved(tensor));
    saves_ = memory_.defined() || input_.defined() || result_.defined() || !read_.empty();
  }

  void backward(std::span<Tensor> gradients, std::span<Tensor> results) override {
    if (is_grad_enabled())
      fail("[compile] a compiled module has no gradient of its gradient: call the module itself where create_graph is set");
    if (released_) autograd::fail_released(*this);
    for (const autograd::SavedTensor& each : read_) (void)each.get();
    plan_->check_places();
    std::vector<Tensor> found = plan_->backward({input_.get(), result_.get(this), memory_}, gradients[0], site());
    for (size_t i = 0; i < results.size(); ++i)
      if (wants(i)) results[i] = std::move(found[i]);
  }
  void forget_saved() override {
    if (!saves_) return;  // where nothing is saved, the graph may be walked again
    input_.reset();
    result_.reset();
    memory_ = Tensor();
    read_.clear();
    released_ = true;
  }

 private:
  std::vector<autograd::Edge> edges_;
  std::shared_ptr<GradientPlan> plan_;
  autograd::SavedTensor input_, result_;
  std::vector<autograd::SavedTensor> read_;
  Tensor memory_;
  bool saves_, released_ = false;
};

}  // namespace

void record(const std::shared_ptr<GradientPlan>& plan, const Tensor& y, const std::vector<Tensor>& wanted, ForBackward kept, Site site) {
  std::vector<autograd::Edge> edges;
  edges.reserve(wanted.size());
  for (const Tensor& each : wanted) edges.push_back(autograd::edge_of(each));
  autograd::set_history(y, Ref<autograd::Node>(new CompiledNode(site, std::move(edges), plan, y, std::move(kept))));
}

}  // namespace tandem::compiling
