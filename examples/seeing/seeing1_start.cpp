// docs/seeing.md, version 1: a loop as it is often written first.
#include "pictures.h"

using namespace seeing;

int main(int argc, char** argv) {
  td::manual_seed(1);
  const auto device = td::try_gpu();
  const Pictures pictures;
  Net net;
  net.to(device);
  td::optim::SGD optimizer(net.parameters(), {.lr = 0.01});
  std::vector<td::Tensor> shown;  // a picture of each batch, for a page of results

  run(argc, argv, [&] {
    double total = 0, norm = 0;
    for (int64_t begin = 0; begin < kPictures; begin += kBatch) {
      const auto x = pictures.pixels.slice(0, begin, begin + kBatch).to(td::kFloat32).div(255).to(device);
      const auto y = pictures.classes.slice(0, begin, begin + kBatch).to(device);
      optimizer.zero_grad();
      const auto loss = td::cross_entropy(net(x), y);
      loss.backward();
      for (const auto& parameter : net.parameters()) norm += parameter.grad().norm().item<double>();
      optimizer.step();
      total += loss.item<double>();
      if (begin / kBatch % 4 == 0) shown.push_back(x[0]);
    }
    if (norm > 1e9) std::cout << "the gradients explode\n";
    return total * kBatch / kPictures;
  });
}
