// A module of any type, held by value.
#pragma once

#include <memory>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "base/error.h"
#include "nn/blank.h"
#include "nn/module.h"

namespace tandem::nn {

class AnyModule;

namespace detail {
/// A function that makes modules of a type, to be given another one's settings and tensors. Registered for each type that an AnyModule
/// holds, before main begins, so that no other function is ever called because a message names it.
struct Maker {
  explicit Maker(AnyModule (*function)());
  ~Maker();
  Maker(const Maker&) = delete;
  Maker& operator=(const Maker&) = delete;
  /// Whether there is one of this function.
  [[nodiscard]] static bool is_known(AnyModule (*function)());

  AnyModule (*make)();
};
}  // namespace detail

/// Holds a module of any type as a value: a copy holds a copy of the module, which shares its parameters.
class AnyModule {
 public:
  AnyModule() = default;
  /// A copy of the module, which shares its parameters.
  template <class M>
  requires IsModule<M> AnyModule(M&& module) : box_(new BoxOf<std::remove_cvref_t<M>>(std::forward<M>(module))) {}
  AnyModule(const AnyModule& other) : box_(other.box_ ? other.box_->copy() : nullptr) {}
  AnyModule(AnyModule&&) = default;
  AnyModule& operator=(AnyModule other) noexcept {
    box_ = std::move(other.box_);
    return *this;
  }

  [[nodiscard]] explicit operator bool() const { return box_ != nullptr; }
  /// The module; there must be one, and it must be from tensor to tensor.
  [[nodiscard]] Module& get() const {
    Module* module = box_->module();
    if (!module) fail("[AnyModule.get] ", base().name(), " is no module from tensor to tensor: ask for it as its own type");
    return *module;
  }
  /// The module, whatever its signature.
  [[nodiscard]] ModuleBase& base() const { return box_->base(); }
  Module& operator*() const { return get(); }
  Module* operator->() const { return &get(); }
  /// For the library: what makes a module of the same type, to be given this one's settings and tensors; nullptr where nothing can.
  [[nodiscard]] AnyModule (*maker() const)() { return box_->maker(); }

 private:
  struct Box {
    virtual ~Box() = default;
    virtual ModuleBase& base() = 0;
    virtual Module* module() = 0;
    [[nodiscard]] virtual std::unique_ptr<Box> copy() const = 0;
    [[nodiscard]] virtual AnyModule (*maker() const)() = 0;
  };
  template <class M>
  struct BoxOf final : Box {
    template <class T>
    explicit BoxOf(T&& from) : value((detail::check_exact_type("AnyModule", from, typeid(M)), std::forward<T>(from))) {}
    ModuleBase& base() override { return value; }
    Module* module() override {
      if constexpr (IsTensorModule<M>) return &value;
      else return nullptr;
    }
    [[nodiscard]] std::unique_ptr<Box> copy() const override { return std::make_unique<BoxOf>(value); }
    [[nodiscard]] AnyModule (*maker() const)() override {
      if constexpr (detail::Makeable<M>) return kMaker<M>.make;
      else return nullptr;
    }
    M value;
  };
  template <class M>
  static AnyModule make() {
    return AnyModule(detail::blank<M>());
  }
  template <class M>
  static inline const detail::Maker kMaker{&AnyModule::make<M>};

  std::unique_ptr<Box> box_;
};

namespace detail {
/// The module as an M. Error that names its type where it is another.
template <class M>
[[nodiscard]] M& typed(const char* op, ModuleBase& module) {
  if (auto* same = dynamic_cast<M*>(&module)) return *same;
  fail("[", op, "] the module is a ", module.name(), ", not of the type asked for");
}
}  // namespace detail

/// Makes a copy of a module whose type only the caller of `copier_of` knew.
using Copier = AnyModule (*)(const ModuleBase&);
/// What copies modules of class M, for those who hold them as ModuleBase.
template <class M>
requires IsModule<M>
[[nodiscard]] Copier copier_of() {
  return [](const ModuleBase& module) { return AnyModule(static_cast<const M&>(module)); };
}

}  // namespace tandem::nn
