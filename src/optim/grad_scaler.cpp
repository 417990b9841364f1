#include "optim/grad_scaler.h"

#include <cmath>

#include "autograd/autograd.h"
#include "base/error.h"
#include "ops/creation.h"
#include "ops/dense_parts.h"
#include "ops/pointwise.h"
#include "ops/reduce.h"

namespace tandem::amp {
namespace {

constexpr const char* kUnscale = "GradScaler.unscale_";

/// The scale is a float32, as the factor that a loss is multiplied by.
double rounded(double scale) { return static_cast<double>(static_cast<float>(scale)); }

}  // namespace

GradScaler::GradScaler(const GradScalerOptions& options, Site) : options_(options), scale_(rounded(options.init_scale)) {
  if (!options.enabled) return;
  if (!(options.init_scale > 0 && std::isfinite(scale_)))
    fail("[GradScaler] init_scale must be a positive number, but is ", options.init_scale);
  if (!(options.growth_factor > 1)) fail("[GradScaler] The growth factor must be > 1.0, but is ", options.growth_factor);
  if (!(options.backoff_factor > 0 && options.backoff_factor < 1))
    fail("[GradScaler] The backoff factor must be between 0.0 and 1.0, but is ", options.backoff_factor);
  if (options.growth_interval < 1) fail("[GradScaler] growth_interval must be at least 1, but is ", options.growth_interval);
}

Tensor GradScaler::scale(const Tensor& outputs, Site site) const { return options_.enabled ? mul(outputs, scale_, site) : outputs; }

std::vector<Tensor> GradScaler::scale(const std::vector<Tensor>& outputs, Site site) const {
  std::vector<Tensor> scaled;
  for (const Tensor& output : outputs) scaled.push_back(scale(output, site));
  return scaled;
}

void GradScaler::unscale(Done& done, optim::Optimizer& optimizer, Site site) const {
  const NoGradGuard no_grad;
  std::vector<Tensor> parameters;
  for (const optim::ParamGroupView& group : optimizer.param_groups())
    for (const Tensor& parameter : group.params) {
      if (parameter.grad().defined() && parameter.grad().dtype() == kFloat16)
        fail('[', kUnscale,
             "] Attempting to unscale FP16 gradients: keep the parameters in float32, which autocast casts where that is "
             "wanted, instead of to(kFloat16)");
      parameters.push_back(parameter);
    }
  const std::vector<ops::RanksGradients> all = ops::gradients_of(kUnscale, parameters, site);
  std::vector<Tensor> norms;
  for (const ops::RanksGradients& gradients : all) {
    std::vector<Tensor> own, scales;
    for (const ops::DensePart& part : gradients.parts) {
      own.push_back(empty({}, {.dtype = kFloat32, .device = part.device}, site));
      scales.push_back(full({}, scale_, {.dtype = kFloat32, .device = part.device}, site));
    }
    for (size_t i = 0; i < own.size(); ++i) {
      const ops::DensePart& part = gradients.parts[i];
      const auto span = part.span();
      ops::launch(own[i], kUnscale, site, &kernels::Table::total_norm, own[i], span, ops::kernels_of(own[i]).total_norm_workspace(span));
      // The kernel of clipping, with norms that make its factor, max_norm / (norm + 1e-6), one by the scale. It never makes numbers larger.
      if (scale_ > 1) ops::launch(own[i], kUnscale, site, &kernels::Table::clip, part.to_change(), scales[i], (scale_ + 1e-6) / scale_);
      else
        for (const Tensor& gradient : part.dense) gradient.mul_(1 / scale_, site);
      part.changed(site);
    }
    if (!gradients.divided) {
      norms.insert(norms.end(), own.begin(), own.end());
      continue;
    }
    const Tensor sum = full({}, gradients.any ? 0.0 : -1.0, {.dtype = kFloat32, .device = gradients.device}, site);
    for (const Tensor& norm : own) sum.add_(norm.to(gradients.device, {}, site), 1, site);
    // Of all ranks': nan and infinities come through, and -1 only where no rank has a gradient.
    norms.push_back(max(gradients.divided->gather(sum, site), site));
  }
  done.norms = std::move(norms);
}

GradScaler::Done::Found GradScaler::found(Done& done, Site site) {
  if (!done.found) {
    Done::Found found;
    for (const Tensor& one : done.norms) {
      const double norm = one.item(site).to<double>();
      found.gradients |= !(norm < 0);
      found.infinite |= !std::isfinite(norm);
    }
    done.found = found;
  }
  return *done.found;
}

void GradScaler::unscale_(optim::Optimizer& optimizer, Site site) {
  if (!options_.enabled) return;
  Done& done = done_[&optimizer];
  if (done.stage == Stage::Unscaled)
    fail('[', kUnscale, "] unscale_() has already been called on this optimizer since the last update(): call update() once an iteration");
  if (done.stage == Stage::Stepped) fail('[', kUnscale, "] unscale_() is being called after step(): call it before, or update() between");
  unscale(done, optimizer, site);
  done.stage = Stage::Unscaled;
}

bool GradScaler::step(optim::Optimizer& optimizer, Site site) {
  if (!options_.enabled) {
    optimizer.step(site);
    return true;
  }
  Done& done = done_[&optimizer];
  if (done.stage == Stage::Stepped)
    fail("[GradScaler.step] step() has already been called since the last update(): call update() once an iteration");
  if (done.stage == Stage::Ready) {
    unscale(done, optimizer, site);
    done.stage = Stage::Unscaled;
  }
  if (!found(done, site).gradients)
    fail(
        "[GradScaler.step] No inf checks were recorded for this optimizer: no parameter of it has a gradient; call scale(loss).backward() "
        "before");
  const bool takes = !found(done, site).infinite;
  if (takes) optimizer.step(site);
  done.stage = Stage::Stepped;
  return takes;
}

void GradScaler::update(std::optional<double> new_scale, Site site) {
  if (!options_.enabled) return;
  if (new_scale) {
    if (!(*new_scale > 0 && std::isfinite(rounded(*new_scale))))
      fail("[GradScaler.update] new_scale must be a positive number, but is ", *new_scale);
    scale_ = rounded(*new_scale);
  } else {
    bool checked = false, infinite = false;
    for (auto& [optimizer, done] : done_) {
      checked |= found(done, site).gradients;
      infinite |= found(done, site).infinite;
    }
    if (!checked) fail("[GradScaler.update] No inf checks were recorded prior to update: call step() or unscale_() before");
    if (infinite) {
      scale_ = rounded(scale_ * options_.backoff_factor);
      growth_tracker_ = 0;
    } else if (++growth_tracker_ == options_.growth_interval) {
      if (const double grown = rounded(scale_ * options_.growth_factor); std::isfinite(grown)) scale_ = grown;
      growth_tracker_ = 0;
    }
  }
  done_.clear();
}

StateDict GradScaler::state_dict() const {
  if (!options_.enabled) return {};
  const auto number = [](double value) { return full({}, value, {.dtype = kFloat64}); };
  const auto count = [](int64_t value) { return full({}, value, {.dtype = kInt64}); };
  return {{"scale", number(scale_)},
          {"growth_factor", number(options_.growth_factor)},
          {"backoff_factor", number(options_.backoff_factor)},
          {"growth_interval", count(options_.growth_interval)},
          {"_growth_tracker", count(growth_tracker_)}};
}

void GradScaler::load_state_dict(const StateDict& state, Site site) {
  if (!options_.enabled) return;
  if (state.empty())
    fail(
        "[GradScaler.load_state_dict] The source state dict is empty, possibly because it was saved from a disabled instance of "
        "GradScaler");
  const auto number = [&](std::string_view name) { return state.at(name, site).item(site).to<double>(); };
  GradScalerOptions options = options_;
  options.init_scale = number("scale");
  options.growth_factor = number("growth_factor");
  options.backoff_factor = number("backoff_factor");
  options.growth_interval = state.at("growth_interval", site).item(site).to<int64_t>();
  GradScaler read(options, site);
  read.options_.init_scale = options_.init_scale;
  read.growth_tracker_ = state.at("_growth_tracker", site).item(site).to<int64_t>();
  *this = std::move(read);
}

}  // namespace tandem::amp
