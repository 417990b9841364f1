// The graph of an ONNX file as it grows: values, nodes, and what numbers and sizes become in it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "onnx/export/size.h"
#include "tensor/tensor.h"

namespace tandem::onnx::exporting {

/// A tensor of the graph. Its sizes are those of each trace.
struct Value {
  enum class Kind : uint8_t { Input, Initializer, Constant, Result };
  std::string name;
  DType dtype = DType::Float32;
  Sizes sizes;
  Kind kind = Kind::Result;
  Tensor tensor;      // of an initializer or a constant
  int64_t order = 0;  // of initializers in the file
};
using Values = std::vector<const Value*>;

/// A setting of a node.
struct Attribute {
  std::string name;
  std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<std::string>> value;
};
using Attributes = std::vector<Attribute>;

/// An operator with its inputs, of which some may be nullptr: left out. The same for outputs.
struct GraphNode {
  std::string op;
  Values inputs;
  std::vector<const Value*> outputs;
  Attributes attributes;
  std::string line;  // "net.cpp:12", where it is known
};

/// The dtype and sizes of a result.
struct ResultType {
  DType dtype;
  Sizes sizes;
};

/// A graph that grows.
class Graph {
 public:
  explicit Graph(int64_t opset) : opset_(opset) {}

  [[nodiscard]] int64_t opset() const { return opset_; }
  /// What errors begin with and what nodes are called after, from now on.
  void set_step(const char* op, std::string line) {
    op_ = op;
    line_ = std::move(line);
  }
  [[nodiscard]] const std::string& line() const { return line_; }
  [[nodiscard]] const char* op() const { return op_; }
  /// Throws `[onnx::save] op (file:line): …`.
  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const;
  /// Error unless the opset has what came with `version`.
  void require(int64_t version, const char* what) const;

  /// No value but an output gets that name.
  void reserve(const std::string& name) { names_.insert(name); }
  /// A value that goes in.
  const Value* input(std::string name, DType dtype, Sizes sizes);
  /// A tensor of the file, of that name or one like it, behind those of a lower `order`.
  const Value* initializer(const std::string& name, const Tensor& tensor, int64_t order);
  /// Numbers that are the same in each call. Equal ones are one value.
  const Value* constant(const Tensor& tensor);
  const Value* ints(const std::vector<int64_t>& numbers);
  /// One number, without dimensions.
  const Value* number(double number, DType dtype);
  const Value* number(int64_t number, DType dtype);

  /// An operator with one result; the same one of the same inputs is made once.
  const Value* node(const char* op, Values inputs, ResultType type, Attributes attributes = {});
  /// An operator with several results.
  std::vector<const Value*> nodes(const char* op, Values inputs, const std::vector<ResultType>& types, Attributes attributes = {});
  /// The node that makes a value; nullptr for what goes in and for constants.
  [[nodiscard]] const GraphNode* maker(const Value* value) const;
  /// The value comes out under that name.
  void output(const Value* value, const std::string& name);

  // --- Sizes
  /// Whole numbers as a tensor of one dimension; made of sizes of tensors where they are not fixed.
  const Value* sizes(const Sizes& numbers);
  /// The same as a tensor without dimensions.
  const Value* size(const Size& number);
  const Value* reshape(const Value* x, const Sizes& sizes);
  const Value* transpose(const Value* x, const std::vector<int64_t>& order);
  const Value* cast(const Value* x, DType dtype);
  /// x repeated along dimensions of size 1.
  const Value* expand(const Value* x, const Sizes& sizes);
  /// x from `starts` on, along `axes`.
  const Value* slice(const Value* x, const std::vector<int64_t>& axes, const Sizes& starts, const Sizes& ends,
                     const std::vector<int64_t>& steps);
  const Value* concat(const Values& parts, int64_t axis);

  /// All of it, without what nobody reads.
  struct Finished {
    std::vector<const Value*> inputs, outputs, initializers;
    std::vector<GraphNode> nodes;
  };
  [[nodiscard]] Finished finish() const;

 private:
  Value* add(std::string name, DType dtype, Sizes sizes, Value::Kind kind);
  std::string free_name(const std::string& wanted);
  const Value* size_element(const Size& number);
  const Value* find_size(const Size& number);

  int64_t opset_;
  const char* op_ = "";
  std::string line_;
  std::deque<Value> values_;
  std::vector<GraphNode> nodes_;
  std::vector<const Value*> inputs_, outputs_;
  std::set<std::string> names_;
  std::map<std::string, int> counts_;
  std::map<std::string, const Value*> made_;
  std::map<const Value*, size_t> makers_;
  std::map<const Value*, const Value*> reshaped_;  // of what
  std::map<const Value*, std::pair<const Value*, std::vector<int64_t>>> transposed_;
  std::map<Size, std::pair<const Value*, int64_t>> dims_;  // where a size that is not fixed can be read
  std::vector<Size> dims_in_order_;
};

/// A node's name for a dtype, such as 1 for float32.
[[nodiscard]] int64_t type_number(DType dtype);
/// The sizes that two broadcast to.
[[nodiscard]] Sizes broadcast(const Sizes& a, const Sizes& b);

}  // namespace tandem::onnx::exporting

#include "base/error.h"

template <class... Parts>
void tandem::onnx::exporting::Graph::refuse(const Parts&... parts) const {
  fail<NotImplementedError>("[onnx::save] ", op_, line_.empty() ? "" : " (" + line_ + ")", ": ", parts...);
}
