// The messages of an ONNX file (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto), as far as a model's meaning needs them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/dtype.h"

namespace tandem::onnx {

/// Graphs in graphs, and types in types: no file has more.
inline constexpr int kMostDepth = 24;

/// A tensor's message. The bytes stay where the file was read to.
struct TensorProto {
  std::string name;
  std::vector<int64_t> dims;
  int64_t data_type = 0;
  std::string_view raw_data;
  bool has_raw_data = false;
  std::vector<float> float_data;
  std::vector<int64_t> int32_data, int64_data, uint64_data;
  std::vector<double> double_data;
  std::vector<std::pair<std::string, std::string>> external_data;
  bool is_external = false;
};

/// Whether a size is known: a number, a name that stands for it, or neither.
struct DimensionProto {
  std::optional<int64_t> value;
  std::string name;
};

/// The type of a graph's input or output.
struct TypeProto {
  enum class Kind : uint8_t { None, Tensor, Sequence, Optional, Other };
  Kind kind = Kind::None;
  int64_t data_type = 0;
  bool has_shape = false;
  std::vector<DimensionProto> dims;
};

/// A name and its type.
struct ValueInfoProto {
  std::string name;
  TypeProto type;
};

struct GraphProto;

/// A setting of a node.
struct AttributeProto {
  std::string name, reference;  // `reference`: the attribute of the function around that it stands for
  float f = 0;
  int64_t i = 0;
  std::string s;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string> strings;
  std::optional<TensorProto> tensor;
  std::shared_ptr<GraphProto> graph;
  bool is_sparse = false;
};

/// An operator with its inputs and outputs, by name; an empty name is one that is left out.
struct NodeProto {
  std::string name, op_type, domain;
  std::vector<std::string> inputs, outputs;
  std::vector<AttributeProto> attributes;
};

/// Nodes in an order in which they can be done.
struct GraphProto {
  std::string name;
  std::vector<NodeProto> nodes;
  std::vector<TensorProto> initializers;
  std::vector<ValueInfoProto> inputs, outputs;
  bool has_sparse = false;
};

/// Which version of a domain's operators is meant.
struct OpsetProto {
  std::string domain;
  int64_t version = 0;
};

/// An operator that the model itself defines.
struct FunctionProto {
  std::string name, domain;
  std::vector<std::string> inputs, outputs;
  std::vector<NodeProto> nodes;
  std::vector<AttributeProto> defaults;
  std::vector<OpsetProto> opsets;
};

/// A file.
struct ModelProto {
  int64_t ir_version = 0;
  std::string producer;
  std::vector<OpsetProto> opsets;
  std::optional<GraphProto> graph;
  std::vector<FunctionProto> functions;
};

/// Reads a model's message; what it has of tensors' bytes points into `bytes`. Error where it is no such message, or nested too deeply.
[[nodiscard]] ModelProto parse_model(std::string_view bytes);
/// The same of a tensor alone, as files of test data have it.
[[nodiscard]] TensorProto parse_tensor(std::string_view bytes);

/// What a tensor's data_type is called: "float", "string", "type 77".
[[nodiscard]] std::string type_name(int64_t data_type);
/// The dtype of it; nothing where no tensor of ours has it.
[[nodiscard]] std::optional<DType> dtype_of(int64_t data_type);
/// The other way round.
[[nodiscard]] int64_t data_type_of(DType dtype);

}  // namespace tandem::onnx
