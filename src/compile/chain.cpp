#include "compile/chain.h"

#include <algorithm>
#include <map>

#include "base/align.h"
#include "base/error.h"
#include "base/parallel.h"

namespace tandem::compiling {
namespace {

using kernels::Pointwise;
using PointwiseCall = CallOf<&kernels::Table::pointwise>;

constexpr int64_t kTile = 4096;        // elements: what a call leaves for the next one stays in the first cache, or the second
constexpr int64_t kGrain = 32 * 1024;  // elements, times calls, a thread should have at least
constexpr int64_t kPartsEach = 4;      // parts of the work for each thread, so that they end together
constexpr size_t kMostCalls = 64;

const PointwiseCall* contiguous_call(const Node& node) {
  const auto* const call = dynamic_cast<const PointwiseCall*>(node.call.get());
  return call && call->argument<0>().contiguous && call->argument<0>().numel > 0 ? call : nullptr;
}

/// Whether two calls that go through their elements side by side give what they give one after the other: where one writes what the other
/// uses, it is the same element at the same time.
bool meet_by_element(const Node& a, const Node& b) {
  for (const Use& one : a.uses)
    for (const Use& other : b.uses) {
      if (one.address.kind == Touch::Read && other.address.kind == Touch::Read) continue;
      if (one.address.begin == other.address.begin && one.address.bytes == other.address.bytes) continue;
      if (one.address.begin < other.address.begin + other.address.bytes && other.address.begin < one.address.begin + one.address.bytes)
        return false;
    }
  return true;
}

/// A block that no one but the chain uses.
struct Inside {
  int first, last;  // the calls that use it, by their places in the chain
  const char* begin;
  size_t bytes;
  int64_t offset = -1;  // in a part's scratch
};

class Insides {
 public:
  Insides(const Flow& flow, const std::vector<int>& nodes, const std::vector<bool>& needed) {
    for (size_t i = 0; i < nodes.size(); ++i) {
      const Node& node = flow.nodes[static_cast<size_t>(nodes[i])];
      for (const Touch kind : {Touch::Read, Touch::Written})  // a call reads before it writes
        for (const Use& use : node.uses)
          if (use.address.kind == kind && use.block >= 0) add(flow, nodes, needed, use, static_cast<int>(i));
    }
    std::erase_if(found_, [](const auto& each) { return each.second.last < 0; });
  }

  /// Gives them room in a part's scratch; what ends before another begins leaves its room to it. The bytes of all together.
  size_t place(int64_t numel) {
    struct Slot {
      int last;
      size_t width;
      std::vector<Inside*> users;
    };
    std::vector<Inside*> order;
    for (auto& [block, inside] : found_) order.push_back(&inside);
    std::stable_sort(order.begin(), order.end(), [](const Inside* a, const Inside* b) { return a->first < b->first; });
    std::vector<Slot> slots;
    for (Inside* const inside : order) {
      const size_t width = inside->bytes / static_cast<size_t>(numel);
      auto slot = std::find_if(slots.begin(), slots.end(), [&](const Slot& each) { return each.last < inside->first; });
      if (slot == slots.end()) slot = slots.insert(slots.end(), Slot{});
      slot->last = inside->last;
      slot->width = std::max(slot->width, width);
      slot->users.push_back(inside);
    }
    size_t total = 0;
    for (const Slot& slot : slots) {
      for (Inside* const inside : slot.users) inside->offset = static_cast<int64_t>(total);
      total += align_up(slot.width * static_cast<size_t>(std::min(numel, kTile)));
    }
    return total;
  }

  [[nodiscard]] const Inside* find(int block) const {
    const auto at = found_.find(block);
    return at == found_.end() ? nullptr : &at->second;
  }

 private:
  /// A block that is not one, once, stays none: its `last` is -1.
  void add(const Flow& flow, const std::vector<int>& nodes, const std::vector<bool>& needed, const Use& use, int at) {
    const auto b = static_cast<size_t>(use.block);
    const auto [place, is_new] = found_.try_emplace(use.block, Inside{at, -1, use.address.begin, use.address.bytes});
    Inside& inside = place->second;
    const auto ours = [&](int node) { return std::binary_search(nodes.begin(), nodes.end(), node); };
    if (is_new) {
      const BlockFlow& block = flow.blocks[b];
      if (use.address.kind == Touch::Written && !needed[b] && !block.constant &&
          std::all_of(block.readers.begin(), block.readers.end(), ours) && std::all_of(block.writers.begin(), block.writers.end(), ours))
        inside.last = at;
      return;
    }
    if (inside.last < 0) return;
    inside.last = use.address.begin == inside.begin && use.address.bytes == inside.bytes ? at : -1;
  }

  std::map<int, Inside> found_;
};

}  // namespace

std::vector<int> chain_from(const Flow& flow, int first, int end, const std::vector<bool>& elsewhere, const std::vector<bool>& stops) {
  std::vector<int> chain{first};
  const PointwiseCall* const call = contiguous_call(flow.nodes[static_cast<size_t>(first)]);
  if (!call) return chain;
  for (int n = first + 1; n < end && !stops[static_cast<size_t>(n)] && chain.size() < kMostCalls; ++n) {
    if (elsewhere[static_cast<size_t>(n)]) continue;
    const Node& node = flow.nodes[static_cast<size_t>(n)];
    const PointwiseCall* const next = contiguous_call(node);
    if (!next || next->argument<0>().numel != call->argument<0>().numel) break;
    if (!std::all_of(chain.begin(), chain.end(), [&](int at) { return meet_by_element(flow.nodes[static_cast<size_t>(at)], node); })) break;
    chain.push_back(n);
  }
  return chain;
}

ChainStep::ChainStep(const Flow& flow, const std::vector<int>& nodes, const std::vector<bool>& needed, int threads)
    : Step(flow.nodes[static_cast<size_t>(nodes[0])].call->op(), flow.nodes[static_cast<size_t>(nodes[0])].call->site()) {
  numel_ = contiguous_call(flow.nodes[static_cast<size_t>(nodes[0])])->argument<0>().numel;
  const int64_t tiles = (numel_ + kTile - 1) / kTile, each = (tiles + kPartsEach * threads - 1) / (kPartsEach * threads);
  part_ = each * kTile;
  parts_ = (tiles + each - 1) / each;
  Insides insides(flow, nodes, needed);
  part_bytes_ = insides.place(numel_);
  for (const int n : nodes) {
    const Node& node = flow.nodes[static_cast<size_t>(n)];
    Link link{contiguous_call(node)};
    const Pointwise& call = link.call->argument<0>();
    if (n != nodes[0]) also += str(" + ", node.call->op());
    for (const Use& use : node.uses) {
      const Inside* const inside = use.block < 0 ? nullptr : insides.find(use.block);
      if (!inside) {
        uses_.push_back(&use);
      } else if (use.address.kind == Touch::Written) {
        link.out = inside->offset;
      } else {
        for (int i = 0; i < call.inputs; ++i)
          if (static_cast<const void* const*>(use.address.at) == &call.in[i].data) link.in[static_cast<size_t>(i)] = inside->offset;
      }
    }
    links_.push_back(link);
  }
  also += ", tile by tile";
}

void ChainStep::run(const Queue& queue) {
  Queue alone;
  alone.status = queue.status;
  alone.op = queue.op;
  alone.site = queue.site;
  const int64_t work = numel_ * static_cast<int64_t>(links_.size());
  const auto threads = static_cast<int>(std::min<int64_t>(queue.threads, (work + kGrain - 1) / kGrain));
  parallel_for(parts_, 1, threads, [&](int64_t first, int64_t last) {
    for (int64_t part = first; part < last; ++part) {
      char* const own = static_cast<char*>(scratch) + static_cast<size_t>(part) * part_bytes_;
      const int64_t end = std::min(numel_, (part + 1) * part_);
      for (int64_t begin = part * part_; begin < end; begin += kTile) run_tile(alone, begin, std::min(kTile, end - begin), own);
    }
  });
}

/// `n` elements from `begin` on; `own`: the part's scratch.
void ChainStep::run_tile(const Queue& queue, int64_t begin, int64_t n, char* own) const {
  const auto at = [&](void* data, DType dtype, int64_t offset) -> void* {
    return offset >= 0 ? own + offset : static_cast<char*>(data) + begin * static_cast<int64_t>(size_of(dtype));
  };
  for (const Link& link : links_) {
    Pointwise call = link.call->argument<0>();
    if (call.ndim > 0) call.sizes[0] = n;
    call.numel = n;
    for (int i = 0; i < call.inputs; ++i)
      if (call.in[i].data) call.in[i].data = at(const_cast<void*>(call.in[i].data), call.in[i].dtype, link.in[static_cast<size_t>(i)]);
    call.out = at(call.out, call.out_dtype, link.out);
    kernels::cpu_table().pointwise(queue, call);
  }
}

}  // namespace tandem::compiling
