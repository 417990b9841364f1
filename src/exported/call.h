// What an operation sees of its node while a program runs: its arguments by aten's names, and where its results go.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "exported/operators.h"
#include "exported/program.h"

namespace tandem::exported {

/// A run of a program.
class Run {
 public:
  /// `stored` are the module's tensors, in the order of the program's.
  Run(const Program& program, std::span<const Tensor> stored, Site site);

  /// Puts an input in its place.
  void put(int place, const Tensor& tensor, bool is_tensor);
  /// Does all nodes.
  void run();
  /// What an output is.
  [[nodiscard]] Tensor result(const Argument& output);

 private:
  friend class Call;
  void call(const Node& node);
  [[nodiscard]] Value value_of(const Argument& argument) const;

  const Program& program_;
  std::vector<Value> values_;
  Device device_;
  Site site_;
};

/// One call of an operation. An argument that is given and not asked for is an error: nothing is passed over.
class Call {
 public:
  Call(Run& run, const Node& node);

  [[nodiscard]] Site site() const { return run_.site_; }
  /// Where the program computes.
  [[nodiscard]] Device device() const { return run_.device_; }
  /// How a new tensor is made.
  [[nodiscard]] Options options() { return {.dtype = dtype(), .device = device()}; }

  // --- Arguments by name. An error where one is missing that has no default, and where it is something else.
  /// Whether it is given, and not None.
  [[nodiscard]] bool has(std::string_view name);
  /// The tensor, or nothing where it is left out or None.
  [[nodiscard]] Tensor tensor_or_none(std::string_view name);
  [[nodiscard]] Tensor tensor(std::string_view name);
  [[nodiscard]] std::vector<Tensor> tensors(std::string_view name);
  /// A tensor or a number. The call holds the tensor, whose memory the result may take where nobody reads it later.
  [[nodiscard]] Operand operand(std::string_view name);
  /// Whether it is one.
  [[nodiscard]] bool is_tensor(std::string_view name);
  [[nodiscard]] bool is_text(std::string_view name);
  [[nodiscard]] std::optional<Scalar> number_or_none(std::string_view name);
  [[nodiscard]] Scalar number(std::string_view name);
  [[nodiscard]] Scalar number(std::string_view name, Scalar otherwise) { return number_or_none(name).value_or(otherwise); }
  [[nodiscard]] int64_t integer(std::string_view name) { return number(name).to<int64_t>(); }
  [[nodiscard]] int64_t integer(std::string_view name, int64_t otherwise) { return number(name, otherwise).to<int64_t>(); }
  [[nodiscard]] std::optional<int64_t> integer_or_none(std::string_view name);
  [[nodiscard]] double real(std::string_view name, double otherwise) { return number(name, otherwise).to<double>(); }
  [[nodiscard]] std::optional<double> real_or_none(std::string_view name);
  [[nodiscard]] bool truth(std::string_view name, bool otherwise) { return number(name, otherwise).to<bool>(); }
  /// Whole numbers; one counts as a list.
  [[nodiscard]] std::optional<Shape> ints_or_none(std::string_view name);
  [[nodiscard]] Shape ints(std::string_view name);
  [[nodiscard]] Shape ints(std::string_view name, const Shape& otherwise) { return ints_or_none(name).value_or(otherwise); }
  [[nodiscard]] std::optional<std::vector<double>> reals_or_none(std::string_view name);
  [[nodiscard]] std::string text(std::string_view name, const char* otherwise);
  [[nodiscard]] std::optional<DType> dtype(std::string_view name = "dtype");
  /// An argument by its place, and how many there are.
  [[nodiscard]] const Value& value(size_t i);
  [[nodiscard]] size_t size() const { return values_.size(); }

  // --- Results, in their order
  void give(Value value) { given_.push_back(std::move(value)); }
  void give(const ValuesIndices& both) {
    give(both.values);
    give(both.indices);
  }
  void give_all(const std::vector<Tensor>& tensors) {
    for (const Tensor& tensor : tensors) give(tensor);
  }

  /// Does the operation.
  void run();

 private:
  [[nodiscard]] Value* find(std::string_view name);
  [[noreturn]] static void wrong(std::string_view name, const char* wanted);

  Run& run_;
  const Node& node_;
  std::vector<Value> values_;  // one an argument
  std::vector<bool> read_;
  std::vector<Value> given_;
};

}  // namespace tandem::exported
