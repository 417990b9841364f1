#include "io/safetensors_writer.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "autograd/autograd.h"
#include "base/error.h"
#include "io/named.h"
#include "io/safetensors_header.h"

namespace tandem::io {
namespace {

using nlohmann::json;

constexpr size_t kAlignment = 8;

std::vector<PlannedTensor> in_order(std::vector<PlannedTensor> tensors) {
  std::sort(tensors.begin(), tensors.end(), [](const PlannedTensor& a, const PlannedTensor& b) {
    return std::pair(size_of(b.dtype), std::string_view(a.name)) < std::pair(size_of(a.dtype), std::string_view(b.name));
  });
  return tensors;
}

}  // namespace

uint64_t PlannedTensor::bytes() const {
  uint64_t bytes = size_of(dtype);
  for (const int64_t size : sizes) bytes *= static_cast<uint64_t>(size);
  return bytes;
}

std::vector<PlannedTensor> planned(const char* op, const std::string& path, const TensorMap& tensors) {
  std::vector<PlannedTensor> plan;
  for (const auto& [name, tensor] : tensors) {
    if (!tensor.defined()) fail("[", op, "] ", path, ": tensor ", in_quotes(name), " is undefined");
    plan.push_back({name, tensor.dtype(), tensor.sizes()});
  }
  return plan;
}

SafetensorsWriter::SafetensorsWriter(const char* op, const std::string& path, std::vector<PlannedTensor> tensors, const Metadata& metadata)
    : op_(op), path_(path), order_(in_order(std::move(tensors))), file_(op, path) {
  // As text, part by part: the destructor of a JSON object takes memory, and where there is none it would end the program.
  const auto quoted = [](const std::string& string) { return json(string).dump(); };
  std::map<std::string, std::string> parts;
  std::string text;
  try {
    for (const auto& [key, value] : metadata) text += str(text.empty() ? '{' : ',', quoted(key), ':', quoted(value));
    if (!metadata.empty()) parts[kSafetensorsMetadata] = text + '}';
    uint64_t end = 0;
    for (const PlannedTensor& tensor : order_) {
      if (tensor.name == kSafetensorsMetadata) fail("[", op, "] ", path, ": a tensor cannot be named ", kSafetensorsMetadata);
      const uint64_t begin = end;
      end += tensor.bytes();
      std::string sizes;
      for (const int64_t size : tensor.sizes) sizes += str(sizes.empty() ? "" : ",", size);
      parts[tensor.name] =
          str(R"({"data_offsets":[)", begin, ',', end, R"(],"dtype":")", safetensors_name(tensor.dtype), R"(","shape":[)", sizes, "]}");
    }
    text.clear();
    for (const auto& [name, part] : parts) text += str(text.empty() ? '{' : ',', quoted(name), ':', part);
    text += parts.empty() ? "{}" : "}";
  } catch (const json::exception&) {
    fail("[", op, "] ", path, ": a name or metadata text is not valid UTF-8");
  }
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  if (text.size() > kLongestSafetensorsHeader)
    fail("[", op, "] ", path, ": the header takes ", text.size(), " bytes, more than ", kLongestSafetensorsHeader);
  const uint64_t length = text.size();
  file_.write(&length, sizeof length);
  file_.write(text.data(), text.size());
}

void SafetensorsWriter::write(const Tensor& tensor, Site site) {
  const NoGradGuard no_grad;
  if (written_ == order_.size()) fail("[", op_, "] ", path_, ": there are more tensors than were planned");
  const PlannedTensor& wanted = order_[written_++];
  if (tensor.dtype() != wanted.dtype || tensor.sizes() != wanted.sizes)
    fail("[", op_, "] ", path_, ": tensor ", in_quotes(wanted.name), " was to be ", wanted.dtype, " of sizes ", wanted.sizes, ", but is ",
         tensor.dtype(), " of sizes ", tensor.sizes());
  const Tensor host = tensor.detach().cpu(site).contiguous(site);
  if (host.numel() > 0) file_.write(host.data_ptr(), host.nbytes());
}

void SafetensorsWriter::need_all() const {
  if (written_ != order_.size()) fail("[", op_, "] ", path_, ": ", order_.size() - written_, " of the planned tensors are missing");
}

void SafetensorsWriter::flush() {
  need_all();
  file_.flush();
}

void SafetensorsWriter::commit() {
  need_all();
  file_.commit();
}

}  // namespace tandem::io
