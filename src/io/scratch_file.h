// Files for a moment, where only a path will do.
#pragma once

#include <string>

namespace tandem::io {

/// The name of what mkstemp and mkdtemp make: in $TMPDIR, or /tmp, `prefix` and six X.
[[nodiscard]] std::string temporary_pattern(const std::string& prefix);

/// The path of a file in a folder of its own, which goes with all that was written into it. Error where there can be no such folder.
class ScratchFile {
 public:
  ScratchFile(const char* op, const std::string& name);
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string folder_, path_;
};

}  // namespace tandem::io
