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
void print_parameters(std::ostream& stream, const char* kind, const OrderedDict<std::string, tandem::Tensor>& parameters);
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
  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  /// Adds a parameter at the end.
  void append(const tandem::Tensor& parameter);
  /// The value of an item of another list.
  void append(const Item& item);
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

  Iterator begin();
  ConstIterator begin() const;
  Iterator end();
  ConstIterator end() const;
  size_t size() const noexcept;
  bool is_empty() const noexcept;

  /// The parameter at an index. Error where there is none.
  tandem::Tensor& at(size_t index);
  const tandem::Tensor& at(size_t index) const;
  tandem::Tensor& operator[](size_t index);
  const tandem::Tensor& operator[](size_t index) const;

 private:
  size_t checked(size_t index) const;
};

TANDEM_TORCH_LAYER(ParameterList);

/// Parameters by name, in the order they were put in.
class ParameterDictImpl : public Cloneable<ParameterDictImpl> {
 public:
  using Iterator = OrderedDict<std::string, tandem::Tensor>::Iterator;
  using ConstIterator = OrderedDict<std::string, tandem::Tensor>::ConstIterator;

  ParameterDictImpl() = default;
  explicit ParameterDictImpl(const OrderedDict<std::string, tandem::Tensor>& parameters);

  /// Nothing: its parameters are put in from outside.
  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  /// Puts a parameter in, which requires gradients as it did before. Error where the name is there already.
  tandem::Tensor& insert(std::string key, tandem::Tensor parameter, tandem::Site site = tandem::Site::here());
  /// Takes a parameter out. Error where there is none of that name.
  tandem::Tensor pop(const std::string& key);
  /// The parameters of another one take the place of those of the same names. Error for a name that is not there.
  template <class Container>
  void update(const Container& container) {
    for (const auto& item : container) parameters_[item.key()] = item.value();
  }
  void clear();

  std::vector<std::string> keys() const;
  std::vector<tandem::Tensor> values() const;
  Iterator begin();
  ConstIterator begin() const;
  Iterator end();
  ConstIterator end() const;
  size_t size() const noexcept;
  bool empty() const noexcept;
  bool contains(const std::string& key) const noexcept;

  /// The parameter of a name. Error where there is none.
  tandem::Tensor& get(const std::string& key);
  const tandem::Tensor& get(const std::string& key) const;
  tandem::Tensor& operator[](const std::string& key);
  const tandem::Tensor& operator[](const std::string& key) const;
};

TANDEM_TORCH_LAYER(ParameterDict);

}  // namespace torch::nn
