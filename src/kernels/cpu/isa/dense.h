// Loops over dense memory that are compiled once per instruction set and are not pointwise: random numbers, rows of a softmax, optimizer
// steps, small products. As in isa.h, each set's files fill a table; `dense()` is the table of the set that isa() names.
#pragma once

#include "kernels/cpu/isa/isa.h"

namespace tandem::kernels::cpu {

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

/// out (m, n) = a (m, k) b (k, n) on the calling thread; strides in elements, out's rows are contiguous.
template <class T>
struct DenseProduct {
  T* out;
  const T *a, *b;
  int64_t m, n, k;
  int64_t out_row, a_row, a_column, b_row, b_column;
};
template <class T>
struct ProductFunctions {
  void (*rows)(const DenseProduct<T>& p);                 // b's rows are contiguous: outer products, for small ones and few rows
  void (*add_rows)(const DenseProduct<T>& p);             // the same, added to what out has
  void (*columns)(const DenseProduct<T>& p);              // b's columns and a's rows are contiguous: inner products, likewise
  void (*blocked)(const DenseProduct<T>& p, T* scratch);  // b's rows or columns are contiguous; kProductScratch elements
  /// to[r][c] = from[c][r]; rows of `to` and of `from` are contiguous.
  void (*transpose)(T* to, int64_t to_row, const T* from, int64_t from_column, int64_t rows, int64_t columns);
};
inline constexpr int64_t kProductDepth = 128, kProductColumns = 512, kProductScratch = kProductDepth * kProductColumns;

/// What n outputs of a row see through their windows: taps[k][i] is what output i sees at place k.
struct Taps {
  const void* const* taps;
  const int64_t* places;  // of what the first output sees, in its volume
  int64_t count, step;    // of places from an output to the next
};

struct Dense {
  // Random numbers (kernels/random.h).
  void (*philox)(uint32_t* words, uint64_t seed, uint64_t counter, int64_t counters);  // 4 words a counter
  void (*uniform)(float* out, const uint32_t* words, int64_t n, int bits, float a, float b);
  void (*normal)(float* out, const uint32_t* words, int64_t n, float mean, float deviation);  // n even
  void (*exponential)(float* out, const uint32_t* words, int64_t n, float scale);
  void (*bernoulli)(float* out, const uint32_t* words, int64_t n, uint64_t threshold);
  void (*dropout)(float* out, uint8_t* mask, const float* in, const uint32_t* words, int64_t n, uint64_t threshold, float scale);

  RowFunctions rows[2];  // float, double

  // Optimizers over n elements of float (0) or double (1).
  void (*sgd[2])(void* parameter, const void* gradient, void* momentum, int64_t n, const SgdSettings& settings, bool first);
  void (*adam[2])(void* parameter, const void* gradient, void* mean, void* square, void* max_square, int64_t n, const AdamStep& step);
  /// data: the parameter, its gradient, and the states that the step has.
  void (*optimizer_step[2])(OptimizerStep step, void* const* data, int64_t n, const StepParameter& parameter);
  double (*sum_of_squares[2])(const void* in, int64_t n);
  void (*scale[2])(void* values, int64_t n, double factor);

  // Windows, for each compute type. Whole vectors of taps are read, and of `first`: the places that are named before anything is found.
  void (*window_max[kComputes])(void* values, int64_t* indices, const int64_t* first, const Taps& taps, int64_t n);  // indices: or nullptr
  void (*window_sum[kComputes])(void* values, const Taps& taps, int64_t n);
  /// even[i] = from[2 i], odd[i] = from[2 i + 1] for n of each.
  void (*deinterleave)(float* even, float* odd, const float* from, int64_t n);

  // Products.
  ProductFunctions<float> single_products;
  ProductFunctions<double> double_products;
  /// out[i][j] = activation(alpha * in[i][j] + beta * bias[i][j]) over rows of n; bias may be nullptr, has strides.
  void (*epilogue)(float* out, int64_t out_row, const float* in, int64_t in_row, int64_t m, int64_t n, const float* bias, int64_t bias_row,
                   int64_t bias_column, const Epilogue& epilogue);
};

const Dense& dense();

}  // namespace tandem::kernels::cpu
