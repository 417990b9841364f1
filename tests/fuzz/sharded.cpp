// The index of a model in shards: one whose files are the index itself or are not there, and where they would lie.
#include "io/sharded.h"

#include "fuzz.h"
#include "io/shard_index.h"

void fuzz::read(std::string_view bytes) {
  const std::string& path = file_of(bytes);
  const auto index = tandem::io::read_shard_index("fuzz", path);
  for (const auto& [tensor, file] : index.files) {
    const std::string inside = "/" + file + "/";
    expect(!file.empty() && file[0] != '/' && inside.find("/../") == std::string::npos, "a shard outside of its folder");
  }
  (void)tandem::io::load_safetensors_shards(path);
}
