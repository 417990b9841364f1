#include "base/error.h"
#include "ops/view.h"

namespace tandem {

Shape broadcast_shapes(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const size_t dims = longer.size();
  Shape result = longer;
  for (size_t i = dims; i-- > 0;) {
    const int64_t from_a = i + a.size() >= dims ? a[i + a.size() - dims] : 1, from_b = i + b.size() >= dims ? b[i + b.size() - dims] : 1;
    if (from_a != from_b && from_a != 1 && from_b != 1)
      fail("The size of tensor a (", from_a, ") must match the size of tensor b (", from_b, ") at non-singleton dimension ", i,
           ": the sizes are ", a, " and ", b, "; reshape one so that they agree or are 1");
    result[i] = from_a == 1 ? from_b : from_a;
  }
  return result;
}

}  // namespace tandem
