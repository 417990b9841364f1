#include "libtorch/optim_adam.h"

#include <utility>

#include "libtorch/optim_fused_inl.h"

namespace torch::optim {

Adam::Adam(std::vector<OptimizerParamGroup> groups, AdamOptions defaults, tandem::Site site)
    : FusedOptimizer(std::move(groups), defaults, site) {}

Adam::Adam(std::vector<tandem::Tensor> params, AdamOptions defaults, tandem::Site site)
    : FusedOptimizer({OptimizerParamGroup(std::move(params))}, defaults, site) {}

AdamW::AdamW(std::vector<OptimizerParamGroup> groups, AdamWOptions defaults, tandem::Site site)
    : FusedOptimizer(std::move(groups), defaults, site) {}

AdamW::AdamW(std::vector<tandem::Tensor> params, AdamWOptions defaults, tandem::Site site)
    : FusedOptimizer({OptimizerParamGroup(std::move(params))}, defaults, site) {}

namespace detail {
template class NamedOptions<AdamOptions>;
template class NamedState<AdamParamState>;
template class FusedOptimizer<tandem::optim::Adam, AdamOptions, AdamParamState>;
template class NamedOptions<AdamWOptions>;
template class NamedState<AdamWParamState>;
template class FusedOptimizer<tandem::optim::AdamW, AdamWOptions, AdamWParamState>;
}  // namespace detail

}  // namespace torch::optim
