#include "base/dtype.h"

#include <atomic>
#include <ostream>

#include "base/error.h"

namespace tandem {
namespace {
std::atomic<DType> default_dtype{DType::Float32};
}

std::ostream& operator<<(std::ostream& out, DType dtype) { return out << name(dtype); }

DType promote_types(DType a, DType b) {
  if (a == b) return a;
  const DType low = a < b ? a : b, high = a < b ? b : a;
  if (low == DType::Float16 && high == DType::BFloat16) return DType::Float32;
  if (low == DType::UInt8 && high == DType::Int8) return DType::Int16;
  return high;
}

DType get_default_dtype() { return default_dtype.load(std::memory_order_relaxed); }

void set_default_dtype(DType dtype, Site /*site*/) {
  if (!is_floating(dtype)) fail("[set_default_dtype] only floating dtypes can be the default, not ", name(dtype));
  default_dtype.store(dtype, std::memory_order_relaxed);
}

}  // namespace tandem
