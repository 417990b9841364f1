// A small convolutional network learns MNIST. As PyTorch's C++ example "mnist".
//   mnist [FOLDER [EPOCHS]]     FOLDER has the four files of the set, plain or .gz; without it the pictures are random
#include <tandem/tandem.h>

#include <cstdlib>
#include <iostream>
#include <optional>

namespace td = tandem;
namespace nn = td::nn;
namespace data = td::data;

struct Net : nn::Module {
  nn::Conv2d conv1{1, 10, 5};
  nn::Conv2d conv2{10, 20, 5};
  nn::Dropout2d conv2_drop;
  nn::Linear fc1{320, 50};
  nn::Linear fc2{50, 10};

  void fields(nn::Fields& f) override {
    f("conv1", conv1);
    f("conv2", conv2);
    f("conv2_drop", conv2_drop);
    f("fc1", fc1);
    f("fc2", fc2);
  }
  td::Tensor forward(const td::Tensor& images) override {
    auto x = td::relu(td::max_pool2d(conv1(images), 2));
    x = td::relu(td::max_pool2d(conv2_drop(conv2(x)), 2));
    x = td::relu(fc1(x.view({-1, 320})));
    x = td::dropout(x, 0.5, training());
    return td::log_softmax(fc2(x), 1);
  }
};

void train(int epoch, Net& model, td::Device device, data::DataLoader& loader, td::optim::Optimizer& optimizer) {
  model.train();
  int64_t batch = 0;
  for (const auto& [images, labels] : loader) {
    optimizer.zero_grad();
    const auto loss = td::nll_loss(model(images.to(device)), labels.to(device));
    loss.backward();
    optimizer.step();
    if (batch++ % 100 == 0)
      std::cout << "epoch " << epoch << " [" << batch << "/" << loader.size() << "] loss " << loss.item<double>() << std::endl;
  }
}

void test(Net& model, td::Device device, data::DataLoader& loader) {
  const td::NoGradGuard no_grad;
  model.eval();
  double loss = 0;
  int64_t right = 0;
  for (const auto& [images, labels] : loader) {
    const auto output = model(images.to(device));
    const auto targets = labels.to(device);
    loss += td::nll_loss(output, targets, {.reduction = td::Reduction::Sum}).item<double>();
    right += (output.argmax(1) == targets).sum().item<int64_t>();
  }
  const auto samples = static_cast<double>(loader.dataset().size());
  std::cout << "test set: loss " << loss / samples << ", accuracy " << static_cast<double>(right) / samples << "\n";
}

int main(int argc, char** argv) {
  td::manual_seed(1);
  const auto device = td::try_gpu();
  std::cout << "training on " << device.str() << "\n";
  const auto part = [&](bool learning) -> data::AnyDataset {
    if (argc > 1) return data::Mnist(argv[1], {.train = learning});
    const data::Synthetic made({.num_samples = 1200, .input = {1, 28, 28}});
    return learning ? data::subset(made, 0, 1000) : data::subset(made, 1000, 1200);
  };
  data::DataLoader train_loader(part(true), {.batch_size = 64, .shuffle = true});
  data::DataLoader test_loader(part(false), {.batch_size = 1000});

  Net model;
  model.to(device);
  td::optim::SGD optimizer(model.parameters(), {.lr = 0.01, .momentum = 0.5});
  const int epochs = argc > 2 ? std::atoi(argv[2]) : argc > 1 ? 10 : 1;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    train(epoch, model, device, train_loader, optimizer);
    test(model, device, test_loader);
  }
}
