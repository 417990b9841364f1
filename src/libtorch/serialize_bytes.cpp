#include "libtorch/serialize_bytes.h"

namespace torch::detail {

ScratchFile::ScratchFile(const char* op) {
  const char* base = getenv("TMPDIR");
  folder_ = std::string(base && *base ? base : "/tmp") + "/tandem-XXXXXX";
  if (!mkdtemp(folder_.data()))
    tandem::fail("[", op, "] cannot make a folder for a temporary file in ", base ? base : "/tmp", ": set TMPDIR to one");
  path_ = folder_ + "/data.pt";
}

ScratchFile::~ScratchFile() {
  unlink(path_.c_str());
  rmdir(folder_.c_str());
}

std::string bytes_of(const tandem::io::PlainValue& value, tandem::Site site) {
  const ScratchFile file("save");
  tandem::io::save_torch(file.path(), value, site);
  const tandem::io::InputFile written("save", file.path());
  return written.read(written.size(), 0);
}

tandem::io::PlainValue value_of(std::string_view bytes, tandem::Device device, tandem::Site site) {
  const ScratchFile file("load");
  tandem::io::write_file("load", file.path(), bytes);
  return tandem::io::read_torch(file.path(), device, site);
}

}  // namespace torch::detail
