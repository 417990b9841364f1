// LBFGS.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libtorch/arg.h"
#include "libtorch/optim_fused.h"
#include "optim/lbfgs.h"

namespace torch::optim {

class LBFGSOptions : public detail::NamedOptions<LBFGSOptions> {
 public:
  LBFGSOptions(double lr = 1) : lr_(lr) {}
  TORCH_ARG(double, lr) = 1;
  TORCH_ARG(int64_t, max_iter) = 20;
  TORCH_ARG(std::optional<int64_t>, max_eval);
  TORCH_ARG(double, tolerance_grad) = 1e-7;
  TORCH_ARG(double, tolerance_change) = 1e-9;
  TORCH_ARG(int64_t, history_size) = 100;
  TORCH_ARG(std::optional<std::string>, line_search_fn);

 public:
  template <class Self, class F>
  static void each(Self& self, F&& f) {
    f("lr", self.lr_);
    f("max_iter", self.max_iter_);
    f("max_eval", self.max_eval_);
    f("tolerance_grad", self.tolerance_grad_);
    f("tolerance_change", self.tolerance_change_);
    f("history_size", self.history_size_);
    f("line_search_fn", self.line_search_fn_);
  }
  /// The same for tandem.
  [[nodiscard]] tandem::optim::LBFGSOptions native() const;
};

/// Of all parameters together; kept with the first one.
class LBFGSParamState : public detail::NamedState<LBFGSParamState> {
  TORCH_ARG(int64_t, func_evals) = 0;
  TORCH_ARG(int64_t, n_iter) = 0;
  TORCH_ARG(double, t) = 0;
  TORCH_ARG(double, prev_loss) = 0;
  TORCH_ARG(tandem::Tensor, d);
  TORCH_ARG(tandem::Tensor, H_diag);
  TORCH_ARG(tandem::Tensor, prev_flat_grad);
  TORCH_ARG(std::deque<tandem::Tensor>, old_dirs);
  TORCH_ARG(std::deque<tandem::Tensor>, old_stps);
  TORCH_ARG(std::deque<tandem::Tensor>, ro);
  TORCH_ARG(std::optional<std::vector<tandem::Tensor>>, al);  // nothing is kept here

 public:
  template <class Self, class F>
  static void each(Self& self, F&& f) {
    f("func_evals", self.func_evals_);
    f("n_iter", self.n_iter_);
    f("t", self.t_);
    f("prev_loss", self.prev_loss_);
    f("d", self.d_);
    f("H_diag", self.H_diag_);
    f("prev_flat_grad", self.prev_flat_grad_);
    f("old_dirs", self.old_dirs_);
    f("old_stps", self.old_stps_);
    f("ro", self.ro_);
    f("al", self.al_);
  }
  static const char* old_name(std::string_view /*field*/) { return nullptr; }
};

/// L-BFGS: a step evaluates the closure several times. One group of parameters, all on one device.
class LBFGS : public detail::FusedOptimizer<tandem::optim::LBFGS, LBFGSOptions, LBFGSParamState> {
 public:
  using FusedOptimizer::FusedOptimizer;
  explicit LBFGS(std::vector<OptimizerParamGroup> groups, LBFGSOptions defaults = {}, tandem::Site site = tandem::Site::here());

  using Optimizer::step;
  /// The loss of the first evaluation.
  tandem::Tensor step(LossClosure closure) override;

 protected:
  void set_state(size_t group, size_t parameter, const LBFGSParamState* state) override;
  bool read_state(size_t group, size_t parameter, LBFGSParamState& state) override;
  void load_old(serialize::InputArchive& archive) override;
};

namespace detail {
extern template class Named<LBFGSOptions, OptimizerCloneableOptions>;
extern template class Named<LBFGSParamState, OptimizerCloneableParamState>;
extern template class FusedOptimizer<tandem::optim::LBFGS, LBFGSOptions, LBFGSParamState>;
}  // namespace detail

}  // namespace torch::optim
