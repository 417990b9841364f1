#include "parallel/parallel_apply.h"

#include <exception>
#include <thread>

#include "autograd/autograd.h"
#include "base/error.h"
#include "base/rethrow.h"
#include "base/wait_scope.h"
#include "nn/call_log.h"
#include "ops/autocast.h"
#include "runtime/capture.h"
#include "runtime/thread_devices.h"

namespace tandem::parallel::detail {
namespace {

void run(const std::function<void(size_t i)>& call, Device device, size_t i) {
  try {
    const cuda::DeviceGuard guard(device);
    const nn::detail::OwnModel replica_names_its_parts;
    call(i);
  } catch (...) {
    rethrow_named(str("replica ", i, " on ", device, ": "));
  }
}

}  // namespace

void check_as_many(size_t replicas, size_t inputs) {
  if (replicas != inputs) fail("[parallel_apply] there are ", replicas, " replicas but ", inputs, " inputs");
}

void apply(const std::vector<Device>& replicas, ApplyOptions options, Site site, const std::function<void(size_t i)>& call) {
  // What is captured is the calling thread's work.
  if (!options.threads || replicas.size() < 2 || runtime::detail::capture) {
    for (size_t i = 0; i < replicas.size(); ++i) run(call, replicas[i], i);
    return;
  }

  std::vector<std::exception_ptr> errors(replicas.size());
  const bool grad_enabled = is_grad_enabled();
  const ops::AutocastState autocast = ops::autocast_state();
  const runtime::ThreadDevices devices;  // a replica may use any GPU: on all of them the work that the caller queued before comes first
  const tandem::detail::WaitScope wait_scope = tandem::detail::wait_scope;
  const auto work = [&](size_t i) {
    try {
      const Site::InForce line(site.file, site.line);
      const SetGradGuard mode(grad_enabled);
      const ops::AutocastScope precision(autocast);
      const tandem::detail::WithWaitScope waits(wait_scope);
      devices.adopt();
      run(call, replicas[i], i);
    } catch (...) {
      errors[i] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (size_t i = 1; i < replicas.size(); ++i) threads.emplace_back(work, i);
    work(0);
  }
  for (const auto& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace tandem::parallel::detail
