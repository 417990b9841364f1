// Every replica on its own input.
#pragma once

#include <memory>
#include <span>
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
std::vector<Tensor> apply(std::span<nn::Module* const> replicas, const std::vector<Tensor>& inputs, ApplyOptions options, Site site);
inline nn::Module* pointer_to(nn::Module& module) { return &module; }
inline nn::Module* pointer_to(nn::AnyModule& module) { return &module.get(); }
}  // namespace detail

/// replicas[i](inputs[i]), all at the same time, with the caller's gradient mode and current streams. What goes wrong comes out as the
/// error it was, with the replica's number and device before it: "replica 1 on cuda:1: …". As torch.nn.parallel.parallel_apply.
template <class M>
[[nodiscard]] std::vector<Tensor> parallel_apply(std::vector<M>& replicas, const std::vector<Tensor>& inputs, ApplyOptions options = {},
                                                 Site site = Site::here()) {
  std::vector<nn::Module*> pointers;
  pointers.reserve(replicas.size());
  for (M& replica : replicas) pointers.push_back(detail::pointer_to(replica));
  return detail::apply(pointers, inputs, options, site);
}

}  // namespace tandem::parallel
