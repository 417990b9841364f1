#include "libtorch/types_array.h"

namespace torch {

const int64_t& ArrayRef<int64_t>::front() const { return at(0); }

const int64_t& ArrayRef<int64_t>::at(size_t i) const {
  if (i >= size()) tandem::fail<tandem::IndexError>("[ArrayRef] index ", i, " is out of range for ", size(), " elements");
  return data()[i];
}

ArrayRef<int64_t>::operator std::vector<int64_t>() const { return vec(); }

}  // namespace torch
