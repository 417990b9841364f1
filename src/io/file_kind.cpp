#include "io/file_kind.h"

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "io/file.h"

namespace tandem::io {
namespace {

using namespace std::string_view_literals;

struct Kind {
  std::string_view what, advice;
};

constexpr Kind kTorch = {"a PyTorch file (.pt, .pth)", "read it with load_torch"};
constexpr Kind kOfficeTable = {"a document of Microsoft Office's", "write its tables as CSV"};

/// A kind that stands in a file's first bytes, at a place.
struct Mark {
  size_t place;
  std::string_view bytes;
  Kind kind;
};
constexpr Mark kMarks[] = {
    {0, "\x93NUMPY"sv, {"a .npy file", "read it with load_npy"}},
    {0, "\x89HDF\r\n\x1a\n"sv, {"an HDF5 file (.h5, .hdf5, .keras)", "write its arrays with numpy.savez or safetensors, from Python"}},
    {4, "TFL3"sv, {"a TensorFlow Lite model (.tflite)", "export the weights of the model it was made from, as safetensors"}},
    {0, "GGUF"sv, {"a GGUF model (.gguf)", "read it with load_gguf"}},
    {0, "\x1f\x8b"sv, {"a file packed with gzip", "unpack it, with gunzip"}},
    {0, "BZh"sv, {"a file packed with bzip2", "unpack it, with bunzip2"}},
    {0, "\xfd\x37zXZ\0"sv, {"a file packed with xz", "unpack it, with unxz"}},
    {0, "\x28\xb5\x2f\xfd"sv, {"a file packed with Zstandard", "unpack it, with unzstd"}},
    {0, "7z\xbc\xaf\x27\x1c"sv, {"a 7-Zip archive", "unpack it"}},
    {257, "ustar"sv, {"a tar archive", "unpack it"}},
    {0, "\x89PNG"sv, {"a PNG picture", "read it with data::read_image"}},
    {0, "\xff\xd8\xff"sv, {"a JPEG picture", "read it with data::read_image"}},
    {0, "GIF8"sv, {"a GIF picture", "convert it to PNG"}},
    {8, "WEBP"sv, {"a WebP picture", "convert it to PNG"}},
    {0, "II*\0"sv, {"a TIFF picture", "convert it to PNG"}},
    {0, "MM\0*"sv, {"a TIFF picture", "convert it to PNG"}},
    {0, "BM"sv, {"a BMP picture", "convert it to PNG"}},
    {4, "ftypavif"sv, {"an AVIF picture", "convert it to PNG"}},
    {4, "ftyphei"sv, {"an HEIF picture", "convert it to PNG"}},
    {0, "\0\0\x01\0"sv, {"an icon (.ico)", "convert it to PNG"}},
    {0, "%PDF"sv, {"a PDF document", ""}},
    {0, "PAR1"sv, {"a Parquet table", "write it as CSV"}},
    {0, "ARROW1"sv, {"an Arrow table", "write it as CSV"}},
    {0, "\177ELF"sv, {"a program or a library (ELF)", ""}},
    {0, "SQLite format 3"sv, {"an SQLite database", "write its tables as CSV"}},
    {0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv, kOfficeTable},
    {0, "\xff\xfe"sv, {"text in UTF-16", "write it anew in UTF-8"}},
    {0, "\xfe\xff"sv, {"text in UTF-16", "write it anew in UTF-8"}},
};

bool has_ending(std::string_view path, std::string_view ending) {
  return path.size() >= ending.size() && std::equal(ending.begin(), ending.end(), path.end() - static_cast<std::ptrdiff_t>(ending.size()),
                                                    [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
}

/// A model as ONNX or TensorFlow write it, a message of protobuf's: a version by number, then a text or a message.
bool begins_as_model(std::string_view start) {
  constexpr int kMostVersion = 20;
  if (start.size() < 4 || start[0] != '\x08' || start[1] < 1 || start[1] > kMostVersion) return false;
  return start[2] == '\x12' || start[2] == '\x1a' || start[2] == '\x3a' || start[2] == '\x42';
}

/// An archive by its first entry, whose name stands in its header.
Kind kind_of_archive(std::string_view start, std::string_view path) {
  constexpr size_t kName = 30;
  const std::string_view names = start.size() > kName ? start.substr(kName) : "";
  const auto has = [&](std::string_view name) { return names.find(name) != std::string_view::npos; };
  if (has_ending(path, ".pt2")) return {"an exported PyTorch program (.pt2)", "load it as a module with exported::load"};
  if (has("data.pkl") || has("constants.pkl") || has_ending(path, ".pt") || has_ending(path, ".pth")) return kTorch;
  if (has(".npy") || has_ending(path, ".npz")) return {"an archive of NumPy's (.npz)", "read it with load_npz"};
  if (has_ending(path, ".keras")) return {"a Keras model (.keras)", "write its weights with numpy.savez or safetensors, from Python"};
  if (has("[Content_Types].xml")) return kOfficeTable;
  return {"a zip archive", "unpack it, or write what it holds in another format"};
}

/// A text by its first words.
Kind kind_of_text(std::string_view start) {
  if (start.starts_with("version https://git-lfs")) return {"a pointer of Git LFS's to the file", "fetch the file with git lfs pull"};
  if (start.starts_with("%PDF")) return {"a PDF document", ""};
  std::string words(start.substr(std::min(start.find_first_not_of(" \t\r\n"), start.size())));
  std::transform(words.begin(), words.end(), words.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (words.starts_with("<!doctype html") || words.starts_with("<html") || words.starts_with("<head"))
    return {"a web page (HTML), such as a server's error or login page", "fetch the file itself"};
  if (words.starts_with('<') && words.find("<svg") != std::string::npos) return {"an SVG drawing", "convert it to PNG"};
  if (words.starts_with("<?xml") || words.starts_with("<!doctype")) return {"text in XML", ""};
  if (words.starts_with('{') && words.find("\"weight_map\"") != std::string::npos)
    return {"the index of several safetensors files", "read them with load_safetensors_shards"};
  if (words.starts_with('{') || words.starts_with('[')) return {"text (JSON, as it seems)", ""};
  return {"text", ""};
}

Kind kind_of(std::string_view start, std::string_view path) {
  if (start.empty()) return {"an empty file", ""};
  if (is_text(start)) return kind_of_text(start);
  if (start.starts_with("PK\3\4") || start.starts_with("PK\5\6")) return kind_of_archive(start, path);
  for (const auto& [place, bytes, kind] : kMarks)
    if (start.size() > place && start.substr(place).starts_with(bytes)) return kind;
  if (start.size() > 1 && start[0] == '\x80' && start[1] >= 2 && start[1] <= 5) {          // pickle's protocols
    constexpr std::string_view kTorchNumber = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";  // of torch.save, before it wrote archives
    if (start.find(kTorchNumber) != std::string_view::npos || has_ending(path, ".pt") || has_ending(path, ".pth")) return kTorch;
    return {"a pickle of Python's", "write its arrays anew in Python, with numpy.savez or safetensors.torch.save_file"};
  }
  if (begins_as_model(start)) {
    if (has_ending(path, ".pb")) return {"a TensorFlow model (.pb)", "export its weights from Python, as safetensors"};
    return {"an ONNX model (.onnx)", "load it as a module with onnx::load"};
  }
  constexpr size_t kLength = sizeof(uint64_t);
  if (start.size() > kLength && start[kLength] == '{' && start[kLength - 1] == '\0')
    return {"a safetensors file", "read it with load_safetensors"};
  return {};
}

}  // namespace

bool is_text(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 32 || byte == '\t' || byte == '\n' || byte == '\r' || byte == '\f';
  });
}

std::string mistaken_for(std::string_view wanted, std::string_view start, std::string_view path) {
  const auto [what, advice] = kind_of(start.substr(0, kKindBytes), path);
  if (what.empty()) return {};
  return str("not ", wanted, ", but ", what, advice.empty() ? "" : ": ", advice);
}

std::string mistaken_for(std::string_view wanted, const InputFile& file) {
  return mistaken_for(wanted, file.read(std::min<uint64_t>(file.size(), kKindBytes), 0), file.path());
}

}  // namespace tandem::io
