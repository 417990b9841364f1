// What a file is that a reader cannot read: so that who has mixed up two files is told so, and not that some number in it is wrong.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tandem::io {

class InputFile;

/// How many bytes of a file tell what it is.
inline constexpr size_t kKindBytes = 1024;

/// What an error says of a file that was taken for another: "not a safetensors file, but an ONNX model (.onnx): export …". What it is
/// stands in its first bytes, `start`, and in its name where these leave that open. Empty where it is not known.
[[nodiscard]] std::string mistaken_for(std::string_view wanted, std::string_view start, std::string_view path = "");
/// The same of a file's first bytes.
[[nodiscard]] std::string mistaken_for(std::string_view wanted, const InputFile& file);

/// Whether all bytes are characters, line ends or tabs, of ASCII or an encoding that extends it.
[[nodiscard]] bool is_text(std::string_view bytes);

}  // namespace tandem::io
