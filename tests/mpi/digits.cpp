// Trains a network on the digits, with as many ranks as there are, each on its share of every batch; goes on from its checkpoint. What a
// program of several hosts does, small.
//   mpi_digits OUT [endless]   trains 40 steps; rank 0 keeps weights and steps in OUT. endless: the first start works on step 25 for ever
//   mpi_digits compare A B     whether two such files have weights that differ by 1e-5 at most
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tandem.h"

namespace td = tandem;
namespace dist = td::distributed;

namespace {

constexpr int64_t kSteps = 40, kBatch = 64;

int compare(const char* first, const char* second) {
  const auto a = td::io::load_safetensors(first), b = td::io::load_safetensors(second);
  double most = 0;
  for (const auto& [name, value] : a) most = std::max(most, (value - b.at(name)).abs().max().item<double>());
  std::printf("largest difference: %g\n", most);
  return most <= 1e-5 ? 0 : 1;
}

void save(const std::string& path, const td::nn::Module& model, int64_t step) {
  td::io::TensorMap all;
  for (const auto& [name, value] : model.state_dict()) all[name] = value.cpu();
  all["step"] = td::full({1}, static_cast<double>(step));
  td::io::save_safetensors(path, all);
}

/// The step to begin with.
int64_t load(const std::string& path, td::nn::Module& model) {
  if (!std::filesystem::exists(path)) return 0;
  auto all = td::io::load_safetensors(path);
  const auto step = static_cast<int64_t>(all.at("step").item<float>());
  td::StateDict state;
  for (const auto& [name, value] : all)
    if (name != "step") state[name] = value;
  model.load_state_dict(state);
  return step;
}

int train(const std::string& path, bool endless) {
  dist::init_process_group();
  const int rank = dist::get_rank(), world = dist::get_world_size();
  const auto device = td::try_gpu();
  td::manual_seed(5 + static_cast<uint64_t>(rank));  // rank 0's start is everybody's
  td::nn::Sequential net(td::nn::Flatten(), td::nn::Linear(64, 32), td::nn::ReLU(), td::nn::Linear(32, 10));
  net.to(device);
  const int64_t begin = load(path, net);
  td::parallel::DistributedDataParallel ddp(net);
  td::optim::SGD optimizer(net.parameters(), {.lr = 0.5});
  const td::data::Digits digits;
  const int64_t share = kBatch / world;
  bool told = false;
  for (int64_t step = begin; step < kSteps; ++step) {
    const auto mine = [&](const td::Tensor& all) { return all.narrow(0, step * kBatch % 1408 + rank * share, share).to(device); };
    optimizer.zero_grad();
    auto loss = td::cross_entropy(ddp(mine(digits.images())), mine(digits.labels()));
    loss.backward();
    optimizer.step();
    (void)loss.item<float>();
    if (rank == 0 && (step + 1) % 10 == 0) save(path, net, step + 1);
    if (step == 24 && endless && begin == 0) {
      if (!told) std::printf("in the middle\n");
      std::fflush(stdout);
      told = true;
      --step;  // until somebody is lost
    }
  }
  dist::barrier();
  dist::destroy_process_group();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 4 && std::string(argv[1]) == "compare") return compare(argv[2], argv[3]);
    if (argc < 2) return 2;
    return train(argv[1], argc > 2 && std::string(argv[2]) == "endless");
  } catch (const td::Error& error) {
    std::printf("error: %s\n", error.what());
    return 1;
  }
}
