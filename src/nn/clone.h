// A copy of a module with parameters of its own.
#pragma once

#include <typeinfo>

#include "nn/module.h"

namespace tandem::nn {

namespace detail {
/// Gives every tensor of `copy`, a copy of `original`, memory of its own; tied ones stay tied.
void own_tensors(const ModuleBase& original, ModuleBase& copy, Site site);
}  // namespace detail

/// A copy of the module whose parameters and buffers are copies too, on the same devices and without gradients. Tied parameters stay tied.
/// Error where a copy of the struct still refers into the original. As copy.deepcopy(module).
template <class M>
requires IsModule<M>
[[nodiscard]] M clone(const M& module, Site site = Site::here()) {
  detail::check_exact_type("clone", module, typeid(M));
  M copy(module);
  detail::own_tensors(module, copy, site);
  return copy;
}

}  // namespace tandem::nn
