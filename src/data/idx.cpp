// An IDX file: two zeros, a code for the type, the number of dimensions; the sizes; the elements. All numbers have their high byte first.
#include "data/idx.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "io/gzip.h"
#include "ops/creation.h"
#include "ops/operators.h"

namespace tandem::data {
namespace {

std::optional<DType> dtype_of_code(uint8_t code) {
  switch (code) {
    case 0x08: return kUInt8;
    case 0x09: return kInt8;
    case 0x0b: return kInt16;
    case 0x0c: return kInt32;
    case 0x0d: return kFloat32;
    case 0x0e: return kFloat64;
    default: return std::nullopt;
  }
}

uint32_t big_endian(const char* bytes) {
  uint32_t number = 0;
  for (int i = 0; i < 4; ++i) number = number << 8 | static_cast<uint8_t>(bytes[i]);
  return number;
}

/// `stem`, or `stem.gz` where only that is there.
std::string existing(const std::string& folder, const std::string& stem) {
  const std::filesystem::path plain = std::filesystem::path(folder) / stem;
  std::error_code none;
  if (std::filesystem::exists(plain, none)) return plain.string();
  std::filesystem::path packed = plain;
  packed += ".gz";
  if (!std::filesystem::exists(packed, none)) fail("[Mnist] ", folder, " has neither ", stem, " nor ", stem, ".gz");
  return packed.string();
}

std::vector<Tensor> read_mnist(const std::string& folder, bool train) {
  const std::string which = train ? "train" : "t10k";
  const Tensor images = read_idx(existing(folder, which + "-images-idx3-ubyte"));
  const Tensor labels = read_idx(existing(folder, which + "-labels-idx1-ubyte"));
  if (images.dim() != 3 || images.dtype() != kUInt8)
    fail("[Mnist] ", folder, ": the ", which, " images are not a uint8 array of three dimensions");
  if (labels.dim() != 1 || labels.dtype() != kUInt8)
    fail("[Mnist] ", folder, ": the ", which, " labels are not a uint8 array of one dimension");
  return {images.unsqueeze(1).to(kFloat32) / 255, labels.to(kInt64)};
}

}  // namespace

Tensor read_idx(const std::string& path) {
  const std::string bytes = io::read_bytes("read_idx", path);
  const auto bad = [&](const auto&... parts) { fail("[read_idx] ", path, ": ", parts...); };
  if (bytes.size() < 4) bad("the file ends at byte ", bytes.size(), ", within its first four");
  if (bytes[0] != 0 || bytes[1] != 0) bad("not an IDX file: its first two bytes are not zero");
  const auto dtype = dtype_of_code(static_cast<uint8_t>(bytes[2]));
  if (!dtype) bad("byte 2 is ", static_cast<int>(static_cast<uint8_t>(bytes[2])), ", which is no type of IDX: 8, 9, 11, 12, 13 or 14");
  const size_t dims = static_cast<uint8_t>(bytes[3]), header = 4 + 4 * dims;
  if (dims > kMaxDims) bad("byte 3 says ", dims, " dimensions; tensors have at most ", kMaxDims);
  if (bytes.size() < header) bad("the file ends at byte ", bytes.size(), ", within the sizes of its ", dims, " dimensions");
  std::vector<int64_t> sizes;
  // More elements than the file has bytes are too many already: so the product stays small.
  size_t count = 1;
  for (size_t i = 0; i < dims; ++i) {
    const uint32_t size = big_endian(bytes.data() + 4 + 4 * i);
    sizes.push_back(size);
    count = std::min<size_t>(count * size, bytes.size() + 1);
  }
  const size_t width = size_of(*dtype), wanted = count * width;
  if (bytes.size() - header != wanted)
    bad("after byte ", header, " there are ", bytes.size() - header, " bytes, but an array of ", *dtype, " with sizes ", Shape(sizes),
        " has ", count > bytes.size() ? std::string("more") : str(wanted));
  Tensor result = empty(sizes, *dtype);
  if (wanted == 0) return result;
  auto* to = static_cast<char*>(result.data_ptr());
  std::memcpy(to, bytes.data() + header, wanted);
  if (width > 1)
    for (size_t i = 0; i < wanted; i += width) std::reverse(to + i, to + i + width);
  return result;
}

Mnist::Mnist(const std::string& folder, MnistOptions options) : TensorDataset(read_mnist(folder, options.train)) {}

}  // namespace tandem::data
