// The loop. The host runs ahead of the cards by a few batches and no more, so that what it reports is near to what has been done, and that
// batches on their way to the cards do not pile up.
#include "train/trainer.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <memory>

#include "autograd/autograd.h"
#include "base/error.h"
#include "nn/utils.h"
#include "ops/pointwise.h"
#include "ops/random.h"
#include "parallel/data_parallel.h"
#include "runtime/stream.h"
#include "train/checkpoint.h"
#include "train/live_board.h"
#include "train/notes.h"
#include "train/progress_bar.h"

namespace tandem::train {
namespace {

/// Keeps the host at most a few batches ahead of a card.
class Pace {
 public:
  explicit Pace(Device device) : device_(device) {}
  void batch_queued(Site site) {
    if (!device_.is_cuda()) return;
    auto& event = events_[next_++ % events_.size()];
    if (event) event->synchronize(site);
    event.emplace();
    event->record(cuda::current_stream(device_), site);
  }

 private:
  Device device_;
  std::array<std::optional<cuda::Event>, 8> events_;
  size_t next_ = 0;
};

/// A mean of one-element tensors that stays on the device: adding waits for nothing, reading does.
class Mean {
 public:
  void add(const Tensor& value, double weight, Site site) {
    const NoGradGuard no_grad;
    const Tensor number = value.dim() == 0 ? value.detach() : value.detach().reshape({}, site);
    if (sum_.defined()) sum_.add_(number, weight, site);
    else sum_ = mul(number.to(kFloat64, {}, site), weight, site);
    weight_ += weight;
  }
  [[nodiscard]] double read(Site site) const { return sum_.item<double>(site) / weight_; }

 private:
  Tensor sum_;
  double weight_ = 0;
};

/// One half of an epoch's losses: a point of train_loss, once it is read.
struct Window {
  Mean loss;
  double x_sum = 0;
  int64_t batches = 0;
};

Figures evaluate(Module& model, data::DataLoader& loader, Device device, Site site) {
  const NoGradGuard no_grad;
  const bool was_training = model.training();
  model.eval();
  std::vector<std::pair<std::string, Mean>> means;
  Pace pace(device);
  for (const data::Batch& host : loader) {
    const data::Batch batch = host.to(device, {.non_blocking = true}, site);
    for (const auto& [name, value] : model.validation_step(batch)) {
      auto found = std::find_if(means.begin(), means.end(), [&, &name = name](const auto& mean) { return mean.first == name; });
      if (found == means.end()) found = means.insert(means.end(), {name, Mean()});
      found->second.add(value, static_cast<double>(batch.size()), site);
    }
    pace.batch_queued(site);
  }
  model.train(was_training);
  Figures figures;
  for (const auto& [name, mean] : means) figures.emplace_back(name, mean.read(site));
  return figures;
}

/// What one call of fit has at hand.
struct Run {
  Module& model;
  optim::Optimizer& optimizer;
  data::DataLoader& loader;
  Device device;
  const TrainerOptions& options;
  ProgressBar* progress;  // nullptr: quiet
  Site site;
};

/// One pass over the data. The points of train_loss, and the mean over the epoch.
std::vector<Point> train_epoch(const Run& run, int epoch, Figures& figures) {
  const Site site = run.site;
  const int64_t batches = run.loader.size();
  const std::vector<Tensor> parameters = run.model.parameters();
  run.model.train();
  run.loader.set_epoch(static_cast<uint64_t>(epoch));
  std::array<Window, 2> windows;
  Mean all;
  Pace pace(run.device);
  int64_t index = 0;
  for (const data::Batch& host : run.loader) {
    const data::Batch batch = host.to(run.device, {.non_blocking = true}, site);
    const Tensor loss = run.model.training_step(batch);
    run.optimizer.zero_grad(true, site);
    loss.backward({}, {}, site);
    if (run.options.gradient_clip_val > 0) nn::utils::clip_grad_norm_(parameters, run.options.gradient_clip_val, 2, site);
    run.optimizer.step(site);

    Window& window = windows[index * 2 < batches ? 0 : 1];
    window.loss.add(loss, 1, site);
    window.x_sum += epoch + static_cast<double>(index) / static_cast<double>(batches);
    ++window.batches;
    pace.batch_queued(site);
    ++index;
    if (run.progress) {
      run.progress->advance(batch.size());
      if (run.progress->due()) {
        Figures now = {{"loss", window.loss.read(site)}};
        now.insert(now.end(), figures.begin(), figures.end());
        run.progress->draw(now);
      }
    }
  }
  std::vector<Point> points;
  double sum = 0;
  for (const Window& window : windows) {
    if (window.batches == 0) continue;
    const auto count = static_cast<double>(window.batches);
    points.push_back({window.x_sum / count, window.loss.read(site)});
    sum += points.back().y * count;
  }
  if (run.progress) run.progress->end_training();  // the losses are read, so the cards have done all of it
  figures.assign(1, {"train_loss", sum / static_cast<double>(std::max<int64_t>(index, 1))});
  return points;
}

std::vector<Device> choose_devices(int num_gpus_wanted) {
  std::vector<Device> devices;
  const int count = num_gpus_wanted > 0 ? std::min(num_gpus_wanted, num_gpus()) : 0;
  for (int i = 0; i < count; ++i) devices.push_back(gpu(i));
  if (devices.empty()) devices.push_back(cpu());
  return devices;
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) fail("[Trainer.fit] cannot make the folder ", path, " for checkpoints: ", error.message());
}

}  // namespace

Trainer::Trainer(TrainerOptions options) : options_(std::move(options)) {
  if (options_.max_epochs < 0) fail("[Trainer] max_epochs must not be negative, but is ", options_.max_epochs);
  if (options_.num_gpus < 0) fail("[Trainer] num_gpus must not be negative, but is ", options_.num_gpus);
  if (!(options_.gradient_clip_val >= 0)) fail("[Trainer] gradient_clip_val must not be negative, but is ", options_.gradient_clip_val);
  if (options_.resume && options_.checkpoint_dir.empty()) fail("[Trainer] resume needs a checkpoint_dir to go on from");
}

std::string Trainer::checkpoint_path() const {
  return options_.checkpoint_dir.empty() ? "" : (std::filesystem::path(options_.checkpoint_dir) / "checkpoint.safetensors").string();
}

void Trainer::run(Module& model, nn::Copier copier, const DataModule& data, Site site) {
  if (options_.seed) manual_seed(*options_.seed);
  devices_ = choose_devices(options_.num_gpus);
  board_ = {};
  epoch_ = 0;
  const Device device = devices_[0];
  const std::string checkpoint = checkpoint_path();
  if (!checkpoint.empty()) make_folder(options_.checkpoint_dir);

  // Data, model, optimizer, in that order: a lazy model learns its sizes from the data, and an optimizer needs parameters that are there.
  data::DataLoader loader = data.train_dataloader();
  std::optional<data::DataLoader> val_loader = data.val_dataloader();
  if (loader.size() == 0) fail("[Trainer.fit] there is nothing to train on: the loader has no batches");
  if (device.is_cuda()) {
    loader.set_pin_memory(true);
    if (val_loader) val_loader->set_pin_memory(true);
  }
  model.to(device, site);
  if (model.has_uninitialized_params()) {
    const int64_t first = 0;
    nn::initialize(model, loader.dataset().get_batch({&first, 1}, {}, site).input().to(device, {}, site), site);
  }
  const std::unique_ptr<optim::Optimizer> optimizer = model.configure_optimizers();
  if (!optimizer) fail("[Trainer.fit] ", model.name(), ".configure_optimizers gave no optimizer");
  if (options_.resume && std::filesystem::exists(checkpoint)) {
    const auto notes = detail::load_checkpoint(checkpoint, model, optimizer.get(), site);
    detail::RunState before = detail::from_notes(notes, devices_, checkpoint);
    epoch_ = before.epoch;
    board_ = std::move(before.board);
  }

  std::optional<parallel::DataParallel> parallel;
  if (devices_.size() > 1) parallel.emplace(model, copier, devices_);
  const Predict predict = [&](const Tensor& input, Site from) { return parallel ? (*parallel)(input, from) : model(input, from); };
  const PredictGuard guard(model, predict);

  std::optional<ProgressBar> progress;
  std::optional<LiveBoard> picture;
  if (!options_.quiet) {
    std::ostream& out = options_.output ? *options_.output : std::cerr;
    const Terminal terminal = options_.output ? Terminal() : terminal_of(2);
    progress.emplace(out, terminal);
    if (options_.plot && terminal.interactive) picture.emplace(out, terminal);
  }
  const Run now{model, *optimizer, loader, device, options_, progress ? &*progress : nullptr, site};
  Figures figures;
  while (epoch_ < options_.max_epochs) {
    if (progress) progress->begin_epoch(epoch_ + 1, options_.max_epochs, loader.size());
    if (!figures.empty()) figures.erase(figures.begin());  // while an epoch runs, the last validation's figures stand beside its own loss
    for (const Point& point : train_epoch(now, epoch_, figures)) board_.draw("train_loss", point.x, point.y);
    if (val_loader) {
      for (const auto& [name, value] : evaluate(model, *val_loader, device, site)) {
        board_.draw(name, epoch_ + 1, value);
        figures.emplace_back(name, value);
      }
    }
    ++epoch_;
    if (!checkpoint.empty())
      detail::save_checkpoint(checkpoint, model, optimizer.get(), detail::to_notes({epoch_, board_}, devices_), site);
    if (picture) picture->erase();
    if (progress) progress->end_epoch(figures);
    if (picture) picture->draw(board_);
  }
}

std::map<std::string, double> Trainer::validate(Module& model, const DataModule& data, Site site) const {
  std::optional<data::DataLoader> loader = data.val_dataloader();
  if (!loader || loader->size() == 0) fail("[Trainer.validate] there is no data to validate on");
  const std::vector<Tensor> parameters = model.parameters();
  const Figures figures = evaluate(model, *loader, parameters.empty() ? cpu() : parameters[0].device(), site);
  return {figures.begin(), figures.end()};
}

}  // namespace tandem::train
