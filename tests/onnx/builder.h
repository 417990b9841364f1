// ONNX models that tests write themselves.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "io/protobuf.h"
#include "onnx/proto.h"
#include "tandem.h"

namespace onnx_test {

using tandem::io::Message;

/// A tensor's message, its numbers as raw bytes.
inline Message tensor_message(const std::string& name, const tandem::Tensor& tensor) {
  const tandem::Tensor dense = tensor.detach().cpu().contiguous();
  Message message;
  for (const int64_t size : dense.sizes()) message.integer(1, size);
  message.integer(2, tandem::onnx::data_type_of(dense.dtype())).bytes(8, name);
  std::string bytes(dense.nbytes(), '\0');
  if (!bytes.empty()) std::memcpy(bytes.data(), dense.data_ptr(), bytes.size());
  return message.bytes(9, bytes);
}

/// A setting of a node.
struct Attribute {
  Message message;

  Attribute(const std::string& name, int64_t value) { message.bytes(1, name).integer(3, value).integer(20, 2); }
  Attribute(const std::string& name, int value) : Attribute(name, int64_t{value}) {}
  Attribute(const std::string& name, double value) { message.bytes(1, name).real32(2, static_cast<float>(value)).integer(20, 1); }
  Attribute(const std::string& name, const char* value) { message.bytes(1, name).bytes(4, value).integer(20, 3); }
  Attribute(const std::string& name, const std::vector<int64_t>& values) {
    message.bytes(1, name).integer(20, 7);
    for (const int64_t value : values) message.integer(8, value);
  }
  Attribute(const std::string& name, const tandem::Tensor& value) {
    message.bytes(1, name).message(5, tensor_message("", value)).integer(20, 4);
  }
  Attribute(const std::string& name, const Message& graph) { message.bytes(1, name).message(6, graph).integer(20, 5); }
};

/// A graph that grows.
class GraphBuilder {
 public:
  GraphBuilder& node(const std::string& op, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                     const std::vector<Attribute>& attributes = {}, const std::string& domain = "") {
    Message node;
    for (const auto& name : inputs) node.bytes(1, name);
    for (const auto& name : outputs) node.bytes(2, name);
    node.bytes(3, outputs.empty() ? "" : "make_" + outputs[0]).bytes(4, op);
    for (const auto& attribute : attributes) node.message(5, attribute.message);
    if (!domain.empty()) node.bytes(7, domain);
    graph_.message(1, node);
    return *this;
  }
  GraphBuilder& initializer(const std::string& name, const tandem::Tensor& value) {
    graph_.message(5, tensor_message(name, value));
    return *this;
  }
  /// An initializer of any message.
  GraphBuilder& initializer(const Message& tensor) {
    graph_.message(5, tensor);
    return *this;
  }
  GraphBuilder& input(const std::string& name, tandem::DType dtype = tandem::kFloat32, const std::vector<std::string>& sizes = {}) {
    graph_.message(11, port(name, dtype, sizes));
    return *this;
  }
  GraphBuilder& output(const std::string& name, tandem::DType dtype = tandem::kFloat32) {
    graph_.message(12, port(name, dtype, {}));
    return *this;
  }
  [[nodiscard]] const Message& message() const { return graph_; }

  /// The bytes of a file with this graph.
  [[nodiscard]] std::string file(int64_t opset = 17) const {
    Message model;
    model.integer(1, 8).bytes(2, "tests").message(8, Message().bytes(1, "").integer(2, opset)).message(7, graph_);
    return model.str();
  }

 private:
  static Message port(const std::string& name, tandem::DType dtype, const std::vector<std::string>& sizes) {
    Message type;
    type.integer(1, tandem::onnx::data_type_of(dtype));
    if (!sizes.empty()) {
      Message shape;
      for (const auto& size : sizes) {
        const bool is_number = size.find_first_not_of("0123456789") == std::string::npos;
        shape.message(1, is_number ? Message().integer(1, std::stoll(size)) : Message().bytes(2, size));
      }
      type.message(2, shape);
    }
    return Message().bytes(1, name).message(2, Message().message(1, type));
  }

  Message graph_;
};

}  // namespace onnx_test
