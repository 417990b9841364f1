// What every optimizer is: groups of parameters with their options, state a parameter, a step, and a dictionary of it all.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "tensor/state_dict.h"
#include "tensor/tensor.h"

namespace tandem::optim {

/// Parameters that share their options; the options are members too: `sgd.param_groups()[0].lr = 0.01`.
template <class Options>
struct ParamGroup : Options {
  std::vector<Tensor> params;
  std::optional<double> initial_lr = {};  // what the first schedule found
};

/// A group of an optimizer whose type is not known here.
struct ParamGroupView {
  std::vector<Tensor>& params;
  double& lr;
  std::optional<double>& initial_lr;
  double* momentum;  // SGD's and RMSprop's momentum, the first of Adam's betas; nullptr where there is none
};

namespace detail {
/// What names each option of a group, or each part of a parameter's state, to a reader or a writer.
class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual void operator()(std::string_view name, double& number) = 0;
  virtual void operator()(std::string_view name, int64_t& number) = 0;
  virtual void operator()(std::string_view name, bool& flag) = 0;
  virtual void operator()(std::string_view name, std::pair<double, double>& numbers) = 0;
  virtual void operator()(std::string_view name, Tensor& tensor) = 0;
};
}  // namespace detail

/// Changes parameters after their gradients. As torch.optim.Optimizer. Parameters without a gradient are passed over.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// "SGD".
  [[nodiscard]] const char* name() const { return name_; }
  /// One step for all parameters: one kernel a group and device. Waits for nothing.
  virtual void step(Site site = Site::here()) = 0;
  /// Clears the gradients, computes the loss, calls backward, and returns the loss.
  using Closure = std::function<Tensor()>;
  /// Calls `closure`, recording gradients, then takes a step. Gives the closure's loss.
  virtual Tensor step(const Closure& closure, Site site = Site::here());
  /// Forgets all gradients; with `set_to_none` off they are filled with zeros instead.
  virtual void zero_grad(Flag set_to_none = true, Site site = Site::here());
  /// The groups, with what all optimizers have. The optimizer's own `param_groups` gives all its options.
  [[nodiscard]] std::vector<ParamGroupView> param_groups();

  /// Calls `visitor` with each option of a group by name: for what reads or sets them so, such as a binding to another language. IndexError
  /// where there is no such group.
  void each_option(size_t group, detail::Visitor& visitor);
  /// The same with each part of a parameter's state. A tensor that is undefined is state that is not there yet. IndexError where there is
  /// no such group or parameter.
  void each_state(size_t group, size_t parameter, detail::Visitor& visitor);

  /// All there is to go on elsewhere, as tensors: "state.0.exp_avg", "state.0.step", "param_groups.0.lr", "param_groups.0.params". Numbered
  /// as the parameters were given. The state's tensors share memory with the optimizer.
  [[nodiscard]] virtual StateDict state_dict() const;
  /// Takes over options and state, each onto its parameter's device and dtype. Error where groups or sizes differ; nothing has changed
  /// then.
  virtual void load_state_dict(const StateDict& state, Site site = Site::here());

 protected:
  explicit Optimizer(const char* name) : name_(name) {}
  virtual size_t group_count() const = 0;
  virtual ParamGroupView group(size_t i) = 0;
  virtual void visit_options(size_t group, detail::Visitor& visitor) = 0;
  /// The state of one parameter; an undefined tensor is state that is not there yet.
  virtual void visit_state(size_t group, size_t parameter, detail::Visitor& visitor) = 0;
  /// What the tensors of a parameter's state have as sizes: the parameter's own.
  [[nodiscard]] virtual Shape state_sizes(size_t group, size_t parameter);
  /// In the capture of a graph a step is not taken, so the replays count it: calls `count(captured steps before this one)` before each, as
  /// long as the optimizer lives.
  void count_in_replays(Device device, std::function<void(int64_t)> count);
  /// Error where `params` cannot be a new group: empty, a result, no number, or here already.
  void check_params(const std::vector<Tensor>& params);

 private:
  void check_fits(const StateDict& state);

  const char* name_;
  std::shared_ptr<void> alive_;  // replays look whether it is
};

/// An optimizer on the heap: `make<SGD>(model.parameters(), {.lr = 0.1})`.
template <class O>
[[nodiscard]] std::unique_ptr<Optimizer> make(std::vector<Tensor> params, const typename O::Options& options = {},
                                              Site site = Site::here()) {
  return std::unique_ptr<Optimizer>(new O(std::move(params), options, site));  // make_unique would name a line of its own
}

namespace detail {

/// The part that all optimizers write alike: groups with `OptionsT`, and a `State` a parameter. Both have `each(visitor)`.
template <class OptionsT, class StateT>
class OptimizerOf : public Optimizer {
 public:
  using Options = OptionsT;
  using Group = ParamGroup<Options>;

  [[nodiscard]] std::vector<Group>& param_groups() { return groups_; }
  [[nodiscard]] const std::vector<Group>& param_groups() const { return groups_; }
  /// Another group with options of its own.
  void add_param_group(std::vector<Tensor> params, const Options& options = {}, Site = Site::here()) {
    options.check();
    check_params(params);
    states_.emplace_back(params.size());
    groups_.push_back(Group{options, std::move(params)});
  }

 protected:
  using State = StateT;
  OptimizerOf(const char* name, std::vector<Tensor> params, const Options& options) : Optimizer(name) {
    add_param_group(std::move(params), options, Site::none());
  }
  size_t group_count() const override { return groups_.size(); }
  ParamGroupView group(size_t i) override {
    Group& group = groups_[i];
    double* momentum = nullptr;
    if constexpr (requires { group.momentum; }) momentum = &group.momentum;
    else if constexpr (requires { group.betas; }) momentum = &group.betas.first;
    return {group.params, group.lr, group.initial_lr, momentum};
  }
  void visit_options(size_t group, Visitor& visitor) override { groups_[group].each(visitor); }
  void visit_state(size_t group, size_t parameter, Visitor& visitor) override { states_[group][parameter].each(visitor); }

  std::vector<Group> groups_;
  std::vector<std::vector<State>> states_;  // as groups_
};

}  // namespace detail
}  // namespace tandem::optim
