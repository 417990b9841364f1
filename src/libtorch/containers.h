// Containers of modules: ModuleList by index, ModuleDict by name. Sequential, which calls what it holds, is in sequential.h.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "libtorch/cloneable.h"
#include "libtorch/ordered_dict.h"
#include "libtorch/sequential.h"

namespace torch::nn {

namespace detail {
/// A module as a shared pointer: what a holder or a pointer holds, a copy of a value.
template <class M>
std::shared_ptr<Module> shared_module(M&& module) {
  if constexpr (torch::detail::is_module_holder<M>::value) return module.ptr();
  else if constexpr (torch::detail::is_module<M>::value) return std::make_shared<std::remove_cvref_t<M>>(std::forward<M>(module));
  else return std::forward<M>(module);
}
/// `module` as a T. Error where it is none.
template <class T>
T& module_as(const char* op, Module& module) {
  static_assert(torch::detail::is_module<T>::value, "ask for a type of modules");
  if (T* typed = module.as<T>()) return *typed;
  tandem::fail<tandem::TypeError>("[", op, "] the module is a ", tandem::type_name(typeid(module)), ", not a ",
                                  tandem::type_name(typeid(T)));
}
}  // namespace detail

/// Modules by index. They are children named "0", "1", ….
class ModuleListImpl : public Cloneable<ModuleListImpl> {
 public:
  using Iterator = std::vector<std::shared_ptr<Module>>::iterator;
  using ConstIterator = std::vector<std::shared_ptr<Module>>::const_iterator;

  ModuleListImpl() = default;
  /// Of modules: holders, shared pointers or values.
  template <class... Modules>
  requires(sizeof...(Modules) > 1 ||
           !(std::derived_from<std::remove_cvref_t<Modules>, ModuleListImpl> || ...)) explicit ModuleListImpl(Modules&&... modules) {
    (push_back(std::forward<Modules>(modules)), ...);
  }

  std::shared_ptr<Module> clone(const std::optional<tandem::Device>& device = std::nullopt) const override;
  /// Nothing: its modules are put in from outside.
  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  /// Adds a module at the end, as a holder, a shared pointer or a value.
  template <class M>
  void push_back(M&& module) {
    insert(size(), std::forward<M>(module));
  }
  /// Adds all modules of a container.
  template <class Container>
  void extend(const Container& container) {
    for (const auto& module : container) push_back(module);
  }
  /// Puts a module before the one at `index`, or at the end. Error for an index beyond that.
  template <class M>
  void insert(size_t index, M&& module) {
    insert_module(index, detail::shared_module(std::forward<M>(module)));
  }

  Iterator begin();
  ConstIterator begin() const;
  Iterator end();
  ConstIterator end() const;
  size_t size() const noexcept;
  bool is_empty() const noexcept;

  /// The module at an index as a T. Error where there is none, or it is of another type.
  template <class T>
  T& at(size_t index) {
    return detail::module_as<T>("ModuleList.at", *checked(index));
  }
  template <class T>
  const T& at(size_t index) const {
    return detail::module_as<T>("ModuleList.at", *checked(index));
  }
  /// The same by pointer; empty where it is of another type.
  template <class T>
  std::shared_ptr<T> ptr(size_t index) const {
    static_assert(torch::detail::is_module<T>::value, "ask for a type of modules");
    return std::dynamic_pointer_cast<T>(checked(index));
  }
  std::shared_ptr<Module> ptr(size_t index) const;
  std::shared_ptr<Module> operator[](size_t index) const;

 private:
  const std::shared_ptr<Module>& checked(size_t index) const;
  void insert_module(size_t index, std::shared_ptr<Module> module);

  std::vector<std::shared_ptr<Module>> modules_;
};

TANDEM_TORCH_LAYER(ModuleList);

/// Modules by name, in the order they were put in.
class ModuleDictImpl : public Cloneable<ModuleDictImpl> {
 public:
  using Modules = OrderedDict<std::string, std::shared_ptr<Module>>;
  using Iterator = Modules::Iterator;
  using ConstIterator = Modules::ConstIterator;

  ModuleDictImpl() = default;
  explicit ModuleDictImpl(const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& modules);
  explicit ModuleDictImpl(const Modules& modules);

  std::vector<std::pair<std::string, std::shared_ptr<Module>>> items() const;
  std::vector<std::string> keys() const;
  std::vector<std::shared_ptr<Module>> values() const;
  Iterator begin();
  ConstIterator begin() const;
  Iterator end();
  ConstIterator end() const;
  size_t size() const noexcept;
  bool empty() const noexcept;
  bool contains(const std::string& key) const noexcept;
  /// Takes all modules out; they stay registered as children, as those that pop() takes out do.
  void clear();

  std::shared_ptr<Module> clone(const std::optional<tandem::Device>& device = std::nullopt) const override;
  /// Nothing: its modules are put in from outside.
  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  /// The module of a name. Error where there is none.
  std::shared_ptr<Module> operator[](const std::string& key) const;
  /// The same as a T. Error where it is of another type.
  template <class T>
  T& at(const std::string& key) {
    return detail::module_as<T>("ModuleDict.at", *modules_[key]);
  }
  template <class T>
  const T& at(const std::string& key) const {
    return detail::module_as<T>("ModuleDict.at", *modules_[key]);
  }
  /// Takes a module out. Error where there is none of that name.
  std::shared_ptr<Module> pop(const std::string& key);
  /// Puts modules in; those of names that are there take the place of the ones before.
  void update(const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& modules);
  template <class Container>
  void update(const Container& container) {
    for (const auto& item : container) insert(item.key(), item.value());
  }

 private:
  void insert(const std::string& name, const std::shared_ptr<Module>& module);

  Modules modules_;
};

TANDEM_TORCH_LAYER(ModuleDict);

}  // namespace torch::nn
