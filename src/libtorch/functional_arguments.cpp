#include "libtorch/functional_arguments.h"

namespace torch::nn::detail {

tandem::OutputSize output_size_of(const ExpandingArray<1>& sizes) { return shape_of(sizes); }

std::tuple<Tensor, Tensor> pair_of(tandem::ValuesIndices both) { return {std::move(both.values), std::move(both.indices)}; }

}  // namespace torch::nn::detail
