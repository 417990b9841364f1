// From one GPU to several servers, step 3: a process for each GPU of this machine. Each rank reads its share of the data and has a network
// of its own; gradients are averaged while backward goes on.
//   tandem launch -n 2 step3_ranks       mpirun -n 2 step3_ranks       and alone: step3_ranks
#include <tandem/tandem.h>

#include <iostream>

namespace td = tandem;
namespace nn = td::nn;
namespace dist = td::distributed;

int main() {
  dist::init_process_group();  // new: whoever started this program tells which rank it is
  const int rank = dist::get_rank(), world = dist::get_world_size();
  const auto device = td::num_gpus() > 0 ? td::Device("cuda") : td::cpu();  // the current GPU is another one for each rank
  const td::data::Digits digits;
  const auto train = digits.train();
  td::data::DataLoader loader(
      train, {.batch_size = 64 / world, .device = device, .sampler = td::data::DistributedSampler(train.size(), world, rank)});

  nn::Sequential net(nn::Flatten(), nn::Linear(64, 64), nn::ReLU(), nn::Linear(64, 10));
  net.to(device);
  td::parallel::DistributedDataParallel ddp(net);  // new: begins with rank 0's parameters
  td::optim::Adam adam(net.parameters(), {.lr = 2e-3});
  for (int epoch = 0; epoch < 8; ++epoch) {
    for (const auto& [x, y] : loader) {
      adam.zero_grad();
      td::cross_entropy(ddp(x), y).backward();
      adam.step();
    }
  }

  if (rank == 0) {  // new: all ranks have the same parameters, so one tests them
    const td::NoGradGuard no_grad;
    int64_t right = 0;
    const auto test = digits.held_out();
    td::data::DataLoader tests(test, {.batch_size = 256, .device = device});
    for (const auto& [x, y] : tests) right += (net(x).argmax(1) == y).sum().item<int64_t>();
    std::cout << world << " ranks: " << 100.0 * static_cast<double>(right) / static_cast<double>(test.size())
              << "% of the test pictures are right\n";
  }
  dist::destroy_process_group();
}
