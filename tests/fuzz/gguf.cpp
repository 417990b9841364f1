// GGUF: metadata and tensors.
#include "io/gguf.h"

#include "fuzz.h"

// All tensors, one by name, or none.
void fuzz::read(std::string_view bytes) {
  const std::string& path = file_of(bytes);
  if (bytes.size() % 4 == 3) (void)tandem::io::load_gguf_metadata(path);
  else (void)tandem::io::read_gguf(path, tandem::cpu(), bytes.size() % 4 == 2 ? std::vector<std::string>{"a"} : std::vector<std::string>());
}
