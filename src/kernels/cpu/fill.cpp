// Tensors from numbers: fill, arange, linspace, and the triangles of matrices.
#include <cstring>

#include "base/parallel.h"
#include "kernels/cpu/entries.h"
#include "kernels/cpu/runs.h"
#include "kernels/cpu/streaming.h"
#include "kernels/visit.h"

namespace tandem::kernels::cpu {
namespace {

constexpr int64_t kGrain = 32 << 10;

template <class T>
T number(Value value) {
  if constexpr (std::is_same_v<T, bool>) return value.is_floating ? value.floating != 0 : value.integer != 0;
  else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) return T(value.to<float>());
  else if constexpr (std::is_integral_v<T>) return static_cast<T>(value.to<int64_t>());
  else return value.to<T>();
}

/// A number as its dtype's bytes, which then are copied whatever they mean.
struct Bytes {
  char bytes[8];
};
Bytes bytes_of(DType dtype, Value value) {
  return visit(dtype, [&](auto zero) {
    const auto x = number<decltype(zero)>(value);
    Bytes result{};
    std::memcpy(result.bytes, &x, sizeof x);
    return result;
  });
}

template <class E>
void fill_elements(const Queue& queue, const Out& out, int64_t numel, const Bytes& bytes) {
  E value;
  std::memcpy(&value, bytes.bytes, sizeof value);
  E* const to = out.as<E>();
  if (out.contiguous()) {
    const bool past_caches = streams(static_cast<size_t>(numel) * sizeof(E));
    constexpr int64_t few = 16;  // not worth a tile
    if (numel <= few) {
      std::fill(to, to + numel, value);
      return;
    }
    return parallel_for(numel, kGrain, queue.threads, [&](int64_t begin, int64_t end) {
      constexpr int64_t count = 4096 / sizeof(E);
      alignas(64) E tile[count];  // copied in wide pieces, whatever the width of an element
      std::fill(tile, tile + std::min(count, end - begin), value);
      for (int64_t i = begin; i < end; i += count) {
        const size_t bytes = static_cast<size_t>(std::min(count, end - i)) * sizeof(E);
        if (past_caches) stream_copy(reinterpret_cast<char*>(to + i), reinterpret_cast<const char*>(tile), bytes);
        else std::memcpy(to + i, tile, bytes);
      }
    });
  }
  const int64_t stride = out.strides[out.ndim - 1];
  parallel_for(numel, kGrain, queue.threads, [&](int64_t begin, int64_t end) {
    for_runs<1>(out.ndim, out.sizes, {out.strides}, begin, end, [&](const int64_t* offset, int64_t, int64_t n) {
      for (int64_t i = 0; i < n; ++i) to[offset[0] + i * stride] = value;
    });
  });
}

}  // namespace

void fill(const Queue& queue, Out out, Value value) {
  const int64_t numel = out.numel();
  if (numel == 0) return;
  const Bytes bytes = bytes_of(out.dtype, value);
  visit_width(out.dtype, [&]<class E>(E) { fill_elements<E>(queue, out, numel, bytes); });
}

void arange(const Queue& queue, Out out, Value start, Value step) {
  visit(out.dtype, [&](auto zero) {
    using T = decltype(zero);
    T* const to = out.as<T>();
    parallel_for(out.numel(), kGrain, queue.threads, [&](int64_t begin, int64_t end) {
      if constexpr (std::is_integral_v<T>) {  // wraps rather than overflows
        const auto first = static_cast<uint64_t>(start.to<int64_t>()), by = static_cast<uint64_t>(step.to<int64_t>());
        for (int64_t i = begin; i < end; ++i)
          to[i] = number<T>(Value{0, static_cast<int64_t>(first + static_cast<uint64_t>(i) * by), false});
      } else {
        const double first = start.to<double>(), by = step.to<double>();
        for (int64_t i = begin; i < end; ++i)
          to[i] = static_cast<T>(
              static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(first + static_cast<double>(i) * by));
      }
    });
  });
}

void linspace(const Queue& queue, Out out, double start, double end) {
  const int64_t n = out.numel();
  const double step = n > 1 ? (end - start) / static_cast<double>(n - 1) : 0;
  visit(out.dtype, [&](auto zero) {
    using T = decltype(zero);
    T* const to = out.as<T>();
    if constexpr (std::is_same_v<T, float>) {  // rounded as PyTorch rounds: the bounds, their distance and the step
      const auto first = static_cast<float>(start), last = static_cast<float>(end);
      const double step = n > 1 ? static_cast<double>((last - first) / static_cast<float>(n - 1)) : 0;
      return parallel_for(n, kGrain, queue.threads, [&](int64_t from, int64_t until) {
        for (int64_t i = from; i < until; ++i)
          to[i] = static_cast<float>(i < n / 2 || n == 1 ? first + static_cast<double>(i) * step
                                                         : last - static_cast<double>(n - 1 - i) * step);
      });
    }
    parallel_for(n, kGrain, queue.threads, [&](int64_t from, int64_t until) {
      for (int64_t i = from; i < until; ++i)
        to[i] = number<T>(
            Value{i < (n + 1) / 2 ? start + static_cast<double>(i) * step : end - static_cast<double>(n - 1 - i) * step, 0, true});
    });
  });
}

void triangle(const Queue& queue, Out out, View in, int64_t diagonal, bool upper) {
  const int64_t numel = out.numel();
  if (numel == 0) return;
  const int last = out.ndim - 1;
  const int64_t columns = out.sizes[last], rows = out.sizes[last - 1], out_stride = out.strides[last], in_stride = in.strides[last];
  const auto run = [&](auto zero) {
    using E = decltype(zero);
    parallel_for(numel / columns, std::max<int64_t>(1, kGrain / columns), queue.threads, [&](int64_t begin, int64_t end) {
      for_runs<2>(
          out.ndim, out.sizes, {out.strides, in.strides}, begin * columns, end * columns, [&](const int64_t* offsets, int64_t at, int64_t) {
            const int64_t row = (begin + at / columns) % rows, edge = std::clamp<int64_t>(row + diagonal + (upper ? 0 : 1), 0, columns);
            E* const to = out.as<E>() + offsets[0];
            const E* const from = in.as<const E>() + offsets[1];
            const int64_t kept_from = upper ? edge : 0, kept_to = upper ? columns : edge;
            for (int64_t i = 0; i < kept_from; ++i) to[i * out_stride] = 0;
            for (int64_t i = kept_from; i < kept_to; ++i) to[i * out_stride] = from[i * in_stride];
            for (int64_t i = kept_to; i < columns; ++i) to[i * out_stride] = 0;
          });
    });
  };
  visit_width(out.dtype, run);
}

}  // namespace tandem::kernels::cpu
