#include "tensor/accessor.h"

#include <limits>

#include "base/error.h"

namespace tandem::detail {

void check_accessor(const Tensor& tensor, size_t dims, bool on_cpu, bool narrow, Site site) {
  if (static_cast<size_t>(tensor.dim(site)) != dims)
    fail("[accessor] TensorAccessor expected ", dims, " dims but tensor has ", tensor.dim(site));
  if (on_cpu && !tensor.is_cpu(site))
    fail("[accessor] the tensor is on ", tensor.device(site), ", where a loop of the CPU's cannot reach it: call cpu() first");
  if (narrow && tensor.numel(site) > std::numeric_limits<int32_t>::max())
    fail("[packed_accessor32] the tensor has ", tensor.numel(site), " elements, more than 32 bits count: call packed_accessor64");
}

}  // namespace tandem::detail
