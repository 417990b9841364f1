// Containers of parameters: ParameterList by index, ParameterDict by name.
#pragma once

#include <concepts>
#include <cstddef>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "libtorch/cloneable.h"
#include "libtorch/ordered_dict.h"

namespace torch::nn {

namespace detail {
/// One line a parameter.
inline void print_parameters(std::ostream& stream, const char* kind, const OrderedDict<std::string, tandem::Tensor>& parameters) {
  stream << "torch::nn::" << kind << "(\n";
  for (const auto& item : parameters)
    stream << '(' << item.key() << "): Parameter containing: [" << tandem::scalar_name(item->dtype(tandem::Site::none())) << " of size "
           << item->sizes(tandem::Site::none()) << "]\n";
  stream << ')';
}
}  // namespace detail

/// Parameters by index, named "0", "1", …. They require gradients as they did before.
class ParameterListImpl : public Cloneable<ParameterListImpl> {
 public:
  using Item = OrderedDict<std::string, tandem::Tensor>::Item;
  using Iterator = OrderedDict<std::string, tandem::Tensor>::Iterator;
  using ConstIterator = OrderedDict<std::string, tandem::Tensor>::ConstIterator;

  ParameterListImpl() = default;
  template <class... Tensors>
  requires(sizeof...(Tensors) > 1 || !(std::derived_from<std::remove_cvref_t<Tensors>, ParameterListImpl> ||
                                       ...)) explicit ParameterListImpl(Tensors&&... parameters) {
    (append(std::forward<Tensors>(parameters)), ...);
  }

  /// Nothing: its parameters are put in from outside.
  void reset() override {}
  void pretty_print(std::ostream& stream) const override { detail::print_parameters(stream, "ParameterList", parameters_); }

  /// Adds a parameter at the end.
  void append(const tandem::Tensor& parameter) {
    const tandem::Site site = tandem::Site::none();
    register_parameter(std::to_string(size()), parameter, parameter.requires_grad(site), site);
  }
  /// The value of an item of another list.
  void append(const Item& item) { append(item.value()); }
  /// Adds all of a container.
  template <class Container>
  void extend(const Container& container) {
    for (const auto& parameter : container) append(parameter);
  }
  /// As extend; gives what was added.
  template <class Container>
  const Container& operator+=(const Container& container) {
    extend(container);
    return container;
  }

  Iterator begin() { return parameters_.begin(); }
  ConstIterator begin() const { return parameters_.begin(); }
  Iterator end() { return parameters_.end(); }
  ConstIterator end() const { return parameters_.end(); }
  size_t size() const noexcept { return parameters_.size(); }
  bool is_empty() const noexcept { return parameters_.is_empty(); }

  /// The parameter at an index. Error where there is none.
  tandem::Tensor& at(size_t index) { return parameters_[checked(index)].value(); }
  const tandem::Tensor& at(size_t index) const { return parameters_[checked(index)].value(); }
  tandem::Tensor& operator[](size_t index) { return at(index); }
  const tandem::Tensor& operator[](size_t index) const { return at(index); }

 private:
  size_t checked(size_t index) const {
    if (index >= size()) tandem::fail<tandem::IndexError>("[ParameterList] Index out of range: ", index, " of ", size(), " parameters");
    return index;
  }
};

TORCH_MODULE(ParameterList);

/// Parameters by name, in the order they were put in.
class ParameterDictImpl : public Cloneable<ParameterDictImpl> {
 public:
  using Iterator = OrderedDict<std::string, tandem::Tensor>::Iterator;
  using ConstIterator = OrderedDict<std::string, tandem::Tensor>::ConstIterator;

  ParameterDictImpl() = default;
  explicit ParameterDictImpl(const OrderedDict<std::string, tandem::Tensor>& parameters) { parameters_.update(parameters); }

  /// Nothing: its parameters are put in from outside.
  void reset() override {}
  void pretty_print(std::ostream& stream) const override { detail::print_parameters(stream, "ParameterDict", parameters_); }

  /// Puts a parameter in, which requires gradients as it did before. Error where the name is there already.
  tandem::Tensor& insert(std::string key, tandem::Tensor parameter, tandem::Site site = tandem::Site::here()) {
    const bool requires_grad = parameter.requires_grad(site);
    return register_parameter(std::move(key), std::move(parameter), requires_grad, site);
  }
  /// Takes a parameter out. Error where there is none of that name.
  tandem::Tensor pop(const std::string& key) {
    tandem::Tensor parameter = parameters_[key];
    parameters_.erase(key);
    return parameter;
  }
  /// The parameters of another one take the place of those of the same names. Error for a name that is not there.
  template <class Container>
  void update(const Container& container) {
    for (const auto& item : container) parameters_[item.key()] = item.value();
  }
  void clear() { parameters_.clear(); }

  std::vector<std::string> keys() const { return parameters_.keys(); }
  std::vector<tandem::Tensor> values() const { return parameters_.values(); }
  Iterator begin() { return parameters_.begin(); }
  ConstIterator begin() const { return parameters_.begin(); }
  Iterator end() { return parameters_.end(); }
  ConstIterator end() const { return parameters_.end(); }
  size_t size() const noexcept { return parameters_.size(); }
  bool empty() const noexcept { return parameters_.is_empty(); }
  bool contains(const std::string& key) const noexcept { return parameters_.contains(key); }

  /// The parameter of a name. Error where there is none.
  tandem::Tensor& get(const std::string& key) { return parameters_[key]; }
  const tandem::Tensor& get(const std::string& key) const { return parameters_[key]; }
  tandem::Tensor& operator[](const std::string& key) { return parameters_[key]; }
  const tandem::Tensor& operator[](const std::string& key) const { return parameters_[key]; }
};

TORCH_MODULE(ParameterDict);

}  // namespace torch::nn
