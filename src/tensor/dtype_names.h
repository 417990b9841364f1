// libtorch's names of dtypes and kinds of devices, beside tandem's own.
#pragma once

#include "base/dtype.h"
#include "runtime/device.h"

namespace tandem {

inline constexpr DType kByte = kUInt8, kChar = kInt8, kShort = kInt16, kInt = kInt32, kLong = kInt64;
inline constexpr DType kHalf = kFloat16, kFloat = kFloat32, kDouble = kFloat64;
inline constexpr DType kU8 = kUInt8, kI8 = kInt8, kI16 = kInt16, kI32 = kInt32, kI64 = kInt64;
inline constexpr DType kF16 = kFloat16, kBF16 = kBFloat16, kF32 = kFloat32, kF64 = kFloat64;
inline constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA;

}  // namespace tandem
