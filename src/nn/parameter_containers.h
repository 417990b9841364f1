// Lists and dictionaries of parameters, for models that use them in their own way.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nn/module.h"

namespace tandem::nn {

/// Parameters by number, named "0", "1", …: `nn::ParameterList weights{randn({2, 3}), zeros({3})}`. Each that is put in is made to ask for
/// gradients where it is of a floating type and no result of others. A copy of the list shares them. It has no forward. As
/// torch.nn.ParameterList.
struct ParameterList : Module {
  ParameterList() = default;
  ParameterList(std::initializer_list<Tensor> parameters);
  explicit ParameterList(const std::vector<Tensor>& parameters);

  /// Adds a parameter at the end. Error for an undefined tensor.
  ParameterList& append(Tensor parameter, Site site = Site::here());
  /// Adds all of these.
  ParameterList& extend(const std::vector<Tensor>& parameters, Site site = Site::here());
  [[nodiscard]] size_t size() const { return items_.size(); }
  [[nodiscard]] bool empty() const { return items_.empty(); }
  /// Parameter `i`; negative numbers count from the end. IndexError where there is none.
  [[nodiscard]] Tensor& at(int64_t i, Site = Site::here());
  [[nodiscard]] Tensor& operator[](int64_t i) { return at(i, Site::none()); }
  [[nodiscard]] auto begin() const { return items_.begin(); }
  [[nodiscard]] auto end() const { return items_.end(); }

  void fields(Fields& f) override;
  void settings(Settings& s) override;
  [[nodiscard]] std::string extra_repr() const override;

 private:
  std::vector<Tensor> items_;
};

/// Parameters by name, in the order they were put in: `nn::ParameterDict{{"left", randn({2, 3})}, {"right", zeros({3})}}`. As for
/// ParameterList. As torch.nn.ParameterDict.
struct ParameterDict : Module {
  using value_type = std::pair<std::string, Tensor>;

  ParameterDict() = default;
  ParameterDict(std::initializer_list<value_type> parameters);

  /// Adds a parameter at the end, or puts it in the place of the one of that name. Error for a name that is empty or has a point, and for
  /// an undefined tensor.
  void insert(std::string_view name, Tensor parameter, Site site = Site::here());
  /// Whether there is a parameter of that name.
  [[nodiscard]] bool contains(std::string_view name) const;
  /// Takes a parameter out; whether it was there.
  bool erase(std::string_view name);
  void clear() { items_.clear(); }
  [[nodiscard]] size_t size() const { return items_.size(); }
  [[nodiscard]] bool empty() const { return items_.empty(); }
  /// The names in their order.
  [[nodiscard]] std::vector<std::string> keys() const;
  /// The parameter of that name. Error that names those that are there, where there is none.
  [[nodiscard]] Tensor& at(std::string_view name, Site = Site::here());
  [[nodiscard]] Tensor& operator[](std::string_view name) { return at(name, Site::none()); }
  /// Names and parameters, in order.
  [[nodiscard]] const std::vector<value_type>& items() const { return items_; }

  void fields(Fields& f) override;
  void settings(Settings& s) override;
  [[nodiscard]] std::string extra_repr() const override;

 private:
  std::vector<value_type> items_;
};

}  // namespace tandem::nn
