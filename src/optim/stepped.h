// What the optimizers of kernels/optimizer_steps.h share.
#pragma once

#include <array>
#include <memory>

#include "optim/fused_fwd.h"
#include "optim/optimizer.h"

namespace tandem::optim::detail {

/// A state tensor and what it starts as.
struct StateTensor {
  Tensor* tensor = nullptr;
  double start = 0;
};
using StateTensors = std::array<StateTensor, 3>;

/// State tensors of the parameter's size, numbers that the host computes for each parameter, and one kernel for all parameters. `StateT`
/// has
///   StateTensors parts(const OptionsT&)                         its tensors, nullptr for those that these options do without
///   void advance(const OptionsT&, kernels::StepParameter& item)        counts the step and fills in the item's numbers
///   static kernels::OptimizerStep kind(const OptionsT&)
template <class OptionsT, class StateT>
class Stepped : public OptimizerOf<OptionsT, StateT> {
 public:
  Stepped(const char* name, std::vector<Tensor> params, const OptionsT& options);
  ~Stepped() override;
  using Optimizer::step;
  void step(Site site = Site::here()) override;

 private:
  std::unique_ptr<FusedStep<kernels::StepParameter>> fused_;
};

}  // namespace tandem::optim::detail
