#include "comm/cuda/communicator.h"

#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "comm/cuda/nccl.h"
#include "runtime/cuda/check.h"

namespace tandem::comm::nccl {
namespace {

using runtime::cuda_gpu::CudaDeviceGuard;

// Between two looks at a communicator that is not ready: none at first, as queuing takes microseconds; the other ranks may take minutes.
constexpr int kLooksWithoutPause = 1000;
constexpr std::chrono::microseconds kPause{100};

ncclConfig_t asynchronous() {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  return config;
}

struct HeldCalls {
  int depth = 0;
  std::vector<std::function<void()>> afterwards;
};
thread_local HeldCalls held;

}  // namespace

Communicator::Communicator(int device, int size, int rank, const ncclUniqueId& id) : device_(device) {
  const CudaDeviceGuard current(device);
  ncclConfig_t config = asynchronous();
  check(functions().ncclCommInitRankConfig(&comm_, size, id, rank, &config), "ncclCommInitRankConfig");
}

Communicator::~Communicator() {
  if (comm_) (void)functions().ncclCommAbort(comm_);
}

void Communicator::refuse_dead() const {
  if (!comm_) fail(reason_);
}

void Communicator::call(const char* function, const Limit& limit, const std::function<ncclResult_t(ncclComm_t)>& f) {
  {
    const std::lock_guard lock(mutex_);
    refuse_dead();
    check(f(comm_), function, comm_);
  }
  Held::afterwards([self = shared_from_this(), function, limit] { self->settle(function, limit); });
}

void Communicator::settle(const char* function, const Limit& limit) {
  for (int looks = 0;; ++looks) {
    if (looks > kLooksWithoutPause) std::this_thread::sleep_for(kPause);
    {
      const std::lock_guard lock(mutex_);
      refuse_dead();
      ncclResult_t state = ncclSuccess;
      check(functions().ncclCommGetAsyncError(comm_, &state), "ncclCommGetAsyncError", comm_);
      check(state, function, comm_);
      if (state == ncclSuccess) return;
    }
    if (limit.aborted && limit.aborted->load()) fail("NCCL's ", function, " was ended: the group was aborted");
    if (Clock::now() < limit.deadline) continue;
    const std::string reason = tandem::str("NCCL's ", function, " waited for other ranks until the time limit: not all of them called it");
    abort(reason);
    fail(reason);
  }
}

std::shared_ptr<Communicator> Communicator::split(int color, int key, const Limit& limit) {
  ncclConfig_t config = asynchronous();
  ncclComm_t made = nullptr;
  call("ncclCommSplit", limit, [&](ncclComm_t comm) {
    const CudaDeviceGuard current(device_);
    return functions().ncclCommSplit(comm, color, key, &made, &config);
  });
  if (!made) return nullptr;
  std::shared_ptr<Communicator> part(new Communicator(device_, made));
  part->settle("ncclCommSplit", limit);
  return part;
}

void Communicator::abort(const std::string& reason) noexcept {
  const std::lock_guard lock(mutex_);
  if (!comm_) return;
  reason_ = reason;
  (void)functions().ncclCommAbort(comm_);
  comm_ = nullptr;
}

std::string Communicator::asynchronous_error() {
  const std::lock_guard lock(mutex_);
  if (!comm_) return reason_;
  try {
    ncclResult_t state = ncclSuccess;
    check(functions().ncclCommGetAsyncError(comm_, &state), "ncclCommGetAsyncError", comm_);
    check(state, "work", comm_);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

void Communicator::finalize() noexcept {
  const std::lock_guard lock(mutex_);
  if (comm_ && !finalizing_) (void)functions().ncclCommFinalize(comm_);
  finalizing_ = true;
}

bool Communicator::finalized() noexcept {
  const std::lock_guard lock(mutex_);
  if (!comm_) return true;
  ncclResult_t state = ncclSuccess;
  if (functions().ncclCommGetAsyncError(comm_, &state) != ncclSuccess || state == ncclInProgress) return false;
  // After an error it is left to the destructor, which aborts it.
  if (state == ncclSuccess) (void)functions().ncclCommDestroy(std::exchange(comm_, nullptr));
  return true;
}

void Held::begin() {
  if (held.depth == 0) check(functions().ncclGroupStart(), "ncclGroupStart");
  ++held.depth;
}

void Held::end() {
  if (std::uncaught_exceptions() > 0) return drop();
  if (--held.depth > 0) return;
  const auto afterwards = std::exchange(held.afterwards, {});
  check(functions().ncclGroupEnd(), "ncclGroupEnd");
  for (const auto& f : afterwards) f();
}

void Held::drop() noexcept {
  if (held.depth == 0) return;
  held.depth = 0;
  held.afterwards.clear();
  (void)functions().ncclGroupEnd();
}

void Held::afterwards(std::function<void()> f) {
  if (held.depth > 0) held.afterwards.push_back(std::move(f));
  else f();
}

}  // namespace tandem::comm::nccl
