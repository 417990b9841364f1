// Optimizer: the base of all optimizers, and of those that programs write themselves by overriding `step`.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "autograd/autograd.h"
#include "base/warning.h"
#include "libtorch/data_site.h"
#include "libtorch/optim_state.h"

namespace torch::optim {

/// Changes parameters after their gradients.
class Optimizer {
 public:
  using State = ska::flat_hash_map<std::string, std::unique_ptr<OptimizerParamState>>;
  /// Clears the gradients, computes the loss, calls backward, and returns the loss.
  using LossClosure = std::function<tandem::Tensor()>;

  /// Groups without options get a copy of `defaults`.
  explicit Optimizer(std::vector<OptimizerParamGroup> groups, std::unique_ptr<OptimizerOptions> defaults,
                     tandem::Site site = tandem::Site::here())
      : defaults_(std::move(defaults)) {
    for (const OptimizerParamGroup& group : groups) add_param_group(group, site);
  }
  explicit Optimizer(std::vector<tandem::Tensor> parameters, std::unique_ptr<OptimizerOptions> defaults,
                     tandem::Site site = tandem::Site::here())
      : defaults_(std::move(defaults)) {
    add_param_group(OptimizerParamGroup(std::move(parameters)), site);
  }
  Optimizer(const Optimizer&) = delete;
  Optimizer(Optimizer&&) = default;
  virtual ~Optimizer() = default;

  /// One step; the loss that the closure gives, where there is one.
  virtual tandem::Tensor step(LossClosure closure) = 0;
  tandem::Tensor step(tandem::Site = tandem::Site::here()) { return step(LossClosure()); }
  template <class F>
  requires(std::invocable<F&> && !std::same_as<std::remove_cvref_t<F>, LossClosure>) tandem::Tensor
      step(F&& closure, tandem::Site = tandem::Site::here()) {
    return step(LossClosure(std::forward<F>(closure)));
  }

  /// Another group. Error for results, and for parameters that are in a group already.
  void add_param_group(const OptimizerParamGroup& group, tandem::Site = tandem::Site::here()) {
    for (const tandem::Tensor& parameter : group.params()) {
      if (!parameter.is_leaf()) tandem::fail("[Optimizer] can't optimize a non-leaf Tensor: give what it is computed from, or detach() it");
      for (const OptimizerParamGroup& other : param_groups_)
        for (const tandem::Tensor& known : other.params())
          if (known.is_same(parameter)) tandem::fail("[Optimizer] some parameters appear in more than one parameter group: give each once");
    }
    param_groups_.push_back(group);
    if (!group.has_options() && defaults_) param_groups_.back().set_options(defaults_->clone());
  }
  /// Fills all gradients with zeros; with `set_to_none` forgets them.
  void zero_grad(bool set_to_none = false, tandem::Site site = tandem::Site::here()) {
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

  std::vector<OptimizerParamGroup>& param_groups() noexcept { return param_groups_; }
  [[nodiscard]] const std::vector<OptimizerParamGroup>& param_groups() const noexcept { return param_groups_; }
  /// What groups without options are given.
  OptimizerOptions& defaults() noexcept { return *defaults_; }
  [[nodiscard]] const OptimizerOptions& defaults() const noexcept { return *defaults_; }
  /// The parameters' states, by c10::guts::to_string of their unsafeGetTensorImpl(). What is changed in it counts from the next step on.
  State& state() {
    show_state();
    return state_;
  }
  [[nodiscard]] const State& state() const {
    const_cast<Optimizer&>(*this).show_state();
    return state_;
  }

  /// How many parameters there are.
  [[nodiscard]] size_t size() const {
    warn_of("size");
    size_t count = 0;
    for (const OptimizerParamGroup& group : param_groups_) count += group.params().size();
    return count;
  }
  /// The parameters of the first group.
  std::vector<tandem::Tensor>& parameters() {
    warn_of("parameters");
    return param_groups_.at(0).params();
  }
  [[nodiscard]] const std::vector<tandem::Tensor>& parameters() const { return const_cast<Optimizer&>(*this).parameters(); }
  /// More parameters for the first group.
  void add_parameters(const std::vector<tandem::Tensor>& parameters) {
    warn_of("add_parameters");
    auto& known = param_groups_.at(0).params();
    known.insert(known.end(), parameters.begin(), parameters.end());
  }

  /// Writes states and options to an archive, and reads them from one.
  virtual void save(serialize::OutputArchive& /*archive*/) const {}
  virtual void load(serialize::InputArchive& /*archive*/) {}

 protected:
  /// Brings state_ up to date where states are kept elsewhere, too.
  virtual void show_state() {}
  /// The loss that a closure gives, with gradients.
  static tandem::Tensor loss_of(const LossClosure& closure) {
    if (!closure) return {};
    const tandem::EnableGradGuard with_grad;
    return closure();
  }

  std::vector<OptimizerParamGroup> param_groups_;
  State state_;
  std::unique_ptr<OptimizerOptions> defaults_;

 private:
  static void warn_of(const char* function) {
    tandem::warn(tandem::str("Optimizer::", function, "() will be removed: use param_groups()"));
  }
};

inline serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const Optimizer& optimizer) {
  optimizer.save(archive);
  return archive;
}
inline serialize::InputArchive& operator>>(serialize::InputArchive& archive, Optimizer& optimizer) {
  optimizer.load(archive);
  return archive;
}

}  // namespace torch::optim
