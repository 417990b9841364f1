#include "libtorch/data_transforms.h"

namespace torch::data::transforms {

Example<> Stack<Example<>>::apply_batch(std::vector<Example<>> examples) {
  const tandem::Site site = torch::detail::statement();
  std::vector<tandem::Tensor> data, targets;
  for (Example<>& example : examples) {
    data.push_back(std::move(example.data));
    targets.push_back(std::move(example.target));
  }
  return {tandem::stack(data, 0, site), tandem::stack(targets, 0, site)};
}

TensorExample Stack<torch::data::TensorExample>::apply_batch(std::vector<TensorExample> examples) {
  std::vector<tandem::Tensor> data;
  for (TensorExample& example : examples) data.push_back(std::move(example.data));
  return tandem::stack(data, 0, torch::detail::statement());
}

}  // namespace torch::data::transforms
