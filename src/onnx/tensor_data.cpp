#include "onnx/tensor_data.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/number_in.h"
#include "io/file.h"
#include "io/named.h"
#include "ops/creation.h"

namespace tandem::onnx {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 48;

uint64_t number_of(const std::string& text, const char* what) {
  const auto number = tandem::detail::number_in<uint64_t>(text);
  if (!number || *number > INT64_MAX) fail("its ", what, " in the other file is ", io::in_quotes(text), ", no number");
  return *number;
}

/// Bytes of another file.
struct Place {
  std::string path;
  uint64_t offset = 0;
};

/// Where the tensor's bytes are, as many as its sizes take, in a file of the model's folder.
Place find_external(const TensorProto& proto, const std::string& folder, size_t bytes) {
  std::string location;
  uint64_t offset = 0, length = bytes;
  for (const auto& [key, value] : proto.external_data) {
    if (key == "location") location = value;
    else if (key == "offset") offset = number_of(value, "offset");
    else if (key == "length") length = number_of(value, "length");
  }
  if (location.empty()) fail("its bytes are in another file, which it does not name");
  if (length != bytes) fail("it takes ", bytes, " bytes by its sizes, but ", length, " in ", io::in_quotes(location));
  // As the file system sees them, so that neither ".." nor a symbolic link leads out of the model's folder.
  std::error_code error;
  const std::filesystem::path root = std::filesystem::canonical(folder.empty() ? "." : folder, error);
  const std::filesystem::path path = error ? std::filesystem::path() : std::filesystem::canonical(root / location, error);
  if (error) fail("its bytes are in ", io::in_quotes(location), ", which cannot be opened: ", error.message());
  const auto [end, rest] = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
  if (std::filesystem::path(location).is_absolute() || end != root.end())
    fail("its bytes are in ", io::in_quotes(location), ", which is not in the model's folder");
  const io::InputFile file("onnx::load", path.string());
  if (offset > file.size() || length > file.size() - offset)
    fail("it takes ", length, " bytes from byte ", offset, " of ", io::in_quotes(location), " on, which has only ", file.size());
  return {path.string(), offset};
}

template <class From>
void take(const Tensor& tensor, const std::vector<From>& values) {
  visit(tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    auto* to = static_cast<T*>(tensor.data_ptr());
    for (const From value : values) {
      // Half types are given by their bits, all other types by their values.
      if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
        const auto bits = static_cast<uint16_t>(value);
        std::memcpy(static_cast<void*>(to++), &bits, sizeof bits);
      } else {
        *to++ = static_cast<T>(value);
      }
    }
  });
}

}  // namespace

std::optional<int64_t> element_count(std::span<const int64_t> sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes)
    if (size < 0) return std::nullopt;
  for (const int64_t size : sizes)
    if (__builtin_mul_overflow(count, size, &count)) return std::nullopt;
  return count <= kMostElements ? std::optional(count) : std::nullopt;
}

Tensor tensor_of(const TensorProto& proto, const std::string& folder, Site site) {
  const std::optional<DType> dtype = dtype_of(proto.data_type);
  if (!dtype) fail("it has the type ", type_name(proto.data_type), ", which no tensor has");
  if (proto.dims.size() > static_cast<size_t>(kMaxDims))
    fail("it has ", proto.dims.size(), " dimensions, more than the ", kMaxDims, " a tensor can have");
  const Shape sizes(proto.dims);
  const std::optional<int64_t> count = element_count(proto.dims);
  if (!count) fail("it has the sizes ", sizes, ", which no tensor can have");
  const size_t bytes = static_cast<size_t>(*count) * size_of(*dtype);
  const Options options{.dtype = *dtype};
  if (proto.is_external) {
    const Place place = find_external(proto, folder, bytes);
    const Tensor tensor = empty(sizes, options, site);
    if (bytes > 0) io::InputFile("onnx::load", place.path).read(tensor.data_ptr(), bytes, place.offset);
    return tensor;
  }
  if (proto.has_raw_data) {
    if (proto.raw_data.size() != bytes) fail("it takes ", bytes, " bytes by its sizes ", sizes, ", but has ", proto.raw_data.size());
    const Tensor tensor = empty(sizes, options, site);
    if (*dtype == kBool) {
      auto* to = static_cast<bool*>(tensor.data_ptr());
      for (const char byte : proto.raw_data) *to++ = byte != 0;
    } else if (bytes > 0) {
      std::memcpy(tensor.data_ptr(), proto.raw_data.data(), bytes);
    }
    return tensor;
  }
  const auto typed = [&](const auto& values) {
    if (values.size() != static_cast<size_t>(*count))
      fail("it has ", *count, " elements by its sizes ", sizes, ", but ", values.size(), " values");
    const Tensor tensor = empty(sizes, options, site);
    take(tensor, values);
    return tensor;
  };
  if (*dtype == kFloat32) return typed(proto.float_data);
  if (*dtype == kFloat64) return typed(proto.double_data);
  if (*dtype == kInt64) return typed(proto.int64_data);
  return typed(proto.int32_data);
}

}  // namespace tandem::onnx
