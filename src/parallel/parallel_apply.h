// Every replica on its own input.
#pragma once

#include <functional>
#include <vector>

#include "nn/any_module.h"

namespace tandem::parallel {

/// How the replicas' forwards are called.
struct ApplyOptions {
  // Devices are asynchronous: a forward only queues work, at about a microsecond an operation, so calling one after another lets all of
  // them compute at the same time, and costs less than waking a thread for each. A forward that reads values back to the host would hold up
  // the next one: then say true.
  bool threads = false;
};

namespace detail {
/// Calls `call(i)` for the replica on each device, with that as the current one.
void apply(const std::vector<Device>& devices, ApplyOptions options, Site site, const std::function<void(size_t i)>& call);
void check_as_many(size_t replicas, size_t inputs);
inline nn::Module& called(nn::Module& module) { return module; }
inline nn::Module& called(nn::AnyModule& module) { return module.get(); }
}  // namespace detail

/// replicas[i](inputs[i]), all at the same time, with the caller's gradient mode and current streams. What goes wrong comes out as the
/// error it was, with the replica's number and device before it: "replica 1 on cuda:1: …". As torch.nn.parallel.parallel_apply.
template <class M>
[[nodiscard]] std::vector<Tensor> parallel_apply(std::vector<M>& replicas, const std::vector<Tensor>& inputs, ApplyOptions options = {},
                                                 Site site = Site::here()) {
  detail::check_as_many(replicas.size(), inputs.size());
  std::vector<Device> devices;
  for (const Tensor& input : inputs) devices.push_back(input.device());
  std::vector<Tensor> outputs(inputs.size());
  detail::apply(devices, options, site, [&](size_t i) { outputs[i] = detail::called(replicas[i])(inputs[i], site); });
  return outputs;
}

}  // namespace tandem::parallel
