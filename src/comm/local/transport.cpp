#include "comm/local/transport.h"

#include <sched.h>

#include <algorithm>
#include <exception>

#include "base/error.h"
#include "base/splitmix.h"
#include "comm/recorder.h"
#include "runtime/virtual/driver.h"

namespace tandem::comm {
namespace {

runtime::virtual_gpu::VirtualDriver& virtual_driver() {
  return static_cast<runtime::virtual_gpu::VirtualDriver&>(runtime::require_driver());  // LocalBackend::takes no others
}

uint64_t signature(const Call& call) {
  uint64_t hash = static_cast<uint64_t>(call.kind) | static_cast<uint64_t>(call.op) << 8 | static_cast<uint64_t>(call.dtype) << 16 |
                  static_cast<uint64_t>(call.sizes.size()) << 24 | static_cast<uint64_t>(static_cast<uint32_t>(call.root)) << 32;
  for (const int64_t size : call.sizes) hash = hash * 0x9e3779b97f4a7c15U + static_cast<uint64_t>(size);
  for (const char letter : call.label) hash = hash * 0x9e3779b97f4a7c15U + static_cast<unsigned char>(letter);
  return tandem::detail::splitmix64(hash);
}

// What a rank said of its call.
std::string told(const Segment& segment, int rank, uint32_t number) {
  std::string text = "something else";
  for (const RecordedCall& call : recorded_calls(segment.recorder(rank)))
    if (static_cast<uint32_t>(call.number) == number && !call.point_to_point) text = call.text;
  return tandem::str(segment.describe(rank), " called ", text);
}

}  // namespace

Transport::Transport(Segment& segment, int rank, uint32_t& signals, const Context& context)
    : segment_(segment),
      rank_(rank),
      signals_(signals),
      context_(context),
      number_(static_cast<uint32_t>(context.call.number)),
      here_(context.device.is_cuda() ? context.device.index() : -1),
      home_(segment.one_process() ? here_ : -1) {}

Transport::~Transport() {
  if (reading_) {
    for (int peer = 0; peer < size(); ++peer)
      if (peer != rank_) segment_.seat(peer).readers.fetch_sub(1);
  }
  if (!announced_ || finished_ || !segment_.one_process()) return;
  // Whoever has not begun to read sees that the group is dead; for the others we wait.
  while (segment_.dead() && segment_.seat(rank_).readers.load() != 0) sched_yield();
}

void Transport::move(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  if (bytes == 0 || to == from) return;
  if (to_device < 0 && from_device < 0) std::memmove(to, from, bytes);
  else virtual_driver().copy_now(to, to_device, from, from_device, bytes);
}

void Transport::announce(const void* in, size_t bytes, std::span<const std::byte> head) {
  segment_.check_alive(context_);
  Announcement& mine = at(rank_);
  head_bytes_ = head.size();
  mine.signature = signature(context_.call);
  mine.bytes = bytes;
  mine.address = static_cast<const std::byte*>(in);
  mine.heap_offset = segment_.heap_offset(rank_, in, bytes);
  mine.device = home_;
  mine.spoiled = context_.spoiled ? 1 : 0;
  if (context_.spoiled) {
    const size_t length = std::min(context_.spoiled->size(), kInline - 1);
    std::memcpy(mine.data, context_.spoiled->data(), length);
    mine.data[length] = std::byte{0};
  } else {
    if (!head.empty()) std::memcpy(mine.data, head.data(), head.size());
    if (head_bytes_ + bytes <= kInline) move(mine.data + head_bytes_, home_, in, here_, bytes);
  }
  announced_ = true;
  segment_.publish(mine.number, number_, segment_.seat(rank_).sleepers);
  segment_.wait_for_all(context_, rank_, number_, [&](int peer) -> std::atomic<uint32_t>& { return at(peer).number; });
  compare();
  direct_ = all_in_place();
  if (segment_.one_process()) start_reading();
}

bool Transport::all_in_place() const {
  bool all = true;
  for (int peer = 0; peer < size() && !segment_.one_process(); ++peer) all &= is_inline(peer) || at(peer).heap_offset >= 0;
  return all;
}

void Transport::compare() const {
  for (int peer = 1; peer < size(); ++peer) {
    if (at(peer).signature == at(0).signature) continue;
    segment_.fail_all(context_, tandem::str("ranks differ: ", told(segment_, 0, number_), ", ", told(segment_, peer, number_),
                                            "; every rank of a group calls the same collectives in the same order"));
  }
  for (int peer = 0; peer < size(); ++peer) {
    if (!at(peer).spoiled) continue;
    throw SpoiledError(tandem::str('[', name(context_.call.kind), "] work of ", segment_.describe(peer),
                                   " before it failed: ", reinterpret_cast<const char*>(at(peer).data)));
  }
}

// Others' memory is theirs to free once they have failed: they wait while this is noted. A heap stays as long as its group.
void Transport::start_reading() {
  bool any = false;
  for (int peer = 0; peer < size(); ++peer) any |= !is_inline(peer);
  if (!any) return;
  for (int peer = 0; peer < size(); ++peer)
    if (peer != rank_) segment_.seat(peer).readers.fetch_add(1);
  reading_ = true;
  segment_.check_alive(context_);
}

const void* Transport::seen(int peer, const void* from, size_t bytes, size_t slot) {
  if (here_ < 0 || peer == rank_ || device_of(peer) == here_ || virtual_driver().links_are_free()) return from;
  if (scratch_.size() < (slot + 1) * kPiece) scratch_.resize(static_cast<size_t>(size()) * kPiece);
  std::byte* const copy = scratch_.data() + slot * kPiece;
  move(copy, here_, from, device_of(peer), bytes);
  return copy;
}

void Transport::signal() {
  Seat& seat = segment_.seat(rank_);
  segment_.publish(seat.signal, ++signals_, seat.sleepers);
}

void Transport::wait() {
  segment_.wait_for_all(context_, rank_, signals_, [&](int peer) -> std::atomic<uint32_t>& { return segment_.seat(peer).signal; });
}

void Transport::finish() {
  bool shows = false;
  for (int peer = 0; peer < size(); ++peer) shows |= !is_inline(peer);
  if (shows && direct()) {
    signal();
    if (!is_inline(rank_)) wait();
  }
  finished_ = true;
}

}  // namespace tandem::comm
