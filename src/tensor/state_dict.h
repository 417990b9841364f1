// Tensors by name, in the order they were put in: what a module or an optimizer saves and loads.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace tandem {

/// An ordered map from names to tensors. As the OrderedDict that torch's state_dict() gives.
class StateDict {
 public:
  using value_type = std::pair<std::string, Tensor>;
  using const_iterator = std::vector<value_type>::const_iterator;

  StateDict() = default;
  StateDict(std::initializer_list<value_type> entries) {
    for (const auto& [name, tensor] : entries) (*this)[name] = tensor;
  }

  /// Whether there is a tensor of that name.
  [[nodiscard]] bool contains(std::string_view name) const { return find(name) != nullptr; }
  /// The tensor of that name. Error that names close ones where there is none.
  [[nodiscard]] const Tensor& at(std::string_view name, Site = Site::here()) const;
  /// The tensor of that name; a new, undefined one at the end where there is none.
  Tensor& operator[](std::string_view name);
  /// The tensor of that name, or nullptr.
  [[nodiscard]] const Tensor* find(std::string_view name) const;
  /// Takes a name out; whether it was there.
  bool erase(std::string_view name);
  void clear();
  [[nodiscard]] size_t size() const { return entries_.size(); }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] const_iterator begin() const { return entries_.begin(); }
  [[nodiscard]] const_iterator end() const { return entries_.end(); }
  /// The names in their order.
  [[nodiscard]] std::vector<std::string> keys() const;

  /// Takes over all of `other`, with `prefix` before each name.
  void add(std::string_view prefix, const StateDict& other);
  /// The entries whose names begin with `prefix`, without it.
  [[nodiscard]] StateDict under(std::string_view prefix) const;

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };
  std::vector<value_type> entries_;
  std::unordered_map<std::string, size_t, Hash, std::equal_to<>> index_;
};

}  // namespace tandem
