// Any object of a class hierarchy, held as a value: how loaders take datasets and samplers.
#pragma once

#include <concepts>
#include <memory>
#include <utility>

namespace tandem::data {

/// An object of a class derived from Base. Copies share it.
template <class Base>
class SharedValue {
 public:
  /// Holds what is shared with others.
  template <class D>
  requires std::derived_from<D, Base> SharedValue(D value) : value_(std::make_shared<const D>(std::move(value))) {}
  SharedValue(std::shared_ptr<const Base> value) : value_(std::move(value)) {}

  const Base& operator*() const { return *value_; }
  const Base* operator->() const { return value_.get(); }

 private:
  std::shared_ptr<const Base> value_;
};

}  // namespace tandem::data
