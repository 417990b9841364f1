// The header of a .npy file: a Python dictionary with the type, the order and the sizes of an array, as numpy.lib.format has it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "tensor/tensor.h"

namespace tandem::io {

/// What a .npy file says of its array.
struct NpyHeader {
  DType dtype = kFloat32;
  bool big_endian = false;
  bool fortran_order = false;
  Shape sizes;
  std::string other;   // what the elements are, where they are no numbers that a tensor can have: all of an error's text; else empty
  uint64_t bytes = 0;  // of the file, before the elements
};

/// Reads the dictionary, its keys in any order. Calls `bad`, which throws, with what is wrong with one that NumPy would not write.
[[nodiscard]] NpyHeader parse_npy_header(std::string_view text, const std::function<void(const std::string&)>& bad);

/// The header of a file with a row-major array, from its first byte on; empty where NumPy has no such type.
[[nodiscard]] std::string make_npy_header(DType dtype, const Shape& sizes);

/// What a .npy file begins with.
inline constexpr std::string_view kNpyMagic("\x93NUMPY", 6);

}  // namespace tandem::io
