// The JSON files that lie beside a model's weights. For the library.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "io/file.h"

namespace tandem::models {

/// The text of a file of up to `largest` bytes; error where it is larger.
[[nodiscard]] std::string text_of(const io::InputFile& file, uint64_t largest);
/// Throws what is wrong with a file's text, after the operation and the file; where it is a file of another kind, that it is one.
[[noreturn]] void refuse(const io::InputFile& file, const Error& wrong);

/// What `parse` makes of a file's text. Its errors are given the operation and the file.
template <class Parse>
auto parse_file(const char* op, const std::string& path, uint64_t largest, const Parse& parse) {
  const io::InputFile file(op, path);
  const std::string text = text_of(file, largest);
  try {
    return parse(text);
  } catch (const Error& wrong) {
    refuse(file, wrong);
  }
}

/// What `make` gives of what was read of `path`. Its errors are given the operation and the path, but for those of memory.
template <class Make>
auto made_of(const char* op, const std::string& path, const Make& make) {
  try {
    return make();
  } catch (const OutOfMemoryError&) {
    throw;
  } catch (const Error& wrong) {
    fail("[", op, "] ", path, ": ", wrong.message());
  }
}

}  // namespace tandem::models
