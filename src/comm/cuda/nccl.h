// NCCL, opened when first needed: its functions, its errors as ours, its names for dtypes and reductions.
#pragma once

#include <nccl.h>

#include <string>

#include "base/dtype.h"
#include "comm/types.h"
#include "kernels/cuda/vendor/library.h"

namespace tandem::comm::nccl {

using kernels::cuda::vendor::Library;

/// The functions that are used. NCCL 2.14 has them all but ncclCommSplit, which is used where it is there.
struct Functions {
  Library library{"NCCL", "libnccl.so." TD_TEXT(NCCL_MAJOR)};
  TD_FUNCTION(ncclGetVersion);
  TD_FUNCTION(ncclGetUniqueId);
  TD_FUNCTION(ncclGetErrorString);
  TD_FUNCTION(ncclGetLastError);
  TD_FUNCTION(ncclCommInitRankConfig);
  TD_FUNCTION(ncclCommFinalize);
  TD_FUNCTION(ncclCommDestroy);
  TD_FUNCTION(ncclCommAbort);
  TD_FUNCTION(ncclCommGetAsyncError);
  TD_FUNCTION(ncclAllReduce);
  TD_FUNCTION(ncclBroadcast);
  TD_FUNCTION(ncclReduce);
  TD_FUNCTION(ncclAllGather);
  TD_FUNCTION(ncclReduceScatter);
  TD_FUNCTION(ncclSend);
  TD_FUNCTION(ncclRecv);
  TD_FUNCTION(ncclGroupStart);
  TD_FUNCTION(ncclGroupEnd);
  decltype(&::ncclCommSplit) ncclCommSplit = library.optional<decltype(&::ncclCommSplit)>("ncclCommSplit");
};
[[nodiscard]] Functions& functions();

/// The library's version as a number, 0 where there is none.
[[nodiscard]] int version();
/// Why it cannot be used, empty where it can.
[[nodiscard]] std::string why_not();
/// As `tandem devices` shows it. Opens it.
[[nodiscard]] tandem::cuda::Library describe();

/// Throws where `result` is neither success nor "in progress": the function that failed, what NCCL calls it, and what it says of `comm`
/// (nullptr: of the last call).
void check(ncclResult_t result, const char* function, ncclComm_t comm = nullptr);

/// The type that reductions of `dtype` are made in. bool is reduced as uint8. NCCL has no int16: Int32, in which the caller computes.
[[nodiscard]] ncclDataType_t type_of(DType dtype);
/// Sums and maxima of bool are "or", products and minima "and".
[[nodiscard]] ncclRedOp_t operation_of(ReduceOp op, DType dtype);

}  // namespace tandem::comm::nccl
