#include "libtorch/data_datasets.h"

#include "data/idx.h"
#include "ops/join.h"

namespace torch::data::datasets {

TensorDataset::TensorDataset(const std::vector<tandem::Tensor>& tensors, tandem::Site site) : tensor(tandem::stack(tensors, 0, site)) {}

TensorDataset::TensorDataset(tandem::Tensor tensor_) : tensor(std::move(tensor_)) {}

TensorExample TensorDataset::get(size_t index) { return tensor.select(0, static_cast<int64_t>(index), torch::detail::statement()); }

std::optional<size_t> TensorDataset::size() const { return static_cast<size_t>(tensor.size(0, tandem::Site::none())); }

MNIST::MNIST(const std::string& root, Mode mode, tandem::Site site) : mode_(mode) {
  const tandem::data::Mnist read(root, {.train = mode == Mode::kTrain}, site);
  images_ = read.tensors()[0];
  targets_ = read.tensors()[1];
}

Example<> MNIST::get(size_t index) {
  const auto i = static_cast<int64_t>(index);
  const tandem::Site site = torch::detail::statement();
  return {images_.select(0, i, site), targets_.select(0, i, site)};
}

std::optional<size_t> MNIST::size() const { return static_cast<size_t>(images_.size(0, tandem::Site::none())); }

bool MNIST::is_train() const noexcept { return mode_ == Mode::kTrain; }

}  // namespace torch::data::datasets
