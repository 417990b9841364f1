// L-BFGS: steps along an approximation of the inverse Hessian, from the last changes of the gradient.
#pragma once

#include <functional>
#include <string>

#include "optim/optimizer.h"

namespace tandem::optim {

struct LBFGSOptions {
  double lr = 1;                         // the length of a step, and the first that a line search tries
  int64_t max_iter = 20;                 // of one call of step
  std::optional<int64_t> max_eval = {};  // calls of the closure in one step; 1.25 times max_iter where not given
  double tolerance_grad = 1e-7;          // done where no element of the gradient is larger
  double tolerance_change = 1e-9;        // done where neither parameters nor loss change by more
  int64_t history_size = 100;            // changes kept: twice as many numbers as there are parameters, each
  std::string line_search_fn = {};       // "strong_wolfe", or none
  bool maximize = false;

  /// Error where a value makes no sense.
  void check() const;
  void each(detail::Visitor& visitor);
};

namespace detail {
/// Of all parameters together, as flat vectors; kept with the first one.
struct LBFGSState {
  int64_t func_evals = 0, n_iter = 0;
  Tensor d;                                // the last direction
  double t = 0;                            // and how far along it
  std::vector<Tensor> old_dirs, old_stps;  // changes of the gradient, and of the parameters
  std::vector<double> ro;                  // 1 / (change of gradient · change of parameters)
  double h_diag = 1;                       // the scale of the Hessian to begin with
  Tensor prev_flat_grad;
  double prev_loss = 0;

  void each(Visitor& visitor);
};
}  // namespace detail

/// Nocedal 1980; Liu and Nocedal, "On the limited memory BFGS method for large scale optimization". As torch.optim.LBFGS: one group of
/// parameters, all on one device. Reads the loss and two products of vectors at each iteration.
class LBFGS : public detail::OptimizerOf<LBFGSOptions, detail::LBFGSState> {
 public:
  explicit LBFGS(std::vector<Tensor> params, const LBFGSOptions& options = {}, Site = Site::here())
      : OptimizerOf("LBFGS", std::move(params), options) {}
  /// The same with a rate alone.
  explicit LBFGS(std::vector<Tensor> params, std::floating_point auto lr, Site site = Site::here())
      : LBFGS(std::move(params), Options{.lr = lr}, site) {}

  /// Up to max_iter iterations. Gives the loss of the first evaluation.
  Tensor step(const Closure& closure, Site site = Site::here()) override;
  /// Error: a step evaluates the loss several times.
  void step(Site site = Site::here()) override;
  /// There is one group only.
  void add_param_group(std::vector<Tensor> params, const Options& options = {}) = delete;

 protected:
  void visit_state(size_t group, size_t parameter, detail::Visitor& visitor) override;
  [[nodiscard]] Shape state_sizes(size_t group, size_t parameter) override;

 private:
  [[nodiscard]] Tensor flat_gradient(Site site) const;
  void add_to_parameters(double t, const Tensor& direction, Site site) const;
  [[nodiscard]] Tensor next_direction(State& state, const Tensor& gradient, Site site) const;
};

}  // namespace tandem::optim
