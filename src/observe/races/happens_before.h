// Happens-before as vectors: how far each stream's work is known to be done by whom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tandem::observe {

/// The n-th piece of work of a stream; 0 is before the first.
using Tick = uint64_t;
/// The number of a stream among those that were seen.
using Actor = uint32_t;

/// For each stream, the last piece of its work that is known to come before.
class Clock {
 public:
  [[nodiscard]] Tick of(Actor stream) const { return stream < ticks_.size() ? ticks_[stream] : 0; }
  /// What comes before the other comes before this, too.
  void join(const Clock& other) {
    if (other.ticks_.size() > ticks_.size()) ticks_.resize(other.ticks_.size());
    for (size_t i = 0; i < other.ticks_.size(); ++i)
      if (ticks_[i] < other.ticks_[i]) ticks_[i] = other.ticks_[i];
  }
  /// The work of `stream` up to this piece comes before, too.
  void raise(Actor stream, Tick tick) {
    if (stream >= ticks_.size()) ticks_.resize(stream + 1);
    if (ticks_[stream] < tick) ticks_[stream] = tick;
  }
  /// The next piece of work of `stream`.
  Tick tick(Actor stream) {
    if (stream >= ticks_.size()) ticks_.resize(stream + 1);
    return ++ticks_[stream];
  }

 private:
  std::vector<Tick> ticks_;
};

}  // namespace tandem::observe
