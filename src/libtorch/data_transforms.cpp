#include "libtorch/data_transforms.h"

#include "ops/creation.h"
#include "ops/join.h"

namespace torch::data::transforms {
namespace detail {

tandem::Tensor by_channel(ArrayRef<double> values, tandem::Site site) {
  const std::vector<float> numbers(values.begin(), values.end());
  return tandem::tensor(numbers, tandem::kFloat32, site).reshape({-1, 1, 1}, site);
}

tandem::Tensor normalized(const tandem::Tensor& image, const tandem::Tensor& mean, const tandem::Tensor& stddev) {
  const tandem::Site site = torch::detail::statement();
  return image.sub(mean, 1, site).div(stddev, site);
}

}  // namespace detail

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
