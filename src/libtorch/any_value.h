// AnyValue: a value of any type, such as an argument or a result of a module whose type is not known.
#pragma once

#include <any>
#include <concepts>
#include <initializer_list>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/type_name.h"

namespace torch::nn {

/// A copy of a value of any type that can be copied.
class AnyValue {
 public:
  template <class T>
  requires(!std::same_as<std::decay_t<T>, AnyValue>) explicit AnyValue(T&& value)
      : value_(std::in_place_type<std::decay_t<T>>, std::forward<T>(value)) {}

  /// The value where it is a T, else nullptr.
  template <class T>
  T* try_get() {
    static_assert(!std::is_reference_v<T> && !std::is_array_v<T>, "AnyValue holds decayed types: ask for one without & and without []");
    return std::any_cast<T>(&value_);
  }
  /// The value as a T. Error where it is of another type.
  template <class T>
  T get() {
    if (T* value = try_get<T>()) return *value;
    tandem::fail<tandem::TypeError>("[AnyValue.get] Attempted to cast AnyValue to ", tandem::type_name(typeid(T)),
                                    ", but its actual type is ", tandem::type_name(type_info()));
  }
  /// The type of the value.
  const std::type_info& type_info() const noexcept;

 private:
  std::any value_;
};

namespace detail {
/// The arguments that a forward can do without: their positions and values.
using DefaultArguments = std::initializer_list<std::pair<unsigned, AnyValue>>;
unsigned num_required(DefaultArguments defaults);
std::vector<AnyValue> with_defaults(std::vector<AnyValue>&& arguments, DefaultArguments defaults);
}  // namespace detail

}  // namespace torch::nn

/// Inside a module: the arguments that its forward has defaults for, so that AnyModule and Sequential can leave them out:
/// `FORWARD_HAS_DEFAULT_ARGS({1, torch::nn::AnyValue(2)}, {2, torch::nn::AnyValue(3.0)})`.
#define FORWARD_HAS_DEFAULT_ARGS(...)                                                                                      \
  bool _forward_has_default_args() override { return true; }                                                               \
  unsigned int _forward_num_required_args() override { return torch::nn::detail::num_required({__VA_ARGS__}); }            \
  std::vector<torch::nn::AnyValue> _forward_populate_default_args(std::vector<torch::nn::AnyValue>&& arguments) override { \
    return torch::nn::detail::with_defaults(std::move(arguments), {__VA_ARGS__});                                          \
  }
