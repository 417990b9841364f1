// Files of torch.save's as bytes in memory: what streams and functions are given, and give.
#pragma once

#include <string>
#include <string_view>

#include "io/torch_file.h"
#include "libtorch/tempfile.h"

namespace torch::detail {

/// A folder of our own for one file, which goes with its file when this does: tandem reads and writes files by their paths.
class ScratchFile {
 public:
  explicit ScratchFile(const char* op);
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  TempDir folder_;
  std::string path_;
};

/// The bytes of the file that torch.save writes of `value`.
std::string bytes_of(const tandem::io::PlainValue& value, tandem::Site site);

/// The value in such bytes.
tandem::io::PlainValue value_of(std::string_view bytes, tandem::Device device, tandem::Site site);

}  // namespace torch::detail
