#include <algorithm>

#include "base/error.h"
#include "data/combine.h"
#include "data/digits.h"
#include "data/generator.h"
#include "data/idx.h"
#include "data/synthetic.h"
#include "models/models.h"
#include "nn/layers.h"
#include "ops/creation.h"
#include "ops/matmul.h"
#include "ops/operators.h"
#include "ops/random.h"
#include "tools/recipes/recipe.h"

namespace tandem::tools {
namespace {

using Data = Recipe::Data;

const std::vector<std::string> kTenDigits = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
const std::vector<std::string> kClothes = {"T-shirt", "trouser", "pullover", "dress", "coat",
                                           "sandal",  "shirt",   "sneaker",  "bag",   "ankle boot"};

/// Pictures of ten classes, four fifths to learn from.
struct TwoParts {
  data::AnyDataset train, held_out;
};
TwoParts split(const data::AnyDataset& all) {
  const int64_t samples = all->size(), first = samples - std::max<int64_t>(samples / 5, 1);
  return {data::subset(all, 0, first), data::subset(all, first, samples)};
}
TwoParts synthetic(const TrainSettings& settings, int64_t samples, const Shape& input, int64_t classes) {
  return split(
      data::Synthetic({.num_samples = settings.samples.value_or(samples), .input = input, .num_classes = classes, .seed = settings.seed}));
}

Task digits(const TrainSettings& settings) {
  const data::Digits all;
  return {.net = settings.net == "mlp" ? models::mlp({64, 128, 10}) : models::digits_cnn(),
          .train = all.train(),
          .held_out = all.held_out(),
          .classes = kTenDigits};
}

/// y = Xw + b with w = [2, -3.4] and b = 4.2, and a little noise.
Task linear(const TrainSettings& settings) {
  const int64_t samples = settings.samples.value_or(2000), half = samples / 2;
  const Tensor x = randn({samples, 2});
  const Tensor y = matmul(x, tensor({{2.f}, {-3.4f}})) + 4.2 + randn({samples, 1}) * 0.01;
  const data::TensorDataset all({x, y});
  return {.net = nn::Linear(2, 1), .train = all.subset(0, half), .held_out = all.subset(half, samples), .loss = Loss::MeanSquaredError};
}

nn::AnyModule net_for_28x28(const std::string& name) {
  if (name == "mlp") return models::mlp({784, 256, 128, 10});
  if (name == "lenet") return models::d2l_lenet();
  if (name == "resnet18") return models::d2l_resnet18();
  return models::mnist_cnn();
}

Task pictures_of_28x28(const TrainSettings& settings, const std::vector<std::string>& classes) {
  if (settings.synthetic) {
    const auto [train, held_out] = synthetic(settings, 5000, {1, 28, 28}, 10);
    return {.net = net_for_28x28(settings.net), .train = train, .held_out = held_out, .classes = classes};
  }
  return {.net = net_for_28x28(settings.net),
          .train = data::Mnist(settings.data, {.train = true}),
          .held_out = data::Mnist(settings.data, {.train = false}),
          .classes = classes};
}
Task mnist(const TrainSettings& settings) { return pictures_of_28x28(settings, kTenDigits); }
Task fashion(const TrainSettings& settings) { return pictures_of_28x28(settings, kClothes); }

Task cifar(const TrainSettings& settings) {
  const auto [train, held_out] = synthetic(settings, 5000, {3, 32, 32}, 10);
  return {.net = models::cifar_cnn(), .train = train, .held_out = held_out};
}

/// Texts of random words, half of which have one of a few words that give their class away.
struct Texts : data::Dataset {
  int64_t samples, length, vocabulary;
  uint64_t seed;

  Texts(int64_t samples, int64_t length, int64_t vocabulary, uint64_t seed)
      : samples(samples), length(length), vocabulary(vocabulary), seed(seed) {}
  [[nodiscard]] int64_t size() const override { return samples; }
  [[nodiscard]] data::Sample get(int64_t index) const override {
    data::Generator generator(seed, static_cast<uint64_t>(index));
    const auto word = [&](int64_t below) { return static_cast<int64_t>(generator.below(static_cast<uint64_t>(below))); };
    const int64_t label = word(2);
    std::vector<int64_t> words(static_cast<size_t>(length));
    for (int64_t& at : words) at = word(vocabulary);
    for (int i = 0; i < 20; ++i) words[words.size() - 1 - static_cast<size_t>(word(length / 2))] = 2 * word(5) + label;
    return {{tensor(words), tensor(label)}};
  }
};

Task imdb(const TrainSettings& settings) {
  const auto [train, held_out] = split(Texts(settings.samples.value_or(5000), 150, 30000, settings.seed));
  return {.net = models::TextGru(), .train = train, .held_out = held_out};
}

Task imagenet(const TrainSettings& settings) {
  const auto [train, held_out] = synthetic(settings, 320, {3, 224, 224}, 10);
  return {.net = settings.net == "resnet18" ? models::resnet18() : models::resnet50(), .train = train, .held_out = held_out};
}

/// Pictures with fourteen findings that are there or not, at random: the loss goes to ln 2.
struct Findings : data::Dataset {
  int64_t samples;
  uint64_t seed;

  Findings(int64_t samples, uint64_t seed) : samples(samples), seed(seed) {}
  [[nodiscard]] int64_t size() const override { return samples; }
  [[nodiscard]] data::Sample get(int64_t index) const override {
    data::Generator generator(seed, static_cast<uint64_t>(index));
    std::vector<float> pixels(3 * 224 * 224), there(14);
    for (float& pixel : pixels) pixel = static_cast<float>(generator.uniform());
    for (float& finding : there) finding = static_cast<float>(generator.below(2));
    return {{tensor(pixels).reshape({3, 224, 224}), tensor(there)}};
  }
};

Task chest(const TrainSettings& settings) {
  const auto [train, held_out] = split(Findings(settings.samples.value_or(320), settings.seed));
  return {.net = models::densenet121(14), .train = train, .held_out = held_out, .loss = Loss::BinaryCrossEntropy};
}

const std::vector<NamedNet> kNetsFor28x28 = {{"cnn", 14, 64, 1, "adadelta", "step"},
                                             {"mlp", 10, 128, 1e-3, "adam", "none"},
                                             {"lenet", 10, 256, 0.2, "sgd", "none"},
                                             {"resnet18", 10, 256, 0.1, "sgd", "none"}};

const Recipe kRecipes[] = {
    {"digits",
     "1,437 handwritten digits to learn from, 360 to be judged by; they ship with tandem",
     {{"cnn", 20, 64, 3e-3, "adam", "onecycle"}, {"mlp", 30, 64, 3e-3, "adam", "none"}},
     Data::Own,
     digits},
    {"linear", "A plane through random, noisy points", {{"linear", 3, 32, 0.03, "sgd", "none"}}, Data::Synthetic, linear},
    {"mnist", "MNIST's handwritten digits, from the four files of the set", kNetsFor28x28, Data::Folder, mnist},
    {"fashion", "Fashion-MNIST's pieces of clothing, from the four files of the set", kNetsFor28x28, Data::Folder, fashion},
    {"cifar",
     "Random pictures of CIFAR-10's shape, and four convolutions",
     {{"cnn", 5, 64, 0.01, "momentum", "none"}},
     Data::Synthetic,
     cifar},
    {"imdb", "Random texts of 150 words, and a GRU", {{"gru", 3, 64, 1e-3, "adam", "none"}}, Data::Synthetic, imdb},
    {"imagenet",
     "Random pictures of 3x224x224 in ten classes, and a residual network that knows 1,000",
     {{"resnet50", 3, 32, 1e-3, "adam", "none"}, {"resnet18", 3, 32, 1e-3, "adam", "none"}},
     Data::Synthetic,
     imagenet},
    {"chest",
     "Random pictures of 3x224x224 with 14 findings, and DenseNet-121",
     {{"densenet121", 1, 64, 1e-4, "adam", "none"}},
     Data::Synthetic,
     chest},
};

}  // namespace

const NamedNet& Recipe::net(const std::string& called) const {
  const auto found = std::find_if(nets.begin(), nets.end(), [&](const NamedNet& net) { return called == net.name; });
  if (found == nets.end()) fail("the recipe ", name, " has no network ", called);
  return *found;
}

void take_defaults(TrainSettings& settings, const Recipe& recipe, const std::function<bool(const char*)>& was_given) {
  const NamedNet& net = recipe.net(settings.net);
  const auto take = [&](const char* name, auto& setting, const auto& value) {
    if (!was_given(name)) setting = value;
  };
  take("synthetic", settings.synthetic, recipe.data == Recipe::Data::Synthetic);
  take("epochs", settings.epochs, net.epochs);
  take("batch", settings.batch, net.batch);
  take("lr", settings.lr, net.lr);
  take("optimizer", settings.optimizer, net.optimizer);
  take("schedule", settings.schedule, net.schedule);
}

std::span<const Recipe> recipes() { return kRecipes; }

const Recipe* find_recipe(const std::string& name) {
  for (const Recipe& recipe : kRecipes)
    if (name == recipe.name) return &recipe;
  return nullptr;
}

}  // namespace tandem::tools
