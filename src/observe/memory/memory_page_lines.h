// Which lines hold a GPU's memory, now and at each moment of its history. For the page of the memory.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "observe/memory/memory_history.h"
#include "runtime/memory.h"

namespace tandem::cuda::memory::detail {

/// What a line of the user's holds.
struct Holder {
  std::string file;
  int line = 0;
  size_t bytes = 0, requested = 0, blocks = 0;
};

/// By line, the one that holds most first, of blocks that are not free.
[[nodiscard]] std::vector<Holder> holders(const std::vector<SegmentInfo>& segments);

/// What was allocated and reserved after an event.
struct Moment {
  double seconds = 0;  // since the first event
  size_t allocated = 0, reserved = 0;
  std::vector<size_t> by_line;  // bytes of the first of `at_peak`
};

/// A GPU's memory over its history.
struct OverTime {
  std::vector<Moment> moments;  // where there are too many events, of several in a row the one after which most was allocated
  Moment peak;                  // when most was allocated
  std::vector<Holder> at_peak;  // by line, the one that held most first
};

constexpr size_t kLinesOverTime = 7;  // whose bytes each moment has

/// Works backwards from what there is now, since the first events may be forgotten.
[[nodiscard]] OverTime over_time(const std::vector<HistoryEntry>& events, const std::vector<SegmentInfo>& segments, size_t allocated,
                                 size_t reserved);

}  // namespace tandem::cuda::memory::detail
