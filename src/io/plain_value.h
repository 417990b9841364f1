// Plain values out of files of other programs: numbers, text, tensors, and containers of them.
#pragma once

#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tensor/state_dict.h"

namespace tandem::io {

namespace detail {
struct PlainNode;
struct PlainAccess;
}  // namespace detail

/// A value as Python has it: what a checkpoint holds beside its tensors. Copies are cheap and share what they hold, which never changes.
///
///     const auto checkpoint = td::io::read_torch("checkpoint.pt");
///     const int64_t epoch = checkpoint["epoch"].to_int();
///     for (const auto& [name, weight] : checkpoint["model"].pairs()) …
class PlainValue {
 public:
  /// What it is.
  enum class Kind : uint8_t { None, Bool, Integer, Real, DType, Text, Bytes, Device, Tensor, List, Tuple, Set, Dict };
  /// Of a list, a tuple or a set.
  using Items = std::vector<PlainValue>;
  /// Of a dict: keys and values.
  using Pairs = std::vector<std::pair<PlainValue, PlainValue>>;

  /// None.
  PlainValue() = default;
  PlainValue(bool value) : kind_(Kind::Bool), truth_(value) {}
  PlainValue(std::integral auto value) : kind_(Kind::Integer), whole_(static_cast<int64_t>(value)) {}
  PlainValue(std::floating_point auto value) : kind_(Kind::Real), real_(static_cast<double>(value)) {}
  PlainValue(tandem::DType value) : kind_(Kind::DType), dtype_(value) {}
  PlainValue(std::string text);
  PlainValue(const char* text) : PlainValue(std::string(text)) {}
  PlainValue(const tandem::Tensor& tensor);
  /// A dict of a module's or an optimizer's state.
  PlainValue(const StateDict& state);
  PlainValue(const std::map<std::string, tandem::Tensor>& tensors);

  /// Bytes that are no text.
  [[nodiscard]] static PlainValue bytes(std::string value);
  /// A device by its name, such as "cuda:0", which this machine need not have.
  [[nodiscard]] static PlainValue device(std::string name);
  /// A container of these.
  [[nodiscard]] static PlainValue list(Items items);
  /// A container of these, of a length that is settled.
  [[nodiscard]] static PlainValue tuple(Items items);
  /// A container of these, in any order.
  [[nodiscard]] static PlainValue set(Items items);
  /// Keys are texts, numbers, truth values or None. A key that comes twice has its last value.
  [[nodiscard]] static PlainValue dict(Pairs pairs);

  /// What it is.
  [[nodiscard]] Kind kind() const { return kind_; }
  /// Whether it is None.
  [[nodiscard]] bool is_none() const { return kind_ == Kind::None; }
  /// Error, naming both kinds, where the value is of another one. Whole numbers are reals, too.
  [[nodiscard]] bool to_bool() const;
  /// The whole number that it is.
  [[nodiscard]] int64_t to_int() const;
  /// The number that it is, whole or not.
  [[nodiscard]] double to_double() const;
  /// The dtype that it is.
  [[nodiscard]] tandem::DType to_dtype() const;
  /// Of a text, bytes, or a device's name.
  [[nodiscard]] const std::string& to_text() const;
  /// The tensor that it is.
  [[nodiscard]] const tandem::Tensor& to_tensor() const;
  /// Of a list, tuple or set.
  [[nodiscard]] const Items& items() const;
  /// Of a dict, in its order.
  [[nodiscard]] const Pairs& pairs() const;

  /// How many items or pairs; 0 of what is no container.
  [[nodiscard]] size_t size() const;
  /// Whether it is a dict with that key.
  [[nodiscard]] bool contains(std::string_view key) const { return find(key) != nullptr; }
  /// A dict's value by its key; nullptr where there is none, or no dict.
  [[nodiscard]] const PlainValue* find(std::string_view key) const;
  /// The same. Error that names close keys where there is none.
  [[nodiscard]] const PlainValue& operator[](std::string_view key) const;
  [[nodiscard]] const PlainValue& operator[](const char* key) const { return (*this)[std::string_view(key)]; }
  /// An item of a list or a tuple, counted from 0. Error where there is none.
  [[nodiscard]] const PlainValue& operator[](std::integral auto i) const { return item(static_cast<size_t>(i)); }

 private:
  friend struct detail::PlainAccess;
  PlainValue(Kind kind, std::shared_ptr<detail::PlainNode> node) : kind_(kind), node_(std::move(node)) {}
  [[nodiscard]] const detail::PlainNode& node() const { return *node_; }
  [[nodiscard]] const PlainValue& item(size_t i) const;
  [[noreturn]] void wrong_kind(const char* wanted) const;

  Kind kind_ = Kind::None;
  union {
    int64_t whole_ = 0;
    bool truth_;
    double real_;
    tandem::DType dtype_;
  };
  std::shared_ptr<detail::PlainNode> node_;  // of all other kinds but None
};

/// As Python prints it; a tensor as its dtype and sizes, what is long cut short.
std::ostream& operator<<(std::ostream& out, const PlainValue& value);
void append_text(std::string& out, const PlainValue& value);
/// The name of a kind, as in "a dict".
[[nodiscard]] const char* name(PlainValue::Kind kind);

/// All tensors in a value, by the keys and numbers that lead to them, with points between: "model.0.weight".
[[nodiscard]] StateDict tensors_of(const PlainValue& value);

}  // namespace tandem::io
