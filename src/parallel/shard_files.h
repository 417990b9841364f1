// A module's state in files, one a rank, with an index of what lies where. For the library: see FullyShardedDataParallel.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "comm/api/distributed.h"
#include "io/safetensors.h"
#include "tensor/tensor.h"

namespace tandem::parallel::detail {

/// Some elements of a tensor of the state, in row-major order.
struct ShardPart {
  std::string name;
  Shape sizes;        // of the whole tensor
  int64_t begin = 0;  // the first element
  Tensor values;      // (count)
};

/// Writes this rank's parts to "shard-00000-of-00002.safetensors" in `folder`, which is made where it is missing. Rank 0 of the group then
/// writes "index.tsv", a line a part: file, name, first element, number of elements, sizes. All ranks call it and see one folder. Until the
/// index is there, the folder holds no checkpoint.
void save_shard_files(const std::string& folder, const std::vector<ShardPart>& parts, const distributed::ProcessGroup& group, Site site);

/// What `save_shard_files` wrote. Error, naming the file, where something is missing or is no such index.
class ShardFiles {
 public:
  ShardFiles(const std::string& folder, Site site);

  /// Error unless the checkpoint has a tensor of that name and these sizes.
  void check(const std::string& name, const Shape& sizes) const;
  /// Elements from `begin` on of the tensor of that name, into `values` (count). Error where some are in no file.
  void read(const std::string& name, int64_t begin, const Tensor& values) const;

 private:
  struct Part {
    std::string file;
    int64_t begin, count;
  };
  struct Entry {
    std::string sizes;
    std::vector<Part> parts;
  };
  [[nodiscard]] const io::TensorMap& file(const std::string& name) const;

  std::string folder_;
  Site site_;
  std::map<std::string, Entry> entries_;
  mutable std::map<std::string, io::TensorMap> open_;
};

}  // namespace tandem::parallel::detail
