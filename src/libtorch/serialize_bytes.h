// Files of torch.save's as bytes in memory: what streams and functions are given, and give.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "io/file.h"
#include "io/torch_file.h"

namespace torch::detail {

/// A folder of our own for one file, which goes with its file when this does: tandem reads and writes files by their paths.
class ScratchFile {
 public:
  explicit ScratchFile(const char* op) {
    const char* base = getenv("TMPDIR");
    folder_ = std::string(base && *base ? base : "/tmp") + "/tandem-XXXXXX";
    if (!mkdtemp(folder_.data()))
      tandem::fail("[", op, "] cannot make a folder for a temporary file in ", base ? base : "/tmp", ": set TMPDIR to one");
    path_ = folder_ + "/data.pt";
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() {
    unlink(path_.c_str());
    rmdir(folder_.c_str());
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string folder_, path_;
};

/// The bytes of the file that torch.save writes of `value`.
inline std::string bytes_of(const tandem::io::PlainValue& value, tandem::Site site) {
  const ScratchFile file("save");
  tandem::io::save_torch(file.path(), value, site);
  const tandem::io::InputFile written("save", file.path());
  return written.read(written.size(), 0);
}

/// The value in such bytes.
inline tandem::io::PlainValue value_of(std::string_view bytes, tandem::Device device, tandem::Site site) {
  const ScratchFile file("load");
  tandem::io::write_file("load", file.path(), bytes);
  return tandem::io::read_torch(file.path(), device, site);
}

}  // namespace torch::detail
