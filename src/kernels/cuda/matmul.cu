// Products of matrices of any strides, and what follows them: see products.cuh for the ways to compute one. The way is chosen by sizes
// alone; sums are always taken in one order.
#include <utility>

#include "kernels/cuda/entries.h"
#include "kernels/cuda/products.cuh"
#include "kernels/pointwise.h"

namespace tandem::kernels::cuda {
namespace {

constexpr int64_t kFewRows = 8;       // up to which a tile would be mostly empty
constexpr int64_t kShallow = 16;      // terms of a sum up to which tiles don't pay
constexpr int64_t kFewElements = 64;  // of a result, up to which sums are worth a group each
constexpr int64_t kLongSum = 1024;    // terms from which on this is a block, not a warp
constexpr int64_t kLargeTiles = 48;   // that are enough for a GPU

/// A matrix of a batch.
struct Matrix {
  int64_t row = 0, column = 0;  // strides

  explicit Matrix(const View& v) {
    if (!v.data) return;
    if (v.ndim >= 2 && v.sizes[v.ndim - 2] != 1) row = v.strides[v.ndim - 2];
    if (v.ndim >= 1 && v.sizes[v.ndim - 1] != 1) column = v.strides[v.ndim - 1];
  }
  void transpose() { std::swap(row, column); }
  TD_DEVICE int64_t operator()(int64_t i, int64_t j) const { return i * row + j * column; }
};

/// The strides of a batch's dimensions, 0 where an operand repeats.
struct BatchStrides {
  int64_t of[kMaxDims];

  BatchStrides(const View& v, int ndim) {
    for (int d = 0; d < ndim; ++d) {
      const int own = d + v.ndim - 2 - ndim;
      of[d] = !v.data || own < 0 || v.sizes[own] == 1 ? 0 : v.strides[own];
    }
  }
};

template <class S>
TD_DEVICE S activated(S x, Activation activation) {
  if constexpr (std::is_floating_point_v<S>) {
    switch (activation) {
      case Activation::None: return x;
      case Activation::Relu: return x < 0 ? S(0) : x;
      case Activation::Tanh: return math::tanh(x);
      case Activation::Sigmoid: return 1 / (1 + math::exp(-x));
      case Activation::Gelu: return GeluTanh{}(x);
    }
  }
  return activation == Activation::Relu && x < 0 ? S(0) : x;
}

template <class T>
struct Product {
  using C = Compute<T>;
  struct At {
    int64_t of[4];  // out, a, b, bias
  };

  Numbers<T> out, a, b, bias;
  Matrix out_matrix, a_matrix, b_matrix, bias_matrix;
  Places<4> batch;
  int64_t batches, rows, columns, depth;
  bool left_along_depth, right_along_depth;
  Activation activation;
  C alpha, beta;
  bool has_bias;

  Product(const View& out_view, const View& a_view, const View& b_view, const View& bias_view, const Epilogue& epilogue)
      : out(out_view),
        a(a_view),
        b(b_view),
        bias(bias_view),
        out_matrix(out_view),
        a_matrix(a_view),
        b_matrix(b_view),
        bias_matrix(bias_view),
        batch(batch_of(out_view, a_view, b_view, bias_view)),
        batches(batch.count),
        rows(out_view.sizes[out_view.ndim - 2]),
        columns(out_view.sizes[out_view.ndim - 1]),
        depth(a_view.sizes[a_view.ndim - 1]),
        activation(epilogue.activation),
        alpha(static_cast<C>(epilogue.alpha)),
        beta(static_cast<C>(epilogue.beta)),
        has_bias(bias_view.data && epilogue.beta != 0) {
    merge_batch();
    // Neighbouring threads write neighbouring columns, and it is rows that are few.
    const bool few_columns = columns <= kFewRows && columns < rows, few_rows = rows <= kFewRows && rows < columns;
    if (few_columns || (!few_rows && out_matrix.row == 1 && out_matrix.column != 1)) {
      std::swap(rows, columns);
      std::swap(a, b);
      std::swap(a_matrix, b_matrix);
      for (Matrix* x : {&out_matrix, &a_matrix, &b_matrix, &bias_matrix}) x->transpose();
      for (int d = 0; d < batch.ndim; ++d) std::swap(batch.strides[1][d], batch.strides[2][d]);
    }
    left_along_depth = a_matrix.column == 1;
    right_along_depth = b_matrix.row == 1 && b_matrix.column != 1;
  }

  TD_DEVICE At at(int64_t number) const {
    At at;
    batch(number, at.of);
    return at;
  }
  TD_DEVICE C left(const At& at, int64_t i, int64_t k) const { return a[at.of[1] + a_matrix(i, k)]; }
  TD_DEVICE C right(const At& at, int64_t k, int64_t j) const { return b[at.of[2] + b_matrix(k, j)]; }
  TD_DEVICE void put(const At& at, int64_t i, int64_t j, C sum) const {
    if (alpha != C(1)) sum = fused(alpha, sum, C(0));
    if (has_bias) sum = fused(beta, bias[at.of[3] + bias_matrix(i, j)], sum);
    out.set(at.of[0] + out_matrix(i, j), activated(sum, activation));
  }

 private:
  static Places<4> batch_of(const View& out, const View& a, const View& b, const View& bias) {
    const int ndim = out.ndim - 2;
    const BatchStrides of_out(out, ndim), of_a(a, ndim), of_b(b, ndim), of_bias(bias, ndim);
    return {ndim, out.sizes, {of_out.of, of_a.of, of_b.of, of_bias.of}};
  }
  /// One matrix b for a batch of a's that follow each other is one product with more rows.
  void merge_batch() {
    if (batch.ndim != 1 || batch.strides[2][0] != 0 || rows == 1) return;
    if (batch.strides[0][0] != rows * out_matrix.row || batch.strides[1][0] != rows * a_matrix.row ||
        (has_bias && batch.strides[3][0] != rows * bias_matrix.row))
      return;
    rows *= batches;
    batches = 1;
    batch.ndim = 0;
  }
};

/// The side of the tiles of large products: as large as the registers allow.
template <class C>
inline constexpr int kLarge = std::is_integral_v<C> ? 64 : 128;

template <class T>
void compute(const Queue& queue, const Product<T>& p) {
  constexpr int large = kLarge<Compute<T>>;
  const int64_t elements = p.batches * p.rows * p.columns;
  if (p.depth > kShallow && (elements <= kFewElements || (p.rows <= kFewRows && p.right_along_depth)))
    return p.depth < kLongSum ? compute_inner<kWarp>(queue, p) : compute_inner<kThreads>(queue, p);
  if (p.rows <= kFewRows || p.depth <= kShallow) return compute_each(queue, p);
  const int64_t tiles = p.batches * ((p.rows + large - 1) / large) * ((p.columns + large - 1) / large);
  if (p.rows > 32 && p.columns > 32 && tiles >= kLargeTiles) return compute_tiles<large>(queue, p);
  compute_tiles<32>(queue, p);
}

}  // namespace

void matmul(const Queue& queue, Out out, View a, View b, View bias, Epilogue epilogue, void*) {
  visit_number(out.dtype, [&](auto zero) { compute(queue, Product<decltype(zero)>(out, a, b, bias, epilogue)); });
}

size_t matmul_workspace(const View&, const View&, const View&, const View&, const Epilogue&) { return 0; }

}  // namespace tandem::kernels::cuda
