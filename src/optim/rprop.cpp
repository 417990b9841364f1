#include "optim/rprop.h"

#include "optim/stepped_impl.h"

namespace tandem::optim {

void RpropOptions::check() const {
  detail::check_not_negative("Rprop", "learning rate", lr);
  if (!(0 < etas.first && etas.first < 1 && 1 < etas.second))
    fail("[Rprop] Invalid eta values: ", etas.first, ", ", etas.second, ": give 0 < first < 1 < second, such as {0.5, 1.2}");
}

void RpropOptions::each(detail::Visitor& visitor) {
  detail::each_named(visitor, "lr", lr, "etas", etas, "step_sizes", step_sizes, "maximize", maximize);
}

namespace detail {

void RpropState::each(Visitor& visitor) { each_named(visitor, "step", step, "prev", prev, "step_size", step_size); }

StateTensors RpropState::parts(const RpropOptions& options) { return {{{&prev}, {&step_size, options.lr}}}; }

void RpropState::advance(const RpropOptions& options, kernels::StepParameter& item) {
  using Step = kernels::steps::Rprop;
  ++step;
  item.numbers[Step::kEtaMinus] = options.etas.first;
  item.numbers[Step::kEtaPlus] = options.etas.second;
  item.numbers[Step::kMinStepSize] = options.step_sizes.first;
  item.numbers[Step::kMaxStepSize] = options.step_sizes.second;
}

kernels::OptimizerStep RpropState::kind(const RpropOptions&) { return kernels::OptimizerStep::Rprop; }

template class Stepped<RpropOptions, RpropState>;

}  // namespace detail
}  // namespace tandem::optim
