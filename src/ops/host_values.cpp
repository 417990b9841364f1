#include "tensor/host_values.h"

#include <cstring>

#include "autograd/history.h"
#include "base/error.h"
#include "ops/creation.h"
#include "ops/join.h"
#include "runtime/launch.h"
#include "runtime/tracer.h"

namespace tandem {

HostValues read_values(const Tensor& x, int64_t edge, const char* op, Site site, CopyReason reason) {
  runtime::refuse_trace(op);
  const NoGradGuard no_grad;
  Tensor shown = x;
  for (int64_t d = 0; edge >= 0 && d < x.dim(); ++d)
    if (shown.size(d) > 2 * edge)
      shown = cat({shown.slice(d, 0, edge, 1, site), shown.slice(d, shown.size(d) - edge, {}, 1, site)}, d, site);
  shown = shown.contiguous(site);
  if (shown.is_cuda() && shown.numel() > 0) {
    shown.impl().check_bytes();
    const Tensor host = empty(shown.sizes(), shown.dtype(), site);
    runtime::copy_bytes(host.impl().data, Device(), false, shown.impl().data, shown.device(), false, shown.nbytes(), false, op, site,
                        reason);
    shown = host;
  }
  HostValues values{x.dtype(), {}, {}};
  visit(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = static_cast<const T*>(shown.impl().data);
    for (int64_t i = 0; i < shown.numel(); ++i) {
      const Scalar value(from[i]);
      if (is_floating(x.dtype())) values.floating.push_back(value.to<double>());
      else values.integers.push_back(value.to<int64_t>());
    }
  });
  return values;
}

Scalar read_value(const Tensor& x, const char* op, Site site, CopyReason reason) {
  if (x.numel() != 1)
    fail('[', op, "] a Tensor with ", x.numel(), " elements cannot be converted to Scalar: take one of them by index, or sum() or mean()");
  x.impl().check_bytes();
  runtime::refuse_trace(op);
  alignas(8) char bytes[8];
  const size_t size = x.element_size();
  if (x.is_cpu()) std::memcpy(bytes, x.impl().data, size);
  else runtime::copy_bytes(bytes, Device(), false, x.impl().data, x.device(), false, size, false, op, site, reason);
  return visit(x.dtype(), [&](auto value) {
    std::memcpy(static_cast<void*>(&value), bytes, sizeof value);
    return Scalar(value);
  });
}

}  // namespace tandem
