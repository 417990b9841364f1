// From functors to tile functions. The rows of pointwise.def are spread over several files (pointwise*.cpp), so that they compile side by
// side.
#pragma once

#include <utility>

#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/isa/math.h"
// after math.h, whose functions the functors look up
#include "kernels/pointwise.h"
#include "kernels/pointwise_call.h"

namespace tandem::kernels::cpu::TD_ISA {

template <class T>
TD_INLINE void put(void* out, int64_t i, Vec<T> y) {
  y.store(static_cast<T*>(out) + i);
}
template <class T>
TD_INLINE void put(void* out, int64_t i, Vec<T> y, int64_t n) {
  y.store(static_cast<T*>(out) + i, n);
}
/// Masks are written as bool.
template <class T>
TD_INLINE void put(void* out, int64_t i, Mask<T> y) {
  const auto bytes = to_bytes(y);
  std::memcpy(static_cast<char*>(out) + i, &bytes, Vec<T>::kLanes);
}
template <class T>
TD_INLINE void put(void* out, int64_t i, Mask<T> y, int64_t n) {
  const auto bytes = to_bytes(y);
  std::memcpy(static_cast<char*>(out) + i, &bytes, static_cast<size_t>(n));
}

template <class F, class T, size_t... inputs>
TD_INLINE void tile_loop(void* out, const void* const* in, int64_t n, std::index_sequence<inputs...>) {
  constexpr int64_t lanes = Vec<T>::kLanes;
  const T* const from[] = {static_cast<const T*>(in[inputs])...};
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) put(out, i, F{}(Vec<T>::load(from[inputs] + i)...));
  if (i < n)
    put(out, i, F{}(Vec<T>::load(from[inputs] + i, n - i)...), n - i);  // the same code for the rest: no element depends on where it stands
}
template <class F, class T, int inputs>
void tile(void* out, const void* const* in, int64_t n) {
  tile_loop<F, T>(out, in, n, std::make_index_sequence<inputs>());
}

/// The same where all operands but the first are numbers, each given once or more: they stay in registers.
template <class F, class T, size_t... rest>
TD_INLINE void tile_loop_of_numbers(void* out, const void* const* in, int64_t n, std::index_sequence<rest...>) {
  constexpr int64_t lanes = Vec<T>::kLanes;
  const T* const from = static_cast<const T*>(in[0]);
  const Vec<T> numbers[] = {Vec<T>(*static_cast<const T*>(in[rest + 1]))...};
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) put(out, i, F{}(Vec<T>::load(from + i), numbers[rest]...));
  if (i < n) put(out, i, F{}(Vec<T>::load(from + i, n - i), numbers[rest]...), n - i);
}
template <class F, class T, int inputs>
void tile_of_numbers(void* out, const void* const* in, int64_t n) {
  tile_loop_of_numbers<F, T>(out, in, n, std::make_index_sequence<inputs - 1>());
}

/// Whether an operation has a tile function of numbers: those with three operands, and of those with two the ones where loading the second
/// costs as much as the operation.
constexpr bool takes_numbers(PointwiseOp op, int inputs) {
  using enum PointwiseOp;
  switch (op) {
    case add:
    case sub:
    case rsub:
    case mul:
    case div:
    case maximum:
    case minimum:
    case eq:
    case ne:
    case lt:
    case le:
    case gt:
    case ge: return true;
    default: return inputs == 3;
  }
}

/// Adds the tiles of an operation, for those of the types Ts that its rule allows.
template <PointwiseOp op, class F, Rule rule, int inputs, class... Ts>
void add_row(PointwiseFunctions& table) {
  const auto add = [&]<class T>(T) {
    constexpr bool floating = std::is_floating_point_v<T>;
    constexpr Compute compute = floating ? (sizeof(T) == 4 ? kComputeFloat : kComputeDouble) : kComputeInt;
    if constexpr ((!of_floats(rule) || floating) && (!of_integers(rule) || !floating)) {
      table.tiles[static_cast<int>(op)][compute] = tile<F, T, inputs>;
      if constexpr (takes_numbers(op, inputs)) table.tiles_of_numbers[static_cast<int>(op)][compute] = tile_of_numbers<F, T, inputs>;
    }
  };
  (add(Ts()), ...);
}

/// The parts that pointwise.def falls into.
enum class RowGroup : uint8_t {
  Functions,   // of one floating number
  Arithmetic,  // one operand, which may be an integer: signs, rounding, tests
  Binary,      // two operands
  Parameters   // operands that are parameters: operations called by hand
};

/// Adds the rows of a part for the types Ts.
template <RowGroup part, class... Ts>
void add_rows(PointwiseFunctions& table) {
#define TD_ADD(name, Functor, rule, inputs, in) \
  if constexpr (part == (in)) add_row<PointwiseOp::name, Functor, Rule::rule, inputs, Ts...>(table);
#define TD_UNARY(name, Functor, rule, ...) \
  TD_ADD(name, Functor, rule, 1, of_floats(Rule::rule) ? RowGroup::Functions : RowGroup::Arithmetic)
#define TD_BINARY(name, Functor, rule, ...) TD_ADD(name, Functor, rule, 2, RowGroup::Binary)
#define TD_KERNEL(name, Functor, rule, inputs)          \
  TD_ADD(name, Functor, rule, inputs,                   \
         inputs > 1              ? RowGroup::Parameters \
         : of_floats(Rule::rule) ? RowGroup::Functions  \
                                 : RowGroup::Arithmetic)
#include "kernels/pointwise.def"
#undef TD_ADD
}

}  // namespace tandem::kernels::cpu::TD_ISA
