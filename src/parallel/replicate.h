// Copies of a module, one on each device, whose gradients come back to the original.
#pragma once

#include <span>
#include <typeinfo>
#include <vector>

#include "nn/any_module.h"

namespace tandem::parallel {

namespace detail {
/// Makes the replicas, copies of `original`, ones that live on `devices`, one each.
void place_replicas(const nn::ModuleBase& original, std::span<nn::ModuleBase* const> replicas, const std::vector<Device>& devices,
                    Site site);
/// Error for a module whose parameters wait for a first forward.
void check_replicable(const nn::ModuleBase& module);
}  // namespace detail

/// One copy of the module a device. Their parameters are copies that are steps of the graph: what backward finds for a replica's parameter
/// is added to the original's `.grad`, on the original's device. Tied parameters stay tied. Buffers are copied without history; on the
/// original's own device both are the original's tensors themselves, so that running figures of that replica stay. Error where a copy of
/// the struct still refers into the original, and for lazy modules before their first forward. As torch.nn.parallel.replicate.
template <class M>
requires nn::IsModule<M>
[[nodiscard]] std::vector<M> replicate(const M& module, const std::vector<Device>& devices, Site site = Site::here()) {
  nn::detail::check_exact_type("replicate", module, typeid(M));
  detail::check_replicable(module);
  std::vector<M> replicas(devices.size(), module);
  std::vector<nn::ModuleBase*> pointers;
  pointers.reserve(replicas.size());
  for (M& replica : replicas) pointers.push_back(&replica);
  detail::place_replicas(module, pointers, devices, site);
  return replicas;
}

/// The same for a module of a type that only `copier` knows.
[[nodiscard]] std::vector<nn::AnyModule> replicate(const nn::ModuleBase& module, nn::Copier copier, const std::vector<Device>& devices,
                                                   Site site = Site::here());

}  // namespace tandem::parallel
