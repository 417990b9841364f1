#include "base/dtype.h"

#include <atomic>
#include <ostream>

#include "base/error.h"

namespace tandem {
namespace {
std::atomic<DType> default_dtype{DType::Float32};
}

const char* name(DType dtype) {
  static constexpr const char* names[kDTypes] = {"bool",  "uint8",   "int8",     "int16",   "int32",
                                                 "int64", "float16", "bfloat16", "float32", "float64"};
  return names[static_cast<int>(dtype)];
}

const char* scalar_name(DType dtype) {
  static constexpr const char* names[kDTypes] = {"Bool", "Byte", "Char", "Short", "Int", "Long", "Half", "BFloat16", "Float", "Double"};
  return names[static_cast<int>(dtype)];
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
