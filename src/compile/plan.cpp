#include "compile/plan.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/error.h"
#include "base/parallel.h"
#include "compile/chain.h"
#include "tensor/tensor_impl.h"

namespace tandem::compiling {
namespace {

using kernels::cpu::BlockedConvolution;
using kernels::cpu::BlockedPool;

class ConvolutionStep final : public Step {
 public:
  ConvolutionStep(const Call& call, BlockedConvolution& kernel) : Step(call.op(), call.site()), kernel_(kernel) {}
  void run(const Queue& queue) override { kernel_.run(queue, out, in, added, scratch); }
  void *out = nullptr, *in = nullptr, *added = nullptr, *scratch = nullptr;

 private:
  BlockedConvolution& kernel_;
};

class PoolStep final : public Step {
 public:
  PoolStep(const Call& call, BlockedPool& kernel) : Step(call.op(), call.site()), kernel_(kernel) {}
  void run(const Queue& queue) override { kernel_.run(queue, out, in, scratch); }
  void *out = nullptr, *in = nullptr, *scratch = nullptr;

 private:
  BlockedPool& kernel_;
};

/// Images, channels, rows and columns.
using ImageSizes = std::array<int64_t, 4>;

}  // namespace

Plan::Plan(Flow flow, const Range& input, const Tensor& result)
    : flow_(std::move(flow)), traced_(input), form_(result, flow_.memory[static_cast<size_t>(flow_.result)]->bytes) {
  do {
    fuse();
    choose_layouts();
  } while (!make_fused());
  make_steps();
  plan_memory();
  for (size_t b = 0; b < flow_.blocks.size(); ++b)
    if (!flow_.blocks[b].constant) flow_.memory[b].reset();
}

void Plan::fuse() {
  convolutions_ = fused_convolutions(flow_, plain_);
  pools_ = fused_pools(flow_, plain_);
}

/// A block is blocked where a fused step writes it and only fused steps read it.
void Plan::choose_layouts() {
  blocked_.assign(flow_.blocks.size(), false);
  const auto in_of = [](const auto& s, int64_t channels) { return ImageSizes{s.n, channels, s.in[0], s.in[1]}; };
  const auto out_of = [](const auto& s, int64_t channels) { return ImageSizes{s.n, channels, s.out[0], s.out[1]}; };
  for (bool changed = true; changed;) {
    std::vector<ImageSizes> written(flow_.blocks.size());
    for (const FusedConvolution& c : convolutions_) written[static_cast<size_t>(c.out)] = out_of(c.sizes, c.sizes.out_channels);
    for (const FusedPool& pool : pools_) written[static_cast<size_t>(pool.out)] = out_of(pool.sizes, pool.sizes.channels);
    // Who reads the elements as other images than were written, through a view, needs them in order.
    std::vector<size_t> readers(flow_.blocks.size());
    const auto reads = [&](const Use* use, const ImageSizes& as) {
      if (use && use->block >= 0 && written[static_cast<size_t>(use->block)] == as) ++readers[static_cast<size_t>(use->block)];
    };
    for (const FusedConvolution& c : convolutions_) {
      reads(c.in, in_of(c.sizes, c.sizes.in_channels));
      reads(c.added, out_of(c.sizes, c.sizes.out_channels));
    }
    for (const FusedPool& pool : pools_) reads(pool.in, in_of(pool.sizes, pool.sizes.channels));
    for (size_t b = 0; b < blocked_.size(); ++b)
      blocked_[b] = written[b] != ImageSizes{} && flow_.blocks[b].plain && static_cast<int>(b) != flow_.result &&
                    readers[b] == flow_.blocks[b].readers.size();
    // Pooling knows blocks alone; its result may have to be made plain.
    const auto unfit = [&](const FusedPool& pool) {
      return !blocked_[static_cast<size_t>(pool.in->block)] || !blocked_[static_cast<size_t>(pool.out)];
    };
    const auto last = std::remove_if(pools_.begin(), pools_.end(), unfit);
    changed = last != pools_.end();
    pools_.erase(last, pools_.end());
  }
  std::vector<int> done_at(flow_.nodes.size());
  std::iota(done_at.begin(), done_at.end(), 0);
  for (const FusedConvolution& c : convolutions_)
    for (const int n : c.nodes) done_at[static_cast<size_t>(n)] = c.nodes.back();
  for (FusedConvolution& c : convolutions_) {
    const auto blocked = [&](const Use* use) { return use->block >= 0 && blocked_[static_cast<size_t>(use->block)]; };
    c.sizes.blocked_in = blocked(c.in);
    c.sizes.blocked_out = blocked_[static_cast<size_t>(c.out)];
    if (!c.added) continue;
    c.sizes.blocked_added = blocked(c.added);
    // The sum is added to where it lies, if nobody reads it later or now.
    const std::vector<int>* readers = c.sizes.blocked_added ? &flow_.blocks[static_cast<size_t>(c.added->block)].readers : nullptr;
    c.sizes.added_is_out =
        readers && c.sizes.blocked_out && c.added->block != c.in->block &&
        std::all_of(readers->begin(), readers->end(), [&](int at) { return done_at[static_cast<size_t>(at)] <= c.nodes.back(); });
  }
}

/// False where one cannot be made: then it is among `plain_`.
bool Plan::make_fused() {
  kernels_.clear();
  pool_kernels_.clear();
  const int threads = get_num_threads();
  const size_t before = plain_.size();
  for (const FusedConvolution& c : convolutions_) {
    kernels_.push_back(BlockedConvolution::make(c.sizes, threads));
    if (!kernels_.back()) plain_.push_back(c.nodes[0]);
  }
  for (const FusedPool& pool : pools_) {
    pool_kernels_.push_back(BlockedPool::make(pool.sizes, threads));
    if (!pool_kernels_.back()) plain_.push_back(pool.node);
  }
  return plain_.size() == before;
}

/// The step that is made now uses a block.
void Plan::use(int block, size_t bytes) {
  if (block == flow_.result) return;
  rooms_[static_cast<size_t>(same_[static_cast<size_t>(block)])].use(static_cast<int>(steps_.size()), bytes);
}

void Plan::patch(void** at, const Use& use) {
  if (use.block == Use::kModule || (use.block >= 0 && flow_.blocks[static_cast<size_t>(use.block)].constant)) return;  // stays where it is
  if (use.block == Use::kInput) {
    input_.push_back({at, static_cast<size_t>(static_cast<const char*>(*use.address.at) - traced_.begin), use.block});
    return;
  }
  const auto offset = static_cast<size_t>(static_cast<const char*>(*use.address.at) - flow_.memory[static_cast<size_t>(use.block)]->data);
  (use.block == flow_.result ? result_ : patches_).push_back({at, offset, use.block});
}

void Plan::patch_and_use(const Use& use) {
  patch(use.address.at, use);
  if (use.block >= 0 && !flow_.blocks[static_cast<size_t>(use.block)].constant)
    this->use(use.block, flow_.memory[static_cast<size_t>(use.block)]->bytes);
}

void Plan::reads(void** at, const Use& use) {
  patch(at, use);
  if (use.block >= 0) this->use(use.block, 0);
}

void Plan::writes(void** at, int block, size_t bytes) {
  (block == flow_.result ? result_ : patches_).push_back({at, 0, block});
  use(block, bytes);
}

/// Memory for the step that is made now.
void Plan::scratch(void** at, size_t bytes) {
  if (bytes == 0) return;
  const auto step = static_cast<int>(steps_.size()), room = static_cast<int>(rooms_.size());
  rooms_.push_back({.bytes = bytes, .first = step, .last = step});
  same_.push_back(room);
  patches_.push_back({at, 0, room});
}

void Plan::make_convolution(const FusedConvolution& c, BlockedConvolution& kernel) {
  auto step = std::make_unique<ConvolutionStep>(*flow_.nodes[static_cast<size_t>(c.nodes[0])].call, kernel);
  for (const auto& [there, what] :
       {std::pair(c.scale != nullptr, "scale and shift"), std::pair(c.added != nullptr, c.sizes.added_is_out ? "sum in place" : "sum"),
        std::pair(c.sizes.relu, "relu"), std::pair(!c.sizes.blocked_in, "from a plain tensor"),
        std::pair(!c.sizes.blocked_out, "to a plain tensor")})
    if (there) step->also += str(step->also.empty() ? " + " : ", ", what);
  if (c.sizes.added_is_out) same_[static_cast<size_t>(c.out)] = same_[static_cast<size_t>(c.added->block)];
  reads(&step->in, *c.in);
  if (c.added) reads(&step->added, *c.added);
  writes(&step->out, c.out, bytes_of(c.out, c.sizes.n, c.sizes.out_channels, c.sizes.out[0] * c.sizes.out[1]));
  scratch(&step->scratch, kernel.scratch_bytes());
  steps_.push_back(std::move(step));
}

void Plan::make_pool(const FusedPool& pool, BlockedPool& kernel) {
  auto step = std::make_unique<PoolStep>(*flow_.nodes[static_cast<size_t>(pool.node)].call, kernel);
  reads(&step->in, *pool.in);
  writes(&step->out, pool.out, bytes_of(pool.out, pool.sizes.n, pool.sizes.channels, pool.sizes.out[0] * pool.sizes.out[1]));
  scratch(&step->scratch, kernel.scratch_bytes());
  steps_.push_back(std::move(step));
}

void Plan::make_call(const Node& node) {
  for (const Use& use : node.uses) patch_and_use(use);
  steps_.push_back(std::make_unique<CallStep>(*node.call));
}

void Plan::make_chain(const std::vector<int>& nodes) {
  std::vector<bool> needed(flow_.blocks.size());
  needed[static_cast<size_t>(flow_.result)] = true;
  auto step = std::make_unique<ChainStep>(flow_, nodes, needed, get_num_threads());
  for (const Use* const use : step->uses()) patch_and_use(*use);
  scratch(&step->scratch, step->scratch_bytes());
  steps_.push_back(std::move(step));
}

/// The bytes of a block that holds images.
size_t Plan::bytes_of(int block, int64_t n, int64_t channels, int64_t places) const {
  const size_t own = flow_.memory[static_cast<size_t>(block)]->bytes;
  return blocked_[static_cast<size_t>(block)] ? std::max(own, kernels::cpu::blocked_bytes(n, channels, places)) : own;
}

void Plan::make_steps() {
  rooms_.resize(flow_.blocks.size());
  same_.resize(rooms_.size());
  std::iota(same_.begin(), same_.end(), 0);
  const auto count = static_cast<int>(flow_.nodes.size());
  std::vector<int> convolution_at(flow_.nodes.size(), -1), pool_at(flow_.nodes.size(), -1);
  std::vector<bool> done(flow_.nodes.size()), stops(flow_.nodes.size());
  for (size_t i = 0; i < convolutions_.size(); ++i) {
    const auto last = static_cast<size_t>(convolutions_[i].nodes.back());
    for (const int n : convolutions_[i].nodes) done[static_cast<size_t>(n)] = true;
    convolution_at[last] = static_cast<int>(i);
    stops[last] = true;
  }
  for (size_t i = 0; i < pools_.size(); ++i) {
    const auto node = static_cast<size_t>(pools_[i].node);
    done[node] = stops[node] = true;
    pool_at[node] = static_cast<int>(i);
  }
  for (int n = 0; n < count; ++n) {
    const auto at = static_cast<size_t>(n);
    if (const int i = convolution_at[at]; i >= 0) {
      make_convolution(convolutions_[static_cast<size_t>(i)], *kernels_[static_cast<size_t>(i)]);
    } else if (const int p = pool_at[at]; p >= 0) {
      make_pool(pools_[static_cast<size_t>(p)], *pool_kernels_[static_cast<size_t>(p)]);
    } else if (!done[at]) {
      const std::vector<int> chain = chain_from(flow_, n, count, done, stops);
      if (chain.size() == 1) {
        make_call(flow_.nodes[at]);
        continue;
      }
      make_chain(chain);
      for (const int each : chain) done[static_cast<size_t>(each)] = true;
    }
  }
}

void Plan::plan_memory() {
  memory_ = std::make_unique<Block>(std::max(place(rooms_), size_t{1}));
  for (const Patch& each : patches_)
    *each.at = memory_->data + rooms_[static_cast<size_t>(same_[static_cast<size_t>(each.block)])].offset + each.offset;
}

const char* Plan::refresh() {
  for (const Node& node : flow_.constants) {
    CallStep step(*node.call);
    run_step(step);
  }
  for (size_t i = 0; i < convolutions_.size(); ++i) {
    const FusedConvolution& c = convolutions_[i];
    const int status = kernels_[i]->set_weight(c.weight, c.bias, c.scale, c.shift);
    if (status != 0) return status < 0 ? "a parameter is not finite" : "oneDNN cannot lay out a weight of it";
  }
  return "";
}

Tensor Plan::run(const Tensor& x, Site site) {
  Ref<TensorImpl> result = form_.memory(site);
  for (const Patch& each : input_) *each.at = static_cast<char*>(x.impl().data) + each.offset;
  for (const Patch& each : result_) *each.at = static_cast<char*>(result->data) + each.offset;
  for (const std::unique_ptr<Step>& step : steps_) run_step(*step);
  return form_.tensor(std::move(result));
}

std::string Plan::text() const { return text_of(steps_.data(), steps_.data() + steps_.size()); }

}  // namespace tandem::compiling
