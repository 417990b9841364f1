// Reductions. What is done to an element and how two totals are combined are questions to the operation at run time, asked once for four
// elements: memory is slower than they are. Dense rows are read four neighbours at a time, so that a long row keeps more of memory busy. Up
// to 16 floats are combined in float; the totals are double, so that long sums lose nothing.
#include <limits>

#include "kernels/cuda/entries.h"
#include "kernels/cuda/reduction.cuh"

namespace tandem::kernels::cuda {
namespace {

enum class Combine : uint8_t { Add, Multiply, Max, Min };

constexpr Combine combine_of(Reduce op) {
  switch (op) {
    case Reduce::Prod: return Combine::Multiply;
    case Reduce::Max:
    case Reduce::Any:
    case Reduce::NormInf: return Combine::Max;
    case Reduce::Min:
    case Reduce::All: return Combine::Min;
    default: return Combine::Add;
  }
}

/// Integers wrap.
template <class T>
TD_DEVICE T combined(Combine how, T a, T b) {
  using Wrapping = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;
  switch (how) {
    case Combine::Add: return static_cast<T>(static_cast<Wrapping>(a) + static_cast<Wrapping>(b));
    case Combine::Multiply: return static_cast<T>(static_cast<Wrapping>(a) * static_cast<Wrapping>(b));
    case Combine::Max: return math::maximum(a, b);
    default: return math::minimum(a, b);
  }
}

template <class C>
TD_DEVICE C transformed(Reduce op, C x) {
  switch (op) {
    case Reduce::Norm1:
    case Reduce::NormInf: return math::abs(x);
    case Reduce::Norm2:
    case Reduce::SumOfSquares:
    case Reduce::MeanOfSquares: return combined(Combine::Multiply, x, x);
    case Reduce::Any:
    case Reduce::All:
    case Reduce::CountNonzero: return static_cast<C>(x != 0);
    default: return x;
  }
}

template <class C>
struct Reduction {
  using Total = std::conditional_t<std::is_integral_v<C>, int64_t, double>;
  Converted<C> in;
  Results out;
  Places<1> results;
  Reduce op;
  Combine how;
  int64_t count;
  bool fours;  // what is counted as an element is four of them, of a dtype computed in float, at an address for all of them

  TD_DEVICE Total identity() const {
    using Limits = std::numeric_limits<Total>;
    switch (how) {
      case Combine::Add: return 0;
      case Combine::Multiply: return 1;
      case Combine::Max: return std::is_integral_v<Total> ? Limits::min() : -Limits::infinity();
      default: return std::is_integral_v<Total> ? Limits::max() : Limits::infinity();
    }
  }
  template <int n>
  TD_DEVICE void add(Total& total, const int64_t (&at)[n], int64_t, int) const {
    if constexpr (std::is_same_v<C, float>) {
      if (fours) return add_fours(total, at);
    }
    C x[n];
    in.read(at, x);
    add_all(total, x);
  }
  TD_DEVICE Total combine(Total a, Total b) const { return combined(how, a, b); }
  TD_DEVICE void store(int64_t row, Total total) const {
    int64_t at[1];
    results(row, at);
    if (is_mean(op)) out.put(at[0], static_cast<double>(total) / static_cast<double>(count));
    else if (op == Reduce::Norm2) out.put(at[0], math::sqrt(static_cast<double>(total)));
    else out.put(at[0], total);
  }

 private:
  template <int n>
  TD_DEVICE void add_all(Total& total, C (&x)[n]) const {
    for (int k = 0; k < n; ++k) x[k] = transformed(op, x[k]);
    for (int k = 1; k < n; ++k) x[0] = combined(how, x[0], x[k]);
    total = combined(how, total, static_cast<Total>(x[0]));
  }
  template <int n>
  TD_DEVICE void add_fours(Total& total, const int64_t (&at)[n]) const {
    C x[n * kFour];
    const auto as = [&](auto zero) {
      using T = decltype(zero);
      for (int k = 0; k < n; ++k) {
        const Four<T> four = static_cast<const Four<T>*>(in.data)[at[k] / kFour];
        for (int j = 0; j < kFour; ++j) x[k * kFour + j] = to_compute(four.element[j]);
      }
    };
    if (in.dtype == DType::Float32) as(float{});
    else if (in.dtype == DType::Float16) as(Half{});
    else as(BFloat16{});
    add_all(total, x);
  }
};

/// Whether the elements of a row lie together and can be read four at a time in every row.
bool come_in_fours(const View& in, int outer, const Places<1>& elements) {
  const bool floats = in.dtype == DType::Float32 || in.dtype == DType::Float16 || in.dtype == DType::BFloat16;
  if (!floats || elements.ndim != 1 || elements.strides[0][0] != 1 || elements.count % kFour != 0) return false;
  for (int d = 0; d < outer; ++d)
    if (in.sizes[d] > 1 && in.strides[d] % kFour != 0) return false;
  return reinterpret_cast<uintptr_t>(in.data) % (kFour * size_of(in.dtype)) == 0;
}

/// What no elements give.
Value neutral(Reduce op, DType dtype) {
  using Limits = std::numeric_limits<double>;
  Value value;
  value.is_floating = is_floating(dtype);
  switch (combine_of(op)) {
    case Combine::Multiply: value.floating = value.integer = 1; break;
    case Combine::Max:
      if (op == Reduce::Max) value.floating = -Limits::infinity(), value.integer = std::numeric_limits<int64_t>::min();
      break;
    case Combine::Min:
      if (op == Reduce::Min) value.floating = Limits::infinity(), value.integer = std::numeric_limits<int64_t>::max();
      else value.floating = value.integer = 1;
      break;
    default:
      if (is_mean(op)) value.floating = Limits::quiet_NaN();
  }
  return value;
}

}  // namespace

size_t reduce_workspace(const View& in, int32_t reduced) { return Cut(in, reduced).workspace(); }

void reduce(const Queue& queue, Reduce op, Out out, View in, int32_t reduced, void* workspace) {
  const int outer = in.ndim - reduced;
  const Places<1> elements = places_in(in, outer, in.ndim, true, in);
  if (elements.count == 0) return fill(queue, out, neutral(op, out.dtype));
  const bool tests = op == Reduce::Any || op == Reduce::All || op == Reduce::CountNonzero || op == Reduce::Max || op == Reduce::Min;
  visit_compute(tests ? in.dtype : out.dtype, [&](auto zero) {
    using C = decltype(zero);
    const bool fours = std::is_same_v<C, float> && come_in_fours(in, outer, elements);
    const int64_t counted = elements.count / kFour, step = kFour;
    reduce_rows(queue, Cut(in, reduced), places_in(in, 0, outer, true, in), fours ? Places<1>(1, &counted, {&step}) : elements,
                Reduction<C>{in, out, places_in(in, 0, outer, true, out), op, combine_of(op), elements.count, fours}, workspace);
  });
}

}  // namespace tandem::kernels::cuda
