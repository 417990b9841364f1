#include "libtorch/optim_optimizer.h"

#include "autograd/autograd.h"
#include "base/warning.h"

namespace torch::optim {

Optimizer::Optimizer(std::vector<OptimizerParamGroup> groups, std::unique_ptr<OptimizerOptions> defaults, tandem::Site site)
    : defaults_(std::move(defaults)) {
  for (const OptimizerParamGroup& group : groups) add_param_group(group, site);
}

Optimizer::Optimizer(std::vector<tandem::Tensor> parameters, std::unique_ptr<OptimizerOptions> defaults, tandem::Site site)
    : defaults_(std::move(defaults)) {
  add_param_group(OptimizerParamGroup(std::move(parameters)), site);
}

Optimizer::Optimizer(Optimizer&&) noexcept = default;

Optimizer::~Optimizer() = default;

tandem::Tensor Optimizer::step(tandem::Site) { return step(LossClosure()); }

void Optimizer::add_param_group(const OptimizerParamGroup& group, tandem::Site) {
  for (const tandem::Tensor& parameter : group.params()) {
    if (!parameter.is_leaf()) tandem::fail("[Optimizer] can't optimize a non-leaf Tensor: give what it is computed from, or detach() it");
    for (const OptimizerParamGroup& other : param_groups_)
      for (const tandem::Tensor& known : other.params())
        if (known.is_same(parameter)) tandem::fail("[Optimizer] some parameters appear in more than one parameter group: give each once");
  }
  param_groups_.push_back(group);
  if (!group.has_options() && defaults_) param_groups_.back().set_options(defaults_->clone());
}

void Optimizer::zero_grad(bool set_to_none, tandem::Site site) {
  for (OptimizerParamGroup& group : param_groups_) {
    for (tandem::Tensor& parameter : group.params()) {
      tandem::Tensor& gradient = parameter.mutable_grad();
      if (!gradient.defined()) continue;
      if (set_to_none) {
        gradient = tandem::Tensor();
      } else {
        gradient.detach_(site);
        gradient.zero_(site);
      }
    }
  }
}

Optimizer::State& Optimizer::state() {
  show_state();
  return state_;
}

const Optimizer::State& Optimizer::state() const {
  const_cast<Optimizer&>(*this).show_state();
  return state_;
}

size_t Optimizer::size() const {
  warn_of("size");
  size_t count = 0;
  for (const OptimizerParamGroup& group : param_groups_) count += group.params().size();
  return count;
}

std::vector<tandem::Tensor>& Optimizer::parameters() {
  warn_of("parameters");
  return param_groups_.at(0).params();
}

const std::vector<tandem::Tensor>& Optimizer::parameters() const { return const_cast<Optimizer&>(*this).parameters(); }

void Optimizer::add_parameters(const std::vector<tandem::Tensor>& parameters) {
  warn_of("add_parameters");
  auto& known = param_groups_.at(0).params();
  known.insert(known.end(), parameters.begin(), parameters.end());
}

void Optimizer::save(serialize::OutputArchive& /*archive*/) const {}

void Optimizer::load(serialize::InputArchive& /*archive*/) {}

void Optimizer::show_state() {}

tandem::Tensor Optimizer::loss_of(const LossClosure& closure) {
  if (!closure) return {};
  const tandem::EnableGradGuard with_grad;
  return closure();
}

void Optimizer::warn_of(const char* function) {
  tandem::warn(tandem::str("Optimizer::", function, "() will be removed: use param_groups()"));
}

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const Optimizer& optimizer) {
  optimizer.save(archive);
  return archive;
}

serialize::InputArchive& operator>>(serialize::InputArchive& archive, Optimizer& optimizer) {
  optimizer.load(archive);
  return archive;
}

}  // namespace torch::optim
