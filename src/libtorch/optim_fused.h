// What the optimizers of torch::optim share: each has one of tandem::optim's, which takes its steps, one kernel a group and device.
#pragma once

#include <memory>
#include <vector>

#include "libtorch/optim_optimizer.h"

namespace torch::optim::detail {

/// `Options` names its values as `Native::Options` does, or has `native()`, which gives those. The functions stand in optim_fused_inl.h,
/// for the sources that instantiate it.
template <class Native, class Options, class ParamState>
class FusedOptimizer : public Optimizer {
 public:
  explicit FusedOptimizer(std::vector<OptimizerParamGroup> groups, Options defaults = {}, tandem::Site site = tandem::Site::here());
  explicit FusedOptimizer(std::vector<tandem::Tensor> params, Options defaults = {}, tandem::Site site = tandem::Site::here());
  FusedOptimizer(FusedOptimizer&&) noexcept;
  ~FusedOptimizer() override;

  using Optimizer::step;
  tandem::Tensor step(LossClosure closure) override;

  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 protected:
  /// From then on states are brought up to date, and read, with each step: somebody may keep a reference.
  void show_state() override;
  /// What libtorch before 1.5 has written: a list a kind of state, in the order of the parameters. ParamState::old_name gives its name.
  virtual void load_old(serialize::InputArchive& archive);

  /// tandem's optimizer with the parameters, options and states of now; false where there are no parameters.
  bool ready(tandem::Site site);
  [[nodiscard]] Native& native() { return *native_; }
  /// Whether state_ has the states.
  [[nodiscard]] bool is_shown() const { return is_shown_; }
  /// States, from tandem's optimizer to state_, and back.
  void get_states();
  void set_states();
  virtual void set_state(size_t group, size_t parameter, const ParamState* state);
  /// Whether there is any.
  virtual bool read_state(size_t group, size_t parameter, ParamState& state);

 private:
  void get_state(const OptimizerParamGroup& group, size_t i, const std::vector<tandem::Tensor>* known, size_t native_group);
  [[nodiscard]] bool has_same_parameters() const;
  /// Makes tandem's optimizer for the parameters of now; states that there were go on.
  void make(tandem::Site site);

  std::unique_ptr<Native> native_;  // none before the first step, and without parameters
  bool is_shown_ = false;           // state_ has the states
};

}  // namespace torch::optim::detail
