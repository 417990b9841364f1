#include "train/trainer.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "ops/random.h"
#include "train/fit.h"
#include "train/precision.h"
#include "train/ranks.h"

namespace tandem::train {
namespace {

std::vector<Device> choose_devices(int num_gpus_wanted) {
  std::vector<Device> devices;
  const int count = num_gpus_wanted > 0 ? std::min(num_gpus_wanted, num_gpus()) : 0;
  for (int i = 0; i < count; ++i) devices.push_back(gpu(i));
  if (devices.empty()) devices.push_back(cpu());
  return devices;
}

}  // namespace

Trainer::Trainer(TrainerOptions options, Site /*site*/) : options_(std::move(options)) {
  if (options_.max_epochs < 0)
    fail("[Trainer] max_epochs must not be negative, but is ", options_.max_epochs,
         ": give the number of passes over the data, such as 10; 0 trains nothing");
  if (options_.num_nodes < 1)
    fail("[Trainer] num_nodes must be positive, but is ", options_.num_nodes, ": give the number of servers, 1 for this one alone");
  if (options_.num_gpus < 0)
    fail("[Trainer] num_gpus must not be negative, but is ", options_.num_gpus, ": give 0 for the CPU, or how many GPUs to train on");
  if (!(options_.gradient_clip_val >= 0))
    fail("[Trainer] gradient_clip_val must not be negative, but is ", options_.gradient_clip_val,
         ": give the most that the norm may be, or 0 for no limit");
  if (options_.accumulate < 1)
    fail("[Trainer] accumulate must be positive, but is ", options_.accumulate, ": give how many batches make a step, 1 for each");
  if (options_.checkpoint_every < 0)
    fail("[Trainer] checkpoint_every must not be negative, but is ", options_.checkpoint_every,
         ": give the epochs from one to the next, or 0 for none");
  if (options_.resume && options_.checkpoint_dir.empty())
    fail(
        "[Trainer] resume needs a checkpoint_dir to go on from, and there is none: set .checkpoint_dir to the folder of the run that "
        "stopped");
  for (const auto& callback : options_.callbacks)
    if (!callback)
      fail(
          "[Trainer] callbacks must not be null, but one is: make each by std::make_shared, as in "
          "`std::make_shared<train::EarlyStopping>(…)`");
}

std::string Trainer::checkpoint_path() const {
  return options_.checkpoint_dir.empty() ? "" : (std::filesystem::path(options_.checkpoint_dir) / "checkpoint.safetensors").string();
}

void Trainer::run(Module& model, nn::Copier copier, const DataModule& data, Site site) {
  if (options_.seed) manual_seed(*options_.seed);
  const detail::Ranks ranks(options_.num_nodes, site);
  progress_ = {.devices = ranks.several() ? std::vector{ranks.device(options_.num_gpus)} : choose_devices(options_.num_gpus),
               .began = seconds_now()};
  detail::Fit fit(*this, progress_, ranks, model, copier, data, site);
  struct UnderWay {
    detail::Fit*& pointer;
    double& ended;
    ~UnderWay() {
      pointer = nullptr;
      ended = seconds_now();
    }
  } const under_way{fit_, progress_.ended};
  fit_ = &fit;
  fit.run();
}

double Trainer::seconds() const {
  return progress_.seconds_before + (progress_.ended < 0 ? seconds_now() : progress_.ended) - progress_.began;
}

detail::Fit& Trainer::fit_under_way(const char* op) const {
  if (!fit_) fail("[Trainer.", op, "] this is for callbacks: no fit is under way");
  return *fit_;
}

void Trainer::save_checkpoint(const std::string& path) const { fit_under_way("save_checkpoint").save(path); }
optim::Optimizer& Trainer::optimizer() const { return fit_under_way("optimizer").optimizer(); }

std::map<std::string, double> Trainer::validate(Module& model, const DataModule& data, Site site) const {
  std::optional<data::DataLoader> loader = data.val_dataloader();
  if (!loader || loader->size() == 0) fail("[Trainer.validate] there is no data to validate on");
  const std::vector<Tensor> parameters = model.parameters();
  const Device device = parameters.empty() ? cpu() : parameters[0].device();
  const AutocastGuard mixed = detail::mixed_precision(options_.precision, device, site);
  const Predict predict = [&](const Tensor& input, Site from) {
    const Tensor output = model(input, from);
    return is_half(output.dtype()) ? output.to(kFloat32, {}, from) : output;
  };
  std::optional<PredictGuard> redirected;  // a fit under way has its own
  if (options_.precision.mixed() && !PredictGuard::target(model)) redirected.emplace(model, predict);
  const Figures figures = detail::evaluate(
      model, *loader, device, options_.limit_val_batches, [] { return true; }, options_.metrics, detail::Ranks::alone(), site);
  return {figures.begin(), figures.end()};
}

}  // namespace tandem::train
