// A tensor's values on the host, as doubles or integers: what printing and reading back stand on.
#pragma once

#include <vector>

#include "runtime/copy_reason.h"
#include "tensor/tensor.h"

namespace tandem {

using runtime::CopyReason;

/// Values in row-major order: `floating` for floating dtypes, `integers` for the others.
struct HostValues {
  DType dtype;
  std::vector<double> floating;
  std::vector<int64_t> integers;
  [[nodiscard]] size_t count() const { return is_floating(dtype) ? floating.size() : integers.size(); }
};

/// All values, or, where `edge` >= 0, of each dimension longer than 2 * edge only the first and last `edge`. One copy to the host, which is
/// told as one of `op`: whoever reads values names the operation that needs them.
HostValues read_values(const Tensor& x, int64_t edge, const char* op, Site site, CopyReason reason = CopyReason::Values);

/// The one element of x, as item(). Error where x has none or several. The copy is told as one of `op`.
Scalar read_value(const Tensor& x, const char* op, Site site, CopyReason reason = CopyReason::Values);

}  // namespace tandem
