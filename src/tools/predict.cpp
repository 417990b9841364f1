// `tandem predict`: which digit is on a picture, by a network that `tandem train` has taught.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "autograd/autograd.h"
#include "base/json_text.h"
#include "data/image.h"
#include "io/safetensors.h"
#include "ops/softmax.h"
#include "tools/digit_picture.h"
#include "tools/program.h"
#include "tools/recipes/learner.h"
#include "tools/recipes/settings.h"
#include "train/checkpoint.h"

namespace tandem::tools {
namespace {

struct PredictOptions {
  std::string checkpoint;
  std::vector<std::string> files;
  int64_t top = 3;
  bool json = false;
};

struct Guess {
  std::string name;
  double probability;
};

/// A network with what it has learned.
struct Taught {
  Learner model;
  std::vector<std::string> classes;
  int64_t size, margin;  // of its pictures
};

Taught read_network(const std::string& path) {
  TrainSettings settings;
  read_settings(settings, io::read_safetensors(path).metadata, path, [](const char*) { return false; });
  const bool digits = settings.recipe == "digits";
  if (!digits && settings.recipe != "mnist")
    fail(path, ": this network is of '", settings.recipe, "'; pictures are for 'digits' and 'mnist'");
  if (settings.synthetic)
    fail(path, ": this network has learned random pictures (--synthetic), no digits: train one with `tandem train ", settings.recipe,
         " --data FOLDER`");
  settings.synthetic = true;  // the data is not needed: made up, it takes no files
  settings.samples = 10;
  Task task = find_recipe(settings.recipe)->make(settings);
  Learner model(std::move(task.net), {});
  tandem::load(path, model);
  model.eval();
  return {std::move(model), std::move(task.classes), digits ? 8 : 28, digits ? 0 : 4};
}

std::vector<Guess> guesses(Taught& taught, const std::string& file, int64_t top) {
  try {
    const NoGradGuard no_grad;
    const Tensor picture = digit_picture(data::read_image(file, data::ImageMode::Gray), taught.size, taught.margin);
    const Tensor probabilities = softmax(taught.model(picture), 1).select(0, 0);
    std::vector<Guess> all;
    for (int64_t i = 0; i < probabilities.size(0); ++i)
      all.push_back({taught.classes[static_cast<size_t>(i)], probabilities.select(0, i).item<double>()});
    std::stable_sort(all.begin(), all.end(), [](const Guess& a, const Guess& b) { return a.probability > b.probability; });
    all.resize(std::min(all.size(), static_cast<size_t>(top)));
    return all;
  } catch (const Error& error) {
    const std::string text = error.what();
    fail(text.find(file) == std::string::npos ? file + ": " + text : text);
  }
}

int predict(const PredictOptions& options) {
  Taught taught = read_network(options.checkpoint);
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  size_t widest = 0;
  for (const std::string& file : options.files) widest = std::max(widest, file.size());
  for (const std::string& file : options.files) {
    const auto found = guesses(taught, file, options.top);
    nlohmann::ordered_json probabilities = nlohmann::ordered_json::object();
    std::string line = file + std::string(widest - file.size(), ' ');
    for (const Guess& guess : found) {
      probabilities[guess.name] = guess.probability;
      line += str("  ", guess.name, " ", static_cast<double>(std::lround(guess.probability * 1000)) / 10, "%");
    }
    results.push_back({{"file", file}, {"prediction", found.front().name}, {"probabilities", probabilities}});
    if (!options.json) std::cout << line << std::endl;
  }
  if (options.json) std::cout << detail::json_text(results, 2) << std::endl;
  return 0;
}

}  // namespace

void add_predict(CLI::App& app, Action& action) {
  CLI::App* predict_app = app.add_subcommand("predict", "Which digit is on a picture, by a network that `tandem train` has taught");
  const auto options = std::make_shared<PredictOptions>();
  predict_app->add_option("CHECKPOINT", options->checkpoint, "A run's checkpoint.safetensors")->required()->check(existing_file());
  predict_app->add_option("FILE", options->files, "PNG or JPEG pictures of one digit each")->required();
  predict_app->add_option("--top", options->top, "How many guesses to show")->capture_default_str()->check(whole_number_from(1));
  predict_app->add_flag("--json", options->json, "Print them as JSON");
  predict_app->callback([options, &action] { action = [options] { return predict(*options); }; });
}

}  // namespace tandem::tools
