// The one visitor. A module names its parts to it, and whoever walks a model (parameters, moving, saving, printing, cloning, replicas) is
// one of these.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tensor/options.h"
#include "tensor/tensor.h"

namespace tandem::nn {

struct ModuleBase;

/// What `Module::fields` names its parts to: `f("fc1", fc1)` for a module, `f("weight", weight)` for a parameter, `f.buffer("running_mean",
/// running_mean)`. `fields` may be called at any time, also on a const module: it names its parts, and changes nothing itself. Undefined
/// tensors are passed over (a bias that is not there).
class Fields {
 public:
  virtual ~Fields() = default;

  /// A child.
  void operator()(std::string_view name, ModuleBase& module) { visit(name, module); }
  /// A parameter: found by optimizers, saved, moved.
  void operator()(std::string_view name, Tensor& parameter) { visit(name, parameter, {}); }
  /// Several of a kind, named "name.0", "name.1", ….
  template <class T>
  void operator()(std::string_view name, std::vector<T>& items) {
    for (size_t i = 0; i < items.size(); ++i) (*this)(std::string(name) + "." + std::to_string(i), items[i]);
  }
  /// What is neither.
  template <class T>
  requires(!std::is_convertible_v<T*, ModuleBase*> && !std::is_same_v<T, Tensor>) void operator()(std::string_view, T&) {
    static_assert(sizeof(T) == 0, "fields names tensors and modules that the module holds by value, and vectors of them");
  }
  /// State that is no parameter: moved with the module, and saved unless `persistent` is false.
  void buffer(std::string_view name, Tensor& tensor, bool persistent = true) {
    visit(name, tensor, {.is_buffer = true, .persistent = persistent, .placement = nullptr});
  }
  /// A parameter whose sizes are known only at the first forward: undefined until then. `placement` is where it is to be made; moving the
  /// module sets it.
  void lazy(std::string_view name, Tensor& parameter, Options& placement) {
    visit(name, parameter, {.is_buffer = false, .persistent = true, .placement = &placement});
  }
  /// The same for a buffer.
  void lazy_buffer(std::string_view name, Tensor& tensor, Options& placement) {
    visit(name, tensor, {.is_buffer = true, .persistent = true, .placement = &placement});
  }

 protected:
  /// What kind of tensor it is.
  struct Kind {
    bool is_buffer = false;
    bool persistent = true;
    Options* placement = nullptr;  // of lazy parameters and buffers
  };
  virtual void visit(std::string_view name, ModuleBase& module) = 0;
  virtual void visit(std::string_view name, Tensor& tensor, Kind kind) = 0;
};

}  // namespace tandem::nn
