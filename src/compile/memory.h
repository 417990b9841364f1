// Memory of a plan: what is not used at the same time shares its place.
#pragma once

#include <cstddef>
#include <vector>

#include "tensor/tensor_impl.h"

namespace tandem::compiling {

/// What a block, or scratch, needs of a plan's memory.
struct Room {
  size_t bytes = 0;
  int first = -1, last = -1;  // the steps that use it; -1: it needs none
  size_t offset = 0;          // where it lies, after `place`

  void use(int step, size_t least) {
    if (first < 0) first = step;
    last = step;
    if (least > bytes) bytes = least;
  }
};

/// Gives each room the lowest place that is free while it is used; the largest first. The bytes of all together.
[[nodiscard]] size_t place(std::vector<Room>& rooms);

/// A forward's result: a tensor over memory of its own, laid out as the traced one was.
class ResultForm {
 public:
  /// `bytes`: of the memory that the traced result lies in.
  ResultForm(const Tensor& traced, size_t bytes);
  /// New memory, and then the tensor over it.
  [[nodiscard]] Ref<TensorImpl> memory(Site site) const;
  [[nodiscard]] Tensor tensor(Ref<TensorImpl> memory) const;
  [[nodiscard]] const Shape& sizes() const { return sizes_; }
  [[nodiscard]] DType dtype() const { return dtype_; }

 private:
  size_t bytes_;
  Shape sizes_, strides_;
  int64_t offset_;
  DType dtype_;
  bool dense_;  // it is all of its memory, in order
};

}  // namespace tandem::compiling
