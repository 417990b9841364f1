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

Tensor run(nn::Module& replica, const Tensor& input, size_t i, Site site) {
  try {
    const cuda::DeviceGuard guard(input.device());
    const nn::detail::OwnModel replica_names_its_parts;
    return replica(input, site);
  } catch (...) {
    rethrow_named(str("replica ", i, " on ", input.device(), ": "));
  }
}

}  // namespace

std::vector<Tensor> apply(std::span<nn::Module* const> replicas, const std::vector<Tensor>& inputs, ApplyOptions options, Site site) {
  if (replicas.size() != inputs.size()) fail("[parallel_apply] there are ", replicas.size(), " replicas but ", inputs.size(), " inputs");
  std::vector<Tensor> outputs(inputs.size());
  // What is captured is the calling thread's work.
  if (!options.threads || inputs.size() < 2 || runtime::detail::capture) {
    for (size_t i = 0; i < inputs.size(); ++i) outputs[i] = run(*replicas[i], inputs[i], i, site);
    return outputs;
  }

  std::vector<std::exception_ptr> errors(inputs.size());
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
      outputs[i] = run(*replicas[i], inputs[i], i, site);
    } catch (...) {
      errors[i] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (size_t i = 1; i < inputs.size(); ++i) threads.emplace_back(work, i);
    work(0);
  }
  for (const auto& error : errors)
    if (error) std::rethrow_exception(error);
  return outputs;
}

}  // namespace tandem::parallel::detail
