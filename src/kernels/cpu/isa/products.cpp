// Products in float and double that are small (packing, and oneDNN's call of about a microsecond, would cost more than it saves) or have
// few rows (the matrix b passes once through the registers), and what follows a product. Tiles of sums stay in registers over the inner
// dimension.
#include <algorithm>

#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/isa/math.h"
#include "kernels/cpu/isa/product_tiles.h"

namespace tandem::kernels::cpu::TD_ISA {
namespace {

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

template <class T>
struct Products {
  using V = Vec<T>;
  using P = DenseProduct<T>;
  static constexpr int64_t kLanes = V::kLanes, kWide = kTileVectors * kLanes;

  /// `rows` rows and `vectors` vectors of columns of out (+= where `adds`); the last vector has `last` lanes.
  template <int rows, int vectors, bool whole, bool adds>
  TD_INLINE static void tile(const P& p, int64_t i, int64_t j, int64_t last) {
    V sums[rows][vectors];
    for (auto& row : sums)
      for (V& sum : row) sum = V(0);
    const T* a = p.a + i * p.a_row;
    const T* b = p.b + j;
    for (int64_t q = 0; q < p.k; ++q, a += p.a_column, b += p.b_row) {
      V right[vectors];
      for (int v = 0; v < vectors; ++v) right[v] = whole || v + 1 < vectors ? V::load(b + v * kLanes) : V::load(b + v * kLanes, last);
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

  template <int vectors, bool whole, bool adds>
  static void panel(const P& p, int64_t j, int64_t last) {
    int64_t i = 0;
    // Of 7 and 8 rows tiles of 4 and the rest: one and two rows are too few sums side by side.
    for (; i + kTileRows <= p.m && p.m - i != 7 && p.m - i != 8; i += kTileRows) tile<kTileRows, vectors, whole, adds>(p, i, j, last);
    for (; i + 6 < p.m; i += 4) tile<4, vectors, whole, adds>(p, i, j, last);
    switch (p.m - i) {
      case 5: return tile<5, vectors, whole, adds>(p, i, j, last);
      case 4: return tile<4, vectors, whole, adds>(p, i, j, last);
      case 3: return tile<3, vectors, whole, adds>(p, i, j, last);
      case 2: return tile<2, vectors, whole, adds>(p, i, j, last);
      case 1: return tile<1, vectors, whole, adds>(p, i, j, last);
      default: return;
    }
  }
  template <int vectors, bool adds>
  static void last_panel(const P& p, int64_t j, int64_t left) {
    const int64_t last = left - (vectors - 1) * kLanes;
    if (last == kLanes) panel<vectors, true, adds>(p, j, 0);
    else panel<vectors, false, adds>(p, j, last);
  }
  /// Up to kWide columns from j on.
  template <bool adds>
  static void any_panel(const P& p, int64_t j, int64_t columns) {
    switch ((columns + kLanes - 1) / kLanes) {
      case 1: return last_panel<1, adds>(p, j, columns);
      case 2: return last_panel<2, adds>(p, j, columns);
      case 3:
        if constexpr (kTileVectors > 2) return last_panel<3, adds>(p, j, columns);
        [[fallthrough]];
      default:
        if constexpr (kTileVectors > 2) return last_panel<4, adds>(p, j, columns);
    }
  }

  template <bool adds>
  static void rows(const P& p) {
    int64_t j = 0;
    for (; j + kWide <= p.n; j += kWide) panel<kTileVectors, true, adds>(p, j, 0);
    // What is left in whole vectors first: a tile of the full width with a partial load runs out of registers.
    const int64_t left = p.n - j, whole = left / kLanes * kLanes;
    if (whole) any_panel<adds>(p, j, whole);
    if (whole < left) any_panel<adds>(p, j + whole, left - whole);
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
    constexpr int together = kTileVectors == 4 ? 4 : 2;  // rows: their sums must stay in registers
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

  static void add_to(ProductFunctionsOf<T>& functions) {
    functions.rows = rows<false>;
    functions.add_rows = rows<true>;
    functions.columns = columns;
    functions.transpose = transpose<T>;
  }

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
  Products<float>::add_to(products.of_float);
  Products<double>::add_to(products.of_double);
  products.epilogue = epilogue;
}

}  // namespace tandem::kernels::cpu::TD_ISA
