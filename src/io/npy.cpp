// The format is numpy.lib.format's: a magic word, a version, the header (npy_header.h), then the numbers.
#include "io/npy.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <optional>
#include <set>
#include <string_view>

#include "autograd/autograd.h"
#include "base/error.h"
#include "base/warning.h"
#include "io/file.h"
#include "io/file_kind.h"
#include "io/list_formats.h"
#include "io/named.h"
#include "io/npy_header.h"
#include "io/zip.h"
#include "ops/creation.h"

namespace tandem::io {
namespace {

constexpr size_t kLongestHeader = 1 << 20;

std::string header_of(const char* op, const std::string& path, const Tensor& tensor) {
  std::string header = make_npy_header(tensor.dtype(), tensor.sizes());
  if (header.empty()) fail("[", op, "] ", path, ": NumPy has no type for ", tensor.dtype(), "; convert the tensor, as with .to(kFloat32)");
  return header;
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

/// Reads the beginning of an array; nothing where the bytes do not begin as one.
std::optional<NpyHeader> read_header(const Source& source) {
  constexpr size_t kStart = kNpyMagic.size() + 4;  // magic, version, and the header's length as version 1 has it
  std::array<unsigned char, kStart + 2> start = {};
  if (source.size < kStart) return std::nullopt;
  source.read(start.data(), kStart);
  if (std::memcmp(start.data(), kNpyMagic.data(), kNpyMagic.size()) != 0) return std::nullopt;
  const int version = start[6];
  if (version < 1 || version > 3) source.bad("has version ", version, " of the .npy format; 1 to 3 are read");
  uint64_t begin = kStart;
  if (version > 1) {
    if (source.size < kStart + 2) return std::nullopt;
    source.read(start.data() + kStart, 2);
    begin += 2;
  }
  const uint64_t length = start[8] | start[9] << 8U | uint64_t{start[10]} << 16U | uint64_t{start[11]} << 24U;
  if (length > source.size - begin || length > kLongestHeader)
    source.bad("the header would take ", length, " bytes, but there are ", source.size, " bytes in all");
  std::string text(length, '\0');
  source.read(text.data(), length);
  NpyHeader header = parse_npy_header(text, [&](const std::string& wrong) { source.bad(wrong); });
  header.bytes = begin + length;
  return header;
}

/// A file from `offset` on, which goes on as it is read.
Source source_of(const InputFile& file, uint64_t& offset) {
  return {file, "", file.size(), [&](void* to, size_t bytes) {
            file.read(to, bytes, offset);
            offset += bytes;
          }};
}

/// The beginning of a file's array.
NpyHeader need_header(const Source& source) {
  auto header = read_header(source);
  if (header) return std::move(*header);
  const std::string mistaken = mistaken_for("a .npy file", source.file);
  source.bad(mistaken.empty() ? "not a .npy file: it does not begin as one" : mistaken);
}

/// Reads the numbers that follow the header.
Tensor read_values(const Source& source, NpyHeader header, Device device, Site site) {
  const auto width = static_cast<int64_t>(size_of(header.dtype));
  int64_t bytes = width;
  for (const int64_t size : header.sizes)
    if (__builtin_mul_overflow(bytes, size, &bytes)) source.bad("an array of sizes ", header.sizes, " is too large to be counted");
  const uint64_t there = source.size - header.bytes;
  if (static_cast<uint64_t>(bytes) != there)
    source.bad("an array of sizes ", header.sizes, " and type ", header.dtype, " takes ", bytes, " bytes, but there are ", there);

  if (header.fortran_order) std::reverse(header.sizes.begin(), header.sizes.end());
  Tensor tensor = empty(header.sizes, header.dtype, site);
  auto* const values = static_cast<unsigned char*>(tensor.data_ptr());
  if (bytes > 0) source.read(values, static_cast<size_t>(bytes));
  if (header.dtype == kBool)
    for (int64_t i = 0; i < bytes; ++i)
      if (values[i] > 1) source.bad("has the value ", static_cast<int>(values[i]), " in a bool");
  if (header.big_endian)
    for (int64_t i = 0; i < bytes; i += width) std::reverse(values + i, values + i + width);
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

std::string array_name(const std::string& entry) { return entry.ends_with(".npy") ? entry.substr(0, entry.size() - 4) : entry; }

/// What is said of an array, where its header could be read.
FileTensor listed_array(std::string name, const std::optional<NpyHeader>& header, uint64_t size) {
  if (!header) return {std::move(name), "not a .npy file", {}, {}, size, ""};
  const uint64_t bytes = size - header->bytes;
  if (!header->other.empty()) return {std::move(name), header->other, {}, header->sizes, bytes, ""};
  return {std::move(name), tandem::name(header->dtype), header->dtype, header->sizes, bytes, ""};
}

/// What an archive has beside arrays of numbers: the first ones by name.
class LeftOut {
 public:
  void add(const std::string& what) {
    if (++count_ <= kMostNamed) first_ += (count_ == 1 ? "" : "; ") + what;
  }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::string text() const { return count_ <= kMostNamed ? first_ : str(first_, "; and ", count_ - kMostNamed, " more"); }

 private:
  static constexpr size_t kMostNamed = 3;

  std::string first_;
  size_t count_ = 0;
};

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
  const Source source = source_of(file, offset);
  const auto header = need_header(source);
  if (!header.other.empty()) file.bad(header.other);
  return read_values(source, header, device, site);
}

FileContents list_npy(const std::string& path) {
  const InputFile file("list_tensors", path);
  uint64_t offset = 0;
  return {.format = "npy", .tensors = {listed_array(npy_name(path), need_header(source_of(file, offset)), file.size())}, .metadata = {}};
}

std::string npy_name(const std::string& path) { return array_name(path.substr(path.rfind('/') + 1)); }

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

FileContents list_npz(const std::string& path) {
  const InputFile file("list_tensors", path);
  FileContents contents{.format = "npz", .tensors = {}, .metadata = {}};
  for (const ZipEntry& entry : read_zip_directory(file)) {
    ZipEntryReader reader(file, entry);
    const auto header = read_header(
        {file, str("the entry ", shown(entry.name), ": "), entry.size, [&](void* to, size_t bytes) { reader.read(to, bytes); }});
    contents.tensors.push_back(listed_array(array_name(entry.name), header, entry.size));
  }
  return contents;
}

TensorMap load_npz(const std::string& path, Device device, const std::vector<std::string>& names, Site site) {
  const NoGradGuard no_grad;
  const InputFile file("load_npz", path);
  if (file.read(std::min<uint64_t>(file.size(), 2), 0) != "PK") {
    const std::string mistaken = mistaken_for("a .npz archive", file);
    if (!mistaken.empty()) file.bad(mistaken);
  }
  const std::set<std::string> wanted(names.begin(), names.end());
  std::set<std::string> found;
  bool has_arrays = false;
  TensorMap tensors;
  LeftOut left_out;
  for (const ZipEntry& entry : read_zip_directory(file)) {
    const std::string name = array_name(entry.name);
    if (!found.insert(name).second) file.bad("has the array ", shown(name), " twice");
    if (!names.empty() && !wanted.contains(name)) continue;
    ZipEntryReader reader(file, entry);
    const Source source{file, str("the entry ", shown(entry.name), ": "), entry.size,
                        [&](void* to, size_t bytes) { reader.read(to, bytes); }};
    const auto header = read_header(source);
    has_arrays = has_arrays || header;
    const std::string other = header ? header->other : "not a .npy file";
    if (other.empty()) {
      tensors.emplace(name, read_values(source, *header, device, site));
    } else {
      reader.skip();
      left_out.add(source.where + other);
    }
    reader.finish();
    if (!other.empty() && !names.empty()) source.bad(other);
  }
  for (const std::string& name : wanted)
    if (!found.contains(name)) file.bad("there is no array ", in_quotes(name), "; there is ", listed(found));
  if (left_out.empty()) return tensors;
  if (!has_arrays) {
    const std::string mistaken = mistaken_for("a .npz archive", file);
    if (!mistaken.empty()) file.bad(mistaken);
  }
  if (tensors.empty()) file.bad(left_out.text());
  tandem::detail::warn_once(str(file.what(), "left out what is no array of numbers: ", left_out.text()));
  return tensors;
}

}  // namespace tandem::io
