// What is compiled once per instruction set, as tables of functions over contiguous memory. The files of this folder are compiled with
// TD_ISA set to the name of the set (baseline, avx2, avx512), which is also their namespace; instruction_set.h finds a set's tables by its
// name.
#pragma once

#include "kernels/pointwise_call.h"
#include "kernels/table.h"

namespace tandem::kernels::cpu {

/// The types that pointwise kernels compute in.
enum Compute : int { kComputeFloat, kComputeDouble, kComputeInt, kComputes };
constexpr Compute compute_of(DType dtype) {
  return compute_type(dtype) == kFloat64 ? kComputeDouble : compute_type(dtype) == kFloat32 ? kComputeFloat : kComputeInt;
}
constexpr DType dtype_for(Compute compute) { return compute == kComputeFloat ? kFloat32 : compute == kComputeDouble ? kFloat64 : kInt64; }

/// out[i] = f(in0[i], in1[i], …) for n elements of the compute type; comparisons write bool.
using Tile = void (*)(void* out, const void* const* in, int64_t n);
struct PointwiseFunctions {
  Tile tiles[kPointwiseOps][kComputes];
  Tile tiles_of_numbers[kPointwiseOps][kComputes];  // all operands but the first are numbers; nullptr: there is none
};

/// to[i] = from[i * stride], converted to a compute type.
using Pack = void (*)(void* to, const void* from, int64_t stride, int64_t n);
/// to[i * stride] = from[i], converted from a compute type.
using Unpack = void (*)(void* to, int64_t stride, const void* from, int64_t n);
/// to[r * to_stride + c] = from[c * from_stride + r], for `rows` r and `columns` c.
using Transpose = void (*)(void* to, int64_t to_stride, const void* from, int64_t from_stride, int64_t rows, int64_t columns);
/// to[i] = from[n - 1 - i]; the two don't overlap.
using Reverse = void (*)(void* to, const void* from, int64_t n);
struct ConversionFunctions {
  Pack pack[kDTypes][kComputes];
  Unpack unpack[kComputes][kDTypes];
  Transpose transpose[2];  // of 4 and of 8 bytes
  Reverse reverse[4];      // of 1, 2, 4 and 8 bytes
  /// Whether n indices all lie in [0, size).
  bool (*all_within)(const int64_t* index, int64_t n, int64_t size);

  [[nodiscard]] Pack pack_to(Compute to, DType from) const { return pack[static_cast<int>(from)][to]; }
  [[nodiscard]] Unpack unpack_from(Compute from, DType to) const { return unpack[from][static_cast<int>(to)]; }
};

/// One reduction over one compute type. Totals are double for float and double, int64 for int64: a total is exact in both, or has digits to
/// spare.
struct Reducer {
  /// *total = the reduction of n contiguous elements, n >= 1.
  void (*row)(void* total, const void* in, int64_t n);
  /// block[i] = the reduction over `rows` rows, `stride` elements apart, of n columns; together with what block has, unless `first`. Of the
  /// compute type, so take few rows at a time and absorb them.
  void (*columns)(void* block, const void* in, int64_t stride, int64_t rows, int64_t n, bool first);
  /// totals[i] = totals[i] combined with block[i], or block[i] where `first`.
  void (*absorb)(void* totals, const void* block, int64_t n, bool first);
  /// totals[i] = totals[i] combined with others[i].
  void (*combine)(void* totals, const void* others, int64_t n);
};
inline constexpr int kReductions = static_cast<int>(Reduce::CountNonzero) + 1;
struct ReductionFunctions {
  Reducer reduce[kReductions][kComputes];
  /// The sums of x - center and of its square over n contiguous floats or doubles, added to sums[0] and sums[1].
  void (*deviations[2])(double* sums, const void* in, double center, int64_t n);
};

/// Random numbers (kernels/random.h).
struct RandomFunctions {
  void (*philox)(uint32_t* words, uint64_t seed, uint64_t counter, int64_t counters);  // 4 words a counter
  void (*uniform)(float* out, const uint32_t* words, int64_t n, int bits, float a, float b);
  void (*normal)(float* out, const uint32_t* words, int64_t n, float mean, float deviation);  // n even
  void (*exponential)(float* out, const uint32_t* words, int64_t n, float scale);
  void (*bernoulli)(float* out, const uint32_t* words, int64_t n, uint64_t threshold);
  void (*dropout)(float* out, uint8_t* mask, const float* in, const uint32_t* words, int64_t n, uint64_t threshold, float scale);
};

/// Functions over rows of n contiguous elements of one type; strides in elements, from row to row. `out` may be an input.
struct RowFunctions {
  void (*softmax)(void* out, int64_t out_stride, const void* in, int64_t in_stride, int64_t rows, int64_t n);
  void (*log_softmax)(void* out, int64_t out_stride, const void* in, int64_t in_stride, int64_t rows, int64_t n);
  void (*softmax_backward)(void* out, int64_t out_stride, const void* grad, int64_t grad_stride, const void* y, int64_t y_stride,
                           int64_t rows, int64_t n);
  void (*log_softmax_backward)(void* out, int64_t out_stride, const void* grad, int64_t grad_stride, const void* y, int64_t y_stride,
                               int64_t rows, int64_t n);
  // Parts of a row, for rows that are taken in pieces. `shift`, `sum`, `factor`: one element of the type.
  double (*max)(const void* in, int64_t n);                                    // of those that are not nan; -inf without any
  double (*exp_sum)(const void* in, int64_t n, double shift);                  // sum of exp(in - shift)
  double (*exp_with_sum)(void* out, const void* in, int64_t n, double shift);  // out = exp(in - shift), and its sum
  double (*sum)(const void* in, int64_t n);
  double (*dot)(const void* a, const void* b, int64_t n);
  void (*exp_scaled)(void* out, const void* in, int64_t n, double shift, double factor);            // exp(in - shift) * factor
  void (*subtract)(void* out, const void* in, int64_t n, double shift, double more);                // (in - shift) - more
  void (*softmax_gradient)(void* out, const void* grad, const void* y, int64_t n, double dot);      // y (grad - dot)
  void (*log_softmax_gradient)(void* out, const void* grad, const void* y, int64_t n, double sum);  // grad - exp(y) sum
  // Normalization. `weight` and `bias` have n elements or are nullptr (1 and 0); `mean`, `factor`: one element of the type.
  /// out = (in - mean) * factor * weight + bias + shift.
  void (*normalize)(void* out, const void* in, int64_t n, double mean, double factor, const void* weight, const void* bias, double shift);
  /// sums[0] += grad * weight, sums[1] += grad * weight * (in - mean), over n elements.
  void (*normalize_sums)(double* sums, const void* grad, const void* in, int64_t n, double mean, const void* weight);
  /// out = (grad * weight - shift) * factor - (in - mean) * slope; without weight all have `scale`.
  void (*normalize_gradient)(void* out, const void* grad, const void* in, int64_t n, double mean, const void* weight, double scale,
                             double shift, double factor, double slope);
  /// weights[i] += grad[i] * (in[i] - mean) * factor, biases[i] += grad[i].
  void (*normalize_parameters)(void* weights, void* biases, const void* grad, const void* in, int64_t n, double mean, double factor);
};

/// The numbers of an Adam step that are the same for all elements of a parameter.
struct AdamStep {
  double decay;         // what the parameter is multiplied by first (1: nothing)
  double weight_decay;  // times the parameter, added to the gradient
  double sign;          // -1 where maximizing
  double beta1, beta2;
  double step_size;              // lr / (1 - beta1^step)
  double bias_correction2_sqrt;  // sqrt(1 - beta2^step)
  double eps;
};

/// Optimizers over n elements of float or double.
struct OptimizerFunctions {
  void (*sgd)(void* parameter, const void* gradient, void* momentum, int64_t n, const SgdSettings& settings, bool first);
  void (*adam)(void* parameter, const void* gradient, void* mean, void* square, void* max_square, int64_t n, const AdamStep& step);
  /// data: the parameter, its gradient, and the states that the step has.
  void (*step)(OptimizerStep step, void* const* data, int64_t n, const StepParameter& parameter);
  double (*sum_of_squares)(const void* in, int64_t n);
  void (*scale)(void* values, int64_t n, double factor);
};

/// A row of a GRU's step, addresses of n contiguous floats or doubles: gates are reset, update, new. No two overlap, but for what is read
/// and written element by element: `active`, `h` and what they are made from may be the same.
struct GruRow {
  void *h, *active[4];  // the fourth: the state's part of the new gate
  const void *from_input[3], *from_hidden[3], *before;
};
struct GruRowGradient {
  void *from_input[3], *from_hidden[3], *previous;
  const void *grad, *active[4], *before;
};
struct RecurrentFunctions {
  void (*gru)(const GruRow& row, int64_t n);
  void (*gru_backward)(const GruRowGradient& row, int64_t n);
};

/// out (m, n) = a (m, k) b (k, n) on the calling thread; strides in elements, out's rows are contiguous.
template <class T>
struct DenseProduct {
  T* out;
  const T *a, *b;
  int64_t m, n, k;
  int64_t out_row, a_row, a_column, b_row, b_column;
};
/// Lines of an operand of a product, a's rows or b's columns; strides in elements.
template <class T>
struct ProductLines {
  const T* data;
  int64_t line, element;
};
/// out (m, n) = a (m, k) b (k, n) on the calling thread, m at most kPackedRows, where b has been packed.
template <class T>
struct PackedProduct {
  T* out;
  ProductLines<T> a;
  const T* b;
  int64_t m, n, k;
  int64_t out_row;
};
/// For float or double.
template <class T>
struct ProductFunctionsOf {
  void (*rows)(const DenseProduct<T>& p);                 // b's rows are contiguous: outer products, for small ones and few rows
  void (*add_rows)(const DenseProduct<T>& p);             // the same, added to what out has
  void (*columns)(const DenseProduct<T>& p);              // b's columns and a's rows are contiguous: inner products, likewise
  void (*blocked)(const DenseProduct<T>& p, T* scratch);  // large ones, any strides; kProductScratch elements
  int64_t (*panel)();                                     // b is packed in panels of so many columns, each with all of k:
  void (*pack)(T* to, const ProductLines<T>& b, int64_t columns, int64_t k);
  void (*packed)(const PackedProduct<T>& p, T* scratch);  // kPackedScratch elements
  /// to[r][c] = from[c][r]; rows of `to` and of `from` are contiguous.
  void (*transpose)(T* to, int64_t to_row, const T* from, int64_t from_column, int64_t rows, int64_t columns);
};
/// Rows of a, in panels of kPackedPanel, and terms that are packed at a time.
inline constexpr int64_t kPackedPanel = 6, kPackedRows = 20 * kPackedPanel, kPackedDepth = 256, kPackedScratch = kPackedRows * kPackedDepth;
/// Of what `blocked` packs.
inline constexpr int64_t kProductDepth = 128, kProductColumns = 512, kProductScratch = (kPackedRows + kProductColumns) * kProductDepth;
/// How long the stretches are that cut `size` evenly into as few as there must be of at most `most`; a multiple of `unit`, as `most` is.
constexpr int64_t stretch_of(int64_t size, int64_t most, int64_t unit) {
  const int64_t count = (size + most - 1) / most;
  return ((size + count - 1) / count + unit - 1) / unit * unit;
}

struct ProductFunctions {
  ProductFunctionsOf<float> of_float;
  ProductFunctionsOf<double> of_double;
  bool (*are_fastest)();  // whether oneDNN's large products of floats are no better
  /// out[i][j] = activation(alpha * in[i][j] + beta * bias[i][j]) over rows of n; bias may be nullptr, has strides.
  void (*epilogue)(float* out, int64_t out_row, const float* in, int64_t in_row, int64_t m, int64_t n, const float* bias, int64_t bias_row,
                   int64_t bias_column, const Epilogue& epilogue);

  template <class T>
  [[nodiscard]] const ProductFunctionsOf<T>& of() const {
    if constexpr (sizeof(T) == 8) return of_double;
    else return of_float;
  }
};

/// What n outputs of a row see through their windows: taps[k][i] is what output i sees at place k.
struct Taps {
  const void* const* taps;
  const int64_t* places;  // of what the first output sees, in its volume
  int64_t count, step;    // of places from an output to the next
};

/// For each compute type. Whole vectors of taps are read, and of `first`: the places that are named before anything is found.
struct WindowFunctions {
  void (*max[kComputes])(void* values, int64_t* indices, const int64_t* first, const Taps& taps, int64_t n);  // indices: or nullptr
  void (*sum[kComputes])(void* values, const Taps& taps, int64_t n);
  /// even[i] = from[2 i], odd[i] = from[2 i + 1] for n of each.
  void (*deinterleave)(float* even, float* odd, const float* from, int64_t n);

  // Windows of 2x2 side by side: output i sees the elements 2 i and 2 i + 1 of two rows.
  /// `place`: of the first element, in its plane with rows of `width`; indices: or nullptr.
  void (*max_pairs)(float* values, int64_t* indices, const float* upper, const float* lower, int64_t place, int64_t width, int64_t n);
  /// Sums divided by `by`.
  void (*mean_pairs)(float* values, const float* upper, const float* lower, float by, int64_t n);
  /// The gradient of that: from[i] divided by `by` to all four.
  void (*spread_pairs)(float* upper, float* lower, const float* from, float by, int64_t n);
};

// Of many images: a vector holds the same element of as many as it has lanes. Places and taps are distances in floats: what window p sees
// as its element k is in[places[p] + taps[k]].

/// out[r][p] = sum over k of weight[k][r] * in[places[p] + taps[k]], and the bias of row r where it starts, else what out has.
struct ImageSums {
  float* out;  // rows of `count` vectors
  const float *in, *weight, *bias;
  const int64_t *places, *taps;
  int64_t rows, count, terms, out_row;
  bool start;
};
/// in[places[p] + taps[r]] += sum over k of weight[k][r] * out[k][p].
struct ImageSpread {
  float* in;
  const float *out, *weight;
  const int64_t *places, *taps;
  int64_t rows, count, terms, out_row;
};
/// sums[r][k] += sum over the lanes and p of out[r][p] * in[places[p] + taps[k]].
struct ImageProducts {
  float* sums;
  const float *out, *in;
  const int64_t *places, *taps;
  int64_t rows, count, terms, out_row, sums_row;
};
struct ImageFunctions {
  int64_t (*lanes)();
  int64_t (*rows)();  // the most that a call takes
  /// to[i * lanes + l] = from[l * image + i] for n elements of `images` images, up to `lanes`; 0 in the lanes that have none.
  void (*interleave)(float* to, const float* from, int64_t image, int64_t images, int64_t n);
  /// to[l * image + i] = from[i * lanes + l].
  void (*deinterleave)(float* to, int64_t image, const float* from, int64_t images, int64_t n);
  void (*sums)(const ImageSums& sums);
  void (*spread)(const ImageSpread& spread);
  void (*products)(const ImageProducts& products);
};

/// Tiles of Winograd's algorithm, for as many channels as a vector has lanes. Distances in floats: places lie in rows, from tile to tile
/// `next` apart, the 36 values that they become `step` apart, from tile to tile `tile`.
struct WinogradTiles {
  float *values, *places;
  int64_t step, tile, row, column, next, count;
  const float* bias = nullptr;   // of the result, a vector
  int64_t copies = 1, copy = 0;  // sums of products may be in parts, `copy` apart: they are added up
};
/// Those that make values say whether a tile has a place of magnitude `large` or more, or nan: always where it has, never where all are
/// below a sixth of that.
struct WinogradFunctions {
  bool (*input)(const WinogradTiles& t, float large);     // 6x6 places of an image to values
  void (*output)(const WinogradTiles& t);                 // sums of products of values to 4x4 places of the result
  bool (*weight)(const WinogradTiles& t, float large);    // 3x3 elements of a window to values
  bool (*gradient)(const WinogradTiles& t, float large);  // 4x4 places of the result's gradient to values, for the gradient of the weight
  void (*weight_gradient)(const WinogradTiles& t);        // sums of products of these to 3x3 elements of the weight's gradient
};

/// Along n contiguous elements. Sums: of floats or doubles, in double.
struct ScanFunctions {
  /// out[i] = before + in[0] + … + in[i].
  void (*running_sum[2])(void* out, const void* in, int64_t n, double before);
  double (*sum[2])(const void* in, int64_t n);
  /// The first element of a compute type that equals `value`, or that is nan where `value` is; n where none does.
  int64_t (*find[kComputes])(const void* in, int64_t n, const void* value);
};

/// All tables of an instruction set.
struct Isa {
  const char* name;
  PointwiseFunctions pointwise;
  ConversionFunctions conversions;
  ReductionFunctions reductions;
  RandomFunctions random;
  RowFunctions rows[2];              // float, double
  OptimizerFunctions optimizers[2];  // float, double
  RecurrentFunctions recurrent[2];   // float, double
  ProductFunctions products;
  WindowFunctions windows;
  ImageFunctions images;
  WinogradFunctions winograd;
  ScanFunctions scans;
};

/// The tables of the chosen set: the best that the processor has, or TANDEM_ISA (baseline, avx2, avx512).
const Isa& isa();

// Tables of the chosen set for a type: T is a compute type, in rows and products float or double.
template <class T>
Pack pack_to(DType from) {
  return isa().conversions.pack_to(compute_of(dtype_of<T>()), from);
}
template <class T>
Unpack unpack_from(DType to) {
  return isa().conversions.unpack_from(compute_of(dtype_of<T>()), to);
}
template <class T>
Tile tile_of(PointwiseOp op) {
  return isa().pointwise.tiles[static_cast<int>(op)][compute_of(dtype_of<T>())];
}
template <class T>
const RowFunctions& row_functions() {
  return isa().rows[sizeof(T) == 8];
}
template <class T>
const ProductFunctionsOf<T>& product_functions() {
  return isa().products.of<T>();
}

}  // namespace tandem::kernels::cpu
