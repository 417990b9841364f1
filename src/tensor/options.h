// How a new tensor is to be made, and how one is to be moved: structs with PyTorch's keyword names.
#pragma once

#include <concepts>
#include <optional>

#include "base/dtype.h"
#include "runtime/device.h"

namespace tandem {

/// For factories. What is left out is the default: float32 (or the data's own type), the CPU, no gradient.
struct Options {
  std::optional<DType> dtype = {};
  std::optional<Device> device = {};
  bool requires_grad = false;
  bool pin_memory = false;
};

/// A device or its name.
template <class T>
concept DeviceLike = std::convertible_to<const T&, Device>;
/// A dtype. Overloads are templates over it, so that empty braces, which would make any enum's first value, never choose them.
template <class T>
concept ExactlyDType = std::same_as<T, DType>;
/// A dtype or a device alone, in the place of options.
template <class T>
concept OneOption = ExactlyDType<T> || DeviceLike<T>;
namespace detail {
/// The device that the caller at `site` names.
[[nodiscard]] Device named(const DeviceLike auto& device, Site site) {
  if constexpr (std::constructible_from<Device, decltype(device), Site>) return Device(device, site);
  else return device;
}
}  // namespace detail
/// Options with nothing else set.
[[nodiscard]] Options only(const OneOption auto& option, Site site) {
  if constexpr (ExactlyDType<std::remove_cvref_t<decltype(option)>>) return {.dtype = option};
  else return {.device = detail::named(option, site)};
}

/// For `to`.
struct ToOptions {
  bool non_blocking = false;  // do not wait for a copy between a GPU and pinned memory
  bool copy = false;          // a new tensor even where nothing changes
};

}  // namespace tandem
