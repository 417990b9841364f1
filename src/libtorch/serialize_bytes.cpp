#include "libtorch/serialize_bytes.h"

#include "io/file.h"
#include "io/scratch_file.h"

namespace torch::detail {

std::string bytes_of(const tandem::io::PlainValue& value, tandem::Site site) {
  const tandem::io::ScratchFile file("save", "data.pt");
  tandem::io::save_torch(file.path(), value, site);
  const tandem::io::InputFile written("save", file.path());
  return written.read(written.size(), 0);
}

tandem::io::PlainValue value_of(std::string_view bytes, tandem::Device device, tandem::Site site) {
  const tandem::io::ScratchFile file("load", "data.pt");
  tandem::io::write_file("load", file.path(), bytes);
  return tandem::io::read_torch(file.path(), device, site);
}

}  // namespace torch::detail
