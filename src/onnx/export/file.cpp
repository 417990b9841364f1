#include "onnx/export/file.h"

#include <memory>

#include "base/align.h"
#include "base/error.h"
#include "base/version.h"
#include "io/file.h"
#include "io/protobuf.h"

namespace tandem::onnx::exporting {
namespace {

using io::Message;

constexpr const char* kOp = "onnx::save";
constexpr uint64_t kMostInline = (uint64_t{1} << 31U) - (uint64_t{1} << 20U);  // protobuf's limit, and something for the rest
constexpr uint64_t kAlignment = 64;

/// The oldest version of the format that has the opset.
int64_t ir_version(int64_t opset) { return opset <= 14 ? 7 : opset <= 18 ? 8 : opset <= 20 ? 9 : opset <= 22 ? 10 : 11; }

Message attribute_message(const Attribute& attribute) {
  Message message;
  message.bytes(1, attribute.name);
  struct Put {
    Message& to;
    void operator()(int64_t v) const { to.integer(3, v).integer(20, 2); }
    void operator()(double v) const { to.real32(2, static_cast<float>(v)).integer(20, 1); }
    void operator()(const std::string& v) const { to.bytes(4, v).integer(20, 3); }
    void operator()(const std::vector<int64_t>& v) const {
      for (const int64_t each : v) to.integer(8, each);
      to.integer(20, 7);
    }
    void operator()(const std::vector<std::string>& v) const {
      for (const std::string& each : v) to.bytes(9, each);
      to.integer(20, 8);
    }
  };
  std::visit(Put{message}, attribute.value);
  return message;
}

Message node_message(const GraphNode& node) {
  Message message;
  for (const Value* const x : node.inputs) message.bytes(1, x ? std::string_view(x->name) : std::string_view());
  for (const Value* const y : node.outputs) message.bytes(2, y ? std::string_view(y->name) : std::string_view());
  message.bytes(3, "make_" + node.outputs[0]->name).bytes(4, node.op);
  for (const Attribute& attribute : node.attributes) message.message(5, attribute_message(attribute));
  if (!node.line.empty()) message.bytes(6, node.line);
  return message;
}

Message port_message(const Value& value, const std::map<Size, std::string>& names) {
  Message shape;
  for (const Size& size : value.sizes) {
    Message dim;
    if (size.is_fixed()) dim.integer(1, size.at[0]);
    else if (const auto at = names.find(size); at != names.end()) dim.bytes(2, at->second);
    shape.message(1, dim);
  }
  Message tensor;
  tensor.integer(1, type_number(value.dtype)).message(2, shape);
  return Message().bytes(1, value.name).message(2, Message().message(1, tensor));
}

/// A tensor without its bytes.
Message tensor_head(const Value& value) {
  Message message;
  for (const int64_t size : value.tensor.sizes()) message.integer(1, size);
  message.integer(2, type_number(value.dtype)).bytes(8, value.name);
  return message;
}

uint64_t bytes_of(const Value& value) { return static_cast<uint64_t>(value.tensor.numel()) * size_of(value.dtype); }

void write_tensor(io::AtomicFile& file, const Value& value) {
  const Tensor dense = value.tensor.detach().cpu().contiguous();
  if (const uint64_t bytes = bytes_of(value)) file.write(dense.data_ptr(), bytes);
}

}  // namespace

void write_file(const std::string& path, const Graph::Finished& graph, int64_t opset, const std::map<Size, std::string>& names,
                bool external_data) {
  Message rest;  // of the graph
  for (const GraphNode& node : graph.nodes) rest.message(1, node_message(node));
  rest.bytes(2, "main");
  for (const Value* const value : graph.inputs) rest.message(11, port_message(*value, names));
  for (const Value* const value : graph.outputs) rest.message(12, port_message(*value, names));
  uint64_t all = rest.str().size();
  for (const Value* const value : graph.initializers) all += bytes_of(*value) + value->name.size() + 200;
  const bool external = external_data || all > kMostInline;
  const auto slash = path.rfind('/');
  const std::string data_name = (slash == std::string::npos ? path : path.substr(slash + 1)) + ".data";
  uint64_t offset = 0, size = rest.str().size();
  std::vector<std::string> heads;  // of tensors, up to their bytes
  std::vector<bool> outside;
  for (const Value* const value : graph.initializers) {
    Message head = tensor_head(*value);
    const uint64_t bytes = bytes_of(*value);
    outside.push_back(external && value->kind == Value::Kind::Initializer && bytes > 0);
    if (outside.back()) {
      const auto entry = [&](const char* key, const std::string& text) { head.message(13, Message().bytes(1, key).bytes(2, text)); };
      offset = align_up(offset, kAlignment);
      entry("location", data_name);
      entry("offset", std::to_string(offset));
      entry("length", std::to_string(bytes));
      head.integer(14, 1);
      offset += bytes;
    } else {
      head.opening(9, bytes);
    }
    const uint64_t length = head.str().size() + (outside.back() ? 0 : bytes);
    heads.push_back(Message().opening(5, length).str() + head.str());
    size += heads.back().size() + (outside.back() ? 0 : bytes);
  }
  if (size > kMostInline + (uint64_t{1} << 20U))
    fail("[", kOp, "] ", path, ": constants of the graph have more bytes than a file may have: name them in fields()");
  Message model;
  model.integer(1, ir_version(opset)).bytes(2, "tandem").bytes(3, version()).message(8, Message().bytes(1, "").integer(2, opset));
  model.opening(7, size);
  io::AtomicFile file(kOp, path);
  std::unique_ptr<io::AtomicFile> data;
  if (external && offset > 0) data = std::make_unique<io::AtomicFile>(kOp, path + ".data");
  const auto write = [&](const std::string& text) { file.write(text.data(), text.size()); };
  write(model.str());
  write(rest.str());
  uint64_t at = 0;
  for (size_t i = 0; i < graph.initializers.size(); ++i) {
    write(heads[i]);
    if (!outside[i]) {
      write_tensor(file, *graph.initializers[i]);
      continue;
    }
    const std::string gap(align_up(at, kAlignment) - at, '\0');
    data->write(gap.data(), gap.size());
    write_tensor(*data, *graph.initializers[i]);
    at += gap.size() + bytes_of(*graph.initializers[i]);
  }
  file.flush();  // so that only renaming is left
  if (data) data->commit();
  file.commit();
}

}  // namespace tandem::onnx::exporting
