// What an optimizer keeps: the options of a group of parameters, the state of a parameter, and groups. One's own derive from
// OptimizerCloneableOptions and OptimizerCloneableParamState.
#pragma once

#include <concepts>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "libtorch/serialize_archive.h"
#include "tensor/tensor.h"

namespace torch::guts {
/// An address as text, which names a parameter's state: `optimizer.state()[c10::guts::to_string(p.unsafeGetTensorImpl())]`.
inline std::string to_string(const void* address) {
  char text[2 + 2 * sizeof address + 1];
  std::snprintf(text, sizeof text, "%p", address);
  return text;
}
template <class T>
requires std::is_arithmetic_v<T> std::string to_string(T value) { return std::to_string(value); }
}  // namespace torch::guts

namespace ska {
/// A map under libtorch's name. Where keys are texts, an address is taken for its text: libtorch has had both.
template <class Key, class Value>
class flat_hash_map : public std::unordered_map<Key, Value> {
  using Base = std::unordered_map<Key, Value>;

 public:
  using Base::at;
  using Base::Base;
  using Base::count;
  using Base::erase;
  using Base::find;
  using Base::operator[];
  auto find(const void* key) { return Base::find(torch::guts::to_string(key)); }
  auto find(const void* key) const { return Base::find(torch::guts::to_string(key)); }
  Value& operator[](const void* key) { return Base::operator[](torch::guts::to_string(key)); }
  Value& at(const void* key) { return Base::at(torch::guts::to_string(key)); }
  const Value& at(const void* key) const { return Base::at(torch::guts::to_string(key)); }
  size_t count(const void* key) const { return Base::count(torch::guts::to_string(key)); }
  size_t erase(const void* key) { return Base::erase(torch::guts::to_string(key)); }
};
}  // namespace ska

namespace torch::optim {

namespace detail {

[[noreturn]] inline void fail_without(const char* what, const char* base) {
  tandem::fail("[optim] ", what, " has not been implemented for torch::optim::", base, ": override it in your class");
}

/// The name of a parameter's state.
inline std::string key_of(const tandem::Tensor& parameter) { return guts::to_string(parameter.ref().get()); }

template <class T>
bool is_same(const T& a, const T& b) {
  return a == b;
}
inline bool is_same(const tandem::Tensor& a, const tandem::Tensor& b) {
  return a.defined() && b.defined() ? a.equal(b, tandem::Site::none()) : a.defined() == b.defined();
}
template <class List>
bool is_same_list(const List& a, const List& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!is_same(a[i], b[i])) return false;
  return true;
}
inline bool is_same(const std::deque<tandem::Tensor>& a, const std::deque<tandem::Tensor>& b) { return is_same_list(a, b); }
inline bool is_same(const std::optional<std::vector<tandem::Tensor>>& a, const std::optional<std::vector<tandem::Tensor>>& b) {
  return a && b ? is_same_list(*a, *b) : a.has_value() == b.has_value();
}

/// Whether two objects agree in all that Named::each names.
template <class Named>
bool all_same(const Named& a, const Named& b) {
  bool same = true;
  Named::each(a, [&](std::string_view name, const auto& value) {
    Named::each(b, [&](std::string_view other_name, const auto& other) {
      if constexpr (std::is_same_v<decltype(value), decltype(other)>) {
        if (name == other_name && !is_same(value, other)) same = false;
      }
    });
  });
  return same;
}
/// Writes all that Named::each names, but tensors that are undefined.
template <class Named>
void write_all(serialize::OutputArchive& archive, const Named& named) {
  Named::each(named, [&](const char* name, const auto& value) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, tandem::Tensor>) {
      if (value.defined()) archive.write(name, value);
    } else {
      archive.write(name, IValue(value));
    }
  });
}
/// Reads all that Named::each names; what the archive does not have stays as it is.
template <class Named>
void read_all(serialize::InputArchive& archive, Named& named) {
  Named::each(named, [&](const char* name, auto& value) {
    IValue read;
    if (archive.try_read(name, read)) torch::detail::take(read.plain(), value);
  });
}

}  // namespace detail

/// The state of one parameter.
class OptimizerParamState {
 public:
  virtual ~OptimizerParamState() = default;
  [[nodiscard]] virtual std::unique_ptr<OptimizerParamState> clone() const { detail::fail_without("clone()", "OptimizerParamState"); }
  virtual void serialize(serialize::InputArchive& /*archive*/) { detail::fail_without("serialize()", "OptimizerParamState"); }
  virtual void serialize(serialize::OutputArchive& /*archive*/) const { detail::fail_without("serialize()", "OptimizerParamState"); }
};

/// The base of a class of states that can be copied.
template <class Derived>
class OptimizerCloneableParamState : public OptimizerParamState {
 public:
  [[nodiscard]] std::unique_ptr<OptimizerParamState> clone() const override {
    return std::make_unique<Derived>(static_cast<const Derived&>(*this));
  }
};

/// The options of a group of parameters.
class OptimizerOptions {
 public:
  virtual ~OptimizerOptions() = default;
  [[nodiscard]] virtual std::unique_ptr<OptimizerOptions> clone() const { detail::fail_without("clone()", "OptimizerOptions"); }
  virtual void serialize(serialize::InputArchive& /*archive*/) { detail::fail_without("serialize()", "OptimizerOptions"); }
  virtual void serialize(serialize::OutputArchive& /*archive*/) const { detail::fail_without("serialize()", "OptimizerOptions"); }
  /// The learning rate, which schedulers read and set.
  [[nodiscard]] virtual double get_lr() const { detail::fail_without("get_lr()", "OptimizerOptions"); }
  virtual void set_lr(double /*lr*/) { detail::fail_without("set_lr()", "OptimizerOptions"); }
};

/// The base of a class of options that can be copied.
template <class Derived>
class OptimizerCloneableOptions : public OptimizerOptions {
 public:
  [[nodiscard]] std::unique_ptr<OptimizerOptions> clone() const override {
    return std::make_unique<Derived>(static_cast<const Derived&>(*this));
  }
};

/// Parameters that share their options.
class OptimizerParamGroup {
 public:
  OptimizerParamGroup(std::vector<tandem::Tensor> params) : params_(std::move(params)) {}
  OptimizerParamGroup(std::vector<tandem::Tensor> params, std::unique_ptr<OptimizerOptions> options)
      : params_(std::move(params)), options_(std::move(options)) {}
  OptimizerParamGroup(const OptimizerParamGroup& other)
      : params_(other.params_), options_(other.options_ ? other.options_->clone() : nullptr) {}
  OptimizerParamGroup(OptimizerParamGroup&&) noexcept = default;
  OptimizerParamGroup& operator=(const OptimizerParamGroup& other) { return *this = OptimizerParamGroup(other); }
  OptimizerParamGroup& operator=(OptimizerParamGroup&&) noexcept = default;

  /// Whether it has options of its own, or is to get the optimizer's.
  [[nodiscard]] bool has_options() const { return options_ != nullptr; }
  /// Its options: `static_cast<AdamOptions&>(group.options()).lr(1e-4)`. Error where it has none.
  OptimizerOptions& options() { return checked(); }
  [[nodiscard]] const OptimizerOptions& options() const { return checked(); }
  void set_options(std::unique_ptr<OptimizerOptions> options) { options_ = std::move(options); }
  std::vector<tandem::Tensor>& params() { return params_; }
  [[nodiscard]] const std::vector<tandem::Tensor>& params() const { return params_; }

 protected:
  std::vector<tandem::Tensor> params_;
  std::unique_ptr<OptimizerOptions> options_;

 private:
  [[nodiscard]] OptimizerOptions& checked() const {
    if (!options_) tandem::fail("[OptimizerParamGroup] the group has no options: give it some, or add it by add_param_group");
    return *options_;
  }
};

namespace detail {

/// Options whose Derived::each(self, f) calls f with the name and value of each.
template <class Derived>
class NamedOptions : public OptimizerCloneableOptions<Derived> {
 public:
  void serialize(serialize::InputArchive& archive) override { read_all(archive, static_cast<Derived&>(*this)); }
  void serialize(serialize::OutputArchive& archive) const override { write_all(archive, static_cast<const Derived&>(*this)); }
  [[nodiscard]] double get_lr() const override { return static_cast<const Derived&>(*this).lr(); }
  void set_lr(double lr) override { static_cast<Derived&>(*this).lr(lr); }
  friend bool operator==(const Derived& a, const Derived& b) { return all_same(a, b); }
};

/// The same of a state.
template <class Derived>
class NamedState : public OptimizerCloneableParamState<Derived> {
 public:
  void serialize(serialize::InputArchive& archive) override { read_all(archive, static_cast<Derived&>(*this)); }
  void serialize(serialize::OutputArchive& archive) const override { write_all(archive, static_cast<const Derived&>(*this)); }
  friend bool operator==(const Derived& a, const Derived& b) { return all_same(a, b); }
};

}  // namespace detail
}  // namespace torch::optim
