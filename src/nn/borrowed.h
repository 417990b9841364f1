// A module that something around it refers to and does not own.
#pragma once

#include <memory>

#include "base/error.h"
#include "nn/module.h"

namespace tandem::nn::detail {

/// A module held by reference.
template <class M>
class Borrowed {
 public:
  explicit Borrowed(M& module) : module_(&module), alive_(module.watch()) {}
  /// Error for `wrapper` where the module has ended.
  [[nodiscard]] M& get(const ModuleBase& wrapper) const {
    if (alive_.expired()) fail("[", wrapper.name(), "] the module that it was made around has ended: keep it for as long as its wrapper");
    return *module_;
  }

 private:
  M* module_;
  std::weak_ptr<const bool> alive_;
};

}  // namespace tandem::nn::detail
