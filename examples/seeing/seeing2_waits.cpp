// docs/seeing.md, version 2: sums stay on the device and are read once an epoch, as the ledger advises.
#include "pictures.h"

using namespace seeing;

int main(int argc, char** argv) {
  td::manual_seed(1);
  const auto device = td::try_gpu();
  const Pictures pictures;
  Net net;
  net.to(device);
  td::optim::SGD optimizer(net.parameters(), {.lr = 0.01});
  std::vector<td::Tensor> shown;

  run(argc, argv, [&] {
    const auto total = td::zeros({}, device), norm = td::zeros({}, device);
    for (int64_t begin = 0; begin < kPictures; begin += kBatch) {
      const auto x = pictures.pixels.slice(0, begin, begin + kBatch).to(td::kFloat32).div(255).to(device);
      const auto y = pictures.classes.slice(0, begin, begin + kBatch).to(device);
      optimizer.zero_grad();
      const auto loss = td::cross_entropy(net(x), y);
      loss.backward();
      for (const auto& parameter : net.parameters()) norm.add_(parameter.grad().norm());
      optimizer.step();
      total.add_(loss.detach());
      if (begin / kBatch % 4 == 0) shown.push_back(x[0]);
    }
    const td::ledger::Guard allowed(td::ledger::Mode::allow, "the figures of the epoch");
    if (norm.item<double>() > 1e9) std::cout << "the gradients explode\n";
    return total.item<double>() * kBatch / kPictures;
  });
}
