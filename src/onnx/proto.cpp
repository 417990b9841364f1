#include "onnx/proto.h"

#include "io/protobuf_reader.h"

namespace tandem::onnx {
namespace {

using io::MessageReader;

GraphProto parse_graph(std::string_view bytes, int depth);

void check_depth(int depth) {
  if (depth > kMostDepth) fail("it is nested more than ", kMostDepth, " deep");
}

std::pair<std::string, std::string> parse_entry(std::string_view bytes) {
  std::pair<std::string, std::string> entry;
  for (MessageReader reader(bytes); reader.next();) {
    if (reader.field() == 1) entry.first = reader.bytes();
    else if (reader.field() == 2) entry.second = reader.bytes();
  }
  return entry;
}

DimensionProto parse_dimension(std::string_view bytes) {
  DimensionProto dimension;
  for (MessageReader reader(bytes); reader.next();) {
    if (reader.field() == 1) dimension.value = reader.integer();
    else if (reader.field() == 2) dimension.name = reader.bytes();
  }
  return dimension;
}

void parse_tensor_type(std::string_view bytes, TypeProto& type) {
  for (MessageReader reader(bytes); reader.next();) {
    if (reader.field() == 1) type.data_type = reader.integer();
    if (reader.field() != 2) continue;
    type.has_shape = true;
    for (MessageReader shape(reader.bytes()); shape.next();)
      if (shape.field() == 1) type.dims.push_back(parse_dimension(shape.bytes()));
  }
}

TypeProto parse_type(std::string_view bytes) {
  TypeProto type;
  for (MessageReader reader(bytes); reader.next();) {
    switch (reader.field()) {
      case 1:
        type.kind = TypeProto::Kind::Tensor;
        parse_tensor_type(reader.bytes(), type);
        break;
      case 4: type.kind = TypeProto::Kind::Sequence; break;
      case 9: type.kind = TypeProto::Kind::Optional; break;
      case 5:
      case 8: type.kind = TypeProto::Kind::Other; break;
      default: break;
    }
  }
  return type;
}

ValueInfoProto parse_value_info(std::string_view bytes) {
  ValueInfoProto info;
  for (MessageReader reader(bytes); reader.next();) {
    if (reader.field() == 1) info.name = reader.bytes();
    else if (reader.field() == 2) info.type = parse_type(reader.bytes());
  }
  return info;
}

OpsetProto parse_opset(std::string_view bytes) {
  OpsetProto opset;
  for (MessageReader reader(bytes); reader.next();) {
    if (reader.field() == 1) opset.domain = reader.bytes();
    else if (reader.field() == 2) opset.version = reader.integer();
  }
  return opset;
}

AttributeProto parse_attribute(std::string_view bytes, int depth) {
  AttributeProto attribute;
  for (MessageReader reader(bytes); reader.next();) {
    switch (reader.field()) {
      case 1: attribute.name = reader.bytes(); break;
      case 2: attribute.f = static_cast<float>(reader.real()); break;
      case 3: attribute.i = reader.integer(); break;
      case 4: attribute.s = reader.bytes(); break;
      case 5: attribute.tensor = parse_tensor(reader.bytes()); break;
      case 6: attribute.graph = std::make_shared<GraphProto>(parse_graph(reader.bytes(), depth + 1)); break;
      case 7: reader.add_fixed(attribute.floats); break;
      case 8: reader.add_integers(attribute.ints); break;
      case 9: attribute.strings.emplace_back(reader.bytes()); break;
      case 21: attribute.reference = reader.bytes(); break;
      case 22: attribute.is_sparse = true; break;
      default: break;
    }
  }
  return attribute;
}

NodeProto parse_node(std::string_view bytes, int depth) {
  NodeProto node;
  for (MessageReader reader(bytes); reader.next();) {
    switch (reader.field()) {
      case 1: node.inputs.emplace_back(reader.bytes()); break;
      case 2: node.outputs.emplace_back(reader.bytes()); break;
      case 3: node.name = reader.bytes(); break;
      case 4: node.op_type = reader.bytes(); break;
      case 5: node.attributes.push_back(parse_attribute(reader.bytes(), depth)); break;
      case 7: node.domain = reader.bytes(); break;
      default: break;
    }
  }
  if (node.domain == "ai.onnx") node.domain.clear();
  return node;
}

GraphProto parse_graph(std::string_view bytes, int depth) {
  check_depth(depth);
  GraphProto graph;
  for (MessageReader reader(bytes); reader.next();) {
    switch (reader.field()) {
      case 1: graph.nodes.push_back(parse_node(reader.bytes(), depth)); break;
      case 2: graph.name = reader.bytes(); break;
      case 5: graph.initializers.push_back(parse_tensor(reader.bytes())); break;
      case 11: graph.inputs.push_back(parse_value_info(reader.bytes())); break;
      case 12: graph.outputs.push_back(parse_value_info(reader.bytes())); break;
      case 15: graph.has_sparse = true; break;
      default: break;
    }
  }
  return graph;
}

FunctionProto parse_function(std::string_view bytes) {
  FunctionProto function;
  for (MessageReader reader(bytes); reader.next();) {
    switch (reader.field()) {
      case 1: function.name = reader.bytes(); break;
      case 4: function.inputs.emplace_back(reader.bytes()); break;
      case 5: function.outputs.emplace_back(reader.bytes()); break;
      case 7: function.nodes.push_back(parse_node(reader.bytes(), 1)); break;
      case 9: function.opsets.push_back(parse_opset(reader.bytes())); break;
      case 10: function.domain = reader.bytes(); break;
      case 11: function.defaults.push_back(parse_attribute(reader.bytes(), 1)); break;
      default: break;
    }
  }
  return function;
}

struct TypeRow {
  int64_t data_type;
  const char* name;
  std::optional<DType> dtype;
};
constexpr TypeRow kTypes[] = {{1, "float", kFloat32},   {2, "uint8", kUInt8},       {3, "int8", kInt8},       {4, "uint16", {}},
                              {5, "int16", kInt16},     {6, "int32", kInt32},       {7, "int64", kInt64},     {8, "string", {}},
                              {9, "bool", kBool},       {10, "float16", kFloat16},  {11, "double", kFloat64}, {12, "uint32", {}},
                              {13, "uint64", {}},       {14, "complex64", {}},      {15, "complex128", {}},   {16, "bfloat16", kBFloat16},
                              {17, "float8e4m3fn", {}}, {18, "float8e4m3fnuz", {}}, {19, "float8e5m2", {}},   {20, "float8e5m2fnuz", {}},
                              {21, "uint4", {}},        {22, "int4", {}},           {23, "float4e2m1", {}}};

}  // namespace

TensorProto parse_tensor(std::string_view bytes) {
  TensorProto tensor;
  for (MessageReader reader(bytes); reader.next();) {
    switch (reader.field()) {
      case 1: reader.add_integers(tensor.dims); break;
      case 2: tensor.data_type = reader.integer(); break;
      case 4: reader.add_fixed(tensor.float_data); break;
      case 5: reader.add_integers(tensor.int32_data); break;
      case 7: reader.add_integers(tensor.int64_data); break;
      case 8: tensor.name = reader.bytes(); break;
      case 9:
        tensor.raw_data = reader.bytes();
        tensor.has_raw_data = true;
        break;
      case 10: reader.add_fixed(tensor.double_data); break;
      case 11: reader.add_integers(tensor.uint64_data); break;
      case 13: tensor.external_data.push_back(parse_entry(reader.bytes())); break;
      case 14: tensor.is_external = reader.integer() == 1; break;
      default: break;
    }
  }
  return tensor;
}

ModelProto parse_model(std::string_view bytes) {
  ModelProto model;
  for (MessageReader reader(bytes); reader.next();) {
    switch (reader.field()) {
      case 1: model.ir_version = reader.integer(); break;
      case 2: model.producer = reader.bytes(); break;
      case 7: model.graph = parse_graph(reader.bytes(), 0); break;
      case 8: model.opsets.push_back(parse_opset(reader.bytes())); break;
      case 25: model.functions.push_back(parse_function(reader.bytes())); break;
      default: break;
    }
  }
  for (OpsetProto& opset : model.opsets)
    if (opset.domain == "ai.onnx") opset.domain.clear();
  return model;
}

std::string type_name(int64_t data_type) {
  for (const TypeRow& row : kTypes)
    if (row.data_type == data_type) return row.name;
  return str("type ", data_type);
}

std::optional<DType> dtype_of(int64_t data_type) {
  for (const TypeRow& row : kTypes)
    if (row.data_type == data_type) return row.dtype;
  return std::nullopt;
}

int64_t data_type_of(DType dtype) {
  for (const TypeRow& row : kTypes)
    if (row.dtype == dtype) return row.data_type;
  return 0;
}

}  // namespace tandem::onnx
