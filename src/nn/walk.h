// Walking a module and everything below it. For the library.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include "nn/fields.h"

namespace tandem::nn::detail {

/// One stop of a walk: a module, or a tensor of it.
struct Field {
  std::string_view name;         // "fc1.weight"; empty for the root, and where names were not asked for
  ModuleBase* module = nullptr;  // the module, or the one that the tensor belongs to
  Tensor* tensor = nullptr;      // nullptr at a module; undefined where a part is not there
  bool is_buffer = false;
  bool persistent = true;
  Options* placement = nullptr;  // of lazy parameters and buffers: where they are to be made

  [[nodiscard]] bool is_module() const { return !tensor; }
  [[nodiscard]] bool is_parameter() const { return tensor && !is_buffer; }
  /// A parameter or buffer that waits for the first forward.
  [[nodiscard]] bool is_pending() const { return placement && !tensor->defined(); }
};

using Visit = void (*)(void* context, const Field& field);
void walk(ModuleBase& root, bool names, Visit visit, void* context);

/// Calls `f(const Field&)` for the module, its own tensors, then each child in the same way: PyTorch's order.
template <class F>
void walk(const ModuleBase& root, bool names, F&& f) {
  using Plain = std::remove_reference_t<F>;
  walk(
      const_cast<ModuleBase&>(root), names, [](void* context, const Field& field) { (*static_cast<Plain*>(context))(field); },
      const_cast<void*>(static_cast<const void*>(std::addressof(f))));
}

/// The tensors met so far: tied ones are met again.
class Met {
 public:
  /// Whether this is the first time.
  bool add(const Tensor& tensor) {
    const TensorImpl* impl = &tensor.impl();
    if (few_.size() < 32) {
      for (const TensorImpl* other : few_)
        if (other == impl) return false;
      few_.push_back(impl);
      return true;
    }
    if (many_.empty()) many_.insert(few_.begin(), few_.end());
    return many_.insert(impl).second;
  }

 private:
  std::vector<const TensorImpl*> few_;
  std::unordered_set<const TensorImpl*> many_;
};

/// Error unless `copy`, made by the copy constructor of `original`'s type, has the same parts at other addresses.
/// Calls `f(original's field, copy's field)` for every module and tensor, in step, without names. `op` names the operation in errors.
void walk_copy(const char* op, const ModuleBase& original, ModuleBase& copy, void (*visit)(void*, const Field&, const Field&),
               void* context);
template <class F>
void walk_copy(const char* op, const ModuleBase& original, ModuleBase& copy, F&& f) {
  using Plain = std::remove_reference_t<F>;
  walk_copy(
      op, original, copy, [](void* context, const Field& a, const Field& b) { (*static_cast<Plain*>(context))(a, b); },
      const_cast<void*>(static_cast<const void*>(std::addressof(f))));
}

}  // namespace tandem::nn::detail
