// A workspace as parts that lie one after another, each beginning on a cache line.
#pragma once

#include <cstdint>

#include "base/align.h"

namespace tandem::kernels::cpu {

/// Hands out the parts of a workspace in order; made from nullptr it only counts their bytes.
class WorkspaceParts {
 public:
  explicit WorkspaceParts(void* memory = nullptr) : memory_(static_cast<char*>(memory)) {}
  template <class T>
  T* take(int64_t count) {
    char* const part = memory_ ? memory_ + bytes_ : nullptr;
    bytes_ += align_up(static_cast<size_t>(count > 1 ? count : 1) * sizeof(T));
    return reinterpret_cast<T*>(part);
  }
  [[nodiscard]] size_t bytes() const { return bytes_; }

 private:
  char* memory_;
  size_t bytes_ = 0;
};

}  // namespace tandem::kernels::cpu
