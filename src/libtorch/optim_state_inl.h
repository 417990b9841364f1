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

/// Writes all parts but tensors that are undefined.
template <class Derived, template <class> class Base>
void Named<Derived, Base>::serialize(serialize::OutputArchive& archive) const {
  Derived::each(static_cast<const Derived&>(*this), [&](const char* name, const auto& value) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, tandem::Tensor>) {
      if (value.defined()) archive.write(name, value);
    } else {
      archive.write(name, IValue(value));
    }
  });
}

/// Reads all parts; what the archive does not have stays as it is.
template <class Derived, template <class> class Base>
void Named<Derived, Base>::serialize(serialize::InputArchive& archive) {
  Derived::each(static_cast<Derived&>(*this), [&](const char* name, auto& value) {
    IValue read;
    if (archive.try_read(name, read)) torch::detail::take(read.plain(), value);
  });
}

template <class Derived, template <class> class Base>
bool Named<Derived, Base>::all_same(const Derived& a, const Derived& b) {
  bool same = true;
  Derived::each(a, [&](std::string_view name, const auto& value) {
    Derived::each(b, [&](std::string_view other_name, const auto& other) {
      if constexpr (std::is_same_v<decltype(value), decltype(other)>) {
        if (name == other_name && !is_same(value, other)) same = false;
      }
    });
  });
  return same;
}

}  // namespace torch::optim::detail
