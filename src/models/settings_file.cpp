#include "models/settings_file.h"

#include <algorithm>

#include "io/file_kind.h"

namespace tandem::models {

std::string text_of(const io::InputFile& file, uint64_t largest) {
  if (file.size() > largest) file.bad("a file of ", file.size(), " bytes is too large: at most ", largest, " are expected");
  return file.read(file.size(), 0);
}

void refuse(const io::InputFile& file, const Error& wrong) {
  const std::string start = file.read(std::min<uint64_t>(file.size(), io::kKindBytes), 0);
  const std::string other = io::is_text(start) ? "" : io::mistaken_for("a file of JSON", file);
  file.bad(other.empty() ? wrong.message() : other);
}

}  // namespace tandem::models
