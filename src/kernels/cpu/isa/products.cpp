// Products in float and double, and what follows a product. Floats come here where a product is small (oneDNN's call costs about a
// microsecond) or has few rows (the matrix b passes once through the registers); doubles always, since oneDNN has none and OpenBLAS's
// serial library is not safe from two threads. Tiles of 4 rows and as many vectors as the registers hold stay in registers over the inner
// dimension; large products copy b into blocks first.
#include <algorithm>

#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/isa/math.h"

namespace tandem::kernels::cpu::TD_ISA {
namespace {

constexpr int kRows = 4;
constexpr int kVectors = kVectorBytes == 64 ? 4 : 2;  // AVX-512 has twice the registers

using Four = Raw<float, 16>;
/// The lanes of x in four sums: its halves are added until four are left.
template <class R>
TD_INLINE Four four_sums(R x) {
  if constexpr (sizeof(R) == 64) {
    return four_sums(__builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7) + __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15));
  } else if constexpr (sizeof(R) == 32) {
    return __builtin_shufflevector(x, x, 0, 1, 2, 3) + __builtin_shufflevector(x, x, 4, 5, 6, 7);
  } else {
    return x;
  }
}

/// to[r * to_stride + c] = from[c * from_stride + r] for r and c up to 4.
TD_INLINE void transpose_4x4(float* to, int64_t to_stride, const float* from, int64_t from_stride) {
  Four a[4];
  for (int i = 0; i < 4; ++i) std::memcpy(&a[i], from + i * from_stride, sizeof a[i]);
  const Four low01 = __builtin_shufflevector(a[0], a[1], 0, 4, 1, 5), high01 = __builtin_shufflevector(a[0], a[1], 2, 6, 3, 7),
             low23 = __builtin_shufflevector(a[2], a[3], 0, 4, 1, 5), high23 = __builtin_shufflevector(a[2], a[3], 2, 6, 3, 7);
  const Four rows[] = {__builtin_shufflevector(low01, low23, 0, 1, 4, 5), __builtin_shufflevector(low01, low23, 2, 3, 6, 7),
                       __builtin_shufflevector(high01, high23, 0, 1, 4, 5), __builtin_shufflevector(high01, high23, 2, 3, 6, 7)};
  for (int i = 0; i < 4; ++i) std::memcpy(to + i * to_stride, &rows[i], sizeof rows[i]);
}

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
      case 3:
        if constexpr (kVectors > 2) return last_panel<3, adds, padded>(p, j, columns);
        [[fallthrough]];
      default:
        if constexpr (kVectors > 2) return last_panel<4, adds, padded>(p, j, columns);
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
    if constexpr (sizeof(T) == 4) {
      for (; c + 4 <= columns; c += 4) {
        const T* column = from + c * from_column;
        int64_t r = 0;
        for (; r + 4 <= rows; r += 4) transpose_4x4(to + r * to_row + c, to_row, column + r, from_column);
        for (; r < rows; ++r)
          for (int x = 0; x < 4; ++x) to[r * to_row + c + x] = column[x * from_column + r];
      }
    }
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

  static constexpr ProductFunctionsOf<T> functions() { return {rows<false>, rows<true>, columns, blocked, transpose}; }

  /// The sums of four vectors' lanes, side by side.
  TD_INLINE static void store_sums(T* to, V a, V b, V c, V d) {
    if constexpr (sizeof(T) == 4) {
      const Four w = four_sums(a.v), x = four_sums(b.v), y = four_sums(c.v), z = four_sums(d.v);
      const Four wx = __builtin_shufflevector(w, x, 0, 4, 1, 5) + __builtin_shufflevector(w, x, 2, 6, 3, 7),
                 yz = __builtin_shufflevector(y, z, 0, 4, 1, 5) + __builtin_shufflevector(y, z, 2, 6, 3, 7);
      const Four sums = __builtin_shufflevector(wx, yz, 0, 1, 4, 5) + __builtin_shufflevector(wx, yz, 2, 3, 6, 7);
      std::memcpy(to, &sums, sizeof sums);
      return;
    }
    const V all[] = {a, b, c, d};
    for (int k = 0; k < 4; ++k) {
      T sum = 0;
      for (int i = 0; i < V::kLanes; ++i) sum += all[k].v[i];
      to[k] = sum;
    }
  }
};

using V = Vec<float>;
constexpr int64_t kLanes = V::kLanes;

template <Activation activation>
TD_INLINE V activate(V x) {
  if constexpr (activation == Activation::Relu) return select(x < V(0), V(0), x);  // nan stays
  else if constexpr (activation == Activation::Tanh) return tanh(x);
  else if constexpr (activation == Activation::Sigmoid) return V(1) / (V(1) + exp(-x));
  else if constexpr (activation == Activation::Gelu) return V(0.5F) * x * (V(1) + tanh(V(0.79788456F) * (x + V(0.044715F) * x * x * x)));
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

void fill_products(ProductFunctions& products) {
  products.of_float = Products<float>::functions();
  products.of_double = Products<double>::functions();
  products.epilogue = epilogue;
}

}  // namespace tandem::kernels::cpu::TD_ISA
