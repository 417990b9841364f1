// A classifier of digits trained by several ranks, each with its share of the pictures: on the GPUs of one machine or on several servers.
//   tandem launch -n 4 distributed     mpirun -n 4 distributed     or, with the ranks as threads of this process:  distributed [RANKS]
#include <tandem/tandem.h>

#include <cstdlib>
#include <iostream>

namespace td = tandem;
namespace dist = td::distributed;

struct Net : td::nn::Module {
  td::nn::Sequential layers{td::nn::Flatten(), td::nn::Linear(64, 64), td::nn::BatchNorm1d(64), td::nn::ReLU(), td::nn::Linear(64, 10)};
  void fields(td::nn::Fields& f) override { f("layers", layers); }
  td::Tensor forward(const td::Tensor& x) override { return layers(x); }
};

void train() {
  const int rank = dist::get_rank(), world = dist::get_world_size();
  const auto device = td::num_gpus() > 0 ? td::gpu(rank % td::num_gpus()) : td::cpu();
  const td::data::Digits digits;
  const auto train = digits.train(), test = digits.held_out();
  // Each rank reads its own part of an epoch's order; a loader's epoch is the sampler's.
  td::data::DataLoader loader(train,
                              {.batch_size = 32, .device = device, .sampler = td::data::DistributedSampler(train.size(), world, rank)});

  Net net;
  td::nn::convert_sync_batchnorm(net);  // statistics over all ranks' batches
  net.to(device);
  td::parallel::DistributedDataParallel ddp(net);                                            // rank 0's parameters, and averaged gradients
  td::optim::ZeroRedundancyOptimizer<td::optim::Adam> adam(net.parameters(), {.lr = 2e-3});  // each rank keeps a part of its state
  for (int epoch = 0; epoch < 8; ++epoch) {
    for (const auto& [x, y] : loader) {
      adam.zero_grad();
      td::cross_entropy(ddp(x), y).backward();
      adam.step();
    }
  }

  // Each rank tests its share; the counts are added up.
  net.eval();
  const td::NoGradGuard no_grad;
  auto right = td::zeros({2}, device);  // and how many there were
  td::data::DataLoader tests(test, {.batch_size = 64, .device = device});
  int64_t batch = 0;
  for (const auto& [x, y] : tests) {
    if (batch++ % world != rank) continue;
    right += td::stack({(net(x).argmax(1) == y).sum(), td::tensor(y.size(0), device)}).to(td::kFloat32);
  }
  dist::all_reduce(right);
  if (rank == 0)
    std::cout << world << " ranks: " << 100 * right[0].item<double>() / right[1].item<double>() << "% of the test pictures are right\n";
}

int main(int argc, char** argv) {
  if (argc > 1) {
    dist::run_ranks(std::atoi(argv[1]), [](int) { train(); });
    return 0;
  }
  dist::init_process_group();
  train();
  dist::destroy_process_group();
}
