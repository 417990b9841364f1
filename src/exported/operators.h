// The table of operations: from the name of one of aten's to the function that does it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tensor/operand.h"
#include "tensor/tensor.h"

namespace tandem::exported {

class Call;

/// What does an operation: reads the arguments of its call, and gives the results.
using Operator = void (*)(Call&);
/// An operation that is one of ours, from one tensor to one.
using Unary = Tensor (*)(const Input&, Site);
/// The same from two operands, which broadcast.
using Binary = Tensor (*)(const Operand&, const Operand&, Site);

/// An operation, with all of its overloads: which one is meant, its arguments tell.
struct OperatorRow {
  const char* name;  // "add" is aten.add; others in full: "_operator.add"
  Operator run = nullptr;
  bool aliases = false;   // a result may share memory with an argument
  Unary unary = nullptr;  // in the place of `run`
  Binary binary = nullptr;
};

/// An operation that a file names.
struct Found {
  const OperatorRow* row = nullptr;  // nullptr where there is none
  bool writes = false;               // into its argument `self`, as add_ does
};

/// The operation of a target, such as torch.ops.aten.add_.Tensor.
[[nodiscard]] Found find_operator(std::string_view target);

// The rows, a file each.
[[nodiscard]] std::span<const OperatorRow> pointwise_operators();
[[nodiscard]] std::span<const OperatorRow> reduction_operators();
[[nodiscard]] std::span<const OperatorRow> shape_operators();
[[nodiscard]] std::span<const OperatorRow> indexing_operators();
[[nodiscard]] std::span<const OperatorRow> product_operators();
[[nodiscard]] std::span<const OperatorRow> layer_operators();
[[nodiscard]] std::span<const OperatorRow> creation_operators();
[[nodiscard]] std::span<const OperatorRow> symbol_operators();

}  // namespace tandem::exported
