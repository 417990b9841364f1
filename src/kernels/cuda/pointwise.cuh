// Pointwise kernels from the functors that the CPU compiles too. Operands of any dtype are converted to the type that is computed in, and
// the result back. In float a thread takes four neighbours, of dense arrays or along the innermost dimension of strided ones, and moves
// them together where the addresses allow it; else it finds its element's place by its number. One .cu file a compute type includes this,
// and two of float, so that they compile side by side.
#pragma once

#include "kernels/cuda/entries.h"
#include "kernels/cuda/fours.cuh"
#include "kernels/operand_check.h"
#include "kernels/pointwise.h"
#include "kernels/pointwise_call.h"

namespace tandem::kernels::cuda {

/// Whether an operation is computed in T: those of floats not in integers, those of integers in nothing else.
template <Rule rule, class T>
inline constexpr bool kComputes = of_floats(rule) ? std::is_floating_point_v<T> : !of_integers(rule) || std::is_integral_v<T>;

/// An operand: elements, or one number for all of them.
template <class T>
struct Source {
  const void* data;
  DType dtype;
  T value;

  TD_DEVICE T operator[](int64_t at) const { return data ? load<T>(data, dtype, at) : value; }
};

template <class F, class T, int inputs>
struct Apply {
  Source<T> in[inputs];
  void* out;
  DType out_dtype;
  OperandCheck check;
  Reporter report;

  /// The result at these places.
  TD_DEVICE auto operator()(const T (&x)[inputs]) const {
    if constexpr (std::is_integral_v<T> && inputs == 2) {
      if (check == OperandCheck::Divisor && x[1] == 0) report(Trouble::DivisionByZero);
    } else if constexpr (std::is_same_v<F, BinaryCrossEntropy>) {
      for (int k = 0; k < 2; ++k)
        if (!(x[k] >= 0 && x[k] <= 1)) report_probability(report, static_cast<double>(x[k]), k + 1);
    }
    if constexpr (inputs == 1) return F{}(x[0]);
    else if constexpr (inputs == 2) return F{}(x[0], x[1]);
    else if constexpr (inputs == 3) return F{}(x[0], x[1], x[2]);
    else return F{}(x[0], x[1], x[2], x[3]);
  }
};

/// Four elements at once.
template <class T>
TD_DEVICE void load_four(const Source<T>& source, int64_t first, T (&x)[kFour]) {
  if (source.data) return load_four(source.data, source.dtype, first, x);
  for (int k = 0; k < kFour; ++k) x[k] = source.value;
}

/// Four elements one by one.
template <class T>
TD_DEVICE void load_each(const Source<T>& source, int64_t first, int64_t step, int there, T (&x)[kFour]) {
  if (!source.data) {
    for (int k = 0; k < kFour; ++k) x[k] = source.value;
  } else {
    int64_t at[kFour];
    for (int k = 0; k < kFour; ++k) at[k] = first + (k < there ? k * step : 0);
    load_at(source.data, source.dtype, at, x);
  }
}

/// Elements 4 i … 4 i + 3 of dense arrays.
template <class F, class T, int inputs>
struct ApplyDense {
  Apply<F, T, inputs> apply;
  int64_t count;
  bool aligned;

  TD_DEVICE void operator()(int64_t i) const {
    const int64_t first = i * kFour;
    const int there = count - first < kFour ? static_cast<int>(count - first) : kFour;
    const bool together = aligned && there == kFour;
    T x[inputs][kFour];
    for (int k = 0; k < inputs; ++k) {
      if (together) load_four(apply.in[k], first, x[k]);
      else load_each(apply.in[k], first, 1, there, x[k]);
    }
    using Result = decltype(apply(std::declval<const T(&)[inputs]>()));
    Result y[kFour];
    for (int j = 0; j < kFour; ++j) {
      T each[inputs];
      for (int k = 0; k < inputs; ++k) each[k] = x[k][j];
      y[j] = apply(each);
    }
    if (together) store_four<T>(apply.out, apply.out_dtype, first, y);
    else
      for (int j = 0; j < kFour; ++j)
        if (j < there) store(apply.out, apply.out_dtype, first + j, static_cast<T>(y[j]));
  }
};

/// Four neighbours of arrays of any strides, along the innermost dimension.
template <class F, class T, int inputs>
struct ApplyFours {
  Apply<F, T, inputs> apply;
  Fours<inputs + 1> fours;  // of the operands, then of the output

  TD_DEVICE void operator()(int64_t i) const {
    int64_t at[inputs + 1];
    const int there = fours(i, at);
    T x[inputs][kFour];
    for (int k = 0; k < inputs; ++k) {
      if (fours.together[k] && there == kFour) load_four(apply.in[k], at[k], x[k]);
      else load_each(apply.in[k], at[k], fours.step[k], there, x[k]);
    }
    using Result = decltype(apply(std::declval<const T(&)[inputs]>()));
    Result y[kFour];
    for (int j = 0; j < kFour; ++j) {
      T each[inputs];
      for (int k = 0; k < inputs; ++k) each[k] = x[k][j];
      y[j] = apply(each);
    }
    if (fours.together[inputs] && there == kFour) store_four<T>(apply.out, apply.out_dtype, at[inputs], y);
    else
      for (int j = 0; j < kFour; ++j)
        if (j < there) store(apply.out, apply.out_dtype, at[inputs] + j * fours.step[inputs], static_cast<T>(y[j]));
  }
};

/// One element of arrays of any strides.
template <class F, class T, int inputs>
struct ApplyStrided {
  Apply<F, T, inputs> apply;
  Places<inputs + 1> places;  // of the operands, then of the output

  TD_DEVICE void operator()(int64_t i) const {
    int64_t at[inputs + 1];
    places(i, at);
    T x[inputs];
    for (int k = 0; k < inputs; ++k) x[k] = apply.in[k][at[k]];
    store(apply.out, apply.out_dtype, at[inputs], static_cast<T>(apply(x)));
  }
};

/// Whether four at once pay: double and int64 are bound by arithmetic on most GPUs, and long functions need no more copies of themselves.
template <class F, class T>
inline constexpr bool kTakesFour = std::is_same_v<T, float> && !std::is_same_v<F, Lgamma> && !std::is_same_v<F, Digamma> &&
                                   !std::is_same_v<F, Polygamma> && !std::is_same_v<F, Erfinv>;

template <class F, class T, int inputs, Rule rule>
void launch(const Queue& queue, const Pointwise& call) {
  if constexpr (kComputes<rule, T>) {
    Apply<F, T, inputs> apply{{}, call.out, call.out_dtype, check_of(call.op, call.compute), Reporter(queue)};
    for (int k = 0; k < inputs; ++k) apply.in[k] = {call.in[k].data, call.in[k].dtype, call.in[k].value.template to<T>()};
    if constexpr (kTakesFour<F, T>) {
      if (call.contiguous) {
        bool aligned = aligned_to_four(call.out, call.out_dtype);
        for (int k = 0; k < inputs; ++k) aligned &= aligned_to_four(call.in[k].data, call.in[k].dtype);
        for_each(queue, (call.numel + kFour - 1) / kFour, ApplyDense<F, T, inputs>{apply, call.numel, aligned});
        return;
      }
    }
    const int64_t row[1] = {call.numel}, one[1] = {1};
    const int64_t* strides[inputs + 1];
    for (int k = 0; k < inputs; ++k) strides[k] = !call.in[k].data ? kNoStrides : call.contiguous ? one : call.in[k].strides;
    strides[inputs] = call.contiguous ? one : call.out_strides;
    const Places<inputs + 1> places =
        call.contiguous ? Places<inputs + 1>(1, row, strides) : Places<inputs + 1>(call.ndim, call.sizes, strides);
    if constexpr (kTakesFour<F, T>) {
      const void* data[inputs + 1];
      DType dtypes[inputs + 1];
      for (int k = 0; k < inputs; ++k) {
        data[k] = call.in[k].data;
        dtypes[k] = call.in[k].dtype;
      }
      data[inputs] = call.out;
      dtypes[inputs] = call.out_dtype;
      const Fours<inputs + 1> fours(places, data, dtypes);
      for_each(queue, fours.places.count, ApplyFours<F, T, inputs>{apply, fours});
    } else {
      for_each(queue, call.numel, ApplyStrided<F, T, inputs>{apply, places});
    }
  } else {
    queue.status->report(Trouble::Unsupported, static_cast<int64_t>(call.compute));
  }
}

/// What pointwise_float leaves to a source of its own: operations of two operands and more.
void pointwise_float_several(const Queue& queue, const Pointwise& call);

/// A row of pointwise.def, computed in T, where it has `least` to `most` operands; false where it has another number.
template <class T, int least = 1, int most = 4>
bool pointwise_in(const Queue& queue, const Pointwise& call) {
  const auto run = [&]<class F, int inputs, Rule rule>() {
    if constexpr (inputs < least || inputs > most) return false;
    else return launch<F, T, inputs, rule>(queue, call), true;
  };
  switch (call.op) {
// clang-format off
#define TD_UNARY(name, Functor, rule, ...) \
  case PointwiseOp::name: return run.template operator()<Functor, 1, Rule::rule>();
#define TD_BINARY(name, Functor, rule, ...) \
  case PointwiseOp::name: return run.template operator()<Functor, 2, Rule::rule>();
#define TD_KERNEL(name, Functor, rule, inputs) \
  case PointwiseOp::name: return run.template operator()<Functor, inputs, Rule::rule>();
#include "kernels/pointwise.def"
#undef TD_UNARY
#undef TD_BINARY
#undef TD_KERNEL
    // clang-format on
    default: queue.status->report(Trouble::Unsupported, -1); return true;
  }
}

}  // namespace tandem::kernels::cuda
