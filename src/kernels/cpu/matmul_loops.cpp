#include "kernels/cpu/matmul_loops.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "kernels/cpu/isa/isa.h"

namespace tandem::kernels::cpu {
namespace {

/// What sums of T are taken in.
template <class T>
using Sum = std::conditional_t<std::is_same_v<T, double>, double, std::conditional_t<is_floating(dtype_of<T>()), float, int64_t>>;

template <class S>
S activated(S x, Activation activation) {
  if constexpr (std::is_floating_point_v<S>) {
    switch (activation) {
      case Activation::None: return x;
      case Activation::Relu: return x < 0 ? S(0) : x;
      case Activation::Tanh: return std::tanh(x);
      case Activation::Sigmoid: return 1 / (1 + std::exp(-x));
      case Activation::Gelu: return S(0.5) * x * (1 + std::tanh(S(0.79788456080286535588) * (x + S(0.044715) * x * x * x)));
    }
  } else if (activation == Activation::Relu) {
    return std::max<S>(x, 0);
  }
  return x;
}

/// The epilogue for one element; integers wrap.
template <class S>
S followed(const Epilogue& epilogue, S product, S bias) {
  using Wide = std::conditional_t<std::is_integral_v<S>, uint64_t, S>;
  const auto scaled = static_cast<Wide>(static_cast<S>(epilogue.alpha)) * static_cast<Wide>(product) +
                      static_cast<Wide>(static_cast<S>(epilogue.beta)) * static_cast<Wide>(bias);
  return activated(static_cast<S>(scaled), epilogue.activation);
}

/// Where a row of out is long, the sums of its columns side by side; else one sum after the other.
template <class T>
void tiny(const MatmulPlan& plan, const Matrix& out, const Matrix& a, const Matrix& b, const Matrix& bias) {
  using S = Sum<T>;
  using Wide = std::conditional_t<std::is_integral_v<S>, uint64_t, S>;
  constexpr int64_t kColumns = 64;
  const auto wide = [](T x) { return static_cast<Wide>(static_cast<S>(x)); };
  const T *left = reinterpret_cast<const T*>(a.data), *right = reinterpret_cast<const T*>(b.data),
          *add = reinterpret_cast<const T*>(bias.data);
  T* to = reinterpret_cast<T*>(out.data);
  Wide sums[kColumns];
  for (int64_t i = 0; i < plan.m; ++i)
    for (int64_t j0 = 0; j0 < plan.n; j0 += kColumns) {
      const int64_t count = std::min(kColumns, plan.n - j0);
      const T* b_row = right + j0 * b.column;
      if (count >= plan.k && plan.k > 0) {
        Wide x = wide(left[i * a.row]);
        for (int64_t j = 0; j < count; ++j) sums[j] = x * wide(b_row[j * b.column]);
        for (int64_t q = 1; q < plan.k; ++q) {
          x = wide(left[i * a.row + q * a.column]);
          b_row += b.row;
          for (int64_t j = 0; j < count; ++j) sums[j] += x * wide(b_row[j * b.column]);
        }
      } else {
        for (int64_t j = 0; j < count; ++j) {
          Wide sum = 0;
          for (int64_t q = 0; q < plan.k; ++q) sum += wide(left[i * a.row + q * a.column]) * wide(b_row[q * b.row + j * b.column]);
          sums[j] = sum;
        }
      }
      T* row = to + i * out.row + j0 * out.column;
      if (!plan.has_epilogue) {
        for (int64_t j = 0; j < count; ++j) row[j * out.column] = static_cast<T>(static_cast<S>(sums[j]));
        continue;
      }
      for (int64_t j = 0; j < count; ++j) {
        const S extra = add ? static_cast<S>(add[i * bias.row + (j0 + j) * bias.column]) : S(0);
        row[j * out.column] = static_cast<T>(followed<S>(plan.epilogue, static_cast<S>(sums[j]), extra));
      }
    }
}

/// Rows of an integer product: the sums of some columns at a time, in the order of b's rows.
template <class T>
void integer_rows(const MatmulPlan& plan, const Matrix& out, const Matrix& a, const Matrix& b, const Matrix& bias, int64_t begin,
                  int64_t end) {
  constexpr int64_t kColumns = 512;
  const T *left = reinterpret_cast<const T*>(a.data), *right = reinterpret_cast<const T*>(b.data),
          *add = reinterpret_cast<const T*>(bias.data);
  T* to = reinterpret_cast<T*>(out.data);
  uint64_t sums[kColumns];
  for (int64_t j0 = 0; j0 < plan.n; j0 += kColumns)
    for (int64_t i = begin; i < end; ++i) {
      const int64_t count = std::min(kColumns, plan.n - j0);
      std::fill(sums, sums + count, 0);
      for (int64_t q = 0; q < plan.k; ++q) {
        const auto x = static_cast<uint64_t>(left[i * a.row + q * a.column]);
        const T* row = right + q * b.row + j0 * b.column;
        for (int64_t j = 0; j < count; ++j) sums[j] += x * static_cast<uint64_t>(row[j * b.column]);
      }
      for (int64_t j = 0; j < count; ++j) {
        auto result = static_cast<int64_t>(sums[j]);
        if (plan.has_epilogue)
          result = followed<int64_t>(plan.epilogue, result, add ? static_cast<int64_t>(add[i * bias.row + (j0 + j) * bias.column]) : 0);
        to[i * out.row + (j0 + j) * out.column] = static_cast<T>(result);
      }
    }
}

/// The epilogue of types that go through a buffer: S to T, any strides.
template <class S>
void finish_rows(const MatmulPlan& plan, const Matrix& out, const Matrix& product, const Matrix& bias, int64_t i, int64_t j, int64_t rows,
                 int64_t columns) {
  constexpr int64_t kBuffer = 1024;
  const auto size = static_cast<int64_t>(size_of(plan.dtype));
  const Pack pack = pack_to<S>(plan.dtype);
  const Unpack unpack = unpack_from<S>(plan.dtype);
  alignas(64) S add[kBuffer], result[kBuffer];
  for (int64_t r = i; r < i + rows; ++r)
    for (int64_t c = j; c < j + columns; c += kBuffer) {
      const int64_t n = std::min(kBuffer, j + columns - c);
      const S* from = reinterpret_cast<const S*>(product.data) + r * product.row + c;
      if (plan.has_epilogue) {
        if (bias.data) pack(add, bias.data + (r * bias.row + c * bias.column) * size, bias.column, n);
        if constexpr (std::is_same_v<S, float>)
          isa().products.epilogue(result, n, from, n, 1, n, bias.data ? add : nullptr, 0, 1, plan.epilogue);
        else
          for (int64_t x = 0; x < n; ++x) result[x] = followed<S>(plan.epilogue, from[x], bias.data ? add[x] : S(0));
        from = result;
      }
      unpack(out.data + (r * out.row + c * out.column) * size, out.column, from, n);
    }
}

}  // namespace

void plain_product(const Queue& queue, const MatmulPlan& plan, const Matrix& out, const Matrix& a, const Matrix& b, const Matrix& bias) {
  const bool small = plan.route == MatmulPlan::Route::Tiny;
  visit(plan.dtype, [&]<class T>(T) {
    if (small) return tiny<T>(plan, out, a, b, bias);
    if constexpr (std::is_integral_v<T>) {
      const int64_t grain = std::max<int64_t>(1, 32768 / std::max<int64_t>(1, plan.n * plan.k));
      parallel_for(plan.m, grain, queue.threads, [&](int64_t begin, int64_t end) { integer_rows<T>(plan, out, a, b, bias, begin, end); });
    }
  });
}

void finish_product(const MatmulPlan& plan, const Matrix& out, const Matrix& product, const Matrix& bias, int64_t i, int64_t j,
                    int64_t rows, int64_t columns) {
  if (plan.dtype == kFloat32 && out.column == 1 && bias.row >= 0 && bias.column >= 0) {
    const float* add = bias.data ? reinterpret_cast<const float*>(bias.data) + i * bias.row + j * bias.column : nullptr;
    return isa().products.epilogue(reinterpret_cast<float*>(out.data) + i * out.row + j, out.row,
                                   reinterpret_cast<const float*>(product.data) + i * product.row + j, product.row, rows, columns, add,
                                   bias.row, bias.column, plan.epilogue);
  }
  if (plan.result() == kFloat64) finish_rows<double>(plan, out, product, bias, i, j, rows, columns);
  else finish_rows<float>(plan, out, product, bias, i, j, rows, columns);
}

}  // namespace tandem::kernels::cpu
