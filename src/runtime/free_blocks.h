// The free blocks of one stream and one pool of the caching allocator, found by best fit.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/site.h"
#include "runtime/stream_record.h"

namespace tandem::runtime {

struct Segment;
class FreeBlocks;

/// A piece of a segment: in a tensor's hands, waiting for uses on other streams to pass, or free.
struct Block {
  char* address = nullptr;
  size_t size = 0;
  size_t requested = 0;
  Segment* segment = nullptr;
  Block* before = nullptr;  // neighbours in the segment
  Block* after = nullptr;
  Block* free_before = nullptr;  // neighbours in a list of free blocks of one size
  Block* free_after = nullptr;
  bool allocated = false;
  int pending = 0;  // uses on other streams that have not passed since it was freed
  Site site = Site::none();
  std::vector<const StreamRecord*> uses;  // other streams it is used on
  std::atomic<bool> used{false};          // whether there are any: to be asked without the lock

  [[nodiscard]] bool free() const { return !allocated && pending == 0; }
  [[nodiscard]] bool is_split() const { return before || after; }
};

/// Memory taken from the driver in one piece.
struct Segment {
  char* address = nullptr;
  char* user_address = nullptr;
  size_t size = 0;
  bool large = false;
  FreeBlocks* home = nullptr;  // where its free blocks go
  Block* first = nullptr;
  size_t index = 0;      // its place in the allocator's list
  uint64_t touched = 0;  // when a part of it was last handed out or freed, by the allocator's clock
};

/// Small blocks are multiples of 512 bytes up to 2 MiB, so each size has a list of its own and a bit that says whether it holds any:
/// finding, putting and removing take no search. Large blocks are few: a sorted array.
class FreeBlocks {
 public:
  static constexpr size_t kStep = 512;
  static constexpr size_t kLargestListed = size_t{2} << 20;

  /// `pool`: of captures (runtime/capture.h), 0 for everybody.
  FreeBlocks(const StreamRecord* stream, uint64_t pool, bool large) : stream_(stream), pool_(pool) {
    if (!large) lists_.resize(kLargestListed / kStep + 1);
  }

  [[nodiscard]] const StreamRecord* stream() const { return stream_; }
  [[nodiscard]] uint64_t pool() const { return pool_; }

  /// The smallest block of at least `size` bytes; nullptr where there is none. It stays in.
  [[nodiscard]] Block* find(size_t size) const {
    if (lists_.empty()) {
      const auto fit =
          std::lower_bound(sorted_.begin(), sorted_.end(), size, [](const Block* block, size_t wanted) { return block->size < wanted; });
      return fit == sorted_.end() ? nullptr : *fit;
    }
    const size_t index = size / kStep;
    size_t word = index / 64;
    uint64_t bits = words_[word] & ~uint64_t{0} << index % 64;
    if (!bits) {
      const uint64_t later = word == 63 ? 0 : summary_ & ~uint64_t{0} << (word + 1);
      if (!later) return lists_.back();  // a whole segment, whose bit has no room in the summary
      word = static_cast<size_t>(__builtin_ctzll(later));
      bits = words_[word];
    }
    return lists_[word * 64 + static_cast<size_t>(__builtin_ctzll(bits))];
  }

  void put(Block* block) {
    if (lists_.empty()) {
      sorted_.insert(std::lower_bound(sorted_.begin(), sorted_.end(), block, less), block);
      return;
    }
    const size_t index = block->size / kStep;
    Block*& head = lists_[index];
    block->free_before = nullptr;
    block->free_after = head;
    if (head) head->free_before = block;
    head = block;
    if (index == kLargestListed / kStep) return;
    words_[index / 64] |= uint64_t{1} << index % 64;
    summary_ |= uint64_t{1} << index / 64;
  }

  void remove(Block* block) {
    if (lists_.empty()) {
      sorted_.erase(std::lower_bound(sorted_.begin(), sorted_.end(), block, less));
      return;
    }
    const size_t index = block->size / kStep;
    if (block->free_after) block->free_after->free_before = block->free_before;
    if (block->free_before) {
      block->free_before->free_after = block->free_after;
      return;
    }
    lists_[index] = block->free_after;
    if (lists_[index] || index == kLargestListed / kStep) return;
    words_[index / 64] &= ~(uint64_t{1} << index % 64);
    if (!words_[index / 64]) summary_ &= ~(uint64_t{1} << index / 64);
  }

 private:
  static bool less(const Block* a, const Block* b) { return a->size != b->size ? a->size < b->size : a->address < b->address; }

  const StreamRecord* stream_;
  uint64_t pool_;
  std::vector<Block*> sorted_;  // the large pool's, by size, then by address
  std::vector<Block*> lists_;   // the small pool's, by size / 512; the last is that of whole segments
  uint64_t words_[64] = {};     // bit i: list i holds a block
  uint64_t summary_ = 0;        // bit i: word i is not zero
};

}  // namespace tandem::runtime
