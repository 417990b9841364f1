// Writing and reading safetensors. The reader settles everything the header claims before it allocates or reads a tensor.
#include "io/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "autograd/autograd.h"
#include "base/error.h"
#include "io/file.h"
#include "ops/creation.h"

namespace tandem::io {
namespace {

static_assert(std::endian::native == std::endian::little, "the format's bytes are little-endian, and so are ours");

using nlohmann::json;

constexpr const char* kMetadataKey = "__metadata__";
/// The reference implementation's limit, too.
constexpr uint64_t kLongestHeader = 100'000'000;
constexpr size_t kAlignment = 8;

struct DTypeName {
  DType dtype;
  const char* name;
};
constexpr DTypeName kNames[kDTypes] = {{kBool, "BOOL"}, {kUInt8, "U8"},    {kInt8, "I8"},       {kInt16, "I16"},   {kInt32, "I32"},
                                       {kInt64, "I64"}, {kFloat16, "F16"}, {kBFloat16, "BF16"}, {kFloat32, "F32"}, {kFloat64, "F64"}};

const char* format_name(DType dtype) { return kNames[static_cast<int>(dtype)].name; }

std::optional<DType> dtype_named(const std::string& name) {
  for (const auto& entry : kNames)
    if (name == entry.name) return entry.dtype;
  return std::nullopt;
}

/// A name as errors show it: quoted, made printable and short, since a damaged header can hold anything.
std::string in_quotes(const std::string& name) {
  std::string out = "'";
  for (const char c : name.substr(0, 100)) out += static_cast<unsigned char>(c) < 32 ? '?' : c;
  return out + (name.size() > 100 ? "…'" : "'");
}

/// What the header says of one tensor, checked against itself and the size of the data.
struct Entry {
  std::string name;
  DType dtype;
  Shape sizes;
  uint64_t begin, end;  // within the data
};

/// A whole number from 0 on that fits an int64; nothing for all else that JSON has.
std::optional<uint64_t> whole_number(const json& value) {
  if (!value.is_number_unsigned()) return std::nullopt;
  const auto number = value.get<uint64_t>();
  if (number > static_cast<uint64_t>(INT64_MAX)) return std::nullopt;
  return number;
}

/// Bytes that sizes and dtype ask for; nothing where that is more than an int64 counts.
std::optional<uint64_t> byte_count(const Shape& sizes, DType dtype) {
  int64_t bytes = static_cast<int64_t>(size_of(dtype));
  for (const int64_t size : sizes)
    if (__builtin_mul_overflow(bytes, size, &bytes)) return std::nullopt;
  return static_cast<uint64_t>(bytes);
}

Entry read_entry(const InputFile& file, const std::string& name, const json& value, uint64_t data_bytes) {
  const auto bad = [&](const auto&... parts) { file.bad("tensor ", in_quotes(name), " in the header ", parts...); };
  if (!value.is_object()) bad("is not an object");
  for (const char* key : {"dtype", "shape", "data_offsets"})
    if (!value.contains(key)) bad("has no ", key);
  for (const auto& [key, unused] : value.items())
    if (key != "dtype" && key != "shape" && key != "data_offsets") bad("has an unknown key ", in_quotes(key));

  Entry entry{name, kFloat32, {}, 0, 0};
  if (!value["dtype"].is_string()) bad("has a dtype that is not text");
  const auto dtype = dtype_named(value["dtype"].get<std::string>());
  if (!dtype)
    bad("has the dtype ", in_quotes(value["dtype"].get<std::string>()), ", which is none of BOOL U8 I8 I16 I32 I64 F16 BF16 F32 F64");
  entry.dtype = *dtype;

  const json& shape = value["shape"];
  if (!shape.is_array()) bad("has a shape that is not a list");
  if (shape.size() > static_cast<size_t>(kMaxDims))
    bad("has ", shape.size(), " dimensions, more than the ", kMaxDims, " a tensor can have");
  for (const json& size : shape) {
    const auto number = whole_number(size);
    if (!number) bad("has a size that is not a whole number from 0 on: ", size.dump().substr(0, 40));
    entry.sizes.push_back(static_cast<int64_t>(*number));
  }

  const json& offsets = value["data_offsets"];
  const bool pair = offsets.is_array() && offsets.size() == 2 && whole_number(offsets[0]) && whole_number(offsets[1]);
  if (!pair) bad("has data_offsets that are not two whole numbers");
  entry.begin = *whole_number(offsets[0]);
  entry.end = *whole_number(offsets[1]);
  if (entry.begin > entry.end) bad("begins at byte ", entry.begin, " of the data, behind its end at ", entry.end);
  if (entry.end > data_bytes) bad("ends at byte ", entry.end, " of the data, but the file has only ", data_bytes, " (truncated?)");
  const auto wanted = byte_count(entry.sizes, entry.dtype);
  if (!wanted) bad("has the sizes ", entry.sizes, ", more bytes than can be counted");
  if (*wanted != entry.end - entry.begin)
    bad("takes ", *wanted, " bytes by its sizes ", entry.sizes, " and dtype ", format_name(entry.dtype), ", but its offsets leave ",
        entry.end - entry.begin);
  return entry;
}

/// Parses the header; error also where a key comes twice, which JSON's readers otherwise settle each in its own way.
json parse_header(const InputFile& file, const std::string& text) {
  std::vector<std::set<std::string>> keys;
  std::string twice;
  const auto watch = [&](int, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second && twice.empty())
      twice = value.get<std::string>();
    return true;
  };
  if (text.empty() || text[0] != '{') file.bad("the header does not begin with '{': not a safetensors file");
  json header;
  try {
    header = json::parse(text, watch);
  } catch (const json::exception& error) {
    // The library's text carries a tag and may quote the input; where it went wrong is what helps.
    const auto* parse = dynamic_cast<const json::parse_error*>(&error);
    file.bad("the header is not valid JSON", parse ? str(" (at its byte ", parse->byte, ")") : std::string());
  }
  if (!twice.empty()) file.bad("the header has the key ", in_quotes(twice), " twice");
  return header;
}

Metadata read_metadata(const InputFile& file, const json& header) {
  Metadata metadata;
  if (!header.contains(kMetadataKey)) return metadata;
  const json& value = header[kMetadataKey];
  if (!value.is_object()) file.bad("the header's ", kMetadataKey, " is not an object");
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) file.bad("the header's ", kMetadataKey, " has a value that is not text, for ", in_quotes(key));
    metadata.emplace(key, text.get<std::string>());
  }
  return metadata;
}

/// The entries in the order of their bytes. Together they cover the data without overlap or gap.
std::vector<Entry> read_entries(const InputFile& file, const json& header, uint64_t data_bytes) {
  std::vector<Entry> entries;
  for (const auto& [name, value] : header.items())
    if (name != kMetadataKey) entries.push_back(read_entry(file, name, value, data_bytes));
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  uint64_t covered = 0;
  for (const Entry& entry : entries) {
    if (entry.begin < covered)
      file.bad("tensor ", in_quotes(entry.name), " in the header overlaps another one at byte ", entry.begin, " of the data");
    if (entry.begin > covered) file.bad("the header leaves bytes ", covered, " to ", entry.begin, " of the data to no tensor");
    covered = entry.end;
  }
  if (covered != data_bytes) file.bad("the file has ", data_bytes, " bytes of data, but the header accounts for ", covered);
  return entries;
}

Tensor read_tensor(const InputFile& file, const Entry& entry, uint64_t data_begin, Device device, Site site) {
  const Tensor tensor = empty(entry.sizes, {.dtype = entry.dtype}, site);
  const size_t bytes = tensor.nbytes();
  if (bytes > 0) file.read(tensor.data_ptr(), bytes, data_begin + entry.begin);
  if (entry.dtype == kBool) {
    const auto* values = static_cast<const unsigned char*>(tensor.data_ptr());
    for (size_t i = 0; i < bytes; ++i)
      if (values[i] > 1) file.bad("tensor ", in_quotes(entry.name), " has the value ", static_cast<int>(values[i]), " in a bool");
  }
  return tensor.to(device, {}, site);
}

}  // namespace

void save_safetensors(const std::string& path, const TensorMap& tensors, const Metadata& metadata, Site site) {
  const NoGradGuard no_grad;
  // Wider types first, so that each tensor begins at a multiple of its element size; by name among equals, so that a file's bytes are
  // settled.
  std::vector<const TensorMap::value_type*> order;
  for (const auto& item : tensors) {
    if (!item.second.defined()) fail("[save_safetensors] ", path, ": tensor ", in_quotes(item.first), " is undefined");
    if (item.first == kMetadataKey) fail("[save_safetensors] ", path, ": a tensor cannot be named ", kMetadataKey);
    order.push_back(&item);
  }
  std::stable_sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->second.element_size() > b->second.element_size(); });

  json header = json::object();
  if (!metadata.empty()) header[kMetadataKey] = metadata;
  uint64_t end = 0;
  for (const auto* item : order) {
    const Tensor& tensor = item->second;
    const uint64_t begin = end;
    end += tensor.nbytes();
    header[item->first] = {{"dtype", format_name(tensor.dtype())},
                           {"shape", std::vector<int64_t>(tensor.sizes().begin(), tensor.sizes().end())},
                           {"data_offsets", {begin, end}}};
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const json::exception&) {
    fail("[save_safetensors] ", path, ": a name or metadata text is not valid UTF-8");
  }
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  if (text.size() > kLongestHeader)
    fail("[save_safetensors] ", path, ": the header takes ", text.size(), " bytes, more than ", kLongestHeader);

  AtomicFile file("save_safetensors", path);
  const uint64_t length = text.size();
  file.write(&length, sizeof length);
  file.write(text.data(), text.size());
  for (const auto* item : order) {
    const Tensor host = item->second.detach().cpu(site).contiguous(site);
    if (host.numel() > 0) file.write(host.data_ptr(), host.nbytes());
  }
  file.commit();
}

SafetensorsFile read_safetensors(const std::string& path, Device device, Site site) {
  const NoGradGuard no_grad;
  const InputFile file("load_safetensors", path);
  uint64_t length = 0;
  if (file.size() < sizeof length) file.bad("the file has ", file.size(), " bytes, too few for the header's length");
  file.read(&length, sizeof length, 0);
  if (length > kLongestHeader) file.bad("the header would take ", length, " bytes, more than the format's limit of ", kLongestHeader);
  if (length > file.size() - sizeof length)
    file.bad("the header would take ", length, " bytes, but the file has only ", file.size() - sizeof length, " more");
  std::string text(length, '\0');
  file.read(text.data(), length, sizeof length);
  const json header = parse_header(file, text);
  const uint64_t data_begin = sizeof length + length;

  SafetensorsFile content;
  content.metadata = read_metadata(file, header);
  for (const Entry& entry : read_entries(file, header, file.size() - data_begin))
    content.tensors.emplace(entry.name, read_tensor(file, entry, data_begin, device, site));
  return content;
}

TensorMap load_safetensors(const std::string& path, Device device, Site site) { return read_safetensors(path, device, site).tensors; }

}  // namespace tandem::io
