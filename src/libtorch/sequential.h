// Sequential: modules of any types, each called with what the one before it gave; Functional: a function as a module.
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "libtorch/any.h"
#include "libtorch/cloneable.h"

namespace torch::nn {

/// Modules in a row. They are children named "0", "1", …, or as they are given names.
class SequentialImpl : public Cloneable<SequentialImpl> {
 public:
  using Iterator = std::vector<AnyModule>::iterator;
  using ConstIterator = std::vector<AnyModule>::const_iterator;
  /// For call operators: this class's forward can be handed the caller's line.
  using ForwardTakesSite = SequentialImpl;

  SequentialImpl() = default;
  /// Of modules: holders, shared pointers or values.
  template <class... Modules>
  requires(sizeof...(Modules) > 1 ||
           !(std::derived_from<std::remove_cvref_t<Modules>, SequentialImpl> || ...)) explicit SequentialImpl(Modules&&... modules) {
    (push_back(std::forward<Modules>(modules)), ...);
  }
  explicit SequentialImpl(OrderedDict<std::string, AnyModule>&& modules);
  explicit SequentialImpl(std::initializer_list<NamedAnyModule> modules);

  std::shared_ptr<Module> clone(const std::optional<tandem::Device>& device = std::nullopt) const override;
  /// Nothing: its modules are put in from outside.
  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  /// What the last module gives. Error where there is none, or where that is no Result.
  template <class Result = tandem::Tensor, class Input>
  Result forward(Input&& input, tandem::Site site = tandem::Site::here()) {
    return run<Result>(site, std::forward<Input>(input));
  }
  /// The first module may take any number of values.
  template <class Result = tandem::Tensor, class... Inputs>
  requires(sizeof...(Inputs) != 1) Result forward(Inputs&&... inputs) {
    return run<Result>(tandem::Site::none(), std::forward<Inputs>(inputs)...);
  }

  /// Adds a module at the end, as a holder, a shared pointer or a value.
  template <class M>
  void push_back(M&& module) {
    push_back(std::to_string(modules_.size()), std::forward<M>(module));
  }
  template <class M>
  void push_back(std::string name, M&& module) {
    push_back(std::move(name), AnyModule(std::forward<M>(module)));
  }
  void push_back(AnyModule module);
  void push_back(std::string name, AnyModule module);
  /// Adds all modules of a container.
  template <class Container>
  void extend(const Container& container) {
    for (const auto& module : container) push_back(module);
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
    return checked(index).template get<T>();
  }
  template <class T>
  const T& at(size_t index) const {
    return checked(index).template get<T>();
  }
  template <class T>
  std::shared_ptr<T> ptr(size_t index) const {
    return checked(index).template ptr<T>();
  }
  std::shared_ptr<Module> ptr(size_t index) const;
  std::shared_ptr<Module> operator[](size_t index) const;

 private:
  template <class Result, class... Inputs>
  Result run(tandem::Site site, Inputs&&... inputs) {
    if (is_empty()) tandem::fail("[Sequential.forward] Cannot call forward() on an empty Sequential: push_back a module first");
    AnyValue value = first(site, std::forward<Inputs>(inputs)...);
    for (size_t i = 1; i < modules_.size(); ++i) value = modules_[i].any_forward(std::move(value), site);
    if (auto* result = value.template try_get<Result>()) return std::move(*result);
    tandem::fail<tandem::TypeError>("[Sequential.forward] The type of the return value is ", tandem::type_name(value.type_info()),
                                    ", but you asked for type ", tandem::type_name(typeid(Result)));
  }
  template <class Input>
  AnyValue first(tandem::Site site, Input&& input) {
    return modules_[0].any_forward(std::forward<Input>(input), site);
  }
  template <class... Inputs>
  requires(sizeof...(Inputs) != 1) AnyValue first(tandem::Site, Inputs&&... inputs) {
    return modules_[0].any_forward(std::forward<Inputs>(inputs)...);
  }
  AnyModule& checked(size_t index);
  const AnyModule& checked(size_t index) const;
  void check(size_t index) const;

  std::vector<AnyModule> modules_;
  std::vector<std::string> names_;  // of the modules
};

/// Holds a SequentialImpl: `Sequential net(Linear(4, 8), ReLU())`, `Sequential net({{"fc", Linear(4, 8)}, {"act", ReLU()}})`.
class Sequential : public ModuleHolder<SequentialImpl> {
 public:
  using ModuleHolder<SequentialImpl>::ModuleHolder;
  using Impl [[maybe_unused]] = SequentialImpl;

  Sequential() = default;
  Sequential(std::initializer_list<NamedAnyModule> modules);
};

/// A function from tensor to tensor, with the arguments behind the first bound, as a module: `Functional(torch::relu)`,
/// `Functional(torch::flatten, 1, -1)`. It is not saved.
class FunctionalImpl : public Cloneable<FunctionalImpl> {
 public:
  using Function = std::function<tandem::Tensor(tandem::Tensor)>;

  template <class F, class... Args>
  requires(!std::derived_from<std::remove_cvref_t<F>, FunctionalImpl> && !(std::same_as<Args, tandem::Site> || ...) &&
           (std::invocable<F&, tandem::Tensor, Args&...> ||
            std::invocable<F&, tandem::Tensor, Args&..., tandem::Site>)) explicit FunctionalImpl(F function, Args... args)
      : function_([function = std::move(function), ... args = std::move(args)](tandem::Tensor input, tandem::Site site) mutable {
          if constexpr (std::invocable<F&, tandem::Tensor, Args&..., tandem::Site>) return function(std::move(input), args..., site);
          else return (void)site, function(std::move(input), args...);
        }) {}

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  /// What the function gives.
  tandem::Tensor forward(tandem::Tensor input, tandem::Site site = tandem::Site::here());
  tandem::Tensor operator()(tandem::Tensor input, tandem::Site site = tandem::Site::here());
  bool is_serializable() const override;

 private:
  std::function<tandem::Tensor(tandem::Tensor, tandem::Site)> function_;
};

TANDEM_TORCH_LAYER(Functional);

}  // namespace torch::nn
