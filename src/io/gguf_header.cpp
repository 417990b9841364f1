// The reader of the front, which settles everything it claims before a tensor is allocated or read.
#include "io/gguf_header.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>

#include "base/error.h"
#include "io/file_kind.h"
#include "io/named.h"

namespace tandem::io {
namespace {

static_assert(std::endian::native == std::endian::little, "the format's bytes are little-endian, and so are ours");

/// The types of metadata, by their numbers.
enum Type : uint32_t { U8, I8, U16, I16, U32, I32, F32, Bool, Text, Array, U64, I64, F64, kTypes };
/// Bytes that a value takes at least.
constexpr uint64_t kLeastBytes[kTypes] = {1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8};

constexpr uint64_t kLongestName = 65535;  // the format's limit for keys
constexpr int kMostNested = 8;
constexpr uint64_t kLeastTensorBytes = 24;  // of a name's length, a number of dimensions, a type and an offset
constexpr const char* kAlignmentKey = "general.alignment";
constexpr int64_t kUsualAlignment = 32, kMostAlignment = int64_t{1} << 30;

/// The file from front to back.
class Cursor {
 public:
  explicit Cursor(const InputFile& file) : file_(file) {}

  [[nodiscard]] uint64_t at() const { return at_; }
  [[nodiscard]] uint64_t left() const { return file_.size() - at_; }

  void read(void* to, size_t bytes) {
    if (bytes > left()) file_.bad("the file ends at byte ", file_.size(), ", in the middle of what stands before the tensors (truncated?)");
    if (bytes > buffer_.size() - (at_ - begin_)) {
      if (bytes >= kPiece) {
        file_.read(to, bytes, at_);
        at_ += bytes;
        begin_ = at_;
        buffer_.clear();
        return;
      }
      begin_ = at_;
      buffer_ = file_.read(std::min<uint64_t>(kPiece, left()), at_);
    }
    std::memcpy(to, buffer_.data() + (at_ - begin_), bytes);
    at_ += bytes;
  }
  template <class T>
  T number() {
    T number;
    read(&number, sizeof number);
    return number;
  }
  std::string text(uint64_t longest = UINT64_MAX) {
    const auto length = number<uint64_t>();
    if (length > left()) file_.bad("a text at byte ", at_, " would take ", length, " bytes, but the file has only ", left(), " more");
    if (length > longest) file_.bad("a name at byte ", at_, " would take ", length, " bytes, more than ", longest);
    std::string text(length, '\0');
    read(text.data(), length);
    return text;
  }

 private:
  static constexpr uint64_t kPiece = 1 << 16;

  const InputFile& file_;
  uint64_t at_ = 0, begin_ = 0;  // of the file; where the buffer begins
  std::string buffer_;
};

class FrontReader {
 public:
  explicit FrontReader(const InputFile& file) : file_(file), cursor_(file) {}

  GgufHeader read() {
    read_version();
    const auto tensors = cursor_.number<uint64_t>(), values = cursor_.number<uint64_t>();
    check_count(tensors, kLeastTensorBytes, "tensors");
    check_count(values, kLeastBytes[Text] + sizeof(uint32_t) + 1, "values of metadata");
    for (uint64_t i = 0; i < values; ++i) {
      key_ = cursor_.text(kLongestName);
      const auto [place, is_new] = header_.metadata.try_emplace(key_);
      if (!is_new) file_.bad("the metadata have the key ", in_quotes(key_), " twice");
      place->second = value(type(), 0);
    }
    const uint64_t alignment = read_alignment();
    std::map<std::string, GgufEntry> named;
    for (uint64_t i = 0; i < tensors; ++i) read_tensor(named, alignment);
    header_.data_begin = (cursor_.at() + alignment - 1) / alignment * alignment;
    data_bytes_ = file_.size() - std::min(file_.size(), header_.data_begin);
    settle(std::move(named));
    return std::move(header_);
  }

 private:
  template <class... Parts>
  [[noreturn]] void bad_tensor(const std::string& name, const Parts&... parts) const {
    file_.bad("tensor ", in_quotes(name), " ", parts...);
  }

  void read_version() {
    const uint64_t start = std::min<uint64_t>(file_.size(), kGgufMagic.size());
    if (file_.read(start, 0) != kGgufMagic) {
      const std::string mistaken = mistaken_for("a GGUF file", file_);
      file_.bad(mistaken.empty() ? "not a GGUF file: it does not begin as one" : mistaken);
    }
    (void)cursor_.number<uint32_t>();
    header_.version = cursor_.number<uint32_t>();
    if (header_.version == 2 || header_.version == 3) return;
    if (std::bit_width(header_.version) > 24) file_.bad("has its numbers with the high byte first; only files of the other order are read");
    file_.bad("has version ", header_.version, " of the GGUF format; 2 and 3 are read: convert it with llama.cpp's tools");
  }
  /// Where `count` of something cannot be in the rest of the file.
  void check_count(uint64_t count, uint64_t least_bytes, const char* what) const {
    if (count > cursor_.left() / least_bytes)
      file_.bad("would have ", count, " ", what, ", more than the ", cursor_.left(), " bytes that follow can hold");
  }

  uint32_t type() {
    const auto type = cursor_.number<uint32_t>();
    if (type >= kTypes) file_.bad("the metadata's ", in_quotes(key_), " has the type ", type, ", which is not known");
    return type;
  }
  /// A whole number of the file's type; of U64 its bits.
  int64_t whole(uint32_t type) {
    switch (type) {
      case U8: return cursor_.number<uint8_t>();
      case I8: return cursor_.number<int8_t>();
      case U16: return cursor_.number<uint16_t>();
      case I16: return cursor_.number<int16_t>();
      case U32: return cursor_.number<uint32_t>();
      case I32: return cursor_.number<int32_t>();
      default: return cursor_.number<int64_t>();
    }
  }
  double real(uint32_t type) { return type == F32 ? double{cursor_.number<float>()} : cursor_.number<double>(); }
  bool truth() {
    const auto byte = cursor_.number<uint8_t>();
    if (byte > 1) file_.bad("the metadata's ", in_quotes(key_), " has the value ", static_cast<int>(byte), " in a bool");
    return byte == 1;
  }

  MetadataValue value(uint32_t type, int depth) {
    if (type == Array) return list(depth + 1);
    if (type == Text) return {cursor_.text()};
    if (type == Bool) return {truth()};
    if (type == F32 || type == F64) return {real(type)};
    const int64_t number = whole(type);
    if (type == U64 && number < 0) return {static_cast<double>(static_cast<uint64_t>(number))};
    return {number};
  }
  MetadataValue list(int depth) {
    if (depth > kMostNested) file_.bad("the metadata's ", in_quotes(key_), " has lists more than ", kMostNested, " deep");
    const uint32_t of = type();
    const auto count = cursor_.number<uint64_t>();
    check_count(count, kLeastBytes[of], "values in a list of metadata");
    // Filled as its values come.
    const auto filled = [&](auto values, auto&& next) {
      for (uint64_t i = 0; i < count; ++i) values.push_back(next());
      return MetadataValue{std::move(values)};
    };
    if (of == Array) return filled(MetadataValue::List(), [&] { return list(depth + 1); });
    if (of == Text) return filled(std::vector<std::string>(), [&] { return cursor_.text(); });
    if (of == Bool) return filled(std::vector<bool>(), [&] { return truth(); });
    if (of == F32 || of == F64) return filled(std::vector<double>(), [&] { return real(of); });
    bool fits = true;
    MetadataValue numbers = filled(std::vector<int64_t>(), [&] {
      const int64_t number = whole(of);
      fits = fits && (of != U64 || number >= 0);
      return number;
    });
    if (fits) return numbers;
    std::vector<double> nearest;
    for (const int64_t number : *numbers.get_if<std::vector<int64_t>>())
      nearest.push_back(static_cast<double>(static_cast<uint64_t>(number)));
    return {std::move(nearest)};
  }

  uint64_t read_alignment() const {
    const auto found = header_.metadata.find(kAlignmentKey);
    if (found == header_.metadata.end()) return kUsualAlignment;
    const auto* const alignment = found->second.get_if<int64_t>();
    if (alignment == nullptr || *alignment < 1 || *alignment > kMostAlignment || !std::has_single_bit(static_cast<uint64_t>(*alignment)))
      file_.bad("the metadata's ", in_quotes(kAlignmentKey), " must be a power of two from 1 to ", kMostAlignment);
    return static_cast<uint64_t>(*alignment);
  }

  void read_tensor(std::map<std::string, GgufEntry>& named, uint64_t alignment) {
    std::string name = cursor_.text(kLongestName);
    const auto dims = cursor_.number<uint32_t>();
    if (dims > static_cast<uint32_t>(kMaxDims))
      bad_tensor(name, "has ", dims, " dimensions, more than the ", kMaxDims, " a tensor can have");
    GgufEntry entry;
    int64_t elements = 1;
    for (uint32_t dim = 0; dim < dims; ++dim) {
      const auto size = cursor_.number<uint64_t>();
      if (size > INT64_MAX || __builtin_mul_overflow(elements, static_cast<int64_t>(size), &elements))
        bad_tensor(name, "has more elements than can be counted");
      entry.sizes.push_back(static_cast<int64_t>(size));
    }
    const int64_t row = dims == 0 ? 1 : entry.sizes[0];
    std::reverse(entry.sizes.begin(), entry.sizes.end());
    entry.type_id = cursor_.number<uint32_t>();
    entry.type = gguf_type(entry.type_id);
    entry.begin = cursor_.number<uint64_t>();
    if (entry.begin % alignment != 0)
      bad_tensor(name, "begins at byte ", entry.begin, " of the data, which is no multiple of the alignment ", alignment);
    if (entry.type != nullptr) {
      const auto& [id, type, block, block_bytes, dtype, decode] = *entry.type;
      if (row % block != 0) bad_tensor(name, "has ", row, " elements in a row, but its type ", type, " comes in blocks of ", block);
      // More numbers than float32 takes bytes for cannot be had, either.
      int64_t bytes = 0, decoded = 0;
      if (__builtin_mul_overflow(elements / block, int64_t{block_bytes}, &bytes) || __builtin_mul_overflow(elements, 8, &decoded))
        bad_tensor(name, "has the sizes ", entry.sizes, ", more bytes than can be counted");
      entry.bytes = static_cast<uint64_t>(bytes);
    }
    if (!named.try_emplace(name, std::move(entry)).second) bad_tensor(name, "comes twice");
  }

  /// Into the order of their bytes, which lie in the data and do not overlap.
  void settle(std::map<std::string, GgufEntry> named) {
    auto& entries = header_.entries;
    entries.reserve(named.size());
    while (!named.empty()) {
      auto first = named.extract(named.begin());
      entries.emplace_back(std::move(first.key()), std::move(first.mapped()));
    }
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
      return std::pair(a.second.begin, a.second.bytes) < std::pair(b.second.begin, b.second.bytes);
    });
    uint64_t covered = 0;
    for (const auto& [name, entry] : entries) {
      if (entry.begin > data_bytes_ || entry.bytes > data_bytes_ - entry.begin)
        bad_tensor(name, "takes ", entry.bytes, " bytes from byte ", entry.begin, " of the data on, but there are only ", data_bytes_,
                   " (truncated?)");
      if (entry.bytes == 0) continue;
      if (entry.begin < covered) bad_tensor(name, "overlaps another one at byte ", entry.begin, " of the data");
      covered = entry.begin + entry.bytes;
    }
  }

  const InputFile& file_;
  Cursor cursor_;
  GgufHeader header_;
  std::string key_;  // of the value that is being read
  uint64_t data_bytes_ = 0;
};

}  // namespace

std::string GgufEntry::type_name() const { return type == nullptr ? str("type ", type_id) : type->name; }

GgufHeader read_gguf_header(const InputFile& file) { return FrontReader(file).read(); }

}  // namespace tandem::io
