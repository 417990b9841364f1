#include "libtorch/optim_rmsprop.h"

#include <utility>

#include "libtorch/optim_fused_inl.h"

namespace torch::optim {

tandem::optim::RMSpropOptions RMSpropOptions::native() const {
  return {.lr = lr_,
          .alpha = alpha_,
          .eps = eps_,
          .weight_decay = weight_decay_,
          .momentum = momentum_,
          .centered = centered_,
          .maximize = false};
}

const char* RMSpropParamState::old_name(std::string_view field) {
  if (field == "square_avg") return "square_average_buffers";
  if (field == "momentum_buffer") return "momentum_buffers";
  return field == "grad_avg" ? "grad_average_buffers" : nullptr;
}

RMSprop::RMSprop(std::vector<OptimizerParamGroup> groups, RMSpropOptions defaults, tandem::Site site)
    : FusedOptimizer(std::move(groups), defaults, site) {}

RMSprop::RMSprop(std::vector<tandem::Tensor> params, RMSpropOptions defaults, tandem::Site site)
    : FusedOptimizer({OptimizerParamGroup(std::move(params))}, defaults, site) {}

namespace detail {
template class NamedOptions<RMSpropOptions>;
template class NamedState<RMSpropParamState>;
template class FusedOptimizer<tandem::optim::RMSprop, RMSpropOptions, RMSpropParamState>;
}  // namespace detail

}  // namespace torch::optim
