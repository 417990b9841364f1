// Host memory that several processes map: a file without a name, passed on by its descriptor, freed by the system with its last holder.
#pragma once

#include <cstddef>
#include <memory>

#include "base/descriptor.h"

namespace tandem::runtime {

/// One such file, mapped once in a process. Its size never changes, so that no access to it can fail.
class SharedMemory {
 public:
  /// New memory, all zeros, reserved from the machine. OutOfMemoryError where it is refused; Error where no more files may be open.
  [[nodiscard]] static std::shared_ptr<SharedMemory> create(size_t bytes);
  /// Memory that another process made, from its descriptor: what this process has mapped already where it is the same. Error where the
  /// descriptor is of something else, or of a file whose size might change.
  [[nodiscard]] static std::shared_ptr<SharedMemory> open(Descriptor file);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// The address in this process.
  [[nodiscard]] char* data() const { return data_; }
  [[nodiscard]] size_t bytes() const { return bytes_; }
  [[nodiscard]] int file() const { return file_.get(); }

 private:
  SharedMemory(Descriptor file, size_t bytes);

  Descriptor file_;
  size_t bytes_;
  char* data_ = nullptr;
};

}  // namespace tandem::runtime
