// Optimizer: the base of all optimizers, and of those that programs write themselves by overriding `step`.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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
                     tandem::Site site = tandem::Site::here());
  explicit Optimizer(std::vector<tandem::Tensor> parameters, std::unique_ptr<OptimizerOptions> defaults,
                     tandem::Site site = tandem::Site::here());
  Optimizer(const Optimizer&) = delete;
  Optimizer(Optimizer&&) noexcept;
  virtual ~Optimizer();

  /// One step; the loss that the closure gives, where there is one.
  virtual tandem::Tensor step(LossClosure closure) = 0;
  tandem::Tensor step(tandem::Site = tandem::Site::here());
  template <class F>
  requires(std::invocable<F&> && !std::same_as<std::remove_cvref_t<F>, LossClosure>) tandem::Tensor
      step(F&& closure, tandem::Site = tandem::Site::here()) {
    return step(LossClosure(std::forward<F>(closure)));
  }

  /// Another group. Error for results, and for parameters that are in a group already.
  void add_param_group(const OptimizerParamGroup& group, tandem::Site = tandem::Site::here());
  /// Fills all gradients with zeros; with `set_to_none` forgets them.
  void zero_grad(bool set_to_none = false, tandem::Site site = tandem::Site::here());

  std::vector<OptimizerParamGroup>& param_groups() noexcept { return param_groups_; }
  [[nodiscard]] const std::vector<OptimizerParamGroup>& param_groups() const noexcept { return param_groups_; }
  /// What groups without options are given.
  OptimizerOptions& defaults() noexcept { return *defaults_; }
  [[nodiscard]] const OptimizerOptions& defaults() const noexcept { return *defaults_; }
  /// The parameters' states, by c10::guts::to_string of their unsafeGetTensorImpl(). What is changed in it counts from the next step on.
  State& state();
  [[nodiscard]] const State& state() const;

  /// How many parameters there are.
  [[nodiscard]] size_t size() const;
  /// The parameters of the first group.
  std::vector<tandem::Tensor>& parameters();
  [[nodiscard]] const std::vector<tandem::Tensor>& parameters() const;
  /// More parameters for the first group.
  void add_parameters(const std::vector<tandem::Tensor>& parameters);

  /// Writes states and options to an archive, and reads them from one.
  virtual void save(serialize::OutputArchive& /*archive*/) const;
  virtual void load(serialize::InputArchive& /*archive*/);

 protected:
  /// Brings state_ up to date where states are kept elsewhere, too.
  virtual void show_state();
  /// The loss that a closure gives, with gradients.
  static tandem::Tensor loss_of(const LossClosure& closure);

  std::vector<OptimizerParamGroup> param_groups_;
  State state_;
  std::unique_ptr<OptimizerOptions> defaults_;

 private:
  static void warn_of(const char* function);
};

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const Optimizer& optimizer);
serialize::InputArchive& operator>>(serialize::InputArchive& archive, Optimizer& optimizer);

}  // namespace torch::optim
