// What a module was made with, beside its tensors and parts: named so that a copy can be made in another process.
#pragma once

#include <concepts>
#include <utility>
#include <vector>

#include "nn/any_module.h"
#include "process/codec.h"

namespace tandem::nn {

/// What `ModuleBase::settings` names its members to: `s(stride, padding)`. They are put into a message, or taken out of one. Any type that
/// can be sent (multiprocessing::Codec), modules of any type, and vectors and pairs of them.
class Settings {
 public:
  explicit Settings(multiprocessing::detail::Parcel& parcel) : parcel_(&parcel) {}
  explicit Settings(multiprocessing::detail::Received& received) : received_(&received) {}

  template <class... T>
  void operator()(T&... members) {
    (one(members), ...);
  }
  /// Whether members are given what was sent.
  [[nodiscard]] bool taking() const { return received_ != nullptr; }
  /// The operation, for errors.
  [[nodiscard]] const char* op() const { return parcel_ ? parcel_->op() : received_->op(); }
  /// For the library: whether `module` names what it was made with. Lets it do so.
  bool describe(ModuleBase& module);
  /// For the library: from a module that does not.
  void undescribed() { described_ = false; }

 private:
  /// The type; its settings and tensors come where the module is walked.
  void one(AnyModule& module);
  void one(Scalar& number);
  void one(Options& options);
  template <class T>
  void one(T& value) {
    if constexpr (std::derived_from<T, ModuleBase>) value.settings(*this);
    else if constexpr (requires {
                         requires std::same_as<decltype(T(value.values())), T> && std::same_as<decltype(value.values()), const Shape&>;
                       }) {
      Shape values = value.values();
      one(values);
      if (taking()) value = T(values);
    } else if (taking()) value = multiprocessing::Codec<T>::take(*received_);
    else multiprocessing::Codec<T>::put(*parcel_, value);
  }
  template <class T>
  void one(std::vector<T>& values) {
    if (taking()) {
      const size_t count = received_->take_count(1);
      values.clear();
      for (size_t i = 0; i < count; ++i) one(values.emplace_back());
    } else {
      parcel_->put<uint64_t>(values.size());
      for (T& value : values) one(value);
    }
  }
  template <class A, class B>
  void one(std::pair<A, B>& pair) {
    one(pair.first);
    one(pair.second);
  }

  multiprocessing::detail::Parcel* parcel_ = nullptr;
  multiprocessing::detail::Received* received_ = nullptr;
  bool described_ = true;
};

}  // namespace tandem::nn
