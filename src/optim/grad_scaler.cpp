#include "optim/grad_scaler.h"

#include <cmath>

#include "autograd/autograd.h"
#include "base/error.h"
#include "ops/creation.h"
#include "ops/dense_parts.h"
#include "ops/pointwise.h"

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
  std::vector<ops::DensePart> parts;
  for (const optim::ParamGroupView& group : optimizer.param_groups())
    for (const Tensor& parameter : group.params) {
      const Tensor& gradient = parameter.grad();
      if (!gradient.defined()) continue;
      if (gradient.dtype() == kFloat16)
        fail('[', kUnscale,
             "] Attempting to unscale FP16 gradients: keep the parameters in float32, which autocast casts where that is "
             "wanted, instead of to(kFloat16)");
      ops::add_gradient(kUnscale, parts, gradient, site);
    }
  std::vector<Tensor> norms, scales;
  for (const ops::DensePart& part : parts) {
    norms.push_back(empty({}, {.dtype = kFloat32, .device = part.device}, site));
    scales.push_back(full({}, scale_, {.dtype = kFloat32, .device = part.device}, site));
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto all = parts[i].span();
    ops::launch(norms[i], kUnscale, site, &kernels::Table::total_norm, norms[i], all, ops::kernels_of(norms[i]).total_norm_workspace(all));
    // The kernel of clipping, with norms that make its factor, max_norm / (norm + 1e-6), one by the scale. It never makes numbers larger.
    if (scale_ > 1) ops::launch(norms[i], kUnscale, site, &kernels::Table::clip, ops::in_place(all), scales[i], (scale_ + 1e-6) / scale_);
    else
      for (const Tensor& gradient : parts[i].dense) gradient.mul_(1 / scale_, site);
    parts[i].changed(site);
  }
  done.norms = std::move(norms);
}

bool GradScaler::found_any(Done& done, Site site) {
  if (!done.any) {
    bool any = false;
    for (const Tensor& norm : done.norms) any |= !std::isfinite(norm.item(site).to<double>());
    done.any = any;
  }
  return *done.any;
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
  if (done.norms.empty())
    fail(
        "[GradScaler.step] No inf checks were recorded for this optimizer: no parameter of it has a gradient; call scale(loss).backward() "
        "before");
  const bool takes = !found_any(done, site);
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
    bool checked = false, found = false;
    for (auto& [optimizer, done] : done_) {
      checked |= !done.norms.empty();
      found |= found_any(done, site);
    }
    if (!checked) fail("[GradScaler.update] No inf checks were recorded prior to update: call step() or unscale_() before");
    if (found) {
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
