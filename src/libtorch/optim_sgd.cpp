#include "libtorch/optim_sgd.h"

#include <utility>

#include "libtorch/optim_fused_inl.h"

namespace torch::optim {

tandem::optim::SGDOptions SGDOptions::native() const {
  return {
      .lr = lr_, .momentum = momentum_, .dampening = dampening_, .weight_decay = weight_decay_, .nesterov = nesterov_, .maximize = false};
}

const char* SGDParamState::old_name(std::string_view /*field*/) { return "momentum_buffers"; }

SGD::SGD(std::vector<OptimizerParamGroup> groups, SGDOptions defaults, tandem::Site site)
    : FusedOptimizer(std::move(groups), defaults, site) {}

SGD::SGD(std::vector<tandem::Tensor> params, SGDOptions defaults, tandem::Site site)
    : FusedOptimizer({OptimizerParamGroup(std::move(params))}, defaults, site) {}

namespace detail {
template class NamedOptions<SGDOptions>;
template class NamedState<SGDParamState>;
template class FusedOptimizer<tandem::optim::SGD, SGDOptions, SGDParamState>;
}  // namespace detail

}  // namespace torch::optim
