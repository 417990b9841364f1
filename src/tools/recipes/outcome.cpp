#include "tools/recipes/outcome.h"

#include <cmath>
#include <map>
#include <sstream>

#include "autograd/autograd.h"
#include "data/loader.h"
#include "nn/module.h"
#include "observe/ledger/ledger.h"
#include "ops/softmax.h"
#include "tensor/host_values.h"
#include "tools/recipes/settings.h"
#include "train/metrics.h"
#include "train/progress_bar.h"
#include "train/summary_writer.h"

namespace tandem::tools {
namespace {

constexpr size_t kMostMistakes = 60;

/// Whether a sample can be shown: (channels, height, width) of a picture.
bool is_picture(const Tensor& sample) {
  return sample.dim() == 3 && (sample.size(0) == 1 || sample.size(0) == 3) && (sample.is_floating_point() || sample.dtype() == kUInt8);
}

std::string text_of(const nlohmann::ordered_json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

/// Whether a setting is one that nobody asked for and that does nothing: no folder, no limit, no clipping, no patience.
bool is_off(const std::string& name, const nlohmann::ordered_json& value) {
  return value == "" || (name == "limit-batches" && value < 0) || ((name == "clip" || name == "patience") && value == 0);
}

train::HParam hparam_of(const nlohmann::ordered_json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number()) return value.get<double>();
  return text_of(value);
}

/// The last value of each curve that validation gave.
std::map<std::string, double> judged(const train::Trainer& trainer) {
  std::map<std::string, double> last;
  for (const auto& [name, points] : trainer.board().series())
    if (name.rfind("val_", 0) == 0 && !points.empty()) last[name] = points.back().y;
  return last;
}

}  // namespace

std::optional<train::ReportConfusion> judge(Learner& model, const Task& task, const TrainSettings& settings) {
  if (task.loss != Loss::CrossEntropy || task.classes.empty()) return {};
  const NoGradGuard no_grad;
  const ledger::Guard allowed(ledger::Mode::allow, "the mistakes are read after training");
  model.eval();
  const std::vector<Tensor> parameters = model.parameters();
  const Device device = parameters.empty() ? cpu() : parameters[0].device();
  train::ConfusionMatrix matrix({.num_classes = static_cast<int64_t>(task.classes.size())});
  train::ReportConfusion confusion{{}, task.classes, {}};
  data::DataLoader loader(task.held_out, {.batch_size = settings.batch});
  if (loader.size() == 0) return {};
  int64_t batches = 0;
  for (const data::Batch& batch : loader) {
    if (batches++ == settings.limit_batches) break;
    const Tensor output = model(batch.input().to(device)).cpu();
    if (output.dim() != 2 || output.size(1) != matrix.num_classes()) return {};
    matrix.update(output, batch.target());
    if (!is_picture(batch.input()[0])) continue;
    const ValuesIndices best = output.softmax(1).max(1);
    const std::vector<double> sure = read_values(best.values, -1, "judge", Site::here()).floating;
    const std::vector<int64_t> predicted = read_values(best.indices, -1, "judge", Site::here()).integers;
    const std::vector<int64_t> actual = read_values(batch.target(), -1, "judge", Site::here()).integers;
    for (size_t i = 0; i < actual.size() && confusion.samples.size() < kMostMistakes; ++i)
      if (actual[i] != predicted[i]) confusion.samples.push_back({batch.input()[i], actual[i], predicted[i], sure[i]});
  }
  confusion.matrix = matrix.compute();
  return confusion;
}

void write_page(const std::string& path, const Outcome& outcome) {
  const train::Trainer& trainer = outcome.trainer;
  const int64_t held_out = outcome.task.held_out->size();
  train::Report report = train::make_report(trainer);
  report.title = str("tandem train ", outcome.recipe.name);
  report.subtitle = outcome.recipe.data == Recipe::Data::Folder && outcome.settings.synthetic
                        ? str("Random pictures of the shape of those of ", outcome.recipe.name, ", not the pictures themselves")
                        : outcome.recipe.description;
  const auto last = judged(trainer);
  if (const auto accuracy = last.find("val_acc"); accuracy != last.end()) {
    report.highlights.emplace_back("accuracy", str(std::round(accuracy->second * 1e4) / 1e2, "%"));
    const int64_t right = std::llround(accuracy->second * static_cast<double>(held_out));
    if (outcome.settings.limit_batches < 0)
      report.highlights.emplace_back("held-out samples right", train::count_text(right) + " of " + train::count_text(held_out));
  } else if (const auto loss = last.find("val_loss"); loss != last.end()) {
    report.highlights.emplace_back("loss on held-out samples", str(std::round(loss->second * 1e6) / 1e6));
  }
  report.highlights.emplace_back("epochs", str(trainer.epoch()));
  report.highlights.emplace_back("time", train::seconds_text(trainer.seconds()));
  report.configuration.clear();  // the settings say the same, by the names of the options
  const nlohmann::ordered_json settings = settings_json(outcome.settings);
  // What an earlier session was given counts, too: a resumed run has it, where it is not what the recipe takes by itself.
  TrainSettings untouched;
  untouched.net = outcome.settings.net;
  take_defaults(untouched, outcome.recipe, [](const char*) { return false; });
  const nlohmann::ordered_json usual = settings_json(untouched);
  if (outcome.was_given("gpus")) report.configuration.emplace_back("gpus", str(*outcome.settings.gpus));
  for (const auto& [name, value] : settings.items()) {
    const bool given = outcome.was_given(name.c_str()) || (name != "net" && usual.value(name, nlohmann::ordered_json()) != value);
    if (!given && is_off(name, value)) continue;
    (given ? report.configuration : report.defaults).emplace_back(name, text_of(value));
  }
  report.configuration.emplace_back("steps", train::count_text(trainer.step()));
  report.configuration.emplace_back("parameters", train::count_text(outcome.model.num_parameters()));
  report.confusion = outcome.confusion;
  train::write_report(path, report);
}

void Events::write_curves(const train::Trainer& trainer) {
  // Curves count epochs, TensorBoard steps.
  const double steps_an_epoch = trainer.epoch() == 0 ? 1 : static_cast<double>(trainer.step()) / trainer.epoch();
  for (const auto& [name, points] : trainer.board().series())
    for (size_t& i = written_[name]; i < points.size(); ++i)
      writer_.add_scalar(name, points[i].y, std::llround(points[i].x * steps_an_epoch));
  writer_.flush();
}

void Events::finish(const Outcome& outcome) {
  const train::Trainer& trainer = outcome.trainer;
  write_curves(trainer);
  for (const auto& [name, parameter] : outcome.model.named_parameters()) writer_.add_histogram(name, parameter, trainer.step());
  if (outcome.confusion) {
    for (const train::ReportSample& mistake : outcome.confusion->samples) {
      const auto name = [&](int64_t label) { return outcome.task.classes[static_cast<size_t>(label)]; };
      writer_.add_image(str("mistakes/", name(mistake.actual), " taken for ", name(mistake.predicted)), mistake.image, trainer.step());
    }
  }
  std::ostringstream network;
  network << *outcome.model.net;
  writer_.add_text("network", str("```\n", network.str(), "\n```"), 0);
  std::map<std::string, train::HParam> hparams = {{"data_parallel", trainer.devices().size() > 1}};
  const nlohmann::ordered_json settings = settings_json(outcome.settings);
  for (const auto& [name, value] : settings.items()) hparams[name] = hparam_of(value);
  std::map<std::string, double> metrics;  // under names of their own: add_hparams adds a point to the curve of that name
  for (const auto& [name, value] : judged(trainer)) metrics["hparam/" + name] = value;
  writer_.add_hparams(hparams, metrics);
  writer_.flush();
}

}  // namespace tandem::tools
