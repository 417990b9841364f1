// docs/seeing.md, version 6: the next batch is copied while the step computes, and each waits for what it needs.
#include "pictures.h"

using namespace seeing;

int main(int argc, char** argv) {
  td::manual_seed(1);
  const auto device = td::gpu(0);
  const Pictures pictures;
  const auto pixels = pictures.pixels.pin_memory(), classes = pictures.classes.pin_memory();
  Net net;
  {
    const td::ledger::Guard allowed(td::ledger::Mode::allow, "the model is moved once");
    net.to(device);
  }
  td::optim::SGD optimizer(net.parameters(), {.lr = 0.01});
  std::vector<td::Tensor> shown;

  const td::cuda::Stream copying(device);
  struct Batch {
    td::Tensor bytes, y;
    td::cuda::Event copied;
  };
  const auto upload = [&](int64_t begin) {
    const td::cuda::StreamGuard guard(copying);
    Batch batch{pixels.slice(0, begin, begin + kBatch).to(device, {.non_blocking = true}),
                classes.slice(0, begin, begin + kBatch).to(device, {.non_blocking = true}),
                {}};
    batch.copied.record();
    return batch;
  };

  run(argc, argv, [&] {
    const auto total = td::zeros({}, device), norm = td::zeros({}, device);
    const auto computing = td::cuda::current_stream(device);
    Batch next = upload(0);
    for (int64_t begin = 0; begin < kPictures; begin += kBatch) {
      const Batch batch = next;
      if (begin + kBatch < kPictures) next = upload(begin + kBatch);
      batch.copied.wait(computing);
      for (const auto& tensor : {batch.bytes, batch.y}) tensor.record_stream(computing);  // used there, asked for on `copying`
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
