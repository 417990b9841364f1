// The table of formats: how a file is told, and which functions read it. Another format is a row.
#include "io/any_file.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>

#include "base/error.h"
#include "base/warning.h"
#include "io/file.h"
#include "io/file_kind.h"
#include "io/gguf.h"
#include "io/gguf_header.h"
#include "io/list_formats.h"
#include "io/named.h"
#include "io/npy.h"
#include "io/npy_header.h"
#include "io/sharded.h"
#include "io/torch_file.h"

namespace tandem::io {
namespace {

using Names = std::vector<std::string>;

/// What tells a file's format: the first of its bytes, and all of them where these leave it open.
struct Start {
  const InputFile* file = nullptr;  // nullptr of a folder
  std::string bytes;
};

bool is_safetensors(const Start& start) {
  uint64_t length = 0;
  if (start.bytes.size() <= sizeof length) return false;
  std::memcpy(&length, start.bytes.data(), sizeof length);
  return start.bytes[sizeof length] == '{' && length <= start.file->size() - sizeof length;
}
bool is_shards(const Start& start) {
  const size_t text = start.bytes.find_first_not_of(" \t\r\n");
  if (start.file == nullptr) return true;
  if (text == std::string::npos || start.bytes[text] != '{') return false;
  return start.file->path().ends_with(".json") || start.bytes.find("\"weight_map\"") != std::string::npos;
}
bool is_gguf(const Start& start) { return start.bytes.starts_with(kGgufMagic); }
bool is_npy(const Start& start) { return start.bytes.starts_with(kNpyMagic); }
bool is_torch(const Start& start) { return start.file != nullptr && is_torch_file(*start.file); }
/// Any other archive.
bool is_npz(const Start& start) { return start.bytes.starts_with("PK"); }

TensorMap load_one_npy(const std::string& path, Device device, const Names& names, Site site) {
  const std::string own = npy_name(path);
  for (const std::string& name : names)
    if (name != own) fail("[load_tensors] ", path, ": there is no tensor ", in_quotes(name), "; there is ", in_quotes(own));
  return {{own, load_npy(path, device, site)}};
}

struct Format {
  const char* what;  // as errors list it
  bool (*is)(const Start& start);
  TensorMap (*load)(const std::string& path, Device device, const Names& names, Site site);
  FileContents (*list)(const std::string& path);
};
constexpr Format kFormats[] = {
    {"safetensors (.safetensors)", is_safetensors, load_safetensors, list_safetensors},
    {"a folder or an index of its shards (.safetensors.index.json)", is_shards, load_safetensors_shards, list_shards},
    {"GGUF (.gguf)", is_gguf, load_gguf, list_gguf},
    {"PyTorch's files (.pt, .pth)", is_torch, load_torch, list_torch},
    {"NumPy's archives (.npz)", is_npz, load_npz, list_npz},
    {"NumPy's arrays (.npy)", is_npy, load_one_npy, list_npy},
};

/// nullptr where it is none of them. Gives the file's first bytes, too; none of a folder.
const Format* find_format(const char* op, const std::string& path, std::string& bytes) {
  std::optional<InputFile> file;
  Start start;
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    start.file = &file.emplace(op, path);
    start.bytes = bytes = file->read(std::min<uint64_t>(file->size(), kKindBytes), 0);
  }
  const auto* const found = std::find_if(std::begin(kFormats), std::end(kFormats), [&](const Format& format) { return format.is(start); });
  return found == std::end(kFormats) ? nullptr : found;
}

const Format& format_of(const char* op, const std::string& path) {
  std::string bytes;
  if (const Format* const format = find_format(op, path, bytes)) return *format;
  std::string formats;
  for (const Format& format : kFormats) formats += (formats.empty() ? "" : ", ") + std::string(format.what);
  const std::string mistaken = mistaken_for("a file of tensors that can be read", bytes, path);
  fail("[", op, "] ", path, ": ", mistaken.empty() ? "not a file of a known format" : mistaken, "; what is read: ", formats);
}

}  // namespace

TensorMap load_tensors(const std::string& path, Device device, const Names& names, OtherTypes others, Site site) {
  const Format& format = format_of("load_tensors", path);
  if (others == OtherTypes::AreErrors) return format.load(path, device, names, site);
  const std::set<std::string> wanted(names.begin(), names.end());
  Names left_out, chosen = names;
  for (const FileTensor& tensor : format.list(path).tensors)
    if (names.empty() || wanted.contains(tensor.name)) {
      if (!tensor.dtype) left_out.push_back(tensor.name);
      else if (names.empty()) chosen.push_back(tensor.name);
    }
  const std::set<std::string> gone(left_out.begin(), left_out.end());
  std::erase_if(chosen, [&](const std::string& name) { return gone.contains(name); });
  if (!left_out.empty())
    tandem::detail::warn_once(str("[load_tensors] ", path, ": left out tensors of types that no tensor here has: ", listed(left_out)));
  if (chosen.empty()) return {};
  return format.load(path, device, chosen, site);
}

bool is_other_than_safetensors(const char* op, const std::string& path) {
  std::string bytes;
  const Format* const format = find_format(op, path, bytes);
  return format && format != &kFormats[0];
}

FileContents list_tensors(const std::string& path) { return format_of("list_tensors", path).list(path); }

}  // namespace tandem::io
