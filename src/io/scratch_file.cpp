#include "io/scratch_file.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/error.h"

namespace tandem::io {

std::string temporary_pattern(const std::string& prefix) {
  const char* const folder = std::getenv("TMPDIR");
  return std::string(folder == nullptr || *folder == '\0' ? "/tmp" : folder) + "/" + prefix + "XXXXXX";
}

ScratchFile::ScratchFile(const char* op, const std::string& name) : folder_(temporary_pattern("tandem-")) {
  if (::mkdtemp(folder_.data()) == nullptr)
    fail("[", op, "] cannot make a folder for a temporary file: set TMPDIR to one that can be written");
  path_ = folder_ + "/" + name;
}

ScratchFile::~ScratchFile() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace tandem::io
