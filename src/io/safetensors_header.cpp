// The reader of the header, which settles everything it claims before a tensor is allocated or read.
#include "io/safetensors_header.h"

#include <algorithm>
#include <bit>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "io/file_kind.h"
#include "io/named.h"

namespace tandem::io {
namespace {

static_assert(std::endian::native == std::endian::little, "the format's bytes are little-endian, and so are ours");

using nlohmann::json;

struct DTypeName {
  DType dtype;
  const char* name;
};
constexpr DTypeName kNames[kDTypes] = {{kBool, "BOOL"}, {kUInt8, "U8"},    {kInt8, "I8"},       {kInt16, "I16"},   {kInt32, "I32"},
                                       {kInt64, "I64"}, {kFloat16, "F16"}, {kBFloat16, "BF16"}, {kFloat32, "F32"}, {kFloat64, "F64"}};

std::optional<DType> dtype_named(const std::string& name) {
  for (const auto& entry : kNames)
    if (name == entry.name) return entry.dtype;
  return std::nullopt;
}

/// Bytes that sizes and dtype ask for; nothing where that is more than an int64 counts.
std::optional<uint64_t> byte_count(const Shape& sizes, DType dtype) {
  int64_t bytes = static_cast<int64_t>(size_of(dtype));
  for (const int64_t size : sizes)
    if (__builtin_mul_overflow(bytes, size, &bytes)) return std::nullopt;
  return static_cast<uint64_t>(bytes);
}

/// Takes over what the parser finds, piece by piece, and ends it at the first thing that the format does not have: so a header may be
/// nested as deep and be as long as it likes, and only entries and metadata take memory. A key that comes twice, which JSON's readers
/// settle each in its own way, is an error.
class HeaderReader final : public nlohmann::json_sax<json> {
 public:
  HeaderReader(const InputFile& file, uint64_t data_bytes) : file_(file), data_bytes_(data_bytes) {}

  std::map<std::string, SafetensorsEntry> entries;
  Metadata metadata;

  bool start_object(size_t) override {
    if (in_ == In::Nothing) in_ = In::Header;
    else if (in_ != In::Header) wrong("an object");
    else if (name_ == kSafetensorsMetadata) in_ = In::Metadata;
    else start_tensor();
    return true;
  }
  bool end_object() override {
    if (in_ == In::Tensor) end_tensor();
    in_ = in_ == In::Header ? In::Nothing : In::Header;
    return true;
  }
  bool key(std::string& key) override {
    bool is_new = true;
    if (in_ == In::Header) {
      name_ = key;
      is_new = key == kSafetensorsMetadata ? !std::exchange(has_metadata_, true) : entries.try_emplace(key).second;
    } else {
      key_ = key;
      if (in_ == In::Metadata) is_new = metadata.try_emplace(key).second;
      else is_new = !std::exchange(*seen(), true);
    }
    if (!is_new) file_.bad("the header has the key ", in_quotes(key), " twice");
    return true;
  }
  bool start_array(size_t) override {
    if (in_ == In::Tensor && key_ == "shape") in_ = In::Shape;
    else if (in_ == In::Tensor && key_ == "data_offsets") in_ = In::Offsets;
    else wrong("a list");
    return true;
  }
  bool end_array() override {
    in_ = In::Tensor;
    return true;
  }
  bool string(std::string& text) override {
    if (in_ == In::Metadata) metadata[key_] = std::move(text);
    else if (in_ == In::Tensor && key_ == "dtype") set_dtype(text);
    else wrong(in_quotes(text));
    return true;
  }
  bool number_unsigned(uint64_t number) override {
    if (in_ == In::Shape && number <= INT64_MAX) {
      if (++dims_ <= static_cast<size_t>(kMaxDims)) entry_->sizes.push_back(static_cast<int64_t>(number));
    } else if (in_ == In::Offsets && number <= INT64_MAX && offsets_ < 2) {
      (offsets_++ == 0 ? entry_->begin : entry_->end) = number;
    } else {
      wrong(str(number));
    }
    return true;
  }
  bool number_integer(int64_t number) override { return wrong(str(number)); }
  bool number_float(double, const std::string& text) override { return wrong(text.substr(0, 40)); }
  bool boolean(bool value) override { return wrong(value ? "true" : "false"); }
  bool null() override { return wrong("null"); }
  bool binary(json::binary_t&) override { return wrong("bytes"); }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception&) override {
    file_.bad("the header is not valid JSON (at its byte ", position, ")");
  }

 private:
  enum class In { Nothing, Header, Metadata, Tensor, Shape, Offsets };

  template <class... Parts>
  [[noreturn]] void bad(const Parts&... parts) const {
    file_.bad("tensor ", in_quotes(name_), " in the header ", parts...);
  }
  /// Throws what is wrong with a value that cannot stand where it does.
  [[noreturn]] bool wrong(const std::string& value) const {
    if (in_ == In::Metadata) file_.bad("the header's ", kSafetensorsMetadata, " has a value that is not text, for ", in_quotes(key_));
    if (in_ == In::Header && name_ == kSafetensorsMetadata) file_.bad("the header's ", kSafetensorsMetadata, " is not an object");
    if (in_ == In::Header) bad("is not an object");
    if (in_ == In::Shape) bad("has a size that is not a whole number from 0 on: ", value);
    if (key_ == "shape") bad("has a shape that is not a list");
    if (key_ == "dtype") bad("has a dtype that is not text");
    bad("has data_offsets that are not two whole numbers");
  }
  /// Whether the tensor has had the key.
  bool* seen() {
    if (key_ == "dtype") return &has_dtype_;
    if (key_ == "shape") return &has_shape_;
    if (key_ == "data_offsets") return &has_offsets_;
    bad("has an unknown key ", in_quotes(key_));
  }
  void set_dtype(const std::string& text) {
    entry_->dtype = dtype_named(text);
    if (!entry_->dtype) entry_->other = shown(text);
  }
  void start_tensor() {
    in_ = In::Tensor;
    entry_ = &entries[name_];
    dims_ = offsets_ = 0;
    has_dtype_ = has_shape_ = has_offsets_ = false;
  }
  void end_tensor() {
    if (!has_dtype_) bad("has no dtype");
    if (!has_shape_) bad("has no shape");
    if (!has_offsets_) bad("has no data_offsets");
    if (dims_ > entry_->sizes.size()) bad("has ", dims_, " dimensions, more than the ", kMaxDims, " a tensor can have");
    if (offsets_ != 2) bad("has data_offsets that are not two whole numbers");
    const auto& [dtype, other, sizes, begin, end] = *entry_;
    if (begin > end) bad("begins at byte ", begin, " of the data, behind its end at ", end);
    if (end > data_bytes_) bad("ends at byte ", end, " of the data, but the file has only ", data_bytes_, " (truncated?)");
    if (!dtype) return;  // of unknown width
    const auto wanted = byte_count(sizes, *dtype);
    if (!wanted) bad("has the sizes ", sizes, ", more bytes than can be counted");
    if (*wanted != end - begin)
      bad("takes ", *wanted, " bytes by its sizes ", sizes, " and dtype ", safetensors_name(*dtype), ", but its offsets leave ",
          end - begin);
  }

  const InputFile& file_;
  const uint64_t data_bytes_;
  In in_ = In::Nothing;
  std::string name_, key_;  // of the tensor, and of what is in it or in the metadata
  bool has_metadata_ = false;
  // Of the tensor that is being read.
  SafetensorsEntry* entry_ = nullptr;
  size_t dims_ = 0, offsets_ = 0;
  bool has_dtype_ = false, has_shape_ = false, has_offsets_ = false;
};

using Entries = decltype(SafetensorsHeader::entries);

/// The entries in the order of their bytes. Together they cover the data without overlap or gap.
Entries in_order(const InputFile& file, std::map<std::string, SafetensorsEntry> named, uint64_t data_bytes) {
  Entries entries;
  entries.reserve(named.size());
  while (!named.empty()) {
    auto first = named.extract(named.begin());
    entries.emplace_back(std::move(first.key()), std::move(first.mapped()));
  }
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return std::pair(a.second.begin, a.second.end) < std::pair(b.second.begin, b.second.end); });
  uint64_t covered = 0;
  for (const auto& [name, entry] : entries) {
    if (entry.begin < covered)
      file.bad("tensor ", in_quotes(name), " in the header overlaps another one at byte ", entry.begin, " of the data");
    if (entry.begin > covered) file.bad("the header leaves bytes ", covered, " to ", entry.begin, " of the data to no tensor");
    covered = entry.end;
  }
  if (covered != data_bytes) file.bad("the file has ", data_bytes, " bytes of data, but the header accounts for ", covered);
  return entries;
}

}  // namespace

const char* safetensors_name(DType dtype) { return kNames[static_cast<int>(dtype)].name; }

SafetensorsHeader read_safetensors_header(const InputFile& file) {
  uint64_t length = 0;
  constexpr uint64_t kStart = sizeof length;
  // One that does not begin as these files do is another kind of file, whatever number its first bytes make.
  if (file.size() <= kStart || file.read(1, kStart) != "{") {
    const std::string mistaken = mistaken_for("a safetensors file", file);
    if (!mistaken.empty()) file.bad(mistaken);
    if (file.size() < kStart) file.bad("the file has ", file.size(), " bytes, too few for the header's length");
  }
  file.read(&length, kStart, 0);
  if (length > kLongestSafetensorsHeader)
    file.bad("the header would take ", length, " bytes, more than the format's limit of ", kLongestSafetensorsHeader,
             ": not a safetensors file, or a damaged one");
  if (length > file.size() - kStart)
    file.bad("the header would take ", length, " bytes, but the file has only ", file.size() - kStart, " more");
  const std::string text = file.read(length, kStart);
  if (text.empty() || text[0] != '{') file.bad("the header does not begin with '{': not a safetensors file");
  const uint64_t bytes = kStart + length, data_bytes = file.size() - bytes;
  HeaderReader reader(file, data_bytes);
  json::sax_parse(text, static_cast<nlohmann::json_sax<json>*>(&reader));  // one parser for all readers
  return {bytes, in_order(file, std::move(reader.entries), data_bytes), std::move(reader.metadata)};
}

}  // namespace tandem::io
