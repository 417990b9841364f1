// Requests, splitting and merging, waiting and giving back.
#include "runtime/caching_allocator.h"

#include <algorithm>
#include <utility>

#include "runtime/capture.h"

namespace tandem::runtime {
namespace {

constexpr size_t kMinBlock = 512;                    // all sizes are multiples of it
constexpr size_t kSmallSize = size_t{1} << 20;       // the largest request of the small pool
constexpr size_t kSmallSegment = size_t{2} << 20;    // what the small pool takes at a time
constexpr size_t kMediumSegment = size_t{20} << 20;  // what requests up to kMinLarge take
constexpr size_t kMinLarge = size_t{10} << 20;       // from here on a segment holds one request
constexpr size_t kLargeRounding = size_t{2} << 20;   // in steps of this

size_t round_size(size_t bytes) { return (bytes + kMinBlock - 1) / kMinBlock * kMinBlock; }

size_t segment_size(size_t size) {
  if (size <= kSmallSize) return kSmallSegment;
  if (size < kMinLarge) return kMediumSegment;
  return (size + kLargeRounding - 1) / kLargeRounding * kLargeRounding;
}

/// The pool that the calling thread's requests are served from.
uint64_t current_pool(int device) {
  const Capture* const capture = capture_on(device);
  return capture ? capture->pool : 0;
}

bool worth_splitting(bool large, size_t remainder) { return large ? remainder > kSmallSize : remainder >= kMinBlock; }

void increase(cuda::Stat& stat, size_t amount) {
  stat.current += amount;
  stat.allocated += amount;
  stat.peak = std::max(stat.peak, stat.current);
}
void decrease(cuda::Stat& stat, size_t amount) {
  stat.current -= amount;
  stat.freed += amount;
}
void increase(cuda::StatByPool& stat, bool large, size_t amount) {
  increase(stat.all, amount);
  increase(large ? stat.large_pool : stat.small_pool, amount);
}
void decrease(cuda::StatByPool& stat, bool large, size_t amount) {
  decrease(stat.all, amount);
  decrease(large ? stat.large_pool : stat.small_pool, amount);
}

}  // namespace

/// The end of what was queued on a stream when it was made, to be waited for.
class CachingAllocator::Mark {
 public:
  Mark(Driver& driver, const StreamRecord* stream)
      : driver_(&driver), stream_(stream), event_(driver.create_event(stream->device, false)) {}
  Mark(Mark&& other) noexcept : driver_(other.driver_), stream_(other.stream_), event_(std::exchange(other.event_, nullptr)) {}
  Mark& operator=(Mark&& other) noexcept {
    driver_ = other.driver_;
    stream_ = other.stream_;
    std::swap(event_, other.event_);
    return *this;
  }
  ~Mark() {
    if (event_) driver_->destroy_event(event_);
  }
  [[nodiscard]] bool set() { return driver_->record_event_outside_capture(event_, stream_->handle); }
  [[nodiscard]] const StreamRecord* stream() const { return stream_; }
  [[nodiscard]] EventHandle event() const { return event_; }

 private:
  Driver* driver_;
  const StreamRecord* stream_;
  EventHandle event_;
};

/// What may still use the segments that no tensor has a part of now.
struct CachingAllocator::Marks {
  uint64_t when = 0;          // by the allocator's clock
  std::vector<Mark> waiting;  // that have not been seen to pass
  /// Streams that are being captured. What is theirs stays: waiting for such a stream would spoil the capture.
  std::vector<const StreamRecord*> captured;

  [[nodiscard]] bool hold(const StreamRecord* stream) const {
    return std::find(captured.begin(), captured.end(), stream) != captured.end() ||
           std::any_of(waiting.begin(), waiting.end(), [&](const Mark& mark) { return mark.stream() == stream; });
  }
};

CachingAllocator::CachingAllocator(Driver& driver, int device) : driver_(driver), device_(device), pending_(driver) {}

CachingAllocator::~CachingAllocator() {
  for (const auto& segment : segments_) {
    driver_.free(device_, segment->address, segment->size);
    for (Block* block = segment->first; block;) delete std::exchange(block, block->after);
  }
  while (spare_) delete std::exchange(spare_, spare_->free_after);
}

Block* CachingAllocator::allocate(size_t bytes, const StreamRecord* stream, Site site) {
  const bool impossible = bytes > SIZE_MAX / 4;
  const size_t size = impossible ? bytes : round_size(bytes);
  const bool large = size > kSmallSize;
  std::unique_lock lock(mutex_);
  if (!pending_.empty()) process_pending();
  if (impossible) {
    out_of_memory(bytes, stream, site);
  }
  FreeBlocks& home = pool(stream, current_pool(device_), large);
  Block* block = take_free(home, size);
  if (!block) block = add_segment(lock, home, large, segment_size(size));
  if (!block && !capture_on(device_)) block = wait_for_memory(lock, home, size, large, site);
  if (!block) out_of_memory(segment_size(size), stream, site);
  hand_out(block, size, bytes, site);
  lock.unlock();
  driver_.forget(device_, block->address, block->size);
  return block;
}

void CachingAllocator::free(Block* block) noexcept {
  const std::lock_guard lock(mutex_);
  const bool large = block->segment->large;
  tell(facts::MemoryMark::Freed, *block);
  block->allocated = false;
  block->segment->touched = ++clock_;
  decrease(stats_.allocation, large, 1);
  decrease(stats_.allocated_bytes, large, block->size);
  if (!block->uses.empty()) {
    try {
      for (const StreamRecord* stream : block->uses) pending_.add(block, stream);
    } catch (...) {
      ++block->pending;  // a use that cannot be waited for: the block is never given out again
    }
    block->uses.clear();
    block->used.store(false, std::memory_order_relaxed);
    if (block->pending) return;
  }
  return_block(block);
}

void CachingAllocator::record_stream(Block* block, const StreamRecord* stream) {
  const std::lock_guard lock(mutex_);
  if (stream == block->segment->home->stream()) return;
  auto& uses = block->uses;
  if (std::find(uses.begin(), uses.end(), stream) == uses.end()) uses.push_back(stream);
  block->used.store(true, std::memory_order_relaxed);
  runtime::tell([&] {
    return facts::MemoryMark{.kind = facts::MemoryMark::Used,
                             .device = gpu(device_),
                             .address = block->address,
                             .bytes = block->size,
                             .requested = block->requested,
                             .stream = stream,
                             .site = block->site};
  });
}

bool CachingAllocator::reusable_on(const Block* block, const StreamRecord* stream) const {
  const FreeBlocks& home = *block->segment->home;  // the same as long as the block is in somebody's hands
  return home.stream() == stream && home.pool() == current_pool(device_) && !block->used.load(std::memory_order_relaxed);
}

void CachingAllocator::empty_cache(Site site) {
  std::unique_lock lock(mutex_);
  process_pending();
  Marks marks = mark_uses();
  while (wait_for_one(lock, marks, "empty_cache", site)) {
  }
  process_pending();
  release_cached(marks);
}

void CachingAllocator::release_pool(uint64_t pool, const std::vector<const StreamRecord*>& replays) noexcept {
  const std::lock_guard lock(mutex_);
  if (!is_held(pool)) return;
  try {
    released_.push_back({pool, replays});
  } catch (const std::bad_alloc&) {
    return;  // who still replays is not known then: the pool is kept
  }
  for (const auto& segment : segments_)
    if (segment->home->pool() == pool) segment->touched = ++clock_;
  std::erase(held_, pool);
}

bool CachingAllocator::is_held(uint64_t pool) const { return std::find(held_.begin(), held_.end(), pool) != held_.end(); }

FreeBlocks& CachingAllocator::pool(const StreamRecord* stream, uint64_t number, bool large) {
  if (!last_pools_ || last_pools_->stream != stream || last_pools_->pool != number) {
    const auto known =
        std::find_if(pools_.begin(), pools_.end(), [&](const auto& pools) { return pools->stream == stream && pools->pool == number; });
    if (known == pools_.end()) {
      if (number && !is_held(number)) held_.push_back(number);
      pools_.push_back(
          std::make_unique<StreamPools>(StreamPools{stream, number, FreeBlocks(stream, number, false), FreeBlocks(stream, number, true)}));
      last_pools_ = pools_.back().get();
    } else {
      last_pools_ = known->get();
    }
  }
  return large ? last_pools_->large : last_pools_->small;
}

Block* CachingAllocator::take_free(FreeBlocks& home, size_t size) {
  Block* const block = home.find(size);
  if (block) home.remove(block);
  return block;
}

/// A segment of `size` bytes as one block, which is in no list; nullptr where the GPU has none. The driver is asked without the lock: it
/// may wait for the GPU.
Block* CachingAllocator::add_segment(std::unique_lock<std::mutex>& lock, FreeBlocks& home, bool large, size_t size) {
  auto segment = std::make_unique<Segment>();
  const size_t taken = stats_.reserved_bytes.all.current + asked_;
  if (taken > limit_ || size > limit_ - taken) return nullptr;
  asked_ += size;
  lock.unlock();
  // Ends with the lock held, whatever the driver throws.
  struct Asking {
    ~Asking() {
      if (!lock.owns_lock()) lock.lock();
      asked -= size;
    }
    std::unique_lock<std::mutex>& lock;
    size_t& asked;
    size_t size;
  } const asking{lock, asked_, size};
  const auto give_back = [&](void* address) { driver_.free(device_, address, size); };
  std::unique_ptr<void, decltype(give_back)> address(driver_.allocate(device_, size), give_back);
  if (address) segment->user_address = static_cast<char*>(driver_.user_address(device_, address.get()));
  lock.lock();
  if (!address) return nullptr;
  if (segments_.size() == segments_.capacity()) segments_.reserve(2 * segments_.size() + 16);
  Block* const block = new_block();
  segment->address = static_cast<char*>(address.release());
  segment->size = size;
  segment->large = large;
  segment->home = &home;
  segment->first = block;
  segment->index = segments_.size();
  block->address = segment->address;
  block->size = size;
  block->segment = segment.get();
  segments_.push_back(std::move(segment));
  increase(stats_.segment, large, 1);
  increase(stats_.reserved_bytes, large, size);
  tell(facts::MemoryMark::SegmentTaken, *block);
  return block;
}

/// Makes `block`, which is in no list, the caller's; what it does not need stays free as a block of its own behind it.
void CachingAllocator::hand_out(Block* block, size_t size, size_t requested, Site site) {
  Segment& segment = *block->segment;
  const bool large = segment.large;
  const bool was_split = block->is_split();
  segment.touched = ++clock_;
  if (worth_splitting(large, block->size - size)) {
    Block* const rest = new_block();
    rest->address = block->address + size;
    rest->size = block->size - size;
    rest->segment = &segment;
    rest->before = block;
    rest->after = block->after;
    if (rest->after) rest->after->before = rest;
    block->after = rest;
    block->size = size;
    segment.home->put(rest);
    if (was_split) {
      decrease(stats_.inactive_split_bytes, large, size);
    } else {
      increase(stats_.inactive_split_bytes, large, rest->size);
      increase(stats_.inactive_split, large, 1);
    }
  } else if (was_split) {
    decrease(stats_.inactive_split_bytes, large, block->size);
    decrease(stats_.inactive_split, large, 1);
  }
  block->allocated = true;
  block->requested = requested;
  block->site = site;
  increase(stats_.allocation, large, 1);
  increase(stats_.active, large, 1);
  increase(stats_.allocated_bytes, large, block->size);
  recent_peak_ = std::max(recent_peak_, stats_.allocated_bytes.all.current);
  increase(stats_.active_bytes, large, block->size);
  increase(stats_.requested_bytes, large, requested);
  tell(facts::MemoryMark::Allocated, *block);
}

/// Back into its free blocks, joined with free neighbours.
void CachingAllocator::return_block(Block* block) {
  const bool large = block->segment->large;
  tell(facts::MemoryMark::Reusable, *block);
  decrease(stats_.active, large, 1);
  decrease(stats_.active_bytes, large, block->size);
  decrease(stats_.requested_bytes, large, block->requested);
  int64_t split_blocks = 0, split_bytes = 0;
  for (Block* const neighbour : {block->before, block->after}) {
    const size_t taken = merge(block, neighbour);
    if (!taken) continue;
    --split_blocks;
    split_bytes -= static_cast<int64_t>(taken);
  }
  if (block->is_split()) {
    ++split_blocks;
    split_bytes += static_cast<int64_t>(block->size);
  }
  const auto change = [large](cuda::StatByPool& stat, int64_t by) {
    if (by > 0) increase(stat, large, static_cast<size_t>(by));
    if (by < 0) decrease(stat, large, static_cast<size_t>(-by));
  };
  change(stats_.inactive_split, split_blocks);
  change(stats_.inactive_split_bytes, split_bytes);
  block->segment->home->put(block);
}

/// Takes a free neighbour into `block`; says how many bytes that were.
size_t CachingAllocator::merge(Block* block, Block* neighbour) {
  if (!neighbour || !neighbour->free()) return 0;
  block->segment->home->remove(neighbour);
  if (neighbour == block->before) {
    block->address = neighbour->address;
    block->before = neighbour->before;
    if (block->before) block->before->after = block;
    else block->segment->first = block;
  } else {
    block->after = neighbour->after;
    if (block->after) block->after->before = block;
  }
  const size_t size = neighbour->size;
  block->size += size;
  drop_block(neighbour);
  return size;
}

void CachingAllocator::process_pending() {
  pending_.process([this](Block* block) { return_block(block); });
}

/// The streams whose work may use memory of the segment that is free: its own, and where graphs of its pool were replayed.
std::vector<const StreamRecord*> CachingAllocator::users(const Segment& segment) const {
  std::vector<const StreamRecord*> streams = {segment.home->stream()};
  for (const auto& [pool, replays] : released_)
    if (pool == segment.home->pool()) streams.insert(streams.end(), replays.begin(), replays.end());
  return streams;
}

/// Whether the pool of the segment may be given back, and nobody has a part of it.
bool CachingAllocator::is_idle(const Segment& segment) const {
  if (is_held(segment.home->pool())) return false;
  for (const Block* block = segment.first; block; block = block->after)
    if (block->allocated) return false;
  return true;
}

/// Marks work queued before a block was freed, and recorded uses on other streams.
CachingAllocator::Marks CachingAllocator::mark_uses() {
  std::vector<const StreamRecord*> streams;
  pending_.streams(streams);
  for (const auto& segment : segments_) {
    if (!is_idle(*segment)) continue;
    const auto its = users(*segment);
    streams.insert(streams.end(), its.begin(), its.end());
  }
  std::sort(streams.begin(), streams.end());
  streams.erase(std::unique(streams.begin(), streams.end()), streams.end());
  Marks marks;
  marks.when = ++clock_;
  for (const StreamRecord* stream : streams) {
    if (Mark mark(driver_, stream); mark.set()) marks.waiting.push_back(std::move(mark));
    else marks.captured.push_back(stream);
  }
  return marks;
}

/// Waits until one of the marks has passed, and drops it; false where none is left, or none has passed and the calling thread cannot wait.
/// Waits without the lock, as the work that is waited for may itself need the allocator to get on.
bool CachingAllocator::wait_for_one(std::unique_lock<std::mutex>& lock, Marks& marks, const char* op, Site site) {
  std::vector<EventHandle> events;
  for (const Mark& mark : marks.waiting) events.push_back(mark.event());
  size_t passed = 0;
  if (driver_.may_wait()) {
    if (events.empty()) return false;
    lock.unlock();
    const Telling told([&] { return facts::Wait{.kind = facts::Wait::Memory, .op = op, .site = site, .device = gpu(device_)}; });
    passed = driver_.wait_for_any(events, site);
    lock.lock();
  } else {
    while (passed < events.size() && !driver_.query_event(events[passed])) ++passed;
    if (passed == events.size()) return false;
  }
  const StreamRecord* const stream = marks.waiting[passed].stream();
  runtime::tell([&] { return facts::Order{.earlier = stream}; });
  marks.waiting.erase(marks.waiting.begin() + static_cast<std::ptrdiff_t>(passed));
  return true;
}

/// The memory is full: a block out of what is cached, given back, or passed by the work that uses it, in the order in which that happens.
/// Streams may stand in a collective that waits for the calling thread, so as few of them are waited for as will do.
Block* CachingAllocator::wait_for_memory(std::unique_lock<std::mutex>& lock, FreeBlocks& home, size_t size, bool large, Site site) {
  ++stats_.num_alloc_retries;
  Marks marks = mark_uses();
  for (;;) {
    release_cached(marks);
    if (Block* const block = add_segment(lock, home, large, segment_size(size))) return block;
    if (!wait_for_one(lock, marks, "allocate", site)) return nullptr;
    process_pending();
    if (Block* const block = take_free(home, size)) return block;
  }
}

/// Gives back the segments that nobody has had a part of since the marks were made, and whose users have passed.
void CachingAllocator::release_cached(const Marks& marks) {
  for (size_t i = segments_.size(); i-- > 0;) {
    Segment* const segment = segments_[i].get();
    if (segment->touched > marks.when || segment->first->is_split() || !segment->first->free() || is_held(segment->home->pool())) continue;
    const auto its = users(*segment);
    if (std::none_of(its.begin(), its.end(), [&](const StreamRecord* stream) { return marks.hold(stream); })) release_segment(segment);
  }
  // Of pools that nobody holds, the lists go with the last segment.
  const auto in_use = [this](uint64_t pool) {
    return is_held(pool) ||
           std::any_of(segments_.begin(), segments_.end(), [&](const auto& segment) { return segment->home->pool() == pool; });
  };
  last_pools_ = nullptr;
  std::erase_if(pools_, [&](const auto& pools) { return pools->pool != 0 && !in_use(pools->pool); });
  std::erase_if(released_, [&](const auto& released) { return !in_use(released.pool); });
}

void CachingAllocator::release_segment(Segment* segment) noexcept {
  Block* const block = segment->first;
  tell(facts::MemoryMark::SegmentReturned, *block);
  segment->home->remove(block);
  drop_block(block);
  driver_.free(device_, segment->address, segment->size);
  decrease(stats_.segment, segment->large, 1);
  decrease(stats_.reserved_bytes, segment->large, segment->size);
  const size_t index = segment->index;
  segments_[index] = std::move(segments_.back());
  segments_[index]->index = index;
  segments_.pop_back();
}

void CachingAllocator::tell(facts::MemoryMark::Kind kind, const Block& block) const noexcept {
  runtime::tell([&] {
    return facts::MemoryMark{.kind = kind,
                             .device = gpu(device_),
                             .address = block.address,
                             .bytes = block.size,
                             .requested = block.requested,
                             .stream = block.segment->home->stream(),
                             .site = block.site};
  });
}

Block* CachingAllocator::new_block() {
  if (!spare_) return new Block;
  Block* const block = std::exchange(spare_, spare_->free_after);
  block->before = block->after = block->free_before = block->free_after = nullptr;
  block->pending = 0;
  block->allocated = false;
  return block;
}

void CachingAllocator::drop_block(Block* block) noexcept {
  block->free_after = spare_;
  spare_ = block;
}

}  // namespace tandem::runtime
