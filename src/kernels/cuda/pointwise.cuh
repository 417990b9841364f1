// Pointwise kernels from the functors that the CPU compiles too. A thread takes elements a grid apart; dense operands are indexed by their
// number, others find each element's place. Operands of any dtype are converted to the type that is computed in, and the result back. One
// .cu file a compute type includes this, so that they compile side by side.
#pragma once

#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/table.h"
#include "kernels/pointwise.h"
#include "kernels/pointwise_call.h"

namespace tandem::kernels::cuda {

enum class Rule : uint8_t { Same, NoBool, Widen, Float, Floating, Integer, Shift, Compare, Logical };
constexpr bool of_floats(Rule rule) { return rule == Rule::Float || rule == Rule::Floating; }
constexpr bool of_integers(Rule rule) { return rule == Rule::Integer || rule == Rule::Shift; }

/// Whether an operation is computed in T: those of floats not in integers, those of integers in nothing else.
template <Rule rule, class T>
inline constexpr bool kComputes = of_floats(rule) ? std::is_floating_point_v<T> : !of_integers(rule) || std::is_integral_v<T>;

template <class T>
__device__ inline T operand(const Pointwise& call, int k, int64_t at) {
  const Operand& in = call.in[k];
  return in.data ? load<T>(in.data, in.dtype, at) : in.value.to<T>();
}

template <class F, class T, int inputs>
__global__ void apply(Pointwise call) {
  for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < call.numel;
       i += static_cast<int64_t>(gridDim.x) * blockDim.x) {
    int64_t at[inputs + 1];
    if (call.contiguous) {
      for (int k = 0; k <= inputs; ++k) at[k] = i;
    } else {
      const int64_t* strides[inputs + 1];
      strides[inputs] = call.out_strides;
      for (int k = 0; k < inputs; ++k) strides[k] = call.in[k].data ? call.in[k].strides : nullptr;
      int64_t rest = i;
      for (int k = 0; k <= inputs; ++k) at[k] = 0;
      for (int d = call.ndim - 1; d >= 0; --d) {
        const int64_t index = rest % call.sizes[d];
        rest /= call.sizes[d];
        for (int k = 0; k <= inputs; ++k)
          if (strides[k]) at[k] += index * strides[k][d];
      }
    }
    T x[inputs];
    for (int k = 0; k < inputs; ++k) x[k] = operand<T>(call, k, at[k]);
    const auto y = [&] {
      if constexpr (inputs == 1) return F{}(x[0]);
      else if constexpr (inputs == 2) return F{}(x[0], x[1]);
      else if constexpr (inputs == 3) return F{}(x[0], x[1], x[2]);
      else return F{}(x[0], x[1], x[2], x[3]);
    }();
    store(call.out, call.out_dtype, at[inputs], static_cast<T>(y));
  }
}

template <class F, class T, int inputs, Rule rule>
void launch(const Queue& queue, const Pointwise& call) {
  if constexpr (kComputes<rule, T>) {
    apply<F, T, inputs><<<blocks_for(call.numel), kThreads, 0, stream_of(queue)>>>(call);
    check_launch(queue);
  } else {
    queue.status->report(Trouble::Unsupported, static_cast<int64_t>(call.compute));
  }
}

/// Every row of pointwise.def, computed in T.
template <class T>
void pointwise_in(const Queue& queue, const Pointwise& call) {
  switch (call.op) {
// clang-format off
#define TD_UNARY(name, Functor, rule, ...) \
  case PointwiseOp::name: return launch<Functor, T, 1, Rule::rule>(queue, call);
#define TD_BINARY(name, Functor, rule, ...) \
  case PointwiseOp::name: return launch<Functor, T, 2, Rule::rule>(queue, call);
#define TD_KERNEL(name, Functor, rule, inputs) \
  case PointwiseOp::name: return launch<Functor, T, inputs, Rule::rule>(queue, call);
#include "kernels/pointwise.def"
#undef TD_UNARY
#undef TD_BINARY
#undef TD_KERNEL
    // clang-format on
    default: queue.status->report(Trouble::Unsupported, -1);
  }
}

}  // namespace tandem::kernels::cuda
