#include "ops/broadcast.h"

#include "base/error.h"
#include "ops/view.h"

namespace tandem {
namespace {

/// The size of a dimension that is counted as those of `dims` are: 1 in front of all that `sizes` has.
int64_t size_at(const Shape& sizes, size_t i, size_t dims) { return i + sizes.size() >= dims ? sizes[i + sizes.size() - dims] : 1; }

}  // namespace

namespace ops {

Broadcast broadcast(const Shape& a, const Shape& b) {
  Broadcast both{.sizes = a.size() >= b.size() ? a : b, .differ = {}};
  const size_t dims = both.sizes.size();
  for (size_t i = dims; i-- > 0;) {
    const int64_t from_a = size_at(a, i, dims), from_b = size_at(b, i, dims);
    if (from_a != from_b && from_a != 1 && from_b != 1) {
      both.differ = i;
      return both;
    }
    both.sizes[i] = from_a == 1 ? from_b : from_a;
  }
  return both;
}

}  // namespace ops

Shape broadcast_shapes(const Shape& a, const Shape& b) {
  const ops::Broadcast both = ops::broadcast(a, b);
  if (!both.differ) return both.sizes;
  const size_t i = *both.differ, dims = both.sizes.size();
  fail("The size of tensor a (", size_at(a, i, dims), ") must match the size of tensor b (", size_at(b, i, dims),
       ") at non-singleton dimension ", i, ": the sizes are ", a, " and ", b, "; reshape one so that they agree or are 1");
}

}  // namespace tandem
