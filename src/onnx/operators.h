// The table of operators: from an operator's name and version to the function that does it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tensor/operand.h"
#include "tensor/tensor.h"

namespace tandem::onnx {

class Call;

/// What does an operator: reads the inputs of its call, and gives the outputs.
using Operator = void (*)(Call&);
/// An operator that is one of ours, from one tensor to one.
using Unary = Tensor (*)(const Input&, Site);
/// The same from two, which broadcast.
using Binary = Tensor (*)(const Operand&, const Operand&, Site);

/// An operator from version `since` on, up to the next row of the same name.
struct OperatorRow {
  const char* name;
  int since = 1;
  Operator run = nullptr;
  Unary unary = nullptr;  // in the place of `run`
  Binary binary = nullptr;
  int settings_from = 99;  // inputs from this one on say how, and are no parameters: the factors of Resize
  const char* domain = "";
};

/// The row for version `version` of a domain's operators; nullptr where there is none.
[[nodiscard]] const OperatorRow* find_operator(std::string_view domain, std::string_view name, int64_t version);

// --- The rows, a file each
/// Rows of operators on elements, one by one.
[[nodiscard]] std::span<const OperatorRow> pointwise_operators();
/// Rows of activations, and softmax and its kin.
[[nodiscard]] std::span<const OperatorRow> activation_operators();
/// Rows of reductions and running totals.
[[nodiscard]] std::span<const OperatorRow> reduction_operators();
/// Rows of what looks at sizes, makes views, and puts tensors together.
[[nodiscard]] std::span<const OperatorRow> shape_operators();
/// Rows of what makes tensors.
[[nodiscard]] std::span<const OperatorRow> constant_operators();
/// Rows of products of matrices.
[[nodiscard]] std::span<const OperatorRow> product_operators();
/// Rows of convolutions.
[[nodiscard]] std::span<const OperatorRow> convolution_operators();
/// Rows of pooling.
[[nodiscard]] std::span<const OperatorRow> pooling_operators();
/// Rows of normalization.
[[nodiscard]] std::span<const OperatorRow> normalization_operators();
/// Rows of resizing and sampling.
[[nodiscard]] std::span<const OperatorRow> resize_operators();
/// Rows of what gathers and scatters.
[[nodiscard]] std::span<const OperatorRow> indexing_operators();
/// Rows of recurrent networks.
[[nodiscard]] std::span<const OperatorRow> recurrent_operators();
/// Rows of attention.
[[nodiscard]] std::span<const OperatorRow> attention_operators();
/// Rows of losses.
[[nodiscard]] std::span<const OperatorRow> loss_operators();
/// Rows of operators with graphs in them.
[[nodiscard]] std::span<const OperatorRow> control_operators();
/// Rows of sequences of tensors.
[[nodiscard]] std::span<const OperatorRow> sequence_operators();
/// Rows of Fourier transforms and windows.
[[nodiscard]] std::span<const OperatorRow> signal_operators();
/// Rows of what quantizes.
[[nodiscard]] std::span<const OperatorRow> quantization_operators();

}  // namespace tandem::onnx
