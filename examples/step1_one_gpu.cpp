// From one GPU to several servers, step 1: one GPU. Every later step is this program with a few lines changed.
//   step1_one_gpu            TANDEM_VIRTUAL_GPUS=1 step1_one_gpu
#include <tandem/tandem.h>

#include <iostream>

namespace td = tandem;
namespace nn = td::nn;

int main() {
  const auto device = td::try_gpu();
  const td::data::Digits digits;
  td::data::DataLoader loader(digits.train(), {.batch_size = 64, .shuffle = true, .device = device});

  nn::Sequential net(nn::Flatten(), nn::Linear(64, 64), nn::ReLU(), nn::Linear(64, 10));
  net.to(device);
  td::optim::Adam adam(net.parameters(), {.lr = 2e-3});
  for (int epoch = 0; epoch < 8; ++epoch) {
    for (const auto& [x, y] : loader) {
      adam.zero_grad();
      td::cross_entropy(net(x), y).backward();
      adam.step();
    }
  }

  const td::NoGradGuard no_grad;
  int64_t right = 0;
  const auto test = digits.held_out();
  td::data::DataLoader tests(test, {.batch_size = 256, .device = device});
  for (const auto& [x, y] : tests) right += (net(x).argmax(1) == y).sum().item<int64_t>();
  std::cout << device << ": " << 100.0 * static_cast<double>(right) / static_cast<double>(test.size())
            << "% of the test pictures are right\n";
}
