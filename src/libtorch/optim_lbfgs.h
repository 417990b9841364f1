// LBFGS.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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
  [[nodiscard]] tandem::optim::LBFGSOptions native() const {
    return {.lr = lr_,
            .max_iter = max_iter_,
            .max_eval = max_eval_,
            .tolerance_grad = tolerance_grad_,
            .tolerance_change = tolerance_change_,
            .history_size = history_size_,
            .line_search_fn = line_search_fn_.value_or(""),
            .maximize = false};
  }
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

namespace detail {

/// The i of "ro.i" where `name` is of the list; -1 otherwise.
inline int64_t number_in(std::string_view name, std::string_view list) {
  if (!name.starts_with(list) || name.size() <= list.size() || name[list.size()] != '.') return -1;
  return std::stoll(std::string(name.substr(list.size() + 1)));
}

/// Hands an LBFGS state from one side to the other: to tandem's optimizer, or from it.
class LBFGSCopier final : public tandem::optim::detail::Visitor {
 public:
  LBFGSCopier(LBFGSParamState& state, bool to_tandem) : state_(state), to_tandem_(to_tandem) {}
  void operator()(std::string_view name, double& number) override {
    if (name == "t") return copy(number, state_.t());
    if (name == "prev_loss") return copy(number, state_.prev_loss());
    if (name == "H_diag") return copy(number, state_.H_diag());
    if (const int64_t i = number_in(name, "ro"); i >= 0) copy(number, at(state_.ro(), i));
  }
  void operator()(std::string_view name, int64_t& number) override {
    if (name == "func_evals") copy(number, state_.func_evals());
    if (name == "n_iter") copy(number, state_.n_iter());
  }
  void operator()(std::string_view /*name*/, bool& /*flag*/) override {}
  void operator()(std::string_view /*name*/, std::pair<double, double>& /*numbers*/) override {}
  void operator()(std::string_view name, tandem::Tensor& tensor) override {
    is_there_ |= tensor.defined();
    if (name == "d") return copy(tensor, state_.d());
    if (name == "prev_flat_grad") return copy(tensor, state_.prev_flat_grad());
    for (auto [list, values] : {std::pair{"old_dirs", &state_.old_dirs()}, std::pair{"old_stps", &state_.old_stps()}}) {
      const int64_t i = number_in(name, list);
      if (i < 0) continue;
      if (to_tandem_) tensor = i < static_cast<int64_t>(values->size()) ? (*values)[static_cast<size_t>(i)] : tandem::Tensor();
      else if (tensor.defined()) at(*values, i) = tensor;
      else values->resize(static_cast<size_t>(i));
    }
  }
  [[nodiscard]] bool is_there() const { return is_there_; }

 private:
  template <class T>
  void copy(T& tandems, T& own) const {
    if (to_tandem_) tandems = own;
    else own = tandems;
  }
  void copy(double& number, tandem::Tensor& own) const {
    if (!to_tandem_) own = tandem::tensor(number, tandem::kFloat64, tandem::Site::none());
    else number = own.defined() ? own.item<double>(tandem::Site::none()) : 1;
  }
  static tandem::Tensor& at(std::deque<tandem::Tensor>& values, int64_t i) {
    if (static_cast<size_t>(i) >= values.size()) values.resize(static_cast<size_t>(i) + 1);
    return values[static_cast<size_t>(i)];
  }
  LBFGSParamState& state_;
  const bool to_tandem_;
  bool is_there_ = false;
};

}  // namespace detail

/// L-BFGS: a step evaluates the closure several times. One group of parameters, all on one device.
class LBFGS : public detail::FusedOptimizer<tandem::optim::LBFGS, LBFGSOptions, LBFGSParamState> {
 public:
  explicit LBFGS(std::vector<OptimizerParamGroup> groups, LBFGSOptions defaults = {}, tandem::Site site = tandem::Site::here())
      : FusedOptimizer(std::move(groups), defaults, site) {
    if (param_groups_.size() != 1)
      tandem::fail("[LBFGS] doesn't support per-parameter options (parameter groups): give all parameters in one group, not in ",
                   param_groups_.size());
  }
  explicit LBFGS(std::vector<tandem::Tensor> params, LBFGSOptions defaults = {}, tandem::Site site = tandem::Site::here())
      : FusedOptimizer({OptimizerParamGroup(std::move(params))}, defaults, site) {}

  using Optimizer::step;
  /// The loss of the first evaluation.
  tandem::Tensor step(LossClosure closure) override {
    if (!closure)
      tandem::fail("[LBFGS] requires a closure that clears the gradients, computes the loss, calls backward and returns the loss");
    const tandem::Site site = torch::detail::statement();
    if (!ready(site)) return loss_of(closure);
    const bool was_shown = is_shown();
    tandem::Tensor loss = native().step(closure, site);
    if (was_shown) get_states();
    return loss;
  }

 protected:
  void set_state(size_t group, size_t parameter, const LBFGSParamState* state) override {
    LBFGSParamState copy = state ? *state : LBFGSParamState();
    detail::LBFGSCopier copier(copy, true);
    native().each_state(group, parameter, copier);
  }
  bool read_state(size_t group, size_t parameter, LBFGSParamState& state) override {
    detail::LBFGSCopier copier(state, false);
    native().each_state(group, parameter, copier);
    return copier.is_there() || state.func_evals() > 0;
  }
  void load_old(serialize::InputArchive& archive) override {
    FusedOptimizer::load_old(archive);
    LBFGSParamState state;
    tandem::Tensor number;
    archive("t", number);
    state.t(number.item<double>(tandem::Site::none()));
    archive("prev_loss", number);
    state.prev_loss(number.item<double>(tandem::Site::none()));
    archive("d", state.d());
    archive("H_diag", state.H_diag());
    archive("prev_flat_grad", state.prev_flat_grad());
    optim::serialize(archive, "old_dirs", state.old_dirs());
    optim::serialize(archive, "old_stps", state.old_stps());
    state_[detail::key_of(param_groups_.at(0).params().at(0))] = std::make_unique<LBFGSParamState>(state);
  }
};

}  // namespace torch::optim
