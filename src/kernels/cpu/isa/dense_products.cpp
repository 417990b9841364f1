// Products in float and double, and what follows a product. Floats come here where a product is small (oneDNN's call costs about a
// microsecond) or has few rows (the matrix b passes once through the registers); doubles always, since oneDNN has none and OpenBLAS's
// serial library is not safe from two threads. Tiles of 4 rows and as many vectors as the registers hold stay in registers over the inner
// dimension; large products copy b into blocks first.
#include <algorithm>

#include "kernels/cpu/isa/dense.h"
#include "kernels/cpu/isa/exponential.h"

namespace tandem::kernels::cpu::TD_ISA {
namespace {

constexpr int kRows = 4;
#if defined(__AVX512F__)
constexpr int kVectors = 4;
#else
constexpr int kVectors = 2;
#endif

template <class T>
struct Products {
  using V = Vec<T>;
  using P = DenseProduct<T>;
  static constexpr int64_t kLanes = V::kLanes, kWide = kVectors * kLanes;

  /// `rows` rows and `vectors` vectors of columns of out (+= where `adds`); the last vector has `last` lanes, b is whole all the same where
  /// `padded`.
  template <int rows, int vectors, bool whole, bool adds, bool padded>
  TD_INLINE static void tile(const P& p, int64_t i, int64_t j, int64_t last) {
    V sums[rows][vectors];
    for (auto& row : sums)
      for (V& sum : row) sum = V(0);
    const T* a = p.a + i * p.a_row;
    const T* b = padded ? p.b : p.b + j;
    for (int64_t q = 0; q < p.k; ++q, a += p.a_column, b += p.b_row) {
      V right[vectors];
      for (int v = 0; v < vectors; ++v)
        right[v] = whole || padded || v + 1 < vectors ? V::load(b + v * kLanes) : V::load(b + v * kLanes, last);
      for (int r = 0; r < rows; ++r) {
        const V left(a[r * p.a_row]);
        for (int v = 0; v < vectors; ++v) sums[r][v] = fma(left, right[v], sums[r][v]);
      }
    }
    for (int r = 0; r < rows; ++r) {
      T* to = p.out + (i + r) * p.out_row + j;
      for (int v = 0; v < vectors; ++v, to += kLanes) {
        if (whole || v + 1 < vectors) (adds ? V::load(to) + sums[r][v] : sums[r][v]).store(to);
        else (adds ? V::load(to, last) + sums[r][v] : sums[r][v]).store(to, last);
      }
    }
  }

  template <int vectors, bool whole, bool adds, bool padded>
  static void panel(const P& p, int64_t j, int64_t last) {
    int64_t i = 0;
    for (; i + kRows <= p.m; i += kRows) tile<kRows, vectors, whole, adds, padded>(p, i, j, last);
    switch (p.m - i) {
      case 3: return tile<3, vectors, whole, adds, padded>(p, i, j, last);
      case 2: return tile<2, vectors, whole, adds, padded>(p, i, j, last);
      case 1: return tile<1, vectors, whole, adds, padded>(p, i, j, last);
      default: return;
    }
  }
  template <int vectors, bool adds, bool padded>
  static void last_panel(const P& p, int64_t j, int64_t left) {
    const int64_t last = left - (vectors - 1) * kLanes;
    if (last == kLanes) panel<vectors, true, adds, padded>(p, j, 0);
    else panel<vectors, false, adds, padded>(p, j, last);
  }
  /// Up to kWide columns from j on.
  template <bool adds, bool padded>
  static void any_panel(const P& p, int64_t j, int64_t columns) {
    switch ((columns + kLanes - 1) / kLanes) {
      case 1: return last_panel<1, adds, padded>(p, j, columns);
      case 2: return last_panel<2, adds, padded>(p, j, columns);
#if defined(__AVX512F__)
      case 3: return last_panel<3, adds, padded>(p, j, columns);
      default: return last_panel<4, adds, padded>(p, j, columns);
#else
      default: return;
#endif
    }
  }

  template <bool adds>
  static void rows(const P& p) {
    int64_t j = 0;
    for (; j + kWide <= p.n; j += kWide) panel<kVectors, true, adds, false>(p, j, 0);
    // What is left in whole vectors first: a tile of the full width with a partial load runs out of registers.
    const int64_t left = p.n - j, whole = left / kLanes * kLanes;
    if (whole) any_panel<adds, false>(p, j, whole);
    if (whole < left) any_panel<adds, false>(p, j + whole, left - whole);
  }

  /// to[r][c] = from[c][r]: `columns` contiguous runs become columns.
  static void transpose(T* to, int64_t to_row, const T* from, int64_t from_column, int64_t rows, int64_t columns) {
    int64_t c = 0;
#if defined(__SSE4_1__)
    if constexpr (sizeof(T) == 4) {
      for (; c + 4 <= columns; c += 4) {
        const T* column = from + c * from_column;
        int64_t r = 0;
        for (; r + 4 <= rows; r += 4) {
          __m128 x0 = _mm_loadu_ps(column + r), x1 = _mm_loadu_ps(column + from_column + r),
                 x2 = _mm_loadu_ps(column + 2 * from_column + r), x3 = _mm_loadu_ps(column + 3 * from_column + r);
          _MM_TRANSPOSE4_PS(x0, x1, x2, x3);
          _mm_storeu_ps(to + r * to_row + c, x0);
          _mm_storeu_ps(to + (r + 1) * to_row + c, x1);
          _mm_storeu_ps(to + (r + 2) * to_row + c, x2);
          _mm_storeu_ps(to + (r + 3) * to_row + c, x3);
        }
        for (; r < rows; ++r)
          for (int x = 0; x < 4; ++x) to[r * to_row + c + x] = column[x * from_column + r];
      }
    }
#endif
    for (; c + 4 <= columns; c += 4)
      for (int64_t r = 0; r < rows; ++r)
        for (int x = 0; x < 4; ++x) to[r * to_row + c + x] = from[(c + x) * from_column + r];
    for (; c < columns; ++c)
      for (int64_t r = 0; r < rows; ++r) to[r * to_row + c] = from[c * from_column + r];
  }

  /// Copies depth rows and `columns` columns of b into panels of kWide columns, the last one filled up with zeros.
  static void copy_block(T* to, const P& p, int64_t q, int64_t depth, int64_t j, int64_t columns) {
    for (int64_t c = 0; c < columns; c += kWide, to += depth * kWide) {
      const int64_t width = std::min(kWide, columns - c);
      const T* from = p.b + q * p.b_row + (j + c) * p.b_column;
      if (p.b_column == 1) {
        for (int64_t d = 0; d < depth; ++d) std::memcpy(to + d * kWide, from + d * p.b_row, static_cast<size_t>(width) * sizeof(T));
      } else {
        transpose(to, kWide, from, p.b_column, depth, width);
      }
      if (width < kWide)
        for (int64_t d = 0; d < depth; ++d) std::fill(to + d * kWide + width, to + (d + 1) * kWide, T(0));
    }
  }

  static void blocked(const P& p, T* scratch) {
    constexpr int64_t kBlockRows = 64;  // with a depth of 128, a's block stays in the second cache
    for (int64_t j = 0; j < p.n; j += kProductColumns)
      for (int64_t q = 0; q < p.k; q += kProductDepth) {
        const int64_t columns = std::min(kProductColumns, p.n - j), depth = std::min(kProductDepth, p.k - q);
        copy_block(scratch, p, q, depth, j, columns);
        for (int64_t i = 0; i < p.m; i += kBlockRows) {
          P part = p;
          part.m = std::min(kBlockRows, p.m - i);
          part.k = depth;
          part.b_row = kWide;
          part.a = p.a + i * p.a_row + q * p.a_column;
          for (int64_t c = 0; c < columns; c += kWide) {
            part.b = scratch + c * depth;
            part.out = p.out + i * p.out_row + j + c;
            const int64_t width = std::min(kWide, columns - c);
            if (q == 0) any_panel<false, true>(part, 0, width);
            else any_panel<true, true>(part, 0, width);
          }
        }
      }
  }

  /// `rows` rows and `columns` (at most 4) columns of out as inner products.
  template <int rows, int columns>
  TD_INLINE static void column_tile(const P& p, int64_t i, int64_t j) {
    V sums[rows][4];
    for (auto& row : sums)
      for (V& sum : row) sum = V(0);
    const T* a = p.a + i * p.a_row;
    const T* b = p.b + j * p.b_column;
    const auto step = [&](auto load) __attribute__((always_inline)) {
      V right[columns];
      for (int c = 0; c < columns; ++c) right[c] = load(b + c * p.b_column);
      for (int r = 0; r < rows; ++r) {
        const V left = load(a + r * p.a_row);
        for (int c = 0; c < columns; ++c) sums[r][c] = fma(left, right[c], sums[r][c]);
      }
    };
    int64_t q = 0;
    for (; q + kLanes <= p.k; q += kLanes, a += kLanes, b += kLanes)
      step([](const T* from) __attribute__((always_inline)) { return V::load(from); });
    if (q < p.k) step([left = p.k - q](const T* from) __attribute__((always_inline)) { return V::load(from, left); });
    for (int r = 0; r < rows; ++r) {
      T* to = p.out + (i + r) * p.out_row + j;
      T four[4];
      store_sums(columns == 4 ? to : four, sums[r][0], sums[r][1], sums[r][2], sums[r][3]);
      if constexpr (columns < 4)
        for (int c = 0; c < columns; ++c) to[c] = four[c];
    }
  }
  template <int columns>
  static void column_panel(const P& p, int64_t j) {
    constexpr int together = kVectors == 4 ? 4 : 2;  // rows: their sums must stay in registers
    int64_t i = 0;
    for (; i + together <= p.m; i += together) column_tile<together, columns>(p, i, j);
    for (; i < p.m; ++i) column_tile<1, columns>(p, i, j);
  }
  static void columns(const P& p) {
    int64_t j = 0;
    for (; j + 4 <= p.n; j += 4) column_panel<4>(p, j);
    switch (p.n - j) {
      case 3: return column_panel<3>(p, j);
      case 2: return column_panel<2>(p, j);
      case 1: return column_panel<1>(p, j);
      default: return;
    }
  }

  static constexpr ProductFunctions<T> functions() { return {rows<false>, rows<true>, columns, blocked, transpose}; }

  /// The sums of four vectors' lanes, side by side.
  TD_INLINE static void store_sums(T* to, V a, V b, V c, V d) {
#if defined(__SSE4_1__)
    if constexpr (sizeof(T) == 4) {
      const __m128 w = half(a), x = half(b), y = half(c), z = half(d);
      const __m128 wx = _mm_add_ps(_mm_unpacklo_ps(w, x), _mm_unpackhi_ps(w, x)),
                   yz = _mm_add_ps(_mm_unpacklo_ps(y, z), _mm_unpackhi_ps(y, z));
      return _mm_storeu_ps(to, _mm_add_ps(_mm_movelh_ps(wx, yz), _mm_movehl_ps(yz, wx)));
    }
#endif
    const V all[] = {a, b, c, d};
    for (int k = 0; k < 4; ++k) {
      T sum = 0;
      for (int i = 0; i < V::kLanes; ++i) sum += all[k].v[i];
      to[k] = sum;
    }
  }
#if defined(__AVX512F__)
  TD_INLINE static __m128 half(Vec<float> x) {
    const __m256 h = _mm256_add_ps(_mm512_castps512_ps256(x.v), _mm512_extractf32x8_ps(x.v, 1));
    return _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
  }
#elif defined(__AVX2__)
  TD_INLINE static __m128 half(Vec<float> x) { return _mm_add_ps(_mm256_castps256_ps128(x.v), _mm256_extractf128_ps(x.v, 1)); }
#elif defined(__SSE4_1__)
  TD_INLINE static __m128 half(Vec<float> x) { return x.v; }
#endif
};

using V = Vec<float>;
constexpr int64_t kLanes = V::kLanes;

template <Activation activation>
TD_INLINE V activate(V x) {
  if constexpr (activation == Activation::Relu) return select(x < V(0), V(0), x);  // nan stays
  else if constexpr (activation == Activation::Tanh) return tanh_of(x);
  else if constexpr (activation == Activation::Sigmoid) return V(1) / (V(1) + exp_of(-x));
  else if constexpr (activation == Activation::Gelu) return V(0.5F) * x * (V(1) + tanh_of(V(0.79788456F) * (x + V(0.044715F) * x * x * x)));
  else return x;
}

template <Activation activation>
void epilogue_rows(float* out, int64_t out_row, const float* in, int64_t in_row, int64_t m, int64_t n, const float* bias, int64_t bias_row,
                   int64_t bias_column, float alpha, float beta) {
  const V times(alpha), bias_times(beta);
  for (int64_t i = 0; i < m; ++i) {
    float* to = out + i * out_row;
    const float* from = in + i * in_row;
    const float* add = bias ? bias + i * bias_row : nullptr;
    if (add && bias_column > 1) {
      for (int64_t j = 0; j < n; ++j) {
        const V x = activate<activation>(V(alpha * from[j] + beta * add[j * bias_column]));
        to[j] = x.v[0];
      }
      continue;
    }
    const V same(add && bias_column == 0 ? beta * add[0] : 0.0F);
    const bool each = add && bias_column == 1;
    int64_t j = 0;
    for (; j + kLanes <= n; j += kLanes) {
      const V extra = each ? V::load(add + j) * bias_times : same;
      activate<activation>(fma(V::load(from + j), times, extra)).store(to + j);
    }
    if (j < n) {
      const V extra = each ? V::load(add + j, n - j) * bias_times : same;
      activate<activation>(fma(V::load(from + j, n - j), times, extra)).store(to + j, n - j);
    }
  }
}

void epilogue(float* out, int64_t out_row, const float* in, int64_t in_row, int64_t m, int64_t n, const float* bias, int64_t bias_row,
              int64_t bias_column, const Epilogue& epilogue) {
  const auto run = [&](auto function) {
    function(out, out_row, in, in_row, m, n, bias, bias_row, bias_column, static_cast<float>(epilogue.alpha),
             static_cast<float>(epilogue.beta));
  };
  switch (epilogue.activation) {
    case Activation::None: return run(epilogue_rows<Activation::None>);
    case Activation::Relu: return run(epilogue_rows<Activation::Relu>);
    case Activation::Tanh: return run(epilogue_rows<Activation::Tanh>);
    case Activation::Sigmoid: return run(epilogue_rows<Activation::Sigmoid>);
    case Activation::Gelu: return run(epilogue_rows<Activation::Gelu>);
  }
}

}  // namespace

void add_products(Dense& dense) {
  dense.single_products = Products<float>::functions();
  dense.double_products = Products<double>::functions();
  dense.epilogue = epilogue;
}

}  // namespace tandem::kernels::cpu::TD_ISA
