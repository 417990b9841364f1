#include "libtorch/optim_adagrad.h"

#include <utility>

#include "libtorch/optim_fused_inl.h"
#include "ops/creation.h"

namespace torch::optim {

tandem::optim::AdagradOptions AdagradOptions::native() const {
  return {.lr = lr_,
          .lr_decay = lr_decay_,
          .weight_decay = weight_decay_,
          .initial_accumulator_value = initial_accumulator_value_,
          .eps = eps_,
          .maximize = false};
}

AdagradParamState AdagradParamState::start(const tandem::Tensor& parameter, const AdagradOptions& options) {
  const tandem::Options made{.dtype = parameter.dtype(), .device = parameter.device()};
  return AdagradParamState().sum(tandem::full(parameter.sizes(), options.initial_accumulator_value(), made, tandem::Site::none()));
}

const char* AdagradParamState::old_name(std::string_view field) { return field == "sum" ? "sum_buffers" : "step_buffers"; }

Adagrad::Adagrad(std::vector<OptimizerParamGroup> groups, AdagradOptions defaults, tandem::Site site)
    : FusedOptimizer(std::move(groups), defaults, site) {}

Adagrad::Adagrad(std::vector<tandem::Tensor> params, AdagradOptions defaults, tandem::Site site)
    : FusedOptimizer({OptimizerParamGroup(std::move(params))}, defaults, site) {}

namespace detail {
template class NamedOptions<AdagradOptions>;
template class NamedState<AdagradParamState>;
template class FusedOptimizer<tandem::optim::Adagrad, AdagradOptions, AdagradParamState>;
}  // namespace detail

}  // namespace torch::optim
