#include "comm/cuda/nccl.h"

#include "base/error.h"

namespace tandem::comm::nccl {

Functions& functions() {
  static auto* const all = new Functions;
  return *all;
}

int version() {
  int found = 0;
  if (!functions().ncclGetVersion || functions().ncclGetVersion(&found) != ncclSuccess) return 0;
  return found;
}

std::string why_not() { return functions().library.complete() ? "" : functions().library.missing(); }

tandem::cuda::Library describe() {
  // Numbers grew a digit with 2.9: 2804, 20900.
  const auto found = static_cast<size_t>(version());
  return functions().library.description(kernels::cuda::vendor::version_text(found, found < 10000 ? 1000 : 10000));
}

void check(ncclResult_t result, const char* function, ncclComm_t comm) {
  if (result == ncclSuccess || result == ncclInProgress) return;
  std::string status = functions().ncclGetErrorString(result);
  const char* const more = functions().ncclGetLastError(comm);
  if (more && *more) status += tandem::str(": ", more);
  fail(functions().library.failed(function, status));
}

ncclDataType_t type_of(DType dtype) {
  switch (dtype) {
    case DType::Bool:
    case DType::UInt8: return ncclUint8;
    case DType::Int8: return ncclInt8;
    case DType::Int16:
    case DType::Int32: return ncclInt32;
    case DType::Int64: return ncclInt64;
    case DType::Float16: return ncclFloat16;
    case DType::BFloat16: return ncclBfloat16;
    case DType::Float32: return ncclFloat32;
    case DType::Float64: return ncclFloat64;
  }
  __builtin_unreachable();
}

ncclRedOp_t operation_of(ReduceOp op, DType dtype) {
  const bool truth = dtype == DType::Bool;
  switch (op) {
    case ReduceOp::SUM: return truth ? ncclMax : ncclSum;
    case ReduceOp::PRODUCT: return truth ? ncclMin : ncclProd;
    case ReduceOp::MIN: return ncclMin;
    case ReduceOp::MAX: return ncclMax;
    default: return ncclAvg;
  }
}

}  // namespace tandem::comm::nccl
