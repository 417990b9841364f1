// What `tandem train NAME` trains: a network, its data, and the settings it learns well with.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "nn/any_module.h"

namespace tandem::tools {

enum class Loss { CrossEntropy, BinaryCrossEntropy, MeanSquaredError };

/// What a recipe makes of its settings.
struct Task {
  nn::AnyModule net;
  data::AnyDataset train, held_out;
  Loss loss = Loss::CrossEntropy;
  std::vector<std::string> classes = {};  // their names, where it sorts into classes
};

/// What the command line says; what it leaves open is the recipe's.
struct TrainSettings {
  std::string recipe;
  std::string net;                 // one of the recipe's networks
  std::string data;                // folder of the data set's files
  bool synthetic = false;          // random data: of the same shapes instead of the files, or all that the recipe has
  std::optional<int64_t> samples;  // of synthetic data
  std::optional<int> gpus;         // all there are unless given
  int epochs = 0;
  double lr = 0;
  int64_t batch = 0;
  std::string optimizer, schedule;
  double clip = 0;
  int accumulate = 1;
  std::string precision = "32";
  int64_t limit_batches = -1;
  int patience = 0;  // 0: no early stopping
  int workers = 0;
  uint64_t seed = 0;
  std::string out;
  bool resume = false, quiet = false, plot = false, tensorboard = false, json = false;
};

/// A network of a recipe, and the settings it learns well with.
struct NamedNet {
  const char* name;
  int epochs;
  int64_t batch;
  double lr;
  const char* optimizer;
  const char* schedule;
};

struct Recipe {
  const char* name;
  const char* description;
  std::vector<NamedNet> nets;                       // the first is the one it takes unless told otherwise
  enum class Data { Own, Folder, Synthetic } data;  // ships with the library or is computed; files in a folder; random
  Task (*make)(const TrainSettings& settings);

  /// The network of that name; it must be one of them.
  [[nodiscard]] const NamedNet& net(const std::string& called) const;
};

/// All of them, in the order in which they are listed.
[[nodiscard]] std::span<const Recipe> recipes();
/// The one of that name, or nullptr.
[[nodiscard]] const Recipe* find_recipe(const std::string& name);
/// Sets what the recipe learns well with, except what `was_given`.
void take_defaults(TrainSettings& settings, const Recipe& recipe, const std::function<bool(const char*)>& was_given);

}  // namespace tandem::tools
