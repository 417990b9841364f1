// Reductions, running totals, and what looks for the largest.
#include <cmath>

#include "onnx/call.h"
#include "ops/activation.h"
#include "ops/arithmetic.h"
#include "ops/creation.h"
#include "ops/join.h"
#include "ops/moving.h"
#include "ops/operators.h"
#include "ops/reduce.h"
#include "ops/scan.h"
#include "ops/sort.h"
#include "ops/view.h"

namespace tandem::onnx {
namespace {

enum class Kind : uint8_t { Sum, Mean, Max, Min, Prod, L1, L2, LogSum, LogSumExp, SumSquare };

/// Over all of `dims`, which are not empty, and keeps them at size 1.
Tensor reduced(const Tensor& x, Kind kind, const Shape& dims, Site site) {
  const DType dtype = x.dtype();
  const auto total = [&](const Tensor& of) { return sum(of, dims, true, dtype, site); };
  switch (kind) {
    case Kind::Sum: return total(x);
    case Kind::Mean:
      return is_floating(dtype) ? mean(x, dims, true, {}, site) : mean(x.to(kFloat64, {}, site), dims, true, {}, site).to(dtype, {}, site);
    case Kind::Max:
    case Kind::Min: {
      int64_t count = 1;
      for (const int64_t dim : dims) count *= x.size(dim);
      if (count > 0) return kind == Kind::Max ? amax(x, dims, true, site) : amin(x, dims, true, site);
      // Nothing's largest is the smallest number there is.
      Shape sizes = x.sizes();
      for (const int64_t dim : dims) sizes[static_cast<size_t>(axis_of(dim, x.dim()))] = 1;
      if (is_floating(dtype)) return full(sizes, kind == Kind::Max ? -INFINITY : INFINITY, {.dtype = dtype, .device = x.device()}, site);
      const Scalar edge = visit(dtype, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (std::is_integral_v<T>)
          return Scalar(kind == Kind::Max ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max());
        else return Scalar(0);
      });
      return full(sizes, edge, {.dtype = dtype, .device = x.device()}, site);
    }
    case Kind::Prod: {
      Tensor y = x;
      for (const int64_t dim : dims) y = prod(y, dim, true, dtype, site);
      return y;
    }
    case Kind::L1: return total(abs(x, site));
    case Kind::L2: {
      const Tensor squares = total(mul(x, x, site));
      return is_floating(dtype) ? sqrt(squares, site) : sqrt(squares.to(kFloat64, {}, site), site).to(dtype, {}, site);
    }
    case Kind::LogSum: return log(total(x), site).to(dtype, {}, site);
    case Kind::LogSumExp:
      return is_floating(dtype) ? logsumexp(x, dims, true, site)
                                : logsumexp(x.to(kFloat64, {}, site), dims, true, site).to(dtype, {}, site);
    case Kind::SumSquare: return total(mul(x, x, site));
  }
  __builtin_unreachable();
}

template <Kind kKind>
void reduce(Call& call) {
  const Site site = call.site();
  const Tensor x = call.in(0);
  Shape dims = call.axes(1).value_or(Shape());
  if (dims.empty() && call.integer("noop_with_empty_axes", 0) != 0) {
    // No axis at all: only what is done to each element.
    constexpr bool kSame = kKind != Kind::L1 && kKind != Kind::L2 && kKind != Kind::LogSum && kKind != Kind::SumSquare;
    if constexpr (kSame) return call.give(x);
    const Tensor one = x.unsqueeze(0, site);
    return call.give(reduced(one, kKind, {0}, site).squeeze(0, site));
  }
  if (dims.empty())
    for (int64_t i = 0; i < x.dim(); ++i) dims.push_back(i);
  const bool keep = call.integer("keepdims", 1) != 0;
  if (dims.empty()) return call.give(reduced(x.reshape({1}, site), kKind, {0}, site).reshape({}, site));
  for (int64_t& dim : dims) dim = axis_of(dim, x.dim());
  const bool is_bool = x.dtype() == kBool;
  Tensor y = reduced(is_bool ? x.to(kUInt8, {}, site) : x, kKind, dims, site);
  if (is_bool) y = y.to(kBool, {}, site);
  call.give(keep ? y : y.squeeze(dims, site));
}

template <bool kMax>
void arg(Call& call) {
  const Site site = call.site();
  Tensor x = call.in(0);
  const int64_t axis = axis_of(call.integer("axis", 0), x.dim());
  const bool keep = call.integer("keepdims", 1) != 0, last = call.integer("select_last_index", 0) != 0;
  if (last) x = flip(x, {axis}, site);
  Tensor index = kMax ? argmax(x, axis, keep, site) : argmin(x, axis, keep, site);
  if (last) index = sub(x.size(axis) - 1, index, site);
  call.give(index);
}

template <bool kProduct>
void running(Call& call) {
  const Site site = call.site();
  Tensor x = call.in(0);
  const int64_t axis = axis_of(call.number(1).to<int64_t>(), x.dim());
  const bool reverse = call.integer("reverse", 0) != 0;
  const DType dtype = x.dtype();
  if (reverse) x = flip(x, {axis}, site);
  Tensor y = kProduct ? cumprod(x, axis, dtype, site) : cumsum(x, axis, dtype, site);
  if (call.integer("exclusive", 0) != 0 && x.size(axis) > 0) {
    const Tensor first = kProduct ? ones_like(x.narrow(axis, 0, 1, site), {}, site) : zeros_like(x.narrow(axis, 0, 1, site), {}, site);
    y = cat({first, y.narrow(axis, 0, x.size(axis) - 1, site)}, axis, site);
  }
  call.give(reverse ? flip(y, {axis}, site) : y);
}

void top_k(Call& call) {
  const Site site = call.site();
  const Tensor x = call.in(0);
  const int64_t axis = axis_of(call.integer("axis", -1), x.dim());
  const int64_t k = call.version() < 10 ? call.integer("k", 0) : call.number(1).to<int64_t>();
  const bool largest = call.integer("largest", 1) != 0;
  if (k < 0 || k > x.size(axis)) fail("it wants ", k, " of the ", x.size(axis), " elements of axis ", axis);
  // A sort, which keeps the order of equals, as the definition wants it.
  const ValuesIndices sorted = sort(x, axis, largest, site);
  call.give(sorted.values.narrow(axis, 0, k, site));
  call.give(sorted.indices.narrow(axis, 0, k, site));
}

constexpr OperatorRow kRows[] = {
    {"ArgMax", 1, arg<true>},
    {"ArgMin", 1, arg<false>},
    {"CumProd", 1, running<true>, nullptr, nullptr, 1},
    {"CumSum", 11, running<false>, nullptr, nullptr, 1},
    {"ReduceL1", 1, reduce<Kind::L1>},
    {"ReduceL2", 1, reduce<Kind::L2>},
    {"ReduceLogSum", 1, reduce<Kind::LogSum>},
    {"ReduceLogSumExp", 1, reduce<Kind::LogSumExp>},
    {"ReduceMax", 1, reduce<Kind::Max>},
    {"ReduceMean", 1, reduce<Kind::Mean>},
    {"ReduceMin", 1, reduce<Kind::Min>},
    {"ReduceProd", 1, reduce<Kind::Prod>},
    {"ReduceSum", 1, reduce<Kind::Sum>},
    {"ReduceSumSquare", 1, reduce<Kind::SumSquare>},
    {"TopK", 1, top_k},
};

}  // namespace

std::span<const OperatorRow> reduction_operators() { return kRows; }

}  // namespace tandem::onnx
