// What an optimizer keeps: the options of a group of parameters, the state of a parameter, and groups. One's own derive from
// OptimizerCloneableOptions and OptimizerCloneableParamState.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "libtorch/serialize_archive.h"
#include "tensor/tensor.h"

namespace torch::guts {
/// An address as text, which names a parameter's state: `optimizer.state()[c10::guts::to_string(p.unsafeGetTensorImpl())]`.
std::string to_string(const void* address);
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

[[noreturn]] void fail_without(const char* what, const char* base);

/// The name of a parameter's state.
std::string key_of(const tandem::Tensor& parameter);

}  // namespace detail

/// The state of one parameter.
class OptimizerParamState {
 public:
  virtual ~OptimizerParamState() = default;
  [[nodiscard]] virtual std::unique_ptr<OptimizerParamState> clone() const;
  virtual void serialize(serialize::InputArchive& /*archive*/);
  virtual void serialize(serialize::OutputArchive& /*archive*/) const;
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
  [[nodiscard]] virtual std::unique_ptr<OptimizerOptions> clone() const;
  virtual void serialize(serialize::InputArchive& /*archive*/);
  virtual void serialize(serialize::OutputArchive& /*archive*/) const;
  /// The learning rate, which schedulers read and set.
  [[nodiscard]] virtual double get_lr() const;
  virtual void set_lr(double /*lr*/);
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
  OptimizerParamGroup(std::vector<tandem::Tensor> params);
  OptimizerParamGroup(std::vector<tandem::Tensor> params, std::unique_ptr<OptimizerOptions> options);
  OptimizerParamGroup(const OptimizerParamGroup& other);
  OptimizerParamGroup(OptimizerParamGroup&&) noexcept = default;
  OptimizerParamGroup& operator=(const OptimizerParamGroup& other);
  OptimizerParamGroup& operator=(OptimizerParamGroup&&) noexcept = default;

  /// Whether it has options of its own, or is to get the optimizer's.
  [[nodiscard]] bool has_options() const;
  /// Its options: `static_cast<AdamOptions&>(group.options()).lr(1e-4)`. Error where it has none.
  OptimizerOptions& options();
  [[nodiscard]] const OptimizerOptions& options() const;
  void set_options(std::unique_ptr<OptimizerOptions> options);
  std::vector<tandem::Tensor>& params() { return params_; }
  [[nodiscard]] const std::vector<tandem::Tensor>& params() const { return params_; }

 protected:
  std::vector<tandem::Tensor> params_;
  std::unique_ptr<OptimizerOptions> options_;

 private:
  [[nodiscard]] OptimizerOptions& checked() const;
};

namespace detail {

/// Options or a state, as Base says, whose Derived::each(self, f) calls f with the name and value of each part. The functions stand in
/// optim_state_inl.h.
template <class Derived, template <class> class Base>
class Named : public Base<Derived> {
 public:
  void serialize(serialize::InputArchive& archive) override;
  void serialize(serialize::OutputArchive& archive) const override;
  friend bool operator==(const Derived& a, const Derived& b) { return all_same(a, b); }

 private:
  static bool all_same(const Derived& a, const Derived& b);
};

template <class Derived>
using NamedState = Named<Derived, OptimizerCloneableParamState>;

/// One of the options is the learning rate.
template <class Derived>
class NamedOptions : public Named<Derived, OptimizerCloneableOptions> {
 public:
  [[nodiscard]] double get_lr() const override { return static_cast<const Derived&>(*this).lr(); }
  void set_lr(double lr) override { static_cast<Derived&>(*this).lr(lr); }
};

}  // namespace detail
}  // namespace torch::optim
