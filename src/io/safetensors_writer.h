// Writing safetensors tensor by tensor, so that never more than one of them has to be in the host's memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/file.h"
#include "io/safetensors.h"

namespace tandem::io {

/// A tensor that is to be written.
struct PlannedTensor {
  std::string name;
  DType dtype = kFloat32;
  Shape sizes;
  /// Bytes it takes in a file.
  [[nodiscard]] uint64_t bytes() const;
};

/// A file that takes its name only when all that was planned is in it.
class SafetensorsWriter {
 public:
  /// Settles the order and writes the header. `op` is named in errors. Error where a name is "__metadata__" or not UTF-8.
  SafetensorsWriter(const char* op, const std::string& path, std::vector<PlannedTensor> tensors, const Metadata& metadata);
  /// The order in which `write` wants the tensors: wider types first, so that each begins at a multiple of its element size; by name among
  /// equals, so that a file's bytes are settled.
  [[nodiscard]] const std::vector<PlannedTensor>& order() const { return order_; }
  /// The next tensor, copied from wherever it lives; waits for its device. Error where it is not what was planned.
  void write(const Tensor& tensor, Site site);
  /// Flushes to the disk what was written. Error where tensors are missing.
  void flush();
  /// The same, and gives the file its name.
  void commit();

 private:
  void need_all() const;

  const char* op_;
  std::string path_;
  std::vector<PlannedTensor> order_;
  size_t written_ = 0;
  AtomicFile file_;
};

/// What is to be written of tensors that are there already, by name. Error where one is undefined.
[[nodiscard]] std::vector<PlannedTensor> planned(const char* op, const std::string& path, const TensorMap& tensors);

}  // namespace tandem::io
