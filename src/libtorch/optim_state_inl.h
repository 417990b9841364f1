// How named options and states are compared, written and read. For the sources that instantiate them.
#pragma once

#include <deque>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "libtorch/optim_state.h"

namespace torch::optim::detail {

template <class T>
bool is_same(const T& a, const T& b) {
  return a == b;
}
bool is_same(const tandem::Tensor& a, const tandem::Tensor& b);
template <class List>
bool is_same_list(const List& a, const List& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!is_same(a[i], b[i])) return false;
  return true;
}
bool is_same(const std::deque<tandem::Tensor>& a, const std::deque<tandem::Tensor>& b);
bool is_same(const std::optional<std::vector<tandem::Tensor>>& a, const std::optional<std::vector<tandem::Tensor>>& b);

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

template <class Derived>
void NamedOptions<Derived>::serialize(serialize::InputArchive& archive) {
  read_all(archive, static_cast<Derived&>(*this));
}

template <class Derived>
void NamedOptions<Derived>::serialize(serialize::OutputArchive& archive) const {
  write_all(archive, static_cast<const Derived&>(*this));
}

template <class Derived>
double NamedOptions<Derived>::get_lr() const {
  return static_cast<const Derived&>(*this).lr();
}

template <class Derived>
void NamedOptions<Derived>::set_lr(double lr) {
  static_cast<Derived&>(*this).lr(lr);
}

template <class Derived>
bool NamedOptions<Derived>::is_same_options(const Derived& a, const Derived& b) {
  return all_same(a, b);
}

template <class Derived>
void NamedState<Derived>::serialize(serialize::InputArchive& archive) {
  read_all(archive, static_cast<Derived&>(*this));
}

template <class Derived>
void NamedState<Derived>::serialize(serialize::OutputArchive& archive) const {
  write_all(archive, static_cast<const Derived&>(*this));
}

template <class Derived>
bool NamedState<Derived>::is_same_state(const Derived& a, const Derived& b) {
  return all_same(a, b);
}

}  // namespace torch::optim::detail
