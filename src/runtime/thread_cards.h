// A thread's view of the cards, to be handed to a thread that works for it.
#pragma once

#include <algorithm>
#include <array>

#include "runtime/stream_record.h"

namespace tandem::runtime {

/// The calling thread's current card and its current stream on each. Asks no driver for anything.
class ThreadCards {
 public:
  ThreadCards() : card_(detail::current_card) { std::copy_n(detail::current_streams, kMaxCards, streams_.begin()); }
  /// Makes them the calling thread's.
  void adopt() const {
    detail::current_card = card_;
    std::copy_n(streams_.begin(), kMaxCards, detail::own_current_streams());
  }

 private:
  int card_;
  std::array<StreamRecord*, kMaxCards> streams_;
};

}  // namespace tandem::runtime
