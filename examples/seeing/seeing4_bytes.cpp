// docs/seeing.md, version 4: a quarter of the bytes cross the link, from page-locked memory, and the GPU makes numbers of them.
#include "pictures.h"

using namespace seeing;

int main(int argc, char** argv) {
  td::manual_seed(1);
  const auto device = td::try_gpu();
  const Pictures pictures;
  const auto pixels = pictures.pixels.pin_memory(), classes = pictures.classes.pin_memory();
  Net net;
  net.to(device);
  td::optim::SGD optimizer(net.parameters(), {.lr = 0.01});
  std::vector<td::Tensor> shown;

  run(argc, argv, [&] {
    const auto total = td::zeros({}, device), norm = td::zeros({}, device);
    for (int64_t begin = 0; begin < kPictures; begin += kBatch) {
      const auto bytes = pixels.slice(0, begin, begin + kBatch).to(device, {.non_blocking = true});
      const auto y = classes.slice(0, begin, begin + kBatch).to(device, {.non_blocking = true});
      const auto x = bytes.to(td::kFloat32).div_(255);
      optimizer.zero_grad();
      const auto loss = td::cross_entropy(net(x), y);
      loss.backward();
      for (const auto& parameter : net.parameters()) norm.add_(parameter.grad().norm());
      optimizer.step();
      total.add_(loss.detach());
      if (begin / kBatch % 4 == 0) shown.push_back(x[0].clone());
    }
    const td::ledger::Guard allowed(td::ledger::Mode::allow, "the figures of the epoch");
    if (norm.item<double>() > 1e9) std::cout << "the gradients explode\n";
    return total.item<double>() * kBatch / kPictures;
  });
}
