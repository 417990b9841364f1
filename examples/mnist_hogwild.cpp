// Several processes train one network without locks (Hogwild). As PyTorch's example "mnist_hogwild", with the digits that ship with the
// library.
//   mnist_hogwild [PROCESSES [EPOCHS]]
#include <tandem/tandem.h>

#include <cstdlib>
#include <iostream>

namespace td = tandem;
namespace nn = td::nn;
namespace data = td::data;
namespace mp = td::multiprocessing;

struct Net : nn::Module {
  nn::Conv2d conv1{1, 16, 3};
  nn::Conv2d conv2{16, 32, 3};
  nn::Dropout2d conv2_drop;
  nn::Linear fc1{128, 64};
  nn::Linear fc2{64, 10};

  void fields(nn::Fields& f) override {
    f("conv1", conv1);
    f("conv2", conv2);
    f("conv2_drop", conv2_drop);
    f("fc1", fc1);
    f("fc2", fc2);
  }
  td::Tensor forward(const td::Tensor& images) override {
    auto x = td::relu(conv1(images));
    x = td::relu(td::max_pool2d(conv2_drop(conv2(x)), 2));
    x = td::relu(fc1(td::flatten(x, 1)));
    x = td::dropout(x, 0.5, training());
    return td::log_softmax(fc2(x), 1);
  }
};

// Each process goes through all the data in an order of its own, with an optimizer of its own; the parameters are the shared ones.
void train(int rank, Net model, int epochs) {
  td::manual_seed(1 + rank);
  data::DataLoader loader(data::Digits().train(), {.batch_size = 64, .shuffle = true, .seed = 1 + static_cast<uint64_t>(rank)});
  td::optim::SGD optimizer(model.parameters(), {.lr = 0.05, .momentum = 0.5});
  model.train();
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    double loss = 0;
    for (const auto& [images, labels] : loader) {
      optimizer.zero_grad();
      const auto batch_loss = td::nll_loss(model(images), labels);
      batch_loss.backward();
      optimizer.step();
      loss += batch_loss.item<double>();
    }
    std::cout << td::str("process ", rank, ", epoch ", epoch, ": loss ", loss / static_cast<double>(loader.size()), "\n") << std::flush;
  }
}

double test(Net& model) {
  const td::NoGradGuard no_grad;
  model.eval();
  data::DataLoader loader(data::Digits().held_out(), {.batch_size = 360});
  int64_t right = 0;
  for (const auto& [images, labels] : loader) right += (model(images).argmax(1) == labels).sum().item<int64_t>();
  return static_cast<double>(right) / static_cast<double>(loader.dataset().size());
}

int main(int argc, char** argv) {
  mp::init(argc, argv);
  td::manual_seed(1);
  const int processes = argc > 1 ? std::atoi(argv[1]) : 2;
  const int epochs = argc > 2 ? std::atoi(argv[2]) : 10;
  Net model;
  model.share_memory();
  mp::spawn(train, processes, model, epochs);
  std::cout << "accuracy on digits held out: " << test(model) << "\n";
}
