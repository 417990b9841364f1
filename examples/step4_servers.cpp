// From one GPU to several servers, step 4: the Trainer does what step 3 wrote by hand, on as many ranks as were started, and goes on from
// its last checkpoint when a server was lost. The folder of checkpoints must be one that all servers see.
//   tandem launch --hosts hosts --gpus-per-rank 1 --restarts 2 step4_servers FOLDER       the file names the servers, a line each
//   srun -N 2 step4_servers FOLDER       tandem launch -n 2 step4_servers FOLDER       and alone: step4_servers [FOLDER]
#include <tandem/tandem.h>

#include <iostream>

namespace td = tandem;
namespace nn = td::nn;
namespace dist = td::distributed;

struct Net : td::train::Classifier {  // cross-entropy, and accuracy as "val_acc"
  nn::Sequential layers{nn::Flatten(), nn::Linear(64, 64), nn::ReLU(), nn::Linear(64, 10)};
  void fields(nn::Fields& f) override { f("layers", layers); }
  td::Tensor forward(const td::Tensor& x) override { return layers(x); }
  std::unique_ptr<td::optim::Optimizer> configure_optimizers() override {
    return td::optim::make<td::optim::Adam>(parameters(), {.lr = 2e-3});
  }
};

int main(int argc, char** argv) {
  const td::data::Digits digits;
  td::train::DataModule data(digits.train(), digits.held_out(), {.batch_size = 64});  // of all ranks together
  Net model;
  td::train::Trainer trainer({.max_epochs = 8, .num_gpus = 1, .checkpoint_dir = argc > 1 ? argv[1] : "", .resume = argc > 1});
  trainer.fit(model, data);
  if (!dist::is_initialized() || dist::get_rank() == 0)
    std::cout << 100 * trainer.board().series().at("val_acc").back().y << "% of the test pictures are right\n";
}
