#include "runtime/pinned_cache.h"

#include <algorithm>
#include <cstdint>
#include <memory>

#include "base/error.h"
#include "runtime/observer.h"

namespace tandem::runtime {
namespace {

constexpr int kPageBits = 12;

/// Whole pages: powers of two up to 1 MiB, then four classes to each doubling.
int size_class(size_t bytes) {
  const int log2 = bytes <= size_t{1} << kPageBits ? kPageBits : 64 - __builtin_clzll(bytes - 1);  // bytes <= 2^log2
  if (log2 <= 20) return log2 - kPageBits;
  return 9 + (log2 - 21) * 4 + static_cast<int>((bytes - 1) >> (log2 - 3) & 3);
}

size_t class_size(int index) {
  if (index <= 8) return size_t{1} << (kPageBits + index);
  const int log2 = 20 + (index - 9) / 4;
  return (size_t{1} << log2) + static_cast<size_t>((index - 9) % 4 + 1) * (size_t{1} << (log2 - 2));
}

/// `stream`: of Used.
void tell_of(facts::MemoryMark::Kind kind, const PinnedBlock& block, const StreamRecord* stream = nullptr) noexcept {
  tell([&] {
    return facts::MemoryMark{
        .kind = kind, .address = block.data, .bytes = block.capacity, .requested = block.requested, .stream = stream, .site = block.site};
  });
}

}  // namespace

PinnedCache::~PinnedCache() {
  while (!blocks_.empty()) release(blocks_.back().get());
}

PinnedBlock* PinnedCache::allocate(size_t bytes, Site site) {
  if (bytes <= SIZE_MAX / 4) {
    const int index = size_class(bytes);
    const std::lock_guard lock(mutex_);
    if (!pending_.empty()) pending_.process([this](PinnedBlock* block) { keep(block); });
    if (!free_[index].empty()) {
      PinnedBlock* const block = free_[index].back();
      free_[index].pop_back();
      return hand_out(block, bytes, site);
    }
    auto block = std::make_unique<PinnedBlock>();
    if (blocks_.size() == blocks_.capacity()) blocks_.reserve(2 * blocks_.size() + 16);
    block->capacity = class_size(index);
    block->data = driver_.allocate_pinned(block->capacity);
    if (!block->data) {
      trim_locked();
      block->data = driver_.allocate_pinned(block->capacity);
    }
    if (block->data) {
      block->index = blocks_.size();
      blocks_.push_back(std::move(block));
      return hand_out(blocks_.back().get(), bytes, site);
    }
  }
  fail<OutOfMemoryError>("[pin_memory] could not get ", bytes, " bytes of page-locked host memory (asked for at ", site.file, ":",
                         site.line, "): let go of pinned tensors, or use pageable ones");
}

PinnedBlock* PinnedCache::hand_out(PinnedBlock* block, size_t bytes, Site site) {
  block->requested = bytes;
  block->site = site;
  tell_of(facts::MemoryMark::Allocated, *block);
  return block;
}

void PinnedCache::free(PinnedBlock* block) noexcept {
  const std::lock_guard lock(mutex_);
  tell_of(facts::MemoryMark::Freed, *block);
  try {
    for (const StreamRecord* stream : block->uses) pending_.add(block, stream);
    block->uses.clear();
    if (block->pending == 0) keep(block);
  } catch (...) {
    ++block->pending;  // a copy that cannot be waited for: the block is never given out again
  }
}

void PinnedCache::record_stream(PinnedBlock* block, const StreamRecord* stream) {
  const std::lock_guard lock(mutex_);
  auto& uses = block->uses;
  if (std::find(uses.begin(), uses.end(), stream) == uses.end()) uses.push_back(stream);
  tell_of(facts::MemoryMark::Used, *block, stream);
}

void PinnedCache::empty(Site site) {
  const auto settle = [this] { pending_.process([this](PinnedBlock* block) { keep(block); }); };
  std::vector<const StreamRecord*> streams;
  {
    const std::lock_guard lock(mutex_);
    settle();
    pending_.streams(streams);
  }
  if (driver_.may_wait())
    for (const StreamRecord* stream : streams) {
      const Telling told([&] {
        return facts::Wait{.kind = facts::Wait::Stream, .op = "empty_cache", .site = site, .device = gpu(stream->device), .stream = stream};
      });
      driver_.synchronize_stream(stream->handle, site);
    }
  const std::lock_guard lock(mutex_);
  settle();
  trim_locked();
}

void PinnedCache::trim_locked() noexcept {
  for (auto& blocks : free_) {
    for (PinnedBlock* block : blocks) release(block);
    blocks.clear();
  }
}

void PinnedCache::release(PinnedBlock* block) noexcept {
  driver_.free_pinned(block->data, block->capacity);
  const size_t index = block->index;
  blocks_[index] = std::move(blocks_.back());
  blocks_[index]->index = index;
  blocks_.pop_back();
}

size_t PinnedCache::cached_bytes() {
  const std::lock_guard lock(mutex_);
  size_t bytes = 0;
  for (const auto& blocks : free_)
    for (const PinnedBlock* block : blocks) bytes += block->capacity;
  return bytes;
}

void PinnedCache::keep(PinnedBlock* block) {
  tell_of(facts::MemoryMark::Reusable, *block);
  free_[size_class(block->capacity)].push_back(block);
}

}  // namespace tandem::runtime
