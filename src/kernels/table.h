// The whole contract between operations and a backend: every kernel, once. A backend fills a table; an empty entry is a clear error.
//
// Entries return nothing, take values, views and spans, never throw, and allocate nothing: scratch comes from the caller, sized by the
// workspace query beside the entry, which may say 0. Trouble goes to queue.status. Shapes and dtypes have been checked by the operation.
// "Rows" are all dimensions but the last. Unless said otherwise every entry takes any strides, all dtypes, and empty views.
#pragma once

#include "base/queue.h"
#include "kernels/optimizer_steps.h"
#include "kernels/pointwise_call.h"
#include "kernels/view.h"

namespace tandem::kernels {

enum class Reduce : uint8_t { Sum, Mean, Prod, Max, Min, Any, All, Norm1, Norm2, NormInf, SumOfSquares, CountNonzero };
enum class Random : uint8_t { Uniform, Normal, Exponential, Bernoulli, Integers };
enum class Scan : uint8_t { Sum, Prod, LogSumExp };
enum class Scatter : uint8_t { Set, Add, Multiply, Max, Min };
enum class Activation : uint8_t { None, Relu, Tanh, Sigmoid, Gelu };  // Gelu: by tanh
enum class Padding : uint8_t { Constant, Reflect, Replicate, Circular };
enum class ConvolutionPart : uint8_t { Forward, Input, Weight };

enum class Decomposition : uint8_t { Cholesky, Lu, Qr, Eigh, Svd };
enum class Solver : uint8_t { UpperTriangle, LowerTriangle, UpperUnitTriangle, LowerUnitTriangle, Lu };
enum class GridMode : uint8_t { Bilinear, Nearest, Bicubic };
enum class GridPadding : uint8_t { Zeros, Border, Reflection };
enum class BagMode : uint8_t { Sum, Mean, Max };
enum class RecurrentCell : uint8_t { Tanh, Relu, Lstm, Gru };

/// How a grid's points are read.
struct GridSample {
  GridMode mode = GridMode::Bilinear;
  GridPadding padding = GridPadding::Zeros;
  bool align_corners = false;
};

/// What follows a product: out = activation(alpha * a b + beta * bias).
struct Epilogue {
  Activation activation = Activation::None;
  double alpha = 1, beta = 1;
};

/// Windows that slide over three spatial dimensions; leading ones that are not needed have size, kernel, stride and dilation 1.
struct Windows {
  int64_t kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1}, padding[3] = {}, dilation[3] = {1, 1, 1};
};
struct Pooling {
  Windows windows;
  bool adaptive = false;  // windows [o * in / out, ceil((o + 1) * in / out)) instead
  bool count_include_pad = true;
  int64_t divisor = 0;  // of an average, 0: the size of the window
};

/// How queries look at keys: weights = dropout(softmax(scale q kᵀ + mask)).
struct Attention {
  double scale = 1;
  bool causal = false;  // query i sees keys 0 … i
  double dropout = 0;   // weight e of (b, h, m, n), flattened, is dropped as `dropout` would drop element e
  uint64_t seed = 0, offset = 0;
};

/// Recurrent layers, one above the other; with `bidirectional` each runs in both directions.
struct RecurrentLayers {
  RecurrentCell cell = RecurrentCell::Tanh;
  int32_t layers = 1;
  bool bidirectional = false, biases = true;
};
/// Bytes that recurrent layers want: scratch for a call, and what forward keeps for backward.
struct RecurrentMemory {
  size_t workspace = 0, reserve = 0;
};

/// One parameter of a fused optimizer step. Contiguous, of one floating dtype; unused fields are nullptr.
struct SgdParameter {
  void *parameter, *gradient, *momentum;
  int64_t numel;
  DType dtype;
  bool first;  // the momentum buffer is to be set, not updated
};
struct SgdSettings {
  double lr = 0, momentum = 0, dampening = 0, weight_decay = 0;
  bool nesterov = false, maximize = false;
};
struct AdamParameter {
  void *parameter, *gradient, *mean, *square, *max_square;
  int64_t numel;
  DType dtype;
  int64_t step;  // counts from 1
};
struct AdamSettings {
  double lr = 0, beta1 = 0, beta2 = 0, eps = 0, weight_decay = 0;
  bool decoupled = false;  // AdamW: decay the parameter, not the gradient
  bool maximize = false;
};

struct Table {
  // --- Filling and moving
  /// out[i] = value.
  void (*fill)(const Queue&, Out out, Value value);
  /// out[i] = convert(in[i]); same sizes, any two dtypes. in's strides may be negative.
  void (*copy)(const Queue&, Out out, View in);
  /// out[i] = start + i * step over a contiguous 1-D out (integers exactly).
  void (*arange)(const Queue&, Out out, Value start, Value step);
  /// out[i] = start + i * (end - start) / (n - 1), taken from the nearer end, over a contiguous 1-D out.
  void (*linspace)(const Queue&, Out out, double start, double end);

  // --- Pointwise: every row of pointwise.def
  void (*pointwise)(const Queue&, Pointwise call);

  // --- Random numbers: Philox 4x32-10 with key `seed`; element i of a contiguous out takes its number from counter offset + i / 4 (see
  // random.h).
  /// Uniform in [a, b), normal with mean a and deviation b, exponential with rate a, Bernoulli with probability a, integers in [a, b).
  void (*random)(const Queue&, Out out, Random kind, double a, double b, uint64_t seed, uint64_t offset);
  /// out[i] = 1 with probability probability[i]; contiguous.
  void (*bernoulli)(const Queue&, Out out, View probability, uint64_t seed, uint64_t offset);
  /// A permutation of 0 … n-1 in a contiguous 1-D int64 out.
  void (*randperm)(const Queue&, Out out, uint64_t seed, uint64_t offset);
  /// Dropout: mask[i] (bool) = kept with probability 1-p; out[i] = kept ? in[i] / (1-p) : 0. Contiguous; out may be in.
  void (*dropout)(const Queue&, Out out, Out mask, View in, double p, uint64_t seed, uint64_t offset);

  // --- Reductions: `in` has the kept dimensions first, then `reduced` dimensions to reduce; out has the kept sizes.
  /// Sums in the order of fixed pieces, so the result does not depend on the number of threads. in.dtype may differ from out.dtype (then
  /// converted first). Empty reductions give the neutral element (0, 1, -inf, inf, nan for Mean).
  void (*reduce)(const Queue&, Reduce op, Out out, View in, int32_t reduced, void* workspace);
  /// Largest (or smallest) element and its first index (int64) among the flattened reduced dimensions; nan wins. `values` may have no data.
  void (*arg_reduce)(const Queue&, bool largest, Out values, Out indices, View in, int32_t reduced, void* workspace);
  /// Mean and sum of squared deviations divided by max(0, n - correction); `mean` may have no data. Floating dtypes.
  void (*variance)(const Queue&, Out variance, Out mean, View in, int32_t reduced, double correction, void* workspace);
  /// The bytes that each of the three above wants.
  size_t (*reduce_workspace)(const View& in, int32_t reduced);
  /// Running totals along the last dimension; out has the dtype of in. LogSumExp: floating dtypes.
  void (*scan)(const Queue&, Scan op, Out out, View in);
  /// The largest (or smallest) element so far along the last dimension and where it is (int64), the latest of those that tie; nan wins.
  void (*scan_extreme)(const Queue&, bool largest, Out values, Out indices, View in);
  /// out[i] = factor[i] * out[i - 1] + in[i] along the last dimension, out[-1] being 0. One floating dtype.
  void (*recurrence)(const Queue&, Out out, View factor, View in);
  /// The last dimension in order, stable; nan is largest. indices (int64) say where each came from. workspace: sort_workspace(in) bytes.
  void (*sort)(const Queue&, Out values, Out indices, View in, bool descending, void* workspace);
  size_t (*sort_workspace)(const View& in);
  /// What sort would put at first, first + 1, … of each row: as many as values has columns. The same workspace.
  void (*sort_part)(const Queue&, Out values, Out indices, View in, bool descending, int64_t first, void* workspace);
  /// The order (int64) of the rows of a 2-D `in` when compared element by element; stable.
  void (*sort_rows)(const Queue&, Out order, View in);
  /// Where each of `values` (rows, m) would go into the ascending row (rows, n) of `sorted`: before those equal to it, or after (`right`).
  /// `order`, where it has data, says at which place of the row each element is found. One dtype; out is int32 or int64.
  void (*searchsorted)(const Queue&, Out out, View sorted, View values, View order, bool right);

  // --- Products: out (batch…, m, n) = activation(alpha * a (batch…, m, k) b (batch…, k, n) + beta * bias); bias may have no data, else it
  // broadcasts to out and may be out itself. workspace: matmul_workspace(…) bytes. Floating and integer dtypes; half types accumulate in
  // float32.
  void (*matmul)(const Queue&, Out out, View a, View b, View bias, Epilogue epilogue, void* workspace);
  size_t (*matmul_workspace)(const View& out, const View& a, const View& b, const View& bias, const Epilogue& epilogue);

  // --- Windows. Spatial tensors are (n, c, d, h, w).
  /// Convolutions of in (n, c, d, h, w) with weight (o, c / groups, kd, kh, kw) to out (n, o, …); bias (o) may have no data. All are
  /// contiguous, not empty, of one dtype but bool (sums in float32 or wider, integers wrapping). workspace: convolution_workspace(…) bytes.
  void (*convolution)(const Queue&, Out out, View in, View weight, View bias, Windows windows, int64_t groups, void* workspace);
  /// The gradient of the input, given that of out; also the transposed convolution.
  void (*convolution_input)(const Queue&, Out in, View out, View weight, Windows windows, int64_t groups, void* workspace);
  /// The gradient of the weight, summed in the order of fixed pieces.
  void (*convolution_weight)(const Queue&, Out weight, View out, View in, Windows windows, int64_t groups, void* workspace);
  size_t (*convolution_workspace)(ConvolutionPart part, const View& out, const View& in, const View& weight, const Windows& windows,
                                  int64_t groups, bool bias);
  /// out (n, c, kd, kh, kw, od, oh, ow) = what each window sees of in; 0 in the padding.
  void (*unfold)(const Queue&, Out out, View in, Windows windows);
  /// The reverse: out (n, c, d, h, w) = the sums of what the windows of in have at each place.
  void (*fold)(const Queue&, Out out, View in, Windows windows);
  /// The largest element of each window (nan wins) and where it lies in its (d, h, w) volume, flattened (the first; int64). `indices` may
  /// have no data. out and indices are contiguous.
  void (*max_pool)(const Queue&, Out out, Out indices, View in, Pooling pooling);
  /// The mean of each window, or its sum divided by `divisor`. out is contiguous. Floating dtypes and int64.
  void (*avg_pool)(const Queue&, Out out, View in, Pooling pooling);
  /// The gradient of its input: out (n, c, d, h, w), contiguous.
  void (*avg_pool_backward)(const Queue&, Out out, View grad, Pooling pooling);
  /// out is `in` with `before` elements more in front of each dimension (less where negative), and as many more behind as its size asks
  /// for: `value`, or elements of `in`, mirrored, repeated or from the other end.
  void (*pad)(const Queue&, Out out, View in, Span<int64_t> before, Padding mode, Value value);
  /// The gradient of its input, for the modes but Constant. out is contiguous.
  void (*pad_backward)(const Queue&, Out out, View grad, Span<int64_t> before, Padding mode);

  // --- Linear algebra: batches of matrices, which are the last two dimensions; float32 and float64. a and b below have as many batch
  // dimensions as `in`. workspace: as many bytes as the query says. Library where there is no LAPACK.
  /// Cholesky: a = L of L Lᵀ, from in's lower triangle; NotPositive. Lu: a = L and U in one matrix, b = the rows swapped (int32, from 1),
  /// c = 1 or -1, the determinant of these swaps; Singular where `strict`. Qr: a = Q (m, q), b = R (q, n), q = m or min(m, n).
  /// Eigh: a = eigenvalues in ascending order, b = eigenvectors or no data, from in's lower triangle; NoConvergence. Svd: a = U (m, u), b =
  /// the singular values, c = Vᵀ (v, n), all of them or min(m, n); a and c may have no data; NoConvergence.
  void (*decompose)(const Queue&, Decomposition kind, Out a, Out b, Out c, View in, bool strict, void* workspace);
  size_t (*decompose_workspace)(Decomposition kind, const View& a, const View& c, const View& in);
  /// out (n, k) = x of a x = b: a (n, n) a triangle, of which only that part is read, or what Lu gave, with its `pivots`.
  void (*solve)(const Queue&, Solver kind, Out out, View a, View pivots, View b, void* workspace);
  size_t (*solve_workspace)(const View& a, const View& b);

  // --- Softmax over the last dimension; floating dtypes, accumulated in float32 or wider.
  void (*softmax)(const Queue&, Out out, View in);
  void (*log_softmax)(const Queue&, Out out, View in);
  /// out = y * (grad - sum(grad * y)).
  void (*softmax_backward)(const Queue&, Out out, View grad, View y);
  /// out = grad - exp(y) * sum(grad).
  void (*log_softmax_backward)(const Queue&, Out out, View grad, View y);
  /// Cross-entropy with class indices: log_probabilities (n, c) = log_softmax(logits); losses[r] = -weight[t] * (…) with label smoothing; 0
  /// where target[r] == ignore; weights[r] = weight[t] or 0. `weight` may have no data. IndexOutOfRange for a target outside [0, c).
  void (*cross_entropy)(const Queue&, Out losses, Out weights, Out log_probabilities, View logits, View target, View weight, int64_t ignore,
                        double smoothing);
  /// out (n, c) = scale[r] * d losses[r] / d logits, from the log-probabilities; scale (n) broadcasts.
  void (*cross_entropy_backward)(const Queue&, Out out, View scale, View log_probabilities, View target, View weight, int64_t ignore,
                                 double smoothing);

  /// Connectionist temporal classification: losses (n) and the forward sums alpha (n, t, places) of log_probs (t, n, c) in float or double,
  /// any strides; int64 labels in one row, rows (n, 3) int64 = steps, labels and where they begin. IndexOutOfRange for a label outside
  /// [0, c). All but log_probs contiguous.
  void (*ctc_loss)(const Queue&, Out losses, Out alpha, View log_probs, View targets, View rows, int64_t blank);
  /// grad (t, n, c) = scale[n] * d losses[n] / d logits under a log_softmax; beta (n, 2 places + c) is scratch, scale (n) has any stride. 0
  /// past a sequence's steps, and with zero_infinity for infinite losses.
  void (*ctc_loss_backward)(const Queue&, Out grad, Out beta, View scale, View log_probs, View targets, View rows, View alpha,
                            int64_t blank, bool zero_infinity);
  // --- Normalization of rows, floating dtypes. `in` is (rows, runs, length): a row is everything but its first dimension. `weight` and
  // `bias` are (groups, runs), row r takes those of group r % groups; both may have no data. mean and variance (rows) are float32, or
  // float64 for float64. Where mean has no data, rows are not centered and variance is the mean of their squares.
  /// out = (in - mean) / sqrt(variance + eps) * weight + bias; mean and variance are written too.
  void (*normalize)(const Queue&, Out out, Out mean, Out variance, View in, View weight, View bias, double eps);
  /// The gradient of `in`.
  void (*normalize_backward)(const Queue&, Out out, View grad, View in, View mean, View variance, View weight, double eps);
  /// The gradients of weight and bias, (groups, runs) of the dtype of mean.
  void (*normalize_parameters)(const Queue&, Out weight, Out bias, View grad, View in, View mean, View variance, double eps);

  // --- Resampling and looking up
  /// out (outer, m, inner) = sums of weights[t] * in[., indices[t], .] over t in [starts[i], starts[i + 1]), for (outer, n, inner) in.
  /// starts (m + 1) and indices int64, weights float64. in and out of one dtype, float32 or float64. All contiguous.
  void (*resample)(const Queue&, Out out, View in, View starts, View indices, View weights);
  /// out (n, c, places…) = `in` (n, c, sizes…) read at the points of grid (n, places…, 2 or 3), x first, in [-1, 1]. One floating dtype, in
  /// whose precision all is computed; in, grid and out contiguous.
  void (*grid_sample)(const Queue&, Out out, View in, View grid, GridSample how);
  /// Its gradients; either may have no data. Contiguous.
  void (*grid_sample_backward)(const Queue&, Out in_grad, Out grid_grad, View grad, View in, View grid, GridSample how);
  /// out (bags, width) = for each bag the sum, mean or largest of the rows of `table` at its indices; bag b is [offsets[b], offsets[b + 1])
  /// of the 1-D int64 indices, the last one ends with them where offsets has `bags` elements. weights (one an index) may have no data.
  /// Indices equal to `padding` do not count. bag_of (one an index) = its bag, counts (bags) = how many count, both int64; chosen (bags,
  /// width), for Max only: the row that each element came from, -1 in an empty bag.
  void (*embedding_bag)(const Queue&, Out out, Out bag_of, Out counts, Out chosen, View table, View indices, View offsets, View weights,
                        BagMode mode, int64_t padding);

  // --- Recurrent cells, one step: floating dtypes, rows of any stride with contiguous elements. An element is read before its place is
  // written: outputs may lie where inputs of the same size do (as `active` on gates, a gradient on `active`).
  /// gates (rows, 4 n), in the order input, forget, cell, output: h = o * tanh(c'), c' = f * c + i * g; the activated ones go to `active`.
  void (*lstm_cell)(const Queue&, Out h, Out c, Out active, View gates, View previous);
  /// The gradients of gates and of the previous c from those of h and c' (which may have no data).
  void (*lstm_cell_backward)(const Queue&, Out gates, Out previous_grad, View h_grad, View c_grad, View active, View c, View previous);
  /// from_input and from_hidden (rows, 3 n), in the order reset, update, new: h' = (1 - z) * tanh(i_n + r * h_n) + z * h; r, z, n and h_n
  /// go to `active` (rows, 4 n).
  void (*gru_cell)(const Queue&, Out h, Out active, View from_input, View from_hidden, View previous);
  void (*gru_cell_backward)(const Queue&, Out input_grad, Out hidden_grad, Out previous_grad, View grad, View active, View previous);

  // --- Whole recurrent layers, floating dtypes: in (t, n, input), out (t, n, directions * hidden), h0, c0, h and c (layers * directions,
  // n, hidden), `weights` for each layer and direction w_ih, w_hh and, with biases, b_ih and b_hh, gates in the order of the cells above.
  // c's are an LSTM's, else without data. All contiguous, of one dtype, none empty.
  /// `reserve` (bytes, contiguous) keeps what recurrent_backward wants; no data where there will be none. Both calls take memory of the
  /// sizes that one call of recurrent_memory said; that of `reserve` may be 0.
  void (*recurrent)(const Queue&, Out out, Out h, Out c, Out reserve, View in, View h0, View c0, Span<View> weights, RecurrentLayers layers,
                    void* workspace);
  /// The gradients, from those of out, h and c (the last two may have no data). `reserve` is used up. All are written, not added to; those
  /// that nobody wants have no data.
  void (*recurrent_backward)(const Queue&, Out in_grad, Out h0_grad, Out c0_grad, Span<Out> weight_grads, Out reserve, View grad,
                             View h_grad, View c_grad, View in, View out, View h0, View c0, Span<View> weights, RecurrentLayers layers,
                             void* workspace);
  RecurrentMemory (*recurrent_memory)(const View& in, const View& h0, const RecurrentLayers& layers);

  // --- Attention, floating dtypes, computed in float32 or wider: q (b, h, m, d), k (b, g, n, d), v (b, g, n, e) where g divides h: head i
  // takes those of i / (h / g). Any strides, contiguous along the last dimension. None is empty.
  /// out (b, h, m, e) = weights v, contiguous. `mask` may have no data, else it is (b, h, m, n), by strides of 0 where it broadcasts: bool
  /// (false is left out) or a floating number that is added. A row that sees nothing gives 0. normalizer (b, h, m), float32 or float64 for
  /// float64, = log(sum exp(scores)) for the gradient; no data where there will be none.
  void (*attention)(const Queue&, Out out, Out normalizer, View q, View k, View v, View mask, Attention how, void* workspace);
  /// The gradients of q, k and v, contiguous.
  void (*attention_backward)(const Queue&, Out q_grad, Out k_grad, Out v_grad, View grad, View q, View k, View v, View mask, View out,
                             View normalizer, Attention how, void* workspace);
  /// What both want.
  size_t (*attention_workspace)(const View& q, const View& k, const View& v, const View& mask, const Attention& how, bool backward);

  // --- Indexing. IndexOutOfRange where an index is outside [0, size), or [-size, size) where `negative` ones count from the end. What goes
  // to one place goes there in order: the last one stays, sums are taken one after the other. On CUDA only with
  // use_deterministic_algorithms; else an index_put of values leaves any one of them, and many sums are taken in any order.
  /// out[…] = in at the positions that the index tensors name. The index tensors (int64, one for each of the first `indices.size`
  /// dimensions of `in`; no data = a full slice) broadcast to the sizes that stand first in out, the sliced dimensions follow in order.
  void (*index)(const Queue&, Out out, View in, Span<View> indices, bool negative);
  /// The reverse: out at these positions = values (or += values, where `accumulate`).
  void (*index_put)(const Queue&, Out out, View values, Span<View> indices, bool accumulate, bool negative);
  /// out[i][j] = in[i][index[i][j]] for dim 1, and so on.
  void (*gather)(const Queue&, Out out, View in, View index, int32_t dim);
  /// out[index[i][j]][j] = source[i][j] for dim 0, and so on, or combined with what is there; for Max and Min nan wins.
  void (*scatter)(const Queue&, Scatter mode, Out out, View index, View source, int32_t dim);
  /// out[i…] = table[indices[i…]], rows of a 2-D table.
  void (*embedding)(const Queue&, Out out, View table, View indices);
  /// out (rows, width), zeroed here, += grad[i…] at row indices[i…]; rows equal to `padding` are skipped.
  void (*embedding_backward)(const Queue&, Out out, View grad, View indices, int64_t padding);
  /// How many elements are not zero: one int64.
  void (*count_nonzero)(const Queue&, Out count, View in, void* workspace);
  /// Their positions in order: out (count, in.ndim) int64. workspace: as count_nonzero of the same `in` left it.
  void (*nonzero)(const Queue&, Out out, View in, void* workspace);
  /// What both want.
  size_t (*nonzero_workspace)(const View& in);
  /// out = in where column - row >= diagonal (upper) or <= diagonal (lower), else 0, over the last two dimensions.
  void (*triangle)(const Queue&, Out out, View in, int64_t diagonal, bool upper);

  // --- Optimizers: one pass over all parameters.
  void (*sgd)(const Queue&, Span<SgdParameter> parameters, SgdSettings settings);
  void (*adam)(const Queue&, Span<AdamParameter> parameters, AdamSettings settings);
  void (*optimizer_step)(const Queue&, OptimizerStep step, Span<StepParameter> parameters);
  /// out (one float32) = the square root of the sum of squares over all the tensors (contiguous, floating).
  void (*total_norm)(const Queue&, Out out, Span<View> tensors, void* workspace);
  size_t (*total_norm_workspace)(const Span<View>& tensors);
  /// Every tensor *= min(1, max_norm / (norm + 1e-6)), norm being one float32 on the device.
  void (*clip)(const Queue&, Span<View> tensors, View norm, double max_norm);
};

/// The tables. `virtual_table` queues the CPU's kernels. nullptr entries are kernels a backend does not have.
[[nodiscard]] const Table& cpu_table();
[[nodiscard]] const Table& virtual_table();

}  // namespace tandem::kernels
