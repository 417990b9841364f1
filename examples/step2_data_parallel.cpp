// From one GPU to several servers, step 2: all GPUs of this program. A batch is divided among them; each has a copy of the network.
//   step2_data_parallel      TANDEM_VIRTUAL_GPUS=2 step2_data_parallel
#include <tandem/tandem.h>

#include <iostream>

namespace td = tandem;
namespace nn = td::nn;

int main() {
  const auto devices = td::try_all_gpus();
  const td::data::Digits digits;
  td::data::DataLoader loader(digits.train(), {.batch_size = 64, .shuffle = true, .device = devices[0]});

  nn::Sequential net(nn::Flatten(), nn::Linear(64, 64), nn::ReLU(), nn::Linear(64, 10));
  net.to(devices[0]);
  td::parallel::DataParallel parallel(net, devices);  // new: refers to the network, which lives on the first device
  td::optim::Adam adam(net.parameters(), {.lr = 2e-3});
  for (int epoch = 0; epoch < 8; ++epoch) {
    for (const auto& [x, y] : loader) {
      adam.zero_grad();
      td::cross_entropy(parallel(x), y).backward();  // new: gradients come back to the network's own parameters
      adam.step();
    }
  }

  const td::NoGradGuard no_grad;
  int64_t right = 0;
  const auto test = digits.held_out();
  td::data::DataLoader tests(test, {.batch_size = 256, .device = devices[0]});
  for (const auto& [x, y] : tests) right += (parallel(x).argmax(1) == y).sum().item<int64_t>();
  std::cout << devices.size() << " devices: " << 100.0 * static_cast<double>(right) / static_cast<double>(test.size())
            << "% of the test pictures are right\n";
}
