// From tensors to kernels: how an operation queues a kernel, `launch(x, "triu", site, &Table::triangle, y, x, diagonal, upper)`.
#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/touched.h"
#include "runtime/launch.h"
#include "runtime/observer.h"
#include "tensor/tensor.h"

namespace tandem::ops {

/// The kernels of a device.
const kernels::Table& kernels_of(Device device);
inline const kernels::Table& kernels_of(const Tensor& x) { return kernels_of(x.device()); }

/// What kernels see of `x`. An undefined tensor gives a view without data.
kernels::View view(const Tensor& x);
kernels::Out out(const Tensor& x);
/// A view with `dim` moved to the end, where kernels work along it; a 0-dim one as one element.
kernels::View last(kernels::View v, int64_t dim);

/// A number as kernels take it.
inline kernels::Value value_of(const Scalar& number) { return {number.to<double>(), number.to<int64_t>(), number.is_floating()}; }

/// Memory of `bytes` on a device, for several kernels; undefined for none.
Tensor workspace(Device device, size_t bytes, Site site);

/// Elements that a kernel reads; an undefined tensor has none.
struct ReadView {
  ReadView(const Tensor& x) : argument(view(x)) {}                 // NOLINT: a tensor stands for its elements
  ReadView(const kernels::View& elements) : argument(elements) {}  // NOLINT

  kernels::View argument;
};
/// Elements that a kernel writes, all of them.
struct WrittenView {
  WrittenView(const Tensor& x) : argument(out(x)) {}                  // NOLINT: a tensor stands for its elements
  WrittenView(const kernels::View& elements) : argument{elements} {}  // NOLINT

  kernels::Out argument;
};
/// Elements of which a kernel changes some, or adds to them.
struct ChangedView {
  ChangedView(const Tensor& x) : argument{view(x)} {}                 // NOLINT: a tensor stands for its elements
  ChangedView(const kernels::View& elements) : argument{elements} {}  // NOLINT

  kernels::Change argument;
};
/// A list of tensors that a kernel reads.
struct ReadViews {
  ReadViews(const kernels::Span<kernels::View>& list) : argument(list) {}                                          // NOLINT
  ReadViews(const std::vector<kernels::View>& list) : argument{list.data(), static_cast<int64_t>(list.size())} {}  // NOLINT
  ReadViews(const kernels::View* first, int64_t count) : argument{first, count} {}

  kernels::Span<kernels::View> argument;
};
/// A list of tensors that a kernel changes.
struct ChangedViews {
  ChangedViews(const std::vector<kernels::Change>& list) : argument{list.data(), static_cast<int64_t>(list.size())} {}  // NOLINT

  kernels::Span<kernels::Change> argument;
};
/// Memory that a kernel needs while it runs: so many bytes, or a workspace that several calls share.
struct Scratch {
  Scratch(size_t bytes_) : bytes(bytes_) {}                         // NOLINT
  Scratch(Tensor workspace_) : workspace(std::move(workspace_)) {}  // NOLINT

  size_t bytes = 0;
  Tensor workspace;
};
/// Where a kernel is queued.
struct On {
  On(const Tensor& x) : device(x.device()) {}  // NOLINT: on a tensor's device
  On(Device device_) : device(device_) {}      // NOLINT

  Device device;
};

namespace launching {

/// What a call of `launch` gives for a kernel's parameter.
template <class Parameter>
struct ArgumentOf {
  using Type = Parameter;
};
template <>
struct ArgumentOf<kernels::View> {
  using Type = ReadView;
};
template <>
struct ArgumentOf<kernels::Out> {
  using Type = WrittenView;
};
template <>
struct ArgumentOf<kernels::Change> {
  using Type = ChangedView;
};
template <>
struct ArgumentOf<kernels::Span<kernels::View>> {
  using Type = ReadViews;
};
template <>
struct ArgumentOf<kernels::Span<kernels::Change>> {
  using Type = ChangedViews;
};
template <>
struct ArgumentOf<void*> {
  using Type = Scratch;
};

inline bool has_elements(const kernels::Out& out) { return out.data && out.numel() > 0; }
inline bool has_elements(const kernels::Span<kernels::Out>& outs) {
  for (const kernels::Out& out : outs)
    if (has_elements(out)) return true;
  return false;
}

/// Whether a kernel has anything to write: it changes elements, or has no outputs, or one of them, or of a list of them, has elements.
template <class... Arguments>
bool writes(const Arguments&... arguments) {
  const auto is_output = []<class T>(const T&) { return std::is_same_v<T, WrittenView> || std::is_same_v<T, kernels::Span<kernels::Out>>; };
  const auto has_elements = []<class T>(const T& x) {
    if constexpr (std::is_same_v<T, WrittenView>) return launching::has_elements(x.argument);
    else if constexpr (std::is_same_v<T, kernels::Span<kernels::Out>>) return launching::has_elements(x);
    else return false;
  };
  return !(is_output(arguments) || ...) || (has_elements(arguments) || ...);
}

/// Scratch becomes memory, all else stays what it is.
template <class T>
const T& held(const T& argument, Device, Site) {
  return argument;
}
inline Tensor held(const Scratch& scratch, Device device, Site site) {
  return scratch.bytes ? workspace(device, scratch.bytes, site) : scratch.workspace;
}

/// What the kernel gets.
template <class Parameter, class T>
const Parameter& given(const T& x) {
  if constexpr (requires { x.argument; }) return x.argument;
  else return x;
}
template <class Parameter>
void* given(const Tensor& scratch) {
  return scratch.defined() ? scratch.impl().data : nullptr;
}

/// What an observer is told of a kernel, but for its arguments.
runtime::facts::Kernel kernel_fact(Device device, const char* op, Site site);
/// And of its arguments: the memory that they name.
struct AccessList {
  runtime::Accesses& accesses;

  void operator()(const kernels::Touched& elements) const;
  template <class T>
  void add(const T& argument) const {
    if constexpr (requires { argument.argument; }) kernels::each_touched(argument.argument, *this);
    else kernels::each_touched(argument, *this);
  }
  void add(const Tensor& scratch) const { kernels::each_touched(view(scratch), *this, Touch::Scratch); }
};

template <class... Parameters, class... Arguments>
void queue_kernel(Device device, const char* op, Site site, void (*kernels::Table::*kernel)(const Queue&, Parameters...),
                  const Arguments&... arguments) {
  const runtime::Telling told([&] {
    runtime::facts::Kernel fact = kernel_fact(device, op, site);
    (AccessList{fact.accesses}.add(arguments), ...);
    return fact;
  });
  (kernels_of(device).*kernel)(runtime::Launch(device, op, site), given<Parameters>(arguments)...);
}

}  // namespace launching

/// Queues a kernel on the device of `on`, on the calling thread's current stream; on the CPU it has run when the call returns. Tensors
/// become views; scratch is allocated for the call. Where no output has an element nothing is queued. Throws what the kernel finds wrong:
/// on a device at the next synchronization.
template <class... Parameters>
void launch(On on, const char* op, Site site, void (*kernels::Table::*kernel)(const Queue&, Parameters...),
            const std::type_identity_t<typename launching::ArgumentOf<Parameters>::Type>&... arguments) {
  if (!launching::writes(arguments...)) return;
  launching::queue_kernel(on.device, op, site, kernel, launching::held(arguments, on.device, site)...);
}

/// Error unless both are on one device (undefined ones aside); names the argument that is elsewhere as PyTorch does: the one on the CPU,
/// else the second.
void check_same_device(const char* op, const Tensor& first, const char* first_name, const Tensor& second, const char* second_name);

/// Error unless x is of a floating dtype.
void check_floating(const char* op, const Tensor& x);

}  // namespace tandem::ops
