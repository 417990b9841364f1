// How a new tensor is to be made, by a chain of setters, as libtorch has it: x.options().dtype(kFloat64).
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include "tensor/options.h"

namespace tandem {

/// How elements lie: all of tandem's tensors are strided.
enum class Layout : uint8_t { Strided };
/// In which order dimensions lie. tandem's tensors have theirs in order: Contiguous.
enum class MemoryFormat : uint8_t { Contiguous, Preserve };

/// Options with setters that can be chained, and getters of the same names. Each setter gives new options back. As libtorch's.
class TensorOptions : public Options {
 public:
  TensorOptions() = default;
  TensorOptions(const Options& options) : Options(options) {}
  TensorOptions(Device device) { Options::device = device; }
  TensorOptions(const DeviceLike auto& device) : TensorOptions(Device(device)) {}
  TensorOptions(ExactlyDType auto dtype) { Options::dtype = dtype; }
  TensorOptions(Layout) {}
  TensorOptions(MemoryFormat) {}
  /// With another dtype, device, layout, memory_format, requires_grad or pinned_memory.
  [[nodiscard]] TensorOptions dtype(DType dtype) const {
    TensorOptions changed = *this;
    changed.Options::dtype = dtype;
    return changed;
  }
  [[nodiscard]] TensorOptions dtype(const std::same_as<std::optional<DType>> auto& dtype) const {
    TensorOptions changed = *this;
    changed.Options::dtype = dtype;
    return changed;
  }
  /// The dtype of the C++ type T.
  template <class T>
  [[nodiscard]] TensorOptions dtype() const {
    return dtype(dtype_of<T>());
  }
  [[nodiscard]] TensorOptions device(Device device) const {
    TensorOptions changed = *this;
    changed.Options::device = device;
    return changed;
  }
  [[nodiscard]] TensorOptions device(DeviceType type, int index) const { return device(Device(type, index)); }
  [[nodiscard]] TensorOptions device(const std::same_as<std::optional<Device>> auto& device) const {
    TensorOptions changed = *this;
    changed.Options::device = device;
    return changed;
  }
  /// GPU `index`.
  [[nodiscard]] TensorOptions device_index(int index) const { return device(Device(DeviceType::CUDA, index)); }
  [[nodiscard]] TensorOptions layout(Layout) const { return *this; }
  [[nodiscard]] TensorOptions memory_format(MemoryFormat) const { return *this; }
  [[nodiscard]] TensorOptions requires_grad(bool required) const {
    TensorOptions changed = *this;
    changed.Options::requires_grad = required;
    return changed;
  }
  [[nodiscard]] TensorOptions pinned_memory(bool pinned) const {
    TensorOptions changed = *this;
    changed.Options::pin_memory = pinned;
    return changed;
  }
  /// What is set: device_index, layout, requires_grad, pinned_memory, dtype_opt, device_opt; has_dtype and has_device say whether it is.
  /// The dtype, or the default one where none is set.
  [[nodiscard]] DType dtype() const { return Options::dtype ? *Options::dtype : get_default_dtype(); }
  /// The device, or the CPU where none is set.
  [[nodiscard]] Device device() const { return Options::device.value_or(Device()); }
  [[nodiscard]] int device_index() const { return device().index(); }
  [[nodiscard]] Layout layout() const { return Layout::Strided; }
  [[nodiscard]] bool requires_grad() const { return Options::requires_grad; }
  [[nodiscard]] bool pinned_memory() const { return Options::pin_memory; }
  [[nodiscard]] std::optional<DType> dtype_opt() const { return Options::dtype; }
  [[nodiscard]] std::optional<Device> device_opt() const { return Options::device; }
  [[nodiscard]] bool has_dtype() const { return Options::dtype.has_value(); }
  [[nodiscard]] bool has_device() const { return Options::device.has_value(); }
};

}  // namespace tandem
