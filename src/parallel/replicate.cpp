#include "parallel/replicate.h"

#include <unordered_map>

#include "autograd/autograd.h"
#include "base/error.h"
#include "nn/walk.h"
#include "parallel/broadcast.h"

namespace tandem::parallel {

void detail::check_replicable(const nn::ModuleBase& module) {
  if (module.has_uninitialized_params())
    fail("[replicate] parameters of ", module.name(), " have no values yet: run a first forward, or call nn::initialize(module, input)");
}

void detail::place_replicas(const nn::ModuleBase& original, std::span<nn::ModuleBase* const> replicas, const std::vector<Device>& devices,
                            Site site) {
  // Each tensor once, also where it is tied, numbered in the order they are met.
  std::vector<Tensor> parameters, buffers;
  std::unordered_map<const TensorImpl*, std::pair<bool, size_t>> numbers;
  nn::detail::walk(original, false, [&](const nn::detail::Field& field) {
    if (!field.tensor || !field.tensor->defined()) return;
    auto& list = field.is_buffer ? buffers : parameters;
    if (numbers.try_emplace(&field.tensor->impl(), field.is_buffer, list.size()).second) list.push_back(*field.tensor);
  });
  const auto placed = broadcast_coalesced(parameters, devices, site);
  const auto placed_buffers = [&] {
    const NoGradGuard no_grad;
    return broadcast_coalesced(buffers, devices, site);
  }();
  for (size_t i = 0; i < replicas.size(); ++i) {
    nn::detail::walk_copy("replicate", original, *replicas[i], [&](const nn::detail::Field& from, const nn::detail::Field& to) {
      if (!from.tensor || !from.tensor->defined()) return;
      const auto& [is_buffer, number] = numbers.at(&from.tensor->impl());
      *to.tensor = (is_buffer ? placed_buffers : placed)[i][number];
    });
  }
}

std::vector<nn::AnyModule> replicate(const nn::ModuleBase& module, nn::Copier copier, const std::vector<Device>& devices, Site site) {
  detail::check_replicable(module);
  std::vector<nn::AnyModule> replicas;
  std::vector<nn::ModuleBase*> pointers;
  replicas.reserve(devices.size());
  for (size_t i = 0; i < devices.size(); ++i) {
    replicas.push_back(copier(module));
    pointers.push_back(&replicas.back().base());
  }
  detail::place_replicas(module, pointers, devices, site);
  return replicas;
}

}  // namespace tandem::parallel
