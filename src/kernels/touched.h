// The memory that a kernel's arguments name, and how the kernel touches it: for observers, for the queues of virtual GPUs and for compiled
// programs, all by each_touched.
#pragma once

#include <type_traits>
#include <vector>

#include "base/touch.h"
#include "kernels/table.h"

namespace tandem::kernels {

/// From the first byte to the last one that elements reach; `dense`: every byte of it is theirs.
struct Reach {
  const char* begin;
  size_t bytes;
  bool dense;
};

/// Elements that an argument names; there is at least one, but for scratch, of which only the address is known.
struct Touched {
  void* const* at;  // where the argument keeps the address
  Touch touch;
  DType dtype;
  int64_t numel;
  int ndim;
  const int64_t* sizes;
  const int64_t* strides;  // nullptr: one behind the other

  [[nodiscard]] Reach reach() const {
    const auto* const data = static_cast<const char*>(*at);
    const auto width = static_cast<int64_t>(size_of(dtype));
    if (!strides) return {data, static_cast<size_t>(numel * width), true};
    const auto [first, last] = extent_of(ndim, sizes, strides);
    return {data + first * width, static_cast<size_t>((last - first + 1) * width), numel == last - first + 1};
  }
};

/// Arguments that name no memory.
template <class T, class... Types>
inline constexpr bool is_one_of = (std::is_same_v<T, Types> || ...);
template <class T>
inline constexpr bool names_no_memory =
    std::is_arithmetic_v<T> || std::is_enum_v<T> ||
    is_one_of<T, Value, Epilogue, Windows, Pooling, GridSample, Attention, RecurrentLayers, SgdSettings, AdamSettings>;

/// Calls `see` with each Touched of a kernel's argument, or of a copy of it.
template <class See>
void each_touched(const View& x, See&& see, Touch touch = Touch::Read) {
  if (!x.data) return;
  if (const int64_t numel = x.numel()) see(Touched{&x.data, touch, x.dtype, numel, x.ndim, x.sizes, x.strides});
}
template <class See>
void each_touched(const Out& out, See&& see) {
  each_touched(static_cast<const View&>(out), see, Touch::Written);
}
template <class See>
void each_touched(const Change& out, See&& see) {
  each_touched(static_cast<const View&>(out), see, Touch::Changed);
}
template <class See>
void each_touched(void* const& scratch, See&& see) {
  if (scratch) see(Touched{&scratch, Touch::Scratch, DType::UInt8, 0, 0, nullptr, nullptr});
}
template <class See>
void each_touched(const Pointwise& call, See&& see) {
  if (call.numel == 0) return;
  const auto element = [&](void* const* at, Touch touch, DType dtype, const int64_t* strides) {
    see(Touched{at, touch, dtype, call.numel, call.ndim, call.sizes, call.contiguous ? nullptr : strides});
  };
  for (int i = 0; i < call.inputs; ++i) {
    const PointwiseOperand& in = call.in[i];
    if (in.data) element(const_cast<void* const*>(&in.data), Touch::Read, in.dtype, in.strides);
  }
  element(&call.out, Touch::Written, call.out_dtype, call.out_strides);
}
template <OptimizerParameter T, class See>
void each_touched(const T& step, See&& see) {
  if (step.numel == 0) return;
  const auto elements = [&](void* const& data, Touch touch) {
    if (data) see(Touched{&data, touch, step.dtype, step.numel, 1, &step.numel, nullptr});
  };
  elements(step.gradient, Touch::Read);
  for (void* const& changed : step.changed()) elements(changed, Touch::Changed);
}
template <class T, class See>
requires names_no_memory<T>
void each_touched(const T&, See&&) {}
template <class T, class See>
void each_touched(const Span<T>& list, See&& see) {
  for (const T& each : list) each_touched(each, see);
}
template <class T, class See>
void each_touched(const std::vector<T>& list, See&& see) {
  for (const T& each : list) each_touched(each, see);
}

}  // namespace tandem::kernels
