// A network cut into stages, one on each rank, and a batch cut into pieces that follow each other through them (Huang et al., "GPipe",
// 2019). A stage sends its results on and receives their gradients back. Ends with 0 where the parameters become those of one device.
//   tandem launch -n 3 pipeline        or, with the ranks as threads of this process:  pipeline [RANKS]
#include <tandem/tandem.h>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <vector>

namespace td = tandem;
namespace dist = td::distributed;

constexpr int64_t kFeatures = 12, kPieces = 4, kRows = 3;  // rows in a piece

/// Every stage is as wide as the others, so that what is sent has one size.
td::nn::Sequential make_stage() { return td::nn::Sequential(td::nn::Linear(kFeatures, kFeatures), td::nn::Tanh()); }

/// One step of all stages: all pieces forward, then all of them back. Gradients add up over the pieces.
void run_stage(td::nn::Sequential& stage, const td::Tensor& x, const td::Tensor& y, td::Device device) {
  const int rank = dist::get_rank(), last = dist::get_world_size() - 1;
  std::vector<td::Tensor> inputs, results;
  for (int64_t piece = 0; piece < kPieces; ++piece) {
    td::Tensor in = td::empty({kRows, kFeatures}, device);
    if (rank == 0) in = x.slice(0, piece * kRows, (piece + 1) * kRows).to(device);
    else dist::recv(in, rank - 1);
    in.requires_grad_(rank > 0);
    td::Tensor out = stage(in);
    if (rank == last) out = td::mse_loss(out, y.slice(0, piece * kRows, (piece + 1) * kRows).to(device)) / kPieces;
    else dist::send(out.detach(), rank + 1);
    inputs.push_back(in);
    results.push_back(out);
  }
  for (int64_t piece = 0; piece < kPieces; ++piece) {
    if (rank == last) {
      results[piece].backward();
    } else {
      const td::Tensor gradient = td::empty({kRows, kFeatures}, device);
      dist::recv(gradient, rank + 1);
      results[piece].backward(gradient);
    }
    if (rank > 0) dist::send(inputs[piece].grad(), rank - 1);
  }
}

/// Trains the stages, and all of them on one device; whether this rank's stage stays the same.
bool equals_one_device() {
  const auto device = td::try_gpu();
  td::manual_seed(1);
  std::vector<td::nn::Sequential> stages;
  for (int i = 0; i < dist::get_world_size(); ++i) stages.push_back(make_stage());
  for (auto& stage : stages)
    for (const auto& p : stage.parameters()) dist::broadcast(p.detach(), 0);
  td::nn::Sequential whole;
  for (const auto& stage : stages) whole.push_back(td::nn::clone(stage));
  whole.to(device);
  td::nn::Sequential& mine = stages[static_cast<size_t>(dist::get_rank())];
  mine.to(device);
  td::optim::SGD sgd(mine.parameters(), {.lr = 0.5}), reference(whole.parameters(), {.lr = 0.5});
  for (int step = 0; step < 5; ++step) {
    const auto x = td::randn({kPieces * kRows, kFeatures}), y = td::rand({kPieces * kRows, kFeatures});
    dist::broadcast(x, 0);  // threads share a generator
    dist::broadcast(y, 0);
    sgd.zero_grad();
    run_stage(mine, x, y, device);
    sgd.step();
    reference.zero_grad();
    td::mse_loss(whole(x.to(device)), y.to(device)).backward();
    reference.step();
  }
  const auto expected = whole.at<td::nn::Sequential>(dist::get_rank()).parameters(), got = mine.parameters();
  bool same = true;
  for (size_t i = 0; i < got.size(); ++i) same = same && td::allclose(got[i].detach(), expected[i].detach(), 1e-4, 1e-5);
  return same;
}

int main(int argc, char** argv) {
  std::atomic<bool> same = true;
  const auto report = [&] {
    if (!equals_one_device()) same = false;
    dist::barrier();
    if (dist::get_rank() == 0) std::cout << dist::get_world_size() << " stages " << (same ? "equal" : "differ from") << " one device\n";
  };
  if (argc > 1) {
    dist::run_ranks(std::atoi(argv[1]), [&](int) { report(); });
  } else {
    dist::init_process_group();
    report();
    dist::destroy_process_group();
  }
  return same ? 0 : 1;
}
