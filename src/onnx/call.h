// What an operator sees of its node while a model runs: its inputs as it wants them, its attributes, and where its outputs go.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "onnx/operators.h"
#include "onnx/program.h"

namespace tandem::onnx {

/// How many numbers may be kept, and computed with, on the host.
inline constexpr int64_t kMostOnHost = 4096;

/// A run of a program.
class Run {
 public:
  /// `stored` are the module's tensors, in the order of the program's.
  Run(const Program& program, std::span<const Tensor> stored, Site site);

  /// Puts an input in its place.
  void put(int place, const Tensor& tensor);
  /// Does the model's graph.
  void run();
  /// What has come out at a place, where the model computes.
  [[nodiscard]] Tensor result(const Port& port);

 private:
  friend class Call;
  void run(const Graph& graph);
  void call(const Node& node);

  const Program& program_;
  std::vector<Value> values_;
  Device device_;
  Site site_;
};

/// One call of an operator.
class Call {
 public:
  /// Finds out where the node is done.
  Call(Run& run, const Node& node);

  /// The line of the model's call.
  [[nodiscard]] Site site() const { return run_.site_; }
  /// The node that is done.
  [[nodiscard]] const Node& node() const { return node_; }
  /// The version of the operators that the model means.
  [[nodiscard]] int64_t version() const { return node_.version; }
  /// Where the operator computes: on the GPU that an input lives on, else on the CPU.
  [[nodiscard]] Device device() const { return device_; }
  /// Where a result of these sizes is made that depends on no tensor: on the host where it is small and all inputs are there, else where
  /// the model computes. Error for sizes that no tensor can have, and for more than the machine has.
  [[nodiscard]] Options place(const Shape& sizes, DType dtype);

  // --- Inputs
  /// How many inputs the node has, up to the last that is given.
  [[nodiscard]] size_t inputs() const { return node_.inputs.size(); }
  /// Whether the input is given.
  [[nodiscard]] bool has(size_t i) const;
  /// An input as a tensor. Error where it is left out.
  [[nodiscard]] Tensor in(size_t i);
  /// The same; undefined where it is left out.
  [[nodiscard]] Tensor in_or_none(size_t i) { return has(i) ? in(i) : Tensor(); }
  /// The input's values, read on the host: that waits where they are a GPU's.
  [[nodiscard]] Shape ints(size_t i);
  /// The same as floating-point numbers.
  [[nodiscard]] std::vector<double> reals(size_t i);
  /// The input's one value. Error where it has none or several.
  [[nodiscard]] Scalar number(size_t i);
  /// The input as it is.
  [[nodiscard]] const Value& value(size_t i) const;

  // --- Attributes
  /// The attribute of that name, or nullptr.
  [[nodiscard]] const AttributeProto* find(std::string_view name) const;
  /// An attribute's whole number.
  [[nodiscard]] int64_t integer(std::string_view name, int64_t otherwise) const;
  /// An attribute's number.
  [[nodiscard]] double real(std::string_view name, double otherwise) const;
  /// An attribute's text.
  [[nodiscard]] std::string text(std::string_view name, const char* otherwise) const;
  /// An attribute's whole numbers; nothing where there is none.
  [[nodiscard]] std::optional<Shape> list(std::string_view name) const;
  /// The same, or other ones.
  [[nodiscard]] Shape list(std::string_view name, const Shape& otherwise) const { return list(name).value_or(otherwise); }
  /// An attribute's tensor; undefined where there is none.
  [[nodiscard]] Tensor tensor(std::string_view name) const;
  /// The dtype that an attribute names. Error for one that no tensor has.
  [[nodiscard]] DType dtype(std::string_view name, DType otherwise) const;
  /// Axes, by an attribute or, from some version on, by an input; nothing where neither is given.
  [[nodiscard]] std::optional<Shape> axes(size_t input, std::string_view name = "axes");

  // --- Outputs, in their order
  /// Whether somebody reads output `i`.
  [[nodiscard]] bool wants(size_t i) const { return i < node_.outputs.size() && node_.outputs[i] != kNoPlace; }
  /// How many outputs the node has.
  [[nodiscard]] size_t outputs() const { return node_.outputs.size(); }
  /// The next output.
  void give(const Tensor& tensor) { given_.push_back(Value{tensor, {}, {}}); }
  /// The next output, as it is.
  void give(Value value) { given_.push_back(std::move(value)); }
  /// A result that is known on the host.
  void give_host(const Tensor& tensor) { given_.push_back(Value{{}, tensor, {}}); }
  /// An output that the operator doesn't have.
  void skip() { given_.emplace_back(); }

  // --- Graphs
  /// Does the graph of an attribute with these inputs.
  std::vector<Value> run_graph(std::string_view name, std::span<const Value> inputs);

  /// Does the operator.
  void run();

 private:
  [[nodiscard]] Value& at(size_t i);
  void run_operator();

  Run& run_;
  const Node& node_;
  Device device_;
  bool on_host_ = false;
  std::vector<Value> given_;
};

/// `axis` counted from the front. Error where there is no such dimension.
[[nodiscard]] int64_t axis_of(int64_t axis, int64_t dims);

/// A copy of values on the host, in memory of the operation that is being done, on `device`.
[[nodiscard]] Tensor brought(const Tensor& host, Device device, Site site);

}  // namespace tandem::onnx
