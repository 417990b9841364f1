// The format is numpy.lib.format's: a magic word, a version, and a Python dictionary with the type, the order and the sizes, then the
// numbers.
#include "io/npy.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <optional>
#include <string_view>

#include "autograd/autograd.h"
#include "base/error.h"
#include "io/file.h"
#include "io/zip.h"
#include "ops/creation.h"

namespace tandem::io {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kAlignment = 64;
constexpr size_t kLongestHeader = 1 << 20;

struct DTypeName {
  DType dtype;
  std::string_view name;
};
constexpr std::array<DTypeName, 9> kNames = {{{kBool, "|b1"},
                                              {kUInt8, "|u1"},
                                              {kInt8, "|i1"},
                                              {kInt16, "<i2"},
                                              {kInt32, "<i4"},
                                              {kInt64, "<i8"},
                                              {kFloat16, "<f2"},
                                              {kFloat32, "<f4"},
                                              {kFloat64, "<f8"}}};

std::string header_of(const char* op, const std::string& path, const Tensor& tensor) {
  const auto name = std::find_if(kNames.begin(), kNames.end(), [&](const auto& entry) { return entry.dtype == tensor.dtype(); });
  if (name == kNames.end())
    fail("[", op, "] ", path, ": NumPy has no type for ", tensor.dtype(), "; convert the tensor, as with .to(kFloat32)");
  std::string sizes;
  for (const int64_t size : tensor.sizes()) sizes += str(sizes.empty() ? "" : " ", size, ",");
  if (tensor.dim() > 1) sizes.pop_back();
  std::string text = str("{'descr': '", name->name, "', 'fortran_order': False, 'shape': (", sizes, "), }");
  const size_t before = kMagic.size() + 4;
  text.append((kAlignment - (before + text.size() + 1) % kAlignment) % kAlignment, ' ');
  text += '\n';
  const auto length = static_cast<uint16_t>(text.size());
  return str(kMagic, '\1', '\0', static_cast<char>(length & 0xff), static_cast<char>(length >> 8), text);
}

/// Bytes of a file or of an archive's entry, from front to back.
struct Source {
  const InputFile& file;
  std::string where;  // "" or "the entry a.npy: "
  uint64_t size;
  std::function<void(void* to, size_t bytes)> read;

  template <class... Parts>
  [[noreturn]] void bad(const Parts&... parts) const {
    file.bad(where, parts...);
  }
};

struct Header {
  DType dtype = kFloat32;
  bool fortran_order = false;
  Shape sizes;
};

/// Reads the one dictionary that numpy writes: three keys, in any order.
class HeaderParser {
 public:
  HeaderParser(const Source& source, std::string_view text) : source_(source), rest_(text) {}

  Header parse() {
    Header header;
    bool has_type = false, has_order = false, has_sizes = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && !has_type) {
        header.dtype = dtype(quoted());
        has_type = true;
      } else if (key == "fortran_order" && !has_order) {
        header.fortran_order = boolean();
        has_order = true;
      } else if (key == "shape" && !has_sizes) {
        header.sizes = tuple();
        has_sizes = true;
      } else {
        source_.bad("the header has the key '", key, "' too much");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (!rest_.empty()) broken();
    if (!has_type || !has_order || !has_sizes) source_.bad("the header lacks one of descr, fortran_order and shape");
    return header;
  }

 private:
  [[noreturn]] void broken() const { source_.bad("the header is not the dictionary that NumPy writes"); }
  void skip_space() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t' || rest_[0] == '\r')) rest_.remove_prefix(1);
  }
  bool accept(char c) {
    skip_space();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) broken();
  }
  std::string quoted() {
    const char mark = accept('\'') ? '\'' : '"';
    if (mark == '"') expect('"');
    const size_t end = rest_.find(mark);
    if (end == std::string_view::npos || end > 100) broken();
    std::string text(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return text;
  }
  bool boolean() {
    skip_space();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    broken();
  }
  int64_t number() {
    skip_space();
    int64_t value = 0;
    size_t digits = 0;
    while (digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9') {
      if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, rest_[digits] - '0', &value))
        source_.bad("the header has a size that is too large to be counted");
      ++digits;
    }
    if (digits == 0) broken();
    rest_.remove_prefix(digits);
    if (!rest_.empty() && rest_[0] == 'L') rest_.remove_prefix(1);  // as Python 2 wrote it
    return value;
  }
  Shape tuple() {
    Shape sizes;
    expect('(');
    while (!accept(')')) {
      sizes.push_back(number());
      if (sizes.size() > static_cast<size_t>(kMaxDims))
        source_.bad("the array has more than the ", kMaxDims, " dimensions a tensor can have");
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return sizes;
  }
  [[nodiscard]] DType dtype(const std::string& name) const {
    for (const auto& entry : kNames) {
      // A single byte has no order; numpy writes '|', other programs '<' or '='.
      if (name.size() == 3 && entry.name.substr(1) == name.substr(1) &&
          (name[0] == '<' || name[0] == '=' || (name[0] == '|' && name[2] == '1')))
        return entry.dtype;
    }
    if (!name.empty() && name[0] == '>')
      source_.bad("the numbers are big-endian ('", name, "'): write them with .astype('<", name.substr(1), "')");
    source_.bad("the numbers are of the type '", name, "', which is none of bool, (u)int8, int16, int32, int64, float16, float32, float64");
  }

  const Source& source_;
  std::string_view rest_;
};

Tensor read_array(const Source& source, Device device, Site site) {
  constexpr size_t kStart = kMagic.size() + 4;  // magic, version, and the header's length as version 1 has it
  std::array<unsigned char, kStart + 2> start = {};
  if (source.size < kStart) source.bad("not a .npy file: it has only ", source.size, " bytes");
  source.read(start.data(), kStart);
  if (std::memcmp(start.data(), kMagic.data(), kMagic.size()) != 0)
    source.bad("not a .npy file: it does not begin as one; read .npz with load_npz and .safetensors with load_safetensors");
  const int version = start[6];
  if (version < 1 || version > 3) source.bad("has version ", version, " of the .npy format; 1 to 3 are read");
  uint64_t begin = kStart;
  if (version > 1) {
    if (source.size < kStart + 2) source.bad("not a .npy file: it has only ", source.size, " bytes");
    source.read(start.data() + kStart, 2);
    begin += 2;
  }
  const uint64_t length = start[8] | start[9] << 8U | uint64_t{start[10]} << 16U | uint64_t{start[11]} << 24U;
  if (length > source.size - begin || length > kLongestHeader)
    source.bad("the header would take ", length, " bytes, but there are ", source.size, " bytes in all");
  std::string text(length, '\0');
  source.read(text.data(), length);
  Header header = HeaderParser(source, text).parse();

  int64_t bytes = static_cast<int64_t>(size_of(header.dtype));
  for (const int64_t size : header.sizes)
    if (__builtin_mul_overflow(bytes, size, &bytes)) source.bad("an array of sizes ", header.sizes, " is too large to be counted");
  const uint64_t there = source.size - begin - length;
  if (static_cast<uint64_t>(bytes) != there)
    source.bad("an array of sizes ", header.sizes, " and type ", header.dtype, " takes ", bytes, " bytes, but there are ", there);

  if (header.fortran_order) std::reverse(header.sizes.begin(), header.sizes.end());
  Tensor tensor = empty(header.sizes, header.dtype, site);
  if (bytes > 0) source.read(tensor.data_ptr(), static_cast<size_t>(bytes));
  if (header.dtype == kBool) {
    const auto* values = static_cast<const unsigned char*>(tensor.data_ptr());
    for (int64_t i = 0; i < bytes; ++i)
      if (values[i] > 1) source.bad("has the value ", static_cast<int>(values[i]), " in a bool");
  }
  if (header.fortran_order) {
    Shape dims;
    for (int64_t dim = tensor.dim() - 1; dim >= 0; --dim) dims.push_back(dim);
    tensor = tensor.permute(dims, site).contiguous(site);
  }
  return tensor.to(device, {}, site);
}

/// The tensor's numbers on the host, in row-major order.
Tensor host_copy(const char* op, const std::string& path, const Tensor& tensor, Site site) {
  if (!tensor.defined()) fail("[", op, "] ", path, ": the tensor is undefined");
  return tensor.detach().cpu(site).contiguous(site);
}

std::string_view bytes_of(const Tensor& host) {
  return host.numel() ? std::string_view(static_cast<const char*>(host.data_ptr()), host.nbytes()) : std::string_view();
}

}  // namespace

void save_npy(const std::string& path, const Tensor& tensor, Site site) {
  const NoGradGuard no_grad;
  const Tensor host = host_copy("save_npy", path, tensor, site);
  const std::string header = header_of("save_npy", path, host);
  AtomicFile file("save_npy", path);
  file.write(header.data(), header.size());
  file.write(bytes_of(host).data(), bytes_of(host).size());
  file.commit();
}

Tensor load_npy(const std::string& path, Device device, Site site) {
  const NoGradGuard no_grad;
  const InputFile file("load_npy", path);
  uint64_t offset = 0;
  const Source source{file, "", file.size(), [&](void* to, size_t bytes) {
                        file.read(to, bytes, offset);
                        offset += bytes;
                      }};
  return read_array(source, device, site);
}

void save_npz(const std::string& path, const TensorMap& tensors, Site site) {
  const NoGradGuard no_grad;
  AtomicFile file("save_npz", path);
  ZipWriter zip(file, "save_npz", path);
  for (const auto& [name, tensor] : tensors) {
    const Tensor host = host_copy("save_npz", path, tensor, site);
    zip.add(name + ".npy", header_of("save_npz", path, host), bytes_of(host));
  }
  zip.finish();
  file.commit();
}

TensorMap load_npz(const std::string& path, Device device, Site site) {
  const NoGradGuard no_grad;
  const InputFile file("load_npz", path);
  TensorMap tensors;
  for (const ZipEntry& entry : read_zip_directory(file)) {
    ZipEntryReader reader(file, entry);
    const Source source{file, str("the entry ", entry.name, ": "), entry.size, [&](void* to, size_t bytes) { reader.read(to, bytes); }};
    const std::string name = entry.name.ends_with(".npy") ? entry.name.substr(0, entry.name.size() - 4) : entry.name;
    if (tensors.contains(name)) file.bad("has the array ", name, " twice");
    tensors.emplace(name, read_array(source, device, site));
    reader.finish();
  }
  return tensors;
}

}  // namespace tandem::io
