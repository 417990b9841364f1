// A stand-in for NCCL that computes on the host: a library of its name with the functions of its header that tandem uses, for a CUDA
// runtime without a GPU (cuda/fake_cuda.h). It is strict about what NCCL's documentation asks for, and what a test looks at is counted.
#pragma once

#include <nccl.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace tandem::testing {

/// A call as it arrived.
struct NcclCall {
  std::string function;
  size_t count = 0;
  ncclDataType_t type = ncclNumTypes;
  ncclRedOp_t op = ncclNumOps;
  int rank = -1, root = -1;  // root: or the other rank
  cudaStream_t stream = nullptr;
};

struct NcclStandIn {
  std::mutex mutex;             // guards what follows
  std::vector<NcclCall> calls;  // those that move elements
  std::vector<std::string> misuses;
  std::map<std::string, int> functions;  // how often each was called
  int alive = 0;                         // communicators that have not been destroyed or aborted
  int aborted = 0;

  // What a test wishes.
  std::map<std::string, ncclResult_t> fail;  // the next call of a function
  ncclResult_t trouble = ncclSuccess;        // what communicators say of their work
  bool returns_at_once = false;              // collectives don't wait for other ranks on the host: their streams do
  int version = NCCL_VERSION_CODE;

  // What the CUDA runtime without a GPU knows.
  void (*hold)(cudaStream_t stream) = nullptr;     // work queued on the stream is not done from now on
  void (*release)(cudaStream_t stream) = nullptr;  // all of it is
  int (*device_of)(cudaStream_t stream) = nullptr;
  int (*current_device)() = nullptr;

  /// Forgets what was counted and wished; the library stays as it is.
  void clear() {
    const std::lock_guard lock(mutex);
    calls.clear();
    misuses.clear();
    functions.clear();
    fail.clear();
    trouble = ncclSuccess;
    returns_at_once = false;
    aborted = 0;
  }
};

}  // namespace tandem::testing

extern "C" tandem::testing::NcclStandIn* nccl_stand_in();
