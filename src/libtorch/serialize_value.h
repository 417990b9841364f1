// IValue: what an archive holds beside tensors and archives, such as a learning rate or a name.
#pragma once

#include <concepts>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "io/plain_value.h"
#include "tensor/tensor.h"

namespace torch {
namespace detail {

using tandem::io::PlainValue;

inline PlainValue plain(const PlainValue& value) { return value; }
inline PlainValue plain(bool value) { return value; }
inline PlainValue plain(std::integral auto value) { return value; }
inline PlainValue plain(std::floating_point auto value) { return value; }
inline PlainValue plain(const char* value) { return value; }
inline PlainValue plain(const std::string& value) { return value; }
/// A tensor that is undefined is None in a file.
PlainValue plain(const tandem::Tensor& value);
template <class T>
PlainValue plain(const std::optional<T>& value);
template <class A, class B>
PlainValue plain(const std::tuple<A, B>& value);
template <class T>
PlainValue plain(const std::vector<T>& values);
template <class T>
PlainValue plain(const std::deque<T>& values);

template <class Values>
PlainValue plain_list(const Values& values) {
  PlainValue::Items items;
  items.reserve(values.size());
  for (const auto& value : values) items.push_back(plain(value));
  return PlainValue::list(std::move(items));
}
template <class T>
PlainValue plain(const std::optional<T>& value) {
  return value ? plain(*value) : PlainValue();
}
template <class A, class B>
PlainValue plain(const std::tuple<A, B>& value) {
  return PlainValue::tuple({plain(std::get<0>(value)), plain(std::get<1>(value))});
}
template <class T>
PlainValue plain(const std::vector<T>& values) {
  return plain_list(values);
}
template <class T>
PlainValue plain(const std::deque<T>& values) {
  return plain_list(values);
}

void take(const PlainValue& from, PlainValue& to);
void take(const PlainValue& from, bool& to);
template <std::integral T>
void take(const PlainValue& from, T& to) {
  to = static_cast<T>(from.to_int());
}
template <std::floating_point T>
void take(const PlainValue& from, T& to) {
  to = static_cast<T>(from.to_double());
}
void take(const PlainValue& from, std::string& to);
void take(const PlainValue& from, tandem::Tensor& to);
template <class T>
void take(const PlainValue& from, std::optional<T>& to);
template <class A, class B>
void take(const PlainValue& from, std::tuple<A, B>& to);
template <class T>
void take(const PlainValue& from, std::vector<T>& to);
template <class T>
void take(const PlainValue& from, std::deque<T>& to);

template <class Values>
void take_list(const PlainValue& from, Values& to) {
  to.clear();
  for (const PlainValue& item : from.items()) {
    typename Values::value_type value{};
    take(item, value);
    to.push_back(std::move(value));
  }
}
template <class T>
void take(const PlainValue& from, std::optional<T>& to) {
  if (from.is_none()) return to.reset();
  T value{};
  take(from, value);
  to = std::move(value);
}
template <class A, class B>
void take(const PlainValue& from, std::tuple<A, B>& to) {
  take(from[0], std::get<0>(to));
  take(from[1], std::get<1>(to));
}
template <class T>
void take(const PlainValue& from, std::vector<T>& to) {
  take_list(from, to);
}
template <class T>
void take(const PlainValue& from, std::deque<T>& to) {
  take_list(from, to);
}

}  // namespace detail

/// A number, a text, a tensor, or a list of them, as an archive holds it. As c10::IValue, without the types that only TorchScript has.
class IValue {
 public:
  using Kind = tandem::io::PlainValue::Kind;

  /// None.
  IValue() = default;
  /// A number, a truth value, a text, a tensor, or a tuple, vector, deque or optional of them.
  template <class T>
  requires(!std::same_as<std::remove_cvref_t<T>, IValue> && requires(const T& value) { detail::plain(value); }) IValue(const T& value)
      : value_(detail::plain(value)) {}

  [[nodiscard]] bool isNone() const;
  [[nodiscard]] bool isBool() const;
  [[nodiscard]] bool isInt() const;
  [[nodiscard]] bool isDouble() const;
  [[nodiscard]] bool isString() const;
  [[nodiscard]] bool isTensor() const;
  [[nodiscard]] bool isList() const;
  [[nodiscard]] bool isTuple() const;

  /// Error, naming both kinds, where the value is of another one.
  [[nodiscard]] bool toBool() const;
  [[nodiscard]] int64_t toInt() const;
  [[nodiscard]] double toDouble() const;
  [[nodiscard]] const std::string& toStringRef() const;
  [[nodiscard]] const tandem::Tensor& toTensor() const;
  [[nodiscard]] std::vector<tandem::Tensor> toTensorVector() const;
  [[nodiscard]] std::vector<int64_t> toIntVector() const;
  [[nodiscard]] std::vector<double> toDoubleVector() const;
  template <class T>
  [[nodiscard]] T to() const {
    T value{};
    detail::take(value_, value);
    return value;
  }
  /// The value, or nothing where it is None.
  template <class T>
  [[nodiscard]] std::optional<T> toOptional() const {
    return to<std::optional<T>>();
  }
  /// The value in tandem's own form.
  [[nodiscard]] const tandem::io::PlainValue& plain() const { return value_; }

 private:
  tandem::io::PlainValue value_;
};

}  // namespace torch
