// An IDX file: two zeros, a code for the type, the number of dimensions; the sizes; the elements. All numbers have their high byte first.
#include "data/idx.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "io/file_kind.h"
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
  if (!std::filesystem::exists(packed, none))
    fail("[Mnist] ", folder, " has neither ", stem, " nor ", stem, ".gz: name the folder with the four files of the data set");
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
  io::ByteStream stream("read_idx", path);
  std::array<char, 4> start = {};
  const size_t got = stream.read(start.data(), start.size());
  if (got < start.size()) stream.bad("the file ends at byte ", got, ", within its first four");
  if (start[0] != 0 || start[1] != 0) {
    std::string more(io::kKindBytes, '\0');
    more.resize(stream.read(more.data(), more.size()));
    const std::string mistaken = io::mistaken_for("an IDX file", std::string(start.data(), got) + more, path);
    stream.bad(mistaken.empty() ? "not an IDX file: its first two bytes are not zero" : mistaken);
  }
  const auto dtype = dtype_of_code(static_cast<uint8_t>(start[2]));
  if (!dtype)
    stream.bad("byte 2 is ", static_cast<int>(static_cast<uint8_t>(start[2])), ", which is no type of IDX: 8, 9, 11, 12, 13 or 14");
  const size_t dims = static_cast<uint8_t>(start[3]), header = start.size() + 4 * dims;
  if (dims > kMaxDims) stream.bad("byte 3 says ", dims, " dimensions; tensors have at most ", kMaxDims);
  std::string numbers(4 * dims, '\0');
  if (const size_t more = stream.read(numbers.data(), numbers.size()); more < numbers.size())
    stream.bad("the file ends at byte ", start.size() + more, ", within the sizes of its ", dims, " dimensions");
  std::vector<int64_t> sizes;
  size_t wanted = size_of(*dtype);
  bool counted = true;
  for (size_t i = 0; i < dims; ++i) {
    sizes.push_back(big_endian(numbers.data() + 4 * i));
    counted = !__builtin_mul_overflow(wanted, static_cast<size_t>(sizes.back()), &wanted) && counted;
  }
  const auto bad_count = [&](const auto&... there) {
    stream.bad("after byte ", header, " there are ", there..., " bytes, but an array of ", *dtype, " with sizes ", Shape(sizes), " has ",
               counted ? str(wanted) : "more than can be counted");
  };
  const uint64_t most = stream.most() - header;
  if (!counted || wanted > most) bad_count(stream.packed() ? "at most " : "", most);
  if (wanted < most && !stream.packed()) bad_count(most);
  Tensor result = empty(sizes, *dtype);
  auto* to = static_cast<char*>(result.data_ptr());
  if (const size_t read = stream.read(to, wanted); read < wanted) bad_count(read);
  if (char more = 0; stream.read(&more, 1) > 0) bad_count("more than ", wanted);
  const size_t width = size_of(*dtype);
  if (width > 1)
    for (size_t i = 0; i < wanted; i += width) std::reverse(to + i, to + i + width);
  return result;
}

Mnist::Mnist(const std::string& folder, MnistOptions options, Site /*site*/) : TensorDataset(read_mnist(folder, options.train)) {}

}  // namespace tandem::data
