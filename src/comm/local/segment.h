// The memory that the ranks of one machine share, and how they wait for each other in it: words that one rank writes and the others watch.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/futex.h"
#include "comm/backend.h"

namespace tandem::comm {

inline constexpr size_t kInline = size_t{32} << 10;  // bytes that travel with the announcement of a call, in one round
inline constexpr size_t kPiece = size_t{256} << 10;  // bytes that a rank shows the others at once of longer ones
inline constexpr size_t kHeap =
    size_t{256} << 20;  // bytes of a process's tensors that the others can reach; pages come as they are touched
inline constexpr size_t kChannel = size_t{64} << 10;  // bytes that one rank has sent to another and that are not received yet

/// What a rank tells of a call before it starts. Every rank compares.
struct alignas(64) Announcement {
  std::atomic<uint32_t> number{0};          // the low bits of the call's number; written last
  int32_t device = -1;                      // where its memory is, -1: the host
  uint64_t signature = 0;                   // of everything that must be the same on all ranks
  uint64_t bytes = 0;                       // that it gives to others
  const std::byte* address = nullptr;       // where they are, for ranks of one process
  int64_t heap_offset = -1;                 // where they are in its heap, for other processes; -1: not there
  uint32_t spoiled = 0;                     // 1: its earlier work failed
  alignas(8) std::byte data[kInline + 24];  // up to kInline bytes of them, or, where `spoiled`, why
};

/// One message on its way from a rank to another, or a part of it.
struct alignas(64) Channel {
  std::atomic<uint32_t> written{0}, read{0};  // bytes so far, counted round
  alignas(64) std::byte data[kChannel];
};

/// One rank's part of the segment.
struct alignas(4096) Seat {
  alignas(64) std::atomic<uint32_t> signal{0};    // counts what it has told the others during calls
  alignas(64) std::atomic<uint32_t> sleepers{0};  // how many sleep on its words
  alignas(64) std::atomic<uint32_t> readers{0};   // ranks of this process that are reading its memory
  alignas(64) std::atomic<uint32_t> mail{0};      // changes when one of its messages, sent or received, may go on
  std::atomic<uint32_t> mail_sleepers{0};
  std::atomic<int32_t> pid{0};
  std::atomic<uint32_t> left{0};
  alignas(4096) Announcement announcements[2];
  alignas(4096) std::byte pieces[2][kPiece];
};

/// The whole, as every rank of a group sees it. The first `size` seats' memory is followed by their recorders, and those by channels, one
/// for each pair; of processes, each has a heap behind all that. All of it begins as zeros.
class Segment {
 public:
  /// `memory` of bytes_for(size, whose), zeros, which `keeper` holds.
  Segment(void* memory, int size, tandem::detail::Futex whose, std::shared_ptr<void> keeper);
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  [[nodiscard]] static size_t bytes_for(int size, tandem::detail::Futex whose);
  [[nodiscard]] int size() const { return size_; }
  /// Whether ranks are threads of this process, so that they see each other's memory.
  [[nodiscard]] bool one_process() const { return whose_ == tandem::detail::Futex::Private; }
  [[nodiscard]] Seat& seat(int rank) const { return seats_[rank]; }
  [[nodiscard]] void* recorder(int rank) const;
  [[nodiscard]] Channel& channel(int from, int to) const;
  /// A process's kHeap bytes for tensors.
  [[nodiscard]] std::byte* heap(int rank) const { return heaps_ + static_cast<size_t>(rank) * kHeap; }
  /// Where [data, data + bytes) lies in the heap of `rank`; -1: not in it.
  [[nodiscard]] int64_t heap_offset(int rank, const void* data, size_t bytes) const;
  [[nodiscard]] const std::shared_ptr<void>& keeper() const { return keeper_; }

  /// A rank takes its seat, before anybody waits for it. Where it is another process, `watch` is that one's pidfd, which the keeper of the
  /// memory outlives, and `number` the rank's in the whole program.
  void sit(int rank, int pid, int watch = kUnwatched, int number = -1);
  static constexpr int kUnwatched = -1, kEnded = -2;  // in place of a pidfd
  /// From here on an error says that this rank has left.
  void leave(int rank) noexcept;
  void abort(const std::string& reason) const noexcept;
  [[nodiscard]] bool dead() const { return head_->dead.load(std::memory_order_acquire) != 0; }
  /// Why it was aborted.
  [[nodiscard]] std::string reason() const;
  /// Throws where the group is dead.
  void check_alive(const Context& context) const {
    if (dead()) [[unlikely]]
      fail_dead(context);
  }
  /// "rank 1 (pid 1234)".
  [[nodiscard]] std::string describe(int rank) const;

  /// Changes a word of one's own and wakes who sleeps on it.
  void publish(std::atomic<uint32_t>& word, uint32_t value, std::atomic<uint32_t>& sleepers) const {
    word.store(value);  // in one order with `sleepers`: see wait_slowly
    if (sleepers.load() != 0) wake(word);
  }
  /// Tells a rank that one of its messages may go on.
  void ring(int rank) const noexcept {
    Seat& its = seat(rank);
    its.mail.fetch_add(1);  // in one order with `mail_sleepers`
    if (its.mail_sleepers.load() != 0) wake(its.mail);
  }
  /// Until `mail` of a rank is not `seen` any more, or as long as a nap is. Whether it has changed.
  bool wait_for_mail(int rank, uint32_t seen) const;
  /// Whether `word` has come to `value`, counted round.
  [[nodiscard]] static bool reached(const std::atomic<uint32_t>& word, uint32_t value) {
    return static_cast<int32_t>(word.load(std::memory_order_acquire) - value) >= 0;
  }
  /// Until every other rank's word, word_of(rank), has come to `value`. Error where one dies, leaves, or does not come in time, and where
  /// the group is aborted.
  template <class WordOf>
  void wait_for_all(const Context& context, int me, uint32_t value, WordOf word_of) const {
    for (int peer = 0; peer < size_; ++peer) {
      std::atomic<uint32_t>& word = word_of(peer);
      // Mostly it comes within a microsecond, and the first look after that counts.
      for (int i = 0; peer != me && !reached(word, value); ++i) {
        if (i >= kLooks) {
          wait_slowly(context, peer, word, seat(peer).sleepers, [&](int rank) { return rank == me || reached(word_of(rank), value); });
          break;
        }
        if (i >= kLooks / 4) tandem::detail::cpu_pause();
      }
    }
  }
  /// Until ready(peer), which another rank makes true and then publishes `word`. Errors as above; `ready` is asked of other ranks than
  /// `peer` too, to name all that are missing.
  void wait_slowly(const Context& context, int peer, std::atomic<uint32_t>& word, std::atomic<uint32_t>& sleepers,
                   const std::function<bool(int)>& ready) const;
  /// Throws where the group is dead, `peer` has left or died, or the time is over, unless it is ready.
  void check_waiting(const Context& context, int peer, const std::function<bool(int)>& ready) const;
  /// Throws `text` in every rank: the group is dead.
  [[noreturn]] void fail_all(const Context& context, const std::string& text) const;

 private:
  static constexpr int kLooks = 200;
  struct Head {
    std::atomic<uint32_t> dead{0};  // 1: somebody writes the reason; 2: it is written
    char reason[4000];
  };
  void wake(std::atomic<uint32_t>& word) const;
  [[noreturn]] void fail_without(const Context& context, int peer, const char* what) const;
  [[noreturn]] void fail_dead(const Context& context) const;
  [[nodiscard]] bool has_died(int rank) const;

  const int size_;
  const tandem::detail::Futex whose_;
  const bool crowded_;  // more ranks than cores: who waits must let others run
  const long nap_;      // nanoseconds between two looks at who is waited for
  std::shared_ptr<void> keeper_;
  Head* head_;
  Seat* seats_;
  std::byte* recorders_;
  Channel* channels_;
  std::byte* heaps_;
  struct Member {
    int watch = kUnwatched, number = -1;
  };
  std::vector<Member> members_;
};

}  // namespace tandem::comm
