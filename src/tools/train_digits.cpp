// `tandem train digits`: a two-layer perceptron learns the handwritten digits that ship with the library, data-parallel where there are
// several GPUs.
#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "data/digits.h"
#include "io/file.h"
#include "nn/nn.h"
#include "ops/random.h"
#include "optim/adam.h"
#include "tools/command.h"
#include "train/progress_bar.h"
#include "train/trainer.h"

namespace tandem::tools {
namespace {

struct DigitsOptions {
  std::optional<int> gpus;  // all there are unless given
  int epochs = 30;
  double lr = 3e-3;
  int64_t batch = 64;
  uint64_t seed = 0;
  std::string out = "runs/digits";
  bool quiet = false;
  bool plot = false;
  bool json = false;
};

struct Perceptron : train::Classifier {
  nn::Sequential net{nn::Flatten(), nn::Linear(64, 128), nn::ReLU(), nn::Linear(128, 10)};
  double lr;

  explicit Perceptron(double lr) : lr(lr) {}
  void fields(nn::Fields& f) override { f("net", net); }
  Tensor forward(const Tensor& x) override { return net(x); }
  std::unique_ptr<optim::Optimizer> configure_optimizers() override { return optim::make<optim::Adam>(parameters(), {.lr = lr}); }
};

void check_gpus(const DigitsOptions& options) {
  const int wanted = options.gpus.value_or(0), there = num_gpus();
  if (wanted <= there) return;
  fail("--gpus ", wanted, " asks for more GPUs than the ", there, " here; virtual ones do, too: TANDEM_VIRTUAL_GPUS=", wanted,
       " tandem train digits --gpus ", wanted);
}

void write_text(const std::string& path, const std::string& text) {
  io::AtomicFile file("train digits", path);
  file.write(text.data(), text.size());
  file.commit();
}

int train_digits(const DigitsOptions& options) {
  check_gpus(options);
  manual_seed(options.seed);
  const data::Digits digits;
  const train::DataModule data(digits.train(), digits.held_out(), {.batch_size = options.batch, .seed = options.seed});
  Perceptron model(options.lr);
  train::Trainer trainer({.max_epochs = options.epochs,
                          .num_gpus = options.gpus.value_or(num_gpus()),
                          .checkpoint_dir = options.out,
                          .quiet = options.quiet,
                          .plot = options.plot});
  const double began = train::seconds_now();
  trainer.fit(model, data);
  const double seconds = train::seconds_now() - began;

  const auto& series = trainer.board().series();
  const double accuracy = series.at("val_acc").back().y;
  nlohmann::ordered_json devices = nlohmann::ordered_json::array(), names = nlohmann::ordered_json::array();
  std::string places;
  for (const Device device : trainer.devices()) {
    devices.push_back(device.str());
    names.push_back(device.is_cuda() ? cuda::get_device_properties(device).name : "CPU");
    places += (places.empty() ? "" : ", ") + device.str();
  }
  const nlohmann::ordered_json summary = {{"accuracy", accuracy},
                                          {"devices", devices},
                                          {"device_names", names},
                                          {"epochs", options.epochs},
                                          {"seconds", std::round(seconds * 1000) / 1000},
                                          {"checkpoint", trainer.checkpoint_path()},
                                          {"train_loss", series.at("train_loss").back().y},
                                          {"val_loss", series.at("val_loss").back().y},
                                          {"train_samples", data::Digits::kTrainSamples},
                                          {"held_out_samples", data::Digits::kHeldOutSamples},
                                          {"batch", options.batch},
                                          {"lr", options.lr},
                                          {"seed", options.seed}};
  const std::string path = (std::filesystem::path(options.out) / "summary.json").string();
  write_text(path, summary.dump(2) + "\n");
  if (options.json) {
    std::cout << summary.dump(2) << std::endl;
  } else if (!options.quiet) {
    const auto right = std::llround(accuracy * data::Digits::kHeldOutSamples);
    std::cout << "accuracy " << str(std::round(accuracy * 1e4) / 1e4) << ": " << right << " of " << data::Digits::kHeldOutSamples
              << " held-out digits right, after " << train::seconds_text(seconds) << " on " << places << "\nwrote " << path << " and "
              << trainer.checkpoint_path() << std::endl;
  }
  return 0;
}

}  // namespace

void add_train(CLI::App& app, Action& action) {
  CLI::App* train = app.add_subcommand("train", "Train a network on data that ships with tandem");
  train->require_subcommand(1);
  CLI::App* digits = train->add_subcommand("digits", "1,437 handwritten digits to learn from, 360 to be judged by; a two-layer perceptron");
  const auto options = std::make_shared<DigitsOptions>();
  digits->add_option("--gpus", options->gpus, "GPUs to train on, data-parallel; 0 for the CPU; all there are unless given")
      ->check(whole_number_from(0));
  digits->add_option("--epochs", options->epochs, "Passes over the digits")->capture_default_str()->check(whole_number_from(1));
  digits->add_option("--lr", options->lr, "Learning rate of Adam")->capture_default_str()->check(positive_number());
  digits->add_option("--batch", options->batch, "Digits a step, all GPUs together")->capture_default_str()->check(whole_number_from(1));
  digits->add_option("--seed", options->seed, "Of the initial weights and of the order of the digits")
      ->capture_default_str()
      ->check(whole_number_from(0));
  digits->add_option("--out", options->out, "Folder for summary.json and checkpoint.safetensors")->capture_default_str()->type_name("DIR");
  digits->add_flag("--quiet", options->quiet, "Print no progress and no result");
  digits->add_flag("--plot", options->plot, "Draw the curves in the terminal while it learns");
  digits->add_flag("--json", options->json, "Print the summary as JSON");
  digits->callback([options, &action] { action = [options] { return train_digits(*options); }; });
}

}  // namespace tandem::tools
