// docs/seeing.md, version 5, which is WRONG: the next batch is copied on a stream of its own, but the step does not wait for it.
#include "pictures.h"

using namespace seeing;

int main(int argc, char** argv) {
  td::manual_seed(1);
  const auto device = td::gpu(0);
  const Pictures pictures;
  const auto pixels = pictures.pixels.pin_memory(), classes = pictures.classes.pin_memory();
  Net net;
  net.to(device);
  td::optim::SGD optimizer(net.parameters(), {.lr = 0.01});
  std::vector<td::Tensor> shown;

  const td::cuda::Stream copying(device);
  struct Batch {
    td::Tensor bytes, y;
  };
  const auto upload = [&](int64_t begin) {
    const td::cuda::StreamGuard guard(copying);
    return Batch{pixels.slice(0, begin, begin + kBatch).to(device, {.non_blocking = true}),
                 classes.slice(0, begin, begin + kBatch).to(device, {.non_blocking = true})};
  };

  run(argc, argv, [&] {
    const auto total = td::zeros({}, device), norm = td::zeros({}, device);
    Batch next = upload(0);
    for (int64_t begin = 0; begin < kPictures; begin += kBatch) {
      const Batch batch = next;
      if (begin + kBatch < kPictures) next = upload(begin + kBatch);
      const auto x = batch.bytes.to(td::kFloat32).div_(255);
      optimizer.zero_grad();
      const auto loss = td::cross_entropy(net(x), batch.y);
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
