// The contract between operations and a back end: what a call is described by, and the table of kernels that a back end fills. The kernels
// themselves, each with what it promises, are the rows of entries.def.
#pragma once

#include <array>

#include "base/queue.h"
#include "kernels/optimizer_steps.h"
#include "kernels/pointwise_call.h"
#include "kernels/view.h"

namespace tandem::kernels {

enum class Reduce : uint8_t { Sum, Mean, Prod, Max, Min, Any, All, Norm1, Norm2, NormInf, SumOfSquares, MeanOfSquares, CountNonzero };
constexpr bool is_mean(Reduce op) { return op == Reduce::Mean || op == Reduce::MeanOfSquares; }
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

  /// The memory that a step changes; it reads `gradient` besides.
  [[nodiscard]] std::array<void*, 2> changed() const { return {parameter, momentum}; }
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

  /// The memory that a step changes; it reads `gradient` besides.
  [[nodiscard]] std::array<void*, 4> changed() const { return {parameter, mean, square, max_square}; }
};
struct AdamSettings {
  double lr = 0, beta1 = 0, beta2 = 0, eps = 0, weight_decay = 0;
  bool decoupled = false;  // AdamW: decay the parameter, not the gradient
  bool maximize = false;
};

/// A back end's kernels: a pointer for each row of entries.def, where their promises stand.
struct Table {
#define TD_ENTRY(name, ...) void (*name)(const Queue& queue, __VA_ARGS__);
#define TD_QUERY(result, name, ...) result (*name)(__VA_ARGS__);
#include "kernels/entries.def"
};

/// The CPU's kernels.
[[nodiscard]] const Table& cpu_table();
/// The same, queued on the streams of virtual GPUs.
[[nodiscard]] const Table& virtual_table();
/// The kernels of GPUs: the virtual GPUs', or those that were put in their place.
[[nodiscard]] const Table& gpu_table();
/// GPUs compute with `table`, which must last, from now on. A plug-in calls it as it is loaded.
void set_gpu_table(const Table& table);

}  // namespace tandem::kernels
