#include "libtorch/serialize_bytes.h"

#include <unistd.h>

#include <utility>

#include "base/error.h"
#include "io/file.h"

namespace torch::detail {

namespace {
TempDir folder_for(const char* op) {
  auto folder = try_make_tempdir("tandem-");
  if (!folder) tandem::fail("[", op, "] cannot make a folder for a temporary file: set TMPDIR to one that can be written");
  return std::move(*folder);
}
}  // namespace

ScratchFile::ScratchFile(const char* op) : folder_(folder_for(op)), path_(folder_.name + "/data.pt") {}

ScratchFile::~ScratchFile() { unlink(path_.c_str()); }

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
