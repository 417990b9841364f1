// Writing a model in shards, tensor by tensor, so that never more than one of them has to be in the host's memory.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "io/safetensors_writer.h"

namespace tandem::io {

/// A folder of shards that take their names only when all that was planned is in them.
class ShardsWriter {
 public:
  /// Shares the tensors out among shards of at most `max_bytes`, in the order given, and writes the headers. `op` is named in errors.
  ShardsWriter(const char* op, std::string folder, std::vector<PlannedTensor> tensors, uint64_t max_bytes, const Metadata& metadata);
  /// Each wants its tensors in its own order.
  [[nodiscard]] std::deque<SafetensorsWriter>& shards() { return shards_; }
  /// The files' names, in the order of the shards.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// Gives the files their names, the index last, and removes what an earlier writer left.
  void commit();

 private:
  const char* op_;
  std::string folder_;
  std::vector<std::string> names_;
  std::deque<SafetensorsWriter> shards_;  // which cannot be moved
  uint64_t total_bytes_ = 0;
};

}  // namespace tandem::io
