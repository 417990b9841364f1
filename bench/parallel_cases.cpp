// The networks that others have published figures of on several GPUs: DenseNet-121 for 14 findings in X-rays, the LeNet and the ResNet-18
// of "Dive into Deep Learning"; an MLP, whose steps are small; and that book's two products at once.
#include "bench/parallel_cases.h"

#include <memory>

#include "models/models.h"
#include "tandem.h"

namespace tandem::bench {
namespace {

int64_t batch_of(const ParallelSizes& sizes, int64_t published, int64_t on_virtual) {
  if (sizes.batch > 0) return sizes.batch;
  return sizes.virtual_gpus ? on_virtual : published;
}

/// Training as DataParallel does it: the network, its optimizer and the batch live on the first device.
template <class Net, class Optimizer>
ParallelWork training(Net net, const Tensor& x, const Tensor& target, std::span<const Device> devices,
                      const std::function<Tensor(const Tensor&, const Tensor&)>& loss,
                      const std::function<std::unique_ptr<Optimizer>(const std::vector<Tensor>&)>& make_optimizer) {
  struct State {
    Net net;
    std::unique_ptr<Optimizer> optimizer;
    std::unique_ptr<parallel::DataParallel<>> parallel;
  };
  const auto state = std::make_shared<State>(State{std::move(net), nullptr, nullptr});
  state->net.to(devices[0]);
  state->optimizer = make_optimizer(state->net.parameters());
  state->parallel = std::make_unique<parallel::DataParallel<>>(state->net, std::vector<Device>(devices.begin(), devices.end()));
  const auto pictures = x.size(0);
  return {[=] {
            state->optimizer->zero_grad();
            loss((*state->parallel)(x), target).backward();
            state->optimizer->step();
          },
          static_cast<double>(pictures), pictures / static_cast<int64_t>(devices.size())};
}

ParallelWork densenet(std::span<const Device> devices, const ParallelSizes& sizes) {
  const auto n = static_cast<int64_t>(devices.size()), pictures = batch_of(sizes, 64, 8) * n;
  const Tensor x = rand({pictures, 3, sizes.picture, sizes.picture}, devices[0]);
  const Tensor findings = randint(0, 2, {pictures, 14}, {.device = devices[0]}).to(kFloat32);
  return training<models::DenseNet, optim::Adam>(
      models::densenet121(14), x, findings, devices,
      [](const Tensor& out, const Tensor& target) { return binary_cross_entropy(sigmoid(out), target); },
      [n](const std::vector<Tensor>& parameters) {
        return std::make_unique<optim::Adam>(parameters, optim::AdamOptions{.lr = 1e-4 * static_cast<double>(n)});
      });
}

ParallelWork digits(nn::Sequential net, int64_t pictures, double lr, std::span<const Device> devices) {
  const Tensor x = rand({pictures, 1, 28, 28}, devices[0]), labels = randint(0, 10, {pictures}, {.device = devices[0]});
  return training<nn::Sequential, optim::SGD>(
      std::move(net), x, labels, devices, [](const Tensor& out, const Tensor& target) { return cross_entropy(out, target); },
      [lr](const std::vector<Tensor>& parameters) { return std::make_unique<optim::SGD>(parameters, optim::SGDOptions{.lr = lr}); });
}
ParallelWork lenet(std::span<const Device> devices, const ParallelSizes& sizes) {
  return digits(models::d2l_lenet(), batch_of(sizes, 256, 256) * static_cast<int64_t>(devices.size()), 0.2, devices);
}
ParallelWork resnet18(std::span<const Device> devices, const ParallelSizes& sizes) {
  const auto n = static_cast<int64_t>(devices.size());
  return digits(models::d2l_resnet18(), batch_of(sizes, 256, 32) * n, 0.1 * static_cast<double>(n), devices);
}

ParallelWork mlp(std::span<const Device> devices, const ParallelSizes& sizes) {
  const int64_t pictures = batch_of(sizes, 128, 128) * static_cast<int64_t>(devices.size());
  const Tensor x = rand({pictures, 784}, devices[0]), labels = randint(0, 10, {pictures}, {.device = devices[0]});
  return training<nn::Sequential, optim::Adam>(
      nn::Sequential(nn::Linear(784, 256), nn::ReLU(), nn::Linear(256, 128), nn::ReLU(), nn::Linear(128, 10)), x, labels, devices,
      [](const Tensor& out, const Tensor& target) { return cross_entropy(out, target); },
      [](const std::vector<Tensor>& parameters) { return std::make_unique<optim::Adam>(parameters); });
}

/// Ten products on each device: the devices share nothing.
ParallelWork products(std::span<const Device> devices, const ParallelSizes& sizes) {
  constexpr int kProducts = 10;
  std::vector<Tensor> operands;
  for (const Device device : devices) operands.push_back(rand({sizes.product, sizes.product}, device));
  return {[operands] {
            for (int i = 0; i < kProducts; ++i)
              for (const Tensor& x : operands) const Tensor y = matmul(x, x);
          },
          kProducts * static_cast<double>(devices.size()), kProducts};
}

constexpr ParallelCase kCases[] = {
    {"densenet121", "DenseNet-121, 14 outputs, Adam", "pictures/s", densenet, 64, 6'968'206},
    {"lenet", "LeNet of Dive into Deep Learning, SGD", "pictures/s", lenet, 256, 129'068},
    {"mlp", "784-256-128-10 with ReLU, Adam", "pictures/s", mlp, 128, 235'146},
    {"resnet18", "ResNet-18 of Dive into Deep Learning, SGD", "pictures/s", resnet18, 256, 11'175'818},
    {"products", "square float32 products, ten a GPU", "products/s", products, 10, 0},
};

}  // namespace

std::span<const ParallelCase> parallel_cases() { return kCases; }

void wait_for(std::span<const Device> devices) {
  for (const Device device : devices) cuda::synchronize(device);
}

}  // namespace tandem::bench
