// torch::indexing: what stands between the brackets of an index.
#pragma once

#include <limits>
#include <ostream>

#include "tensor/index.h"

namespace torch::indexing {

using tandem::Ellipsis;
using tandem::None;
using EllipsisIndexType = tandem::EllipsisType;
using TensorIndex = tandem::Index;

inline constexpr int64_t INDEX_MIN = std::numeric_limits<int64_t>::min();
inline constexpr int64_t INDEX_MAX = std::numeric_limits<int64_t>::max();

/// `start:stop:step`, with what was left out filled in.
class Slice : public tandem::Slice {
 public:
  Slice(tandem::SliceBound start = {}, tandem::SliceBound stop = {}, tandem::SliceBound step = {})
      : tandem::Slice(start, stop, step.value.value_or(1)) {}

  [[nodiscard]] int64_t start() const { return tandem::Slice::start.value_or(step() < 0 ? INDEX_MAX : 0); }
  [[nodiscard]] int64_t stop() const { return tandem::Slice::stop.value_or(step() < 0 ? INDEX_MIN : INDEX_MAX); }
  [[nodiscard]] int64_t step() const { return tandem::Slice::step; }
};
inline std::ostream& operator<<(std::ostream& out, const Slice& slice) {
  return out << slice.start() << ':' << slice.stop() << ':' << slice.step();
}

}  // namespace torch::indexing
