// `tandem train NAME`: the settings, the run, and what it leaves.

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/env.h"
#include "base/json_text.h"
#include "data/prefetch.h"
#include "io/file.h"
#include "io/safetensors.h"
#include "ops/random.h"
#include "runtime/device.h"
#include "tools/program.h"
#include "tools/recipes/learner.h"
#include "tools/recipes/outcome.h"
#include "tools/recipes/recipe.h"
#include "tools/recipes/settings.h"
#include "train/notes.h"
#include "train/progress_bar.h"
#include "train/trainer.h"

namespace tandem::tools {
namespace {

using nlohmann::ordered_json;

constexpr int64_t kMostSamples = 100'000'000;  // their order takes memory
constexpr int kInterruptedStatus = 130;        // as a shell reports a program that Ctrl-C ended

/// Where there is no GPU and the environment asks for none, virtual ones are made of as many as --gpus says.
void check_gpus(const TrainSettings& settings) {
  const int wanted = settings.gpus.value_or(0), there = num_gpus();
  if (wanted <= there) return;
  if (there == 0 && !environment("TANDEM_VIRTUAL_GPUS")) {
    cuda::use_virtual_gpus(str(wanted));
    if (!settings.quiet)
      std::cerr << "there is no GPU here: training on " << wanted << " virtual " << (wanted == 1 ? "one" : "ones")
                << ", made of threads (TANDEM_VIRTUAL_GPUS=" << wanted << ")" << std::endl;
    return;
  }
  fail("--gpus ", wanted, " asks for more GPUs than the ", there, " here; virtual ones do, too: TANDEM_VIRTUAL_GPUS=", wanted,
       " tandem train ", settings.recipe, " --gpus ", wanted);
}

void check_data(const Recipe& recipe, const TrainSettings& settings) {
  if (recipe.data != Recipe::Data::Folder || settings.synthetic) return;
  if (settings.data.empty())
    throw UsageError(
        str("'tandem train ", recipe.name, "' needs --data FOLDER with its files, or --synthetic for random data of their shapes"));
  if (settings.samples) throw UsageError(str("--samples is for --synthetic data; --limit-batches takes less of that in ", settings.data));
}

/// Another --lr takes the place of the one that the optimizer has read from a checkpoint.
struct ChangeRates : train::Callback {
  double factor;

  explicit ChangeRates(double factor) : factor(factor) {}
  void on_fit_start(train::Trainer& trainer, train::Module&) override {
    for (const auto& group : trainer.optimizer().param_groups()) {
      group.lr *= factor;
      if (group.initial_lr) *group.initial_lr *= factor;
    }
  }
};

/// A run that goes on.
struct Resumed {
  int epochs = 0;              // done by the runs before
  double factor_of_rates = 1;  // what the learning rates are multiplied by
};
/// Takes the settings over of the run that wrote the checkpoint, where others are not given now.
Resumed go_on(const std::string& checkpoint, TrainSettings& settings, const std::function<bool(const char*)>& was_given) {
  const io::Metadata metadata = io::read_safetensors(checkpoint).metadata;
  TrainSettings before = settings;
  read_settings(before, metadata, checkpoint, [](const char*) { return false; });
  read_settings(settings, metadata, checkpoint, was_given);
  if (settings.net != before.net)
    fail(checkpoint, ": this is a run of the network '", before.net, "', not of '", settings.net, "': choose another --out");
  if (settings.optimizer != before.optimizer)
    fail(checkpoint, ": this is a run of the optimizer '", before.optimizer, "', not of '", settings.optimizer, "': choose another --out");
  if (was_given("data")) settings.synthetic = false;
  if (was_given("synthetic")) settings.data.clear();
  return {train::detail::from_notes(metadata, checkpoint).epoch, settings.lr / before.lr};
}

double rounded(double number, double digits) { return std::round(number * digits) / digits; }

ordered_json summary_of(const TrainSettings& settings, const Task& task, const train::Trainer& trainer, const Learner& model) {
  ordered_json devices = ordered_json::array(), names = ordered_json::array();
  for (const Device device : trainer.devices()) {
    devices.push_back(device.str());
    names.push_back(device.is_cuda() ? cuda::get_device_properties(device).name : "CPU");
  }
  ordered_json summary = {{"recipe", settings.recipe}};
  const auto& series = trainer.figures().series();
  const auto add_last = [&](const char* key, const char* curve) {
    if (series.contains(curve)) summary[key] = series.at(curve).back().y;
  };
  add_last("accuracy", "val_acc");
  summary["devices"] = devices;
  summary["device_names"] = names;
  summary["epochs"] = trainer.epoch();
  summary["steps"] = trainer.step();
  summary["interrupted"] = trainer.interrupted();
  summary["seconds"] = rounded(trainer.seconds(), 1e3);
  summary["checkpoint"] = trainer.checkpoint_path();
  add_last("train_loss", "train_loss");
  add_last("val_loss", "val_loss");
  summary["parameters"] = model.num_parameters();
  summary["train_samples"] = task.train->size();
  summary["held_out_samples"] = task.held_out->size();
  // `epochs` stays the number done: fewer than asked for where the run was interrupted or stopped early.
  const ordered_json all = settings_json(settings);
  for (const auto& [name, value] : all.items())
    if (!summary.contains(name)) summary[name] = value;
  return summary;
}

void print_result(const ordered_json& summary, const std::string& path) {
  if (summary.at("interrupted")) {
    std::cout << "go on with: tandem train " << summary.at("recipe").get<std::string>() << " --resume --out "
              << std::filesystem::path(path).parent_path().string() << std::endl;
    return;
  }
  std::string places;
  for (const auto& device : summary.at("devices")) places += (places.empty() ? "" : ", ") + device.get<std::string>();
  const std::string when = ", after " + train::seconds_text(summary.at("seconds")) + " on " + places;
  const char* samples = summary.at("synthetic") ? " held-out random samples" : " held-out samples";
  if (summary.contains("accuracy")) {
    const double accuracy = summary.at("accuracy");
    const auto all = summary.at("held_out_samples").get<int64_t>();
    std::cout << "accuracy " << str(rounded(accuracy, 1e4));
    if (summary.at("limit-batches") < 0)
      std::cout << ": " << std::llround(accuracy * static_cast<double>(all)) << " of " << all << samples << " right";
    else std::cout << " on" << samples;
    std::cout << when;
  } else if (summary.contains("val_loss")) {
    std::cout << "loss " << summary.at("val_loss").get<double>() << " on " << summary.at("held_out_samples") << samples << when;
  }
  std::cout << "\nwrote " << path << ", report.html and " << summary.at("checkpoint").get<std::string>() << std::endl;
}

int run(const Recipe& recipe, TrainSettings settings, const std::function<bool(const char*)>& was_given) {
  check_gpus(settings);
  take_defaults(settings, recipe, was_given);
  const auto checkpoint = std::filesystem::path(settings.out) / "checkpoint.safetensors";
  Resumed resumed;
  if (settings.resume && std::filesystem::exists(checkpoint)) resumed = go_on(checkpoint.string(), settings, was_given);
  check_data(recipe, settings);

  manual_seed(settings.seed);
  const Task task = recipe.make(settings);
  const train::DataModule data(task.train, task.held_out,
                               {.batch_size = settings.batch, .seed = settings.seed, .num_workers = settings.workers});
  Learner model(task.net, {.loss = task.loss, .optimizer = settings.optimizer, .schedule = settings.schedule, .lr = settings.lr});
  train::TrainerOptions options{.max_epochs = settings.epochs,
                                .num_gpus = settings.gpus.value_or(num_gpus()),
                                .gradient_clip_val = settings.clip,
                                .accumulate = settings.accumulate,
                                .precision = settings.precision,
                                .limit_train_batches = settings.limit_batches,
                                .limit_val_batches = settings.limit_batches,
                                .checkpoint_dir = settings.out,
                                .notes = {{kSettingsNote, settings_note(settings)}},
                                .resume = settings.resume,
                                .quiet = settings.quiet,
                                .plot = settings.plot};
  if (settings.patience > 0) options.early_stopping = train::EarlyStoppingOptions{{}, settings.patience};
  if (resumed.factor_of_rates != 1) options.callbacks.push_back(std::make_shared<ChangeRates>(resumed.factor_of_rates));
  const std::filesystem::path folder(settings.out);
  const auto events = settings.tensorboard ? std::make_shared<Events>((folder / "tensorboard").string()) : nullptr;
  if (events) options.callbacks.push_back(events);
  train::Trainer trainer(options);
  trainer.fit(model, data);
  const ordered_json summary = summary_of(settings, task, trainer, model);

  const std::string path = (folder / "summary.json").string();
  io::write_file("train", path, detail::json_text(summary, 2) + "\n");
  // Who interrupts a run does not want to wait until its mistakes are found.
  const auto confusion = trainer.interrupted() ? std::nullopt : judge(model, task, settings);
  const Outcome outcome{recipe, settings, was_given, task, trainer, model, confusion};
  write_page((folder / "report.html").string(), outcome);
  if (events) events->finish(outcome);
  if (settings.json) std::cout << detail::json_text(summary, 2) << std::endl;
  else if (!settings.quiet) {
    if (resumed.epochs >= settings.epochs)
      std::cout << "nothing left to learn: " << resumed.epochs << " epochs were done; --epochs N with a larger N goes on\n";
    print_result(summary, path);
  }
  return trainer.interrupted() ? kInterruptedStatus : 0;
}

void add_recipe(CLI::App& train, const Recipe& recipe, Action& action) {
  CLI::App* app = train.add_subcommand(recipe.name, recipe.description);
  const auto settings = std::make_shared<TrainSettings>();
  TrainSettings& s = *settings;
  s.recipe = recipe.name;
  s.net = recipe.nets.front().name;
  take_defaults(s, recipe, [](const char*) { return false; });
  s.out = str("runs/", recipe.name);
  if (recipe.nets.size() > 1) {
    std::vector<std::string> nets;
    for (const NamedNet& net : recipe.nets) nets.emplace_back(net.name);
    app->add_option("--net", s.net, "The network; each has defaults of its own, those shown here are the first one's")
        ->capture_default_str()
        ->check(one_of(nets));
  }
  if (recipe.data == Recipe::Data::Folder) {
    CLI::Option* data = app->add_option("--data", s.data, "Folder with the data set's files")->type_name("DIR");
    app->add_flag("--synthetic", s.synthetic, "Random data of the same shapes instead")->excludes(data);
  }
  if (recipe.data != Recipe::Data::Own)
    app->add_option("--samples", s.samples, "Samples of synthetic data")->check(whole_number_from(2, kMostSamples));
  app->add_option("--gpus", s.gpus, "GPUs to train on, data-parallel; 0 for the CPU; all there are unless given")
      ->check(whole_number_from(0, kMostInt));
  app->add_option("--epochs", s.epochs, "Passes over the data")->capture_default_str()->check(whole_number_from(1, kMostInt));
  app->add_option("--batch", s.batch, "Samples a batch, all GPUs together")->capture_default_str()->check(whole_number_from(1));
  app->add_option("--lr", s.lr, "Learning rate; the highest one of a schedule that rises")->capture_default_str()->check(positive_number());
  app->add_option("--optimizer", s.optimizer, "What changes the parameters")->capture_default_str()->check(one_of(optimizer_names()));
  app->add_option("--schedule", s.schedule, "How the learning rate changes")->capture_default_str()->check(one_of(schedule_names()));
  app->add_option("--clip", s.clip, "The most the gradients' norm may be; 0 leaves them as they are")
      ->capture_default_str()
      ->check(number_from_zero());
  app->add_option("--accumulate", s.accumulate, "Batches a step of the optimizer")
      ->capture_default_str()
      ->check(whole_number_from(1, kMostInt));
  app->add_option("--precision", s.precision, "What it computes in: mixed is autocast, with float32 parameters")
      ->capture_default_str()
      ->check(one_of({"32", "bf16-mixed", "16-mixed"}));
  app->add_option("--limit-batches", s.limit_batches, "Batches an epoch at most")->check(whole_number_from(1));
  app->add_option("--patience", s.patience, "End after so many epochs without a lower val_loss")->check(whole_number_from(1, kMostInt));
  app->add_option("--workers", s.workers, "Threads that read data ahead")
      ->capture_default_str()
      ->check(whole_number_from(0, data::detail::kMostWorkers));
  app->add_option("--seed", s.seed, "Of the initial weights and of the order of the data")
      ->capture_default_str()
      ->check(whole_number_from(0));
  app->add_option("--out", s.out, "Folder for what the run leaves")->capture_default_str()->type_name("DIR")->check(not_empty());
  app->add_flag("--resume", s.resume, "Go on from the checkpoint in --out, with its settings where none are given here");
  app->add_flag("--quiet", s.quiet, "Print no progress and no result");
  app->add_flag("--plot", s.plot, "Draw the curves in the terminal while it learns");
  app->add_flag("--tensorboard", s.tensorboard,
                "Write an event file for TensorBoard and `tandem board`, too, into DIR/tensorboard, while it learns");
  app->add_flag("--json", s.json, "Print the summary as JSON");
  app->callback([settings, app, &recipe, &action] {
    action = [settings, app, &recipe] {
      return run(recipe, *settings, [app](const char* name) {
        const auto* option = app->get_option_no_throw(std::string("--") + name);
        return option && option->count() > 0;
      });
    };
  });
}

}  // namespace

void add_train(CLI::App& app, Action& action) {
  CLI::App* train = app.add_subcommand("train", "Train a network: on data that ships with tandem, on files, or on random data");
  train->require_subcommand(1);
  for (const Recipe& recipe : recipes()) add_recipe(*train, recipe, action);
}

}  // namespace tandem::tools
