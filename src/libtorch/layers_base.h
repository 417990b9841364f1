// What the layers share: their text, and the base of those that have options and no parameters.
#pragma once

#include <concepts>
#include <ostream>
#include <utility>

#include "libtorch/any_value.h"
#include "libtorch/enums.h"
#include "libtorch/holder.h"
#include "libtorch/module.h"
#include "libtorch/types.h"

namespace torch::nn {

using tandem::Site;

namespace detail {

/// The user's line that makes a layer, for `reset`, which takes none.
Site making_site();

/// A layer's text, as it is built up: `Text(stream, "ELU")("alpha", 1.0)` writes "torch::nn::ELU(alpha=1)".
class Text {
 public:
  Text(std::ostream& stream, const char* name);
  ~Text();
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;

  /// One of its options; without a name the value alone.
  template <class T>
  Text& operator()(const char* name, const T& value) {
    stream_ << (first_ ? "" : ", ") << name << (*name ? "=" : "");
    first_ = false;
    put(value);
    return *this;
  }
  /// One that is written only where it is not as usual.
  template <class T>
  Text& when(bool shown, const char* name, const T& value) {
    return shown ? (*this)(name, value) : *this;
  }

 private:
  void put(bool value);
  template <class T>
  void put(const T& value) {
    stream_ << value;
  }
  template <class... Words>
  void put(const std::variant<Words...>& word) {
    stream_ << enumtype::get_enum_name(word);
  }
  template <class T>
  void put(const std::optional<T>& value) {
    if (value) put(*value);
    else stream_ << "None";
  }
  template <size_t D, class T>
  void put(const ExpandingArray<D, T>& array) {
    if (D == 1) put((*array)[0]);
    else put_list(*array);
  }
  template <size_t D>
  void put(const ExpandingArrayWithOptionalElem<D>& array) {
    put_list(*array);
  }
  template <class T>
  void put(const std::vector<T>& list) {
    put_list(list);
  }
  template <class List>
  void put_list(const List& list) {
    const char* between = "[";
    for (const auto& value : list) {
      stream_ << std::exchange(between, ", ");
      put(value);
    }
    stream_ << ']';
  }

  std::ostream& stream_;
  bool first_ = true;
};

/// A layer that computes with its options alone.
template <class Derived, class LayerOptions>
class OptionsOnly : public Cloneable<Derived> {
 public:
  OptionsOnly() requires std::default_initializable<LayerOptions>
  = default;
  explicit OptionsOnly(LayerOptions options_, Site = Site::here()) : options(std::move(options_)) {}
  // By what its options are made of.
  template <class A>
  requires(std::constructible_from<LayerOptions, A> && !std::convertible_to<A, LayerOptions>) explicit OptionsOnly(A&& a,
                                                                                                                   Site = Site::here())
      : options(std::forward<A>(a)) {}
  template <class A, class B>
  requires std::constructible_from<LayerOptions, A, B> OptionsOnly(A&& a, B&& b, Site = Site::here())
      : options(std::forward<A>(a), std::forward<B>(b)) {}
  void reset() override {}

  LayerOptions options;
};

/// A layer without options, too.
template <class Derived>
class NoOptions : public Cloneable<Derived> {
 public:
  void reset() override {}
};

}  // namespace detail
}  // namespace torch::nn

/// Within torch::nn: a layer NameImpl that computes with its NameOptions alone, and Name that holds one. The inputs of its forward follow.
#define TANDEM_OPTIONS_LAYER(Name, ...)                                      \
  class Name##Impl : public detail::OptionsOnly<Name##Impl, Name##Options> { \
   public:                                                                   \
    using OptionsOnly::OptionsOnly;                                          \
    Tensor forward(__VA_ARGS__, Site site = Site::here());                   \
    void pretty_print(std::ostream& stream) const override;                  \
  };                                                                         \
  TANDEM_TORCH_LAYER(Name)
