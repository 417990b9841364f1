#include "observe/races/races.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "base/fork.h"
#include "observe/races/races_text.h"
#include "observe/races/stream_order.h"

namespace tandem::races {
namespace {

using observe::AccessHistory;
using observe::Actor;
using observe::CapturedGraph;
using observe::Clock;
using observe::StreamOrder;
using observe::Use;
using runtime::Access;
using runtime::StreamRecord;
namespace facts = runtime::facts;

constexpr size_t kMostRanges = 65536;
constexpr size_t kMostReports = 1000;

/// A piece of memory that the library keeps for reuse.
struct Block {
  size_t bytes = 0;
  uint64_t order = 0;  // when it was handed out
  Site site = Site::none();
  const StreamRecord* home = nullptr;
  bool of_graph = false;    // of a graph's pool, which stays the graph's whoever lets go
  uint64_t let_go = 0;      // when its owner let go of it; 0: it has one
  std::vector<Actor> used;  // other streams that it was used on
  Clock freed;              // how far those had come then
};

}  // namespace

class Checker::State final : public runtime::Observer {
 public:
  State() { runtime::add_observer(*this); }
  ~State() override { runtime::remove_observer(*this); }

  void begin(const facts::Kernel& kernel) noexcept override {
    guarded([&] {
      if (kernel.stream) use(kernel.stream, kernel.op, kernel.site, kernel.accesses);
      else host_use(kernel.op, kernel.site, kernel.accesses);
    });
  }
  void begin(const facts::Collective& call) noexcept override {
    guarded([&] {
      if (call.stream) use(call.stream, call.op, call.site, call.accesses);
      else if (call.waits) host_use(call.op, call.site, call.accesses);
    });
  }
  void begin(const facts::Copy& copy) noexcept override {
    // Before anything that could be locked: it may make the stream.
    const bool between_gpus = copy.to_device.is_cuda() && copy.from_device.is_cuda();
    const StreamRecord* const target = between_gpus ? runtime::current_stream(copy.to_device.index()) : nullptr;
    guarded([&] {
      if (target) order_.order(target, copy.stream);  // which is told later
      const StreamOrder::Place here = order_.work(copy.stream);
      const auto touch_side = [&](const void* address, Device device, bool pinned, bool writes) {
        if (device.is_cpu() && !pinned) return;  // the calling thread waits until it is done
        const Access access{.begin = address,
                            .bytes = copy.bytes,
                            .sizes = {static_cast<int64_t>(copy.bytes)},
                            .dtype = kUInt8,
                            .kind = writes ? Access::Written : Access::Read};
        touch(here, copy.op, copy.site, access, device.is_cpu());
      };
      touch_side(copy.from, copy.from_device, copy.from_pinned, false);
      touch_side(copy.to, copy.to_device, copy.to_pinned, true);
    });
  }
  void end(const facts::Copy& copy) noexcept override {
    if (copy.waits) guarded([&] { order_.host_saw(copy.stream); });
  }
  void end(const facts::Wait& wait) noexcept override {
    guarded([&] { order_.waited(wait); });
  }
  void begin(const facts::Replay& replay) noexcept override {
    guarded([&] {
      const CapturedGraph* const graph = order_.graph(replay.graph);
      if (!graph) return;
      const StreamOrder::Place here = order_.work(replay.stream);
      Clock& now = here.world->of(here.stream);
      ++told_;
      for (const CapturedGraph::Part& part : graph->parts) {
        Use use = part.use;
        use.stream = here.stream;
        use.tick = now.of(here.stream);
        use.order = told_;
        use.replay = replay.site;
        if (const Block* const block = block_at(part.begin)) check_owner(*block, part, use);
        add(here, part.begin, part.end, use, part.on_host);
      }
    });
  }
  void mark(const facts::EventMark& mark) noexcept override {
    guarded([&] { order_.mark(mark); });
  }
  void mark(const facts::Order& mark) noexcept override {
    guarded([&] { order_.order(mark.earlier, mark.later); });
  }
  void mark(const facts::CaptureMark& mark) noexcept override {
    guarded([&] { order_.mark(mark); });
  }
  void mark(const facts::MemoryMark& mark) noexcept override {
    guarded([&] { memory(mark); });
  }

  std::vector<Report> reports() const {
    const std::lock_guard lock(mutex_);
    return reports_;
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    reports_.clear();
    known_.clear();
  }
  int64_t forgotten() const {
    const std::lock_guard lock(mutex_);
    return forgotten_;
  }
  void missed() noexcept override {
    const std::lock_guard lock(mutex_);
    ++forgotten_;
  }

 private:
  /// Does what is to be done when told; what there is no memory for is forgotten.
  template <class Do>
  void guarded(Do&& act) noexcept {
    const std::lock_guard lock(mutex_);
    try {
      act();
    } catch (const std::bad_alloc&) {
      ++forgotten_;
    }
  }

  void use(const StreamRecord* stream, const char* op, Site site, const runtime::Accesses& accesses) {
    const StreamOrder::Place here = order_.work(stream);
    // Reads first: an operation in place is to be told of what it changes as a write.
    for (const bool writes : {false, true})
      for (const Access& access : accesses)
        if ((access.kind != Access::Read) == writes) touch(here, op, site, access, false);
  }

  static Use use_of(const char* op, Site site, const Access& access) {
    Use use;
    use.writes = access.kind != Access::Read;
    use.op = op;
    use.site = site;
    use.begin = reinterpret_cast<uintptr_t>(access.begin);
    use.bytes = access.bytes;
    use.sizes = access.sizes;
    use.dtype = access.dtype;
    return use;
  }

  /// `each(begin, end)` of the bytes that are certainly touched: of a view with gaps, the first and the last element.
  template <class Each>
  static void touched(const Access& access, Each&& each) {
    const auto begin = reinterpret_cast<uintptr_t>(access.begin);
    size_t elements = size_of(access.dtype);
    for (const int64_t size : access.sizes) elements *= static_cast<size_t>(size);
    if (access.bytes <= elements) return each(begin, begin + access.bytes);
    each(begin, begin + size_of(access.dtype));
    each(begin + access.bytes - size_of(access.dtype), begin + access.bytes);
  }

  void touch(const StreamOrder::Place& here, const char* op, Site site, const Access& access, bool on_host) {
    Use use = use_of(op, site, access);
    use.stream = here.stream;
    use.tick = here.world->of(here.stream).of(here.stream);
    use.order = ++told_;
    touched(access, [&](uintptr_t begin, uintptr_t end) {
      add(here, begin, end, use, on_host);
      if (!here.graph) return;
      if (here.graph->parts.size() < kMostRanges) here.graph->parts.push_back({begin, end, on_host, use});
      else ++forgotten_;
    });
  }

  void add(const StreamOrder::Place& here, uintptr_t begin, uintptr_t end, const Use& use, bool on_host) {
    AccessHistory& history = on_host ? here.world->host : here.world->device;
    const Clock& now = here.world->of(here.stream);
    history.add(begin, end, use, now, [&](const Use& earlier) { found(earlier, use, order_.record(here.stream), now, on_host); });
    if (history.size() > kMostRanges) forgotten_ += static_cast<int64_t>(history.shrink(kMostRanges / 2, order_.host()));
  }

  /// The host's own uses: later work always comes behind them, so only what is under way counts.
  void host_use(const char* op, Site site, const runtime::Accesses& accesses) {
    const AccessHistory& history = order_.world().host;
    if (history.empty()) return;
    for (const Access& access : accesses) {
      const Use use = use_of(op, site, access);
      touched(access, [&](uintptr_t begin, uintptr_t end) {
        history.check(begin, end, use.writes, order_.host(),
                      [&](const Use& earlier) { found(earlier, use, nullptr, order_.host(), true); });
      });
    }
  }

  void memory(const facts::MemoryMark& mark) {
    using Mark = facts::MemoryMark;
    const auto begin = reinterpret_cast<uintptr_t>(mark.address), end = begin + mark.bytes;
    const bool on_host = mark.device.is_cpu();
    AccessHistory& history = on_host ? order_.world().host : order_.world().device;
    switch (mark.kind) {
      case Mark::Allocated: {
        forget_blocks(begin, end);
        Block& block = blocks_[begin];
        block.bytes = mark.bytes;
        block.order = ++told_;
        block.site = mark.site;
        block.home = mark.stream;
        if (on_host || !mark.stream) return;
        const StreamOrder::Place home = order_.place(mark.stream);
        block.of_graph = home.graph != nullptr;
        if (!home.graph) history.hand_out(begin, end, home.world->of(home.stream), order_.host());
        return;
      }
      case Mark::Used: {
        Block& block = blocks_[begin];
        block.bytes = mark.bytes;
        const Actor stream = order_.place(mark.stream).stream;
        if (std::find(block.used.begin(), block.used.end(), stream) == block.used.end()) block.used.push_back(stream);
        return;
      }
      case Mark::Freed:
        if (const auto block = blocks_.find(begin); block != blocks_.end()) {
          for (const Actor stream : block->second.used) block->second.freed.raise(stream, order_.world().of(stream).of(stream));
          block->second.let_go = ++told_;
        }
        return;
      case Mark::Reusable:
        if (const auto block = blocks_.find(begin); block != blocks_.end() && !block->second.used.empty())
          history.drop(begin, end, block->second.freed);
        return;
      case Mark::SegmentTaken:
      case Mark::SegmentReturned: forget_blocks(begin, end); return history.forget(begin, end);
      case Mark::Exhausted: return;
    }
  }

  void forget_blocks(uintptr_t begin, uintptr_t end) { blocks_.erase(blocks_.lower_bound(begin), blocks_.lower_bound(end)); }

  /// The block that the address lies in; nullptr where that is not known.
  const Block* block_at(uintptr_t address) const {
    const auto block = blocks_.upper_bound(address);
    return block != blocks_.begin() && address < std::prev(block)->first + std::prev(block)->second.bytes ? &std::prev(block)->second
                                                                                                          : nullptr;
  }

  /// A graph uses at each replay the memory that it used when it was captured, whosever that is by now.
  void check_owner(const Block& block, const CapturedGraph::Part& part, const Use& use) {
    const bool new_owner = block.order > part.use.order;
    if (block.of_graph || (!new_owner && !block.let_go)) return;
    Use owner = use_of(new_owner ? "handed out" : "let go", block.site, {});
    Circumstances circumstances;
    circumstances.second = order_.record(use.stream);
    circumstances.memory = part.on_host ? Device() : gpu(circumstances.second->device);
    circumstances.lost = true;
    circumstances.new_owner = new_owner;
    circumstances.handed_out = block.site;
    report(owner, use, circumstances);
  }

  void found(const Use& earlier, const Use& later, const StreamRecord* stream, const Clock& now, bool on_host) {
    Circumstances circumstances;
    circumstances.first = order_.record(earlier.stream);
    circumstances.second = stream;
    circumstances.memory = on_host ? Device() : gpu(stream->device);
    circumstances.waited_before = now.of(earlier.stream) > 0;
    if (const Block* const block = block_at(later.begin)) {
      circumstances.new_owner = block->order > earlier.order && block->order > 0;
      circumstances.handed_out = block->site;
      circumstances.home = block->home;
    }
    report(earlier, later, circumstances);
  }

  void report(const Use& earlier, const Use& later, const Circumstances& circumstances) {
    const auto key = std::tuple(std::string_view(earlier.site.file), earlier.site.line, std::string_view(earlier.op),
                                std::string_view(later.site.file), later.site.line, std::string_view(later.op));
    const auto [known, is_new] = known_.try_emplace(key, reports_.size());
    if (!is_new) {
      ++reports_[known->second].count;
      return;
    }
    if (reports_.size() == kMostReports) {
      known_.erase(known);
      return;
    }
    reports_.push_back(report_of(earlier, later, circumstances));
  }

  mutable tandem::detail::ForkSafeMutex mutex_;
  StreamOrder order_;
  uint64_t told_ = 0;
  std::map<uintptr_t, Block> blocks_;
  std::vector<Report> reports_;
  std::map<std::tuple<std::string_view, int, std::string_view, std::string_view, int, std::string_view>, size_t> known_;
  int64_t forgotten_ = 0;
};

Checker::Checker() : state_(std::make_unique<State>()) {}
Checker::~Checker() = default;
std::vector<Report> Checker::reports() const { return state_->reports(); }
void Checker::clear() { state_->clear(); }
int64_t Checker::forgotten() const { return state_->forgotten(); }

}  // namespace tandem::races
