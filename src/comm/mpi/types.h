// What MPI calls the library's dtypes.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "comm/mpi/library.h"

namespace tandem::comm::mpi {

/// MPI's type of an element as it lies in memory. MPI moves elements; it does not compute with them.
[[nodiscard]] MPI_Datatype type_of(DType dtype);
/// A type for `count` elements that lie together, for counts that MPI's int cannot hold. Made and freed under the engine's lock; operations
/// that have begun keep it.
class ManyType {
 public:
  ManyType(int64_t count, DType dtype);
  ~ManyType();
  ManyType(const ManyType&) = delete;
  ManyType& operator=(const ManyType&) = delete;
  /// How many of `type()` make up all elements.
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] MPI_Datatype type() const { return type_; }

 private:
  int count_ = 0;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  bool made_ = false;
};

}  // namespace tandem::comm::mpi
