// A random module for a cell.
#pragma once

#include <vector>

#include "cell.h"
#include "tandem.h"

namespace fuzz {

namespace td = tandem;
using td::Tensor;

/// One of the layers in the middle, from `width` to `width` columns.
struct Block : td::nn::Module {
  enum class Sort : uint8_t { Tanh, Relu, Residual, LayerNorm, BatchNorm } sort;
  std::vector<td::nn::Linear> linear;  // one, or none
  std::vector<td::nn::LayerNorm> norm;
  std::vector<td::nn::BatchNorm1d> batch_norm;

  Block(Sort sort, int64_t width);
  void fields(td::nn::Fields& f) override;
  td::Tensor forward(const td::Tensor& x) override;
};

/// From (rows, columns()) to (rows, kOutputs). The first column says whether a row takes the layer `some`.
struct Net : td::nn::Module {
  static constexpr int64_t kOutputs = 5;
  enum class Stem : uint8_t { Rows, Image, Tokens } stem = Stem::Rows;
  std::vector<td::nn::Linear> rows;
  std::vector<td::nn::Conv2d> image;
  std::vector<td::nn::Embedding> tokens;
  std::vector<Block> blocks;
  std::vector<td::nn::Linear> some, never;
  td::nn::Linear head;
  td::Tensor spike;     // (1), added to all outputs
  int twice = -1;       // the block that is called two times
  bool spikes = false;  // the gradient of `spike` is infinite

  explicit Net(const Cell& cell);
  void fields(td::nn::Fields& f) override;
  td::Tensor forward(const td::Tensor& x) override;

  /// Fills in parameters of a number: all of them, or those that are trained.
  void fill(uint64_t seed, bool all = true);
};

[[nodiscard]] td::DType dtype_of(const Cell& cell);
/// The inputs and targets of a micro-batch: (rows, columns) and (rows, kOutputs). Rows with their first column 1 take the layer `some`.
[[nodiscard]] td::Tensor inputs_of(const Cell& cell, const Net& net, int step, int micro, int64_t rows);
[[nodiscard]] td::Tensor targets_of(const Cell& cell, int step, int micro, int64_t rows);

}  // namespace fuzz
