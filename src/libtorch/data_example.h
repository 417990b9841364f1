// Example: what a dataset gives of one sample, and a loader of a batch.
#pragma once

#include <utility>

#include "tensor/tensor.h"

namespace torch::data {

/// Data and what is to be learned of it.
template <class Data = tandem::Tensor, class Target = tandem::Tensor>
struct Example {
  using DataType = Data;
  using TargetType = Target;

  Example() = default;
  Example(Data data_, Target target_) : data(std::move(data_)), target(std::move(target_)) {}

  Data data;
  Target target;
};

namespace example {
using NoTarget = void;
}

/// Data alone, which it is taken for, too.
template <class Data>
struct Example<Data, example::NoTarget> {
  using DataType = Data;
  using TargetType = example::NoTarget;

  Example() = default;
  Example(Data data_) : data(std::move(data_)) {}
  operator Data&() { return data; }
  operator const Data&() const { return data; }

  Data data;
};

using TensorExample = Example<tandem::Tensor, example::NoTarget>;

}  // namespace torch::data
