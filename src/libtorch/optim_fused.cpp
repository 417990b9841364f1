// SGD, RMSprop, Adagrad, Adam and AdamW: what each has besides its options, and all that is instantiated for them.
#include <string_view>

#include "libtorch/optim_adagrad.h"
#include "libtorch/optim_adam.h"
#include "libtorch/optim_fused_inl.h"
#include "libtorch/optim_rmsprop.h"
#include "libtorch/optim_sgd.h"
#include "ops/creation.h"

namespace torch::optim {

const char* SGDParamState::old_name(std::string_view /*field*/) { return "momentum_buffers"; }

const char* RMSpropParamState::old_name(std::string_view field) {
  if (field == "square_avg") return "square_average_buffers";
  if (field == "momentum_buffer") return "momentum_buffers";
  return field == "grad_avg" ? "grad_average_buffers" : nullptr;
}

AdagradParamState AdagradParamState::start(const tandem::Tensor& parameter, const AdagradOptions& options) {
  const tandem::Options made{.dtype = parameter.dtype(), .device = parameter.device()};
  return AdagradParamState().sum(tandem::full(parameter.sizes(), options.initial_accumulator_value(), made, tandem::Site::none()));
}

const char* AdagradParamState::old_name(std::string_view field) { return field == "sum" ? "sum_buffers" : "step_buffers"; }

namespace detail {

#define TANDEM_OPTIMIZER(Name)                                          \
  template class Named<Name##Options, OptimizerCloneableOptions>;       \
  template class Named<Name##ParamState, OptimizerCloneableParamState>; \
  template class FusedOptimizer<tandem::optim::Name, Name##Options, Name##ParamState>

TANDEM_OPTIMIZER(SGD);
TANDEM_OPTIMIZER(RMSprop);
TANDEM_OPTIMIZER(Adagrad);
TANDEM_OPTIMIZER(Adam);
TANDEM_OPTIMIZER(AdamW);

#undef TANDEM_OPTIMIZER

}  // namespace detail
}  // namespace torch::optim
