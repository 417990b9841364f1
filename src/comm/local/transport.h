// One collective's traffic between the ranks of one machine, by three calls that all algorithms are written with: put, get, and signal and
// wait. Before them, every rank announces what it is about to do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "comm/local/segment.h"

namespace tandem::comm {

/// A call under way. Its rank shows bytes to the others: up to kInline of them lie in its announcement. More are used where they are
/// (`direct`) by ranks of the same process, and by other processes where all of them lie in heaps; else they are read in windows: each rank
/// puts a piece of them into the segment at a time.
class Transport {
 public:
  /// `signals` counts on over the calls of a rank.
  Transport(Segment& segment, int rank, uint32_t& signals, const Context& context);
  /// Where the call fails half way, waits until nobody reads this rank's memory any more.
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /// Shows [in, in + bytes), before which `head` goes into the announcement, and meets all ranks. Throws on every rank where calls differ,
  /// and where earlier work of a rank has failed.
  void announce(const void* in, size_t bytes, std::span<const std::byte> head = {});
  [[nodiscard]] const std::byte* head_of(int rank) const { return at(rank).data; }
  [[nodiscard]] size_t bytes_of(int rank) const { return at(rank).bytes; }
  /// Whether a rank's bytes came with its announcement.
  [[nodiscard]] bool is_inline(int rank) const { return head_bytes_ + at(rank).bytes <= kInline; }
  /// Whether those that did not can be used where they are: the same on all ranks.
  [[nodiscard]] bool direct() const { return direct_; }
  /// The bytes that a rank shows, where they are inline or direct.
  [[nodiscard]] const std::byte* shown(int rank) const { return is_inline(rank) ? at(rank).data + head_bytes_ : in_place(rank); }
  /// What a rank has put into the piece `half` (0 or 1).
  [[nodiscard]] std::byte* piece(int rank, int half) const { return segment_.seat(rank).pieces[half]; }

  /// From this rank's memory into its own piece, for the others to see after a signal.
  void put(int half, size_t offset, const void* from, size_t bytes) const { move(piece(rank_, half) + offset, home_, from, here_, bytes); }
  /// To this rank's memory, from where `peer` shows it.
  void get(void* to, int peer, const void* from, size_t bytes) const { move(to, here_, from, device_of(peer), bytes); }
  /// To what `peer` shows, `offset` bytes from its start, where it is `direct` and not inline. No other rank uses that part meanwhile.
  void give(int peer, size_t offset, const void* from, size_t bytes) const {
    move(in_place(peer) + offset, device_of(peer), from, here_, bytes);
  }
  /// Where this rank's host code can read what `peer` shows: in place, or copied over the link between their devices to scratch memory
  /// number `slot`, of at most kPiece bytes.
  [[nodiscard]] const void* seen(int peer, const void* from, size_t bytes, size_t slot);
  /// What this rank did before is told to all ranks; and waiting for the same from all of them.
  void signal();
  void wait();
  /// All is done: what this rank shows in place may change, and has all that was given to it.
  void finish();

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return segment_.size(); }
  [[nodiscard]] const Segment& segment() const { return segment_; }
  [[nodiscard]] const Context& context() const { return context_; }

 private:
  [[nodiscard]] Announcement& at(int rank) const { return segment_.seat(rank).announcements[number_ & 1]; }
  [[nodiscard]] int device_of(int rank) const { return at(rank).device; }
  [[nodiscard]] std::byte* in_place(int rank) const {
    const Announcement& its = at(rank);
    return segment_.one_process() ? const_cast<std::byte*>(its.address) : segment_.heap(rank) + its.heap_offset;
  }
  static void move(void* to, int to_device, const void* from, int from_device, size_t bytes);
  void compare() const;
  [[nodiscard]] bool all_in_place() const;
  void start_reading();

  Segment& segment_;
  const int rank_;
  uint32_t& signals_;
  const Context& context_;
  const uint32_t number_;
  const int here_;  // this rank's device, -1: the host
  const int home_;  // where what it shows lies
  size_t head_bytes_ = 0;
  bool announced_ = false, finished_ = false, reading_ = false, direct_ = false;
  std::vector<std::byte> scratch_;
};

}  // namespace tandem::comm
