// What lies in memory while a trace is read: which value of the graph was written where, and how another view of it is made of that.
#pragma once

#include <optional>
#include <vector>

#include "onnx/export/graph.h"

namespace tandem::onnx::exporting {

/// Elements in a piece of memory, as a kernel sees them.
struct Elements {
  int region = -1;  // the piece of memory
  DType dtype = DType::Float32;
  Size offset;  // of the first element, counted in elements
  Sizes sizes, strides;

  /// From the first element to the last one that is reached.
  [[nodiscard]] std::pair<Size, Size> extent() const;
  /// Whether each element of its extent is there once.
  [[nodiscard]] bool is_dense() const;
  bool operator==(const Elements&) const = default;
};

/// What kernels have written, as values of a graph.
class Memory {
 public:
  explicit Memory(Graph& graph) : graph_(graph) {}

  /// A new piece of memory, without values. Its number.
  int add_region() {
    regions_.emplace_back();
    return static_cast<int>(regions_.size()) - 1;
  }
  /// Whether a value lies in it.
  [[nodiscard]] bool has_values(int region) const { return !regions_[static_cast<size_t>(region)].empty(); }
  /// The value stands there from now on; it has the sizes of `at`.
  void write(const Elements& at, const Value* value);
  /// The elements as a value of these sizes; with `keep_ones` dimensions that repeat one element have size 1. nullptr where nothing was
  /// written there, or not in a way that can be told.
  const Value* read(const Elements& at, bool keep_ones = false);
  /// The last value that was written at elements that have these among them; nullptr where there is none.
  [[nodiscard]] const Elements* source(const Elements& at) const;

 private:
  struct Piece {
    Elements at;
    const Value* value;
  };
  const Value* read_positive(const Elements& at, int depth);
  const Value* convert(const Piece& piece, const Elements& at);
  const Value* around_latest(const Elements& at, int depth);
  const Value* gathered(const Elements& at);
  [[nodiscard]] const Piece* only_piece(const Elements& at) const;

  Graph& graph_;
  std::vector<std::vector<Piece>> regions_;
};

/// Splits the sizes of `at` so that each is one of what lies there (`inner`) or a part of one. Strides that belong to the same sizes, one
/// list each, are split alike; `at`'s own are among them.
void split_like(const Elements& inner, const Sizes& own_strides, Sizes& sizes, std::vector<Sizes*> strides);

}  // namespace tandem::onnx::exporting
