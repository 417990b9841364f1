// Who used which bytes last: for each range of addresses, its last write and the reads since.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"
#include "base/site.h"
#include "observe/races/happens_before.h"

namespace tandem::observe {

/// A use of memory by a piece of a stream's work.
struct Use {
  Actor stream = 0;
  bool writes = false;
  Tick tick = 0;
  uint64_t order = 0;  // of all that was told
  const char* op = "";
  Site site = Site::none();
  Site replay = Site::none();  // of the graph that it is a part of
  uintptr_t begin = 0;         // of the tensor
  size_t bytes = 0;
  Shape sizes;
  DType dtype = DType::Float32;
};

/// Not for several threads.
class AccessHistory {
 public:
  using Conflict = std::function<void(const Use& earlier)>;

  /// `use` touches [begin, end): `conflict` is told of each use there that `now` does not come behind, where one of the two writes.
  void add(uintptr_t begin, uintptr_t end, const Use& use, const Clock& now, const Conflict& conflict);
  /// The same, but nothing is kept.
  void check(uintptr_t begin, uintptr_t end, bool writes, const Clock& now, const Conflict& conflict) const;
  /// A new owner gets [begin, end) for use on a stream that has come to `home`. What `done` comes behind is forgotten; of the rest, the
  /// last use that `home` comes behind stands for all of them, as a write: another stream must wait for it.
  void hand_out(uintptr_t begin, uintptr_t end, const Clock& home, const Clock& done);
  /// Forgets the uses within [begin, end) that `done` comes behind.
  void drop(uintptr_t begin, uintptr_t end, const Clock& done);
  /// Forgets all within [begin, end).
  void forget(uintptr_t begin, uintptr_t end);
  /// Forgets what `done` comes behind, and then the older uses, until at most `limit` ranges are left. How many ranges of work under way
  /// that was.
  size_t shrink(size_t limit, const Clock& done);

  [[nodiscard]] size_t size() const { return ranges_.size(); }
  [[nodiscard]] bool empty() const { return ranges_.empty(); }

 private:
  struct Range {
    uintptr_t end = 0;
    std::vector<Use> uses;  // reads, and the last write before them, where there is one, first
  };
  using Ranges = std::map<uintptr_t, Range>;
  Ranges::iterator first_behind(uintptr_t begin);
  void split(uintptr_t at);
  static void tell(const Range& range, bool writes, const Clock& now, const Conflict& conflict);
  static void drop(Range& range, const Clock& done);

  Ranges ranges_;  // by their begin; disjoint
};

}  // namespace tandem::observe
