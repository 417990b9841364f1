#include "libtorch/optim_lbfgs.h"

#include <utility>

#include "libtorch/optim_fused_inl.h"
#include "ops/creation.h"

namespace torch::optim {
namespace {

// The i of "ro.i" where `name` is of the list; -1 otherwise.
int64_t number_in(std::string_view name, std::string_view list) {
  if (!name.starts_with(list) || name.size() <= list.size() || name[list.size()] != '.') return -1;
  return std::stoll(std::string(name.substr(list.size() + 1)));
}

// Hands an LBFGS state from one side to the other: to tandem's optimizer, or from it.
class LBFGSCopier final : public tandem::optim::detail::Visitor {
 public:
  LBFGSCopier(LBFGSParamState& state, bool to_tandem) : state_(state), to_tandem_(to_tandem) {}
  void operator()(std::string_view name, double& number) override;
  void operator()(std::string_view name, int64_t& number) override;
  void operator()(std::string_view /*name*/, bool& /*flag*/) override;
  void operator()(std::string_view /*name*/, std::pair<double, double>& /*numbers*/) override;
  void operator()(std::string_view name, tandem::Tensor& tensor) override;
  [[nodiscard]] bool is_there() const { return is_there_; }

 private:
  template <class T>
  void copy(T& tandems, T& own) const {
    if (to_tandem_) tandems = own;
    else own = tandems;
  }
  void copy(double& number, tandem::Tensor& own) const;
  static tandem::Tensor& at(std::deque<tandem::Tensor>& values, int64_t i);
  LBFGSParamState& state_;
  const bool to_tandem_;
  bool is_there_ = false;
};

void LBFGSCopier::operator()(std::string_view name, double& number) {
  if (name == "t") return copy(number, state_.t());
  if (name == "prev_loss") return copy(number, state_.prev_loss());
  if (name == "H_diag") return copy(number, state_.H_diag());
  if (const int64_t i = number_in(name, "ro"); i >= 0) copy(number, at(state_.ro(), i));
}

void LBFGSCopier::operator()(std::string_view name, int64_t& number) {
  if (name == "func_evals") copy(number, state_.func_evals());
  if (name == "n_iter") copy(number, state_.n_iter());
}

void LBFGSCopier::operator()(std::string_view /*name*/, bool& /*flag*/) {}

void LBFGSCopier::operator()(std::string_view /*name*/, std::pair<double, double>& /*numbers*/) {}

void LBFGSCopier::operator()(std::string_view name, tandem::Tensor& tensor) {
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

void LBFGSCopier::copy(double& number, tandem::Tensor& own) const {
  if (!to_tandem_) own = tandem::tensor(number, tandem::kFloat64, tandem::Site::none());
  else number = own.defined() ? own.item<double>(tandem::Site::none()) : 1;
}

tandem::Tensor& LBFGSCopier::at(std::deque<tandem::Tensor>& values, int64_t i) {
  if (static_cast<size_t>(i) >= values.size()) values.resize(static_cast<size_t>(i) + 1);
  return values[static_cast<size_t>(i)];
}

}  // namespace

tandem::optim::LBFGSOptions LBFGSOptions::native() const {
  return {.lr = lr_,
          .max_iter = max_iter_,
          .max_eval = max_eval_,
          .tolerance_grad = tolerance_grad_,
          .tolerance_change = tolerance_change_,
          .history_size = history_size_,
          .line_search_fn = line_search_fn_.value_or(""),
          .maximize = false};
}

LBFGS::LBFGS(std::vector<OptimizerParamGroup> groups, LBFGSOptions defaults, tandem::Site site)
    : FusedOptimizer(std::move(groups), std::move(defaults), site) {
  if (param_groups_.size() != 1)
    tandem::fail("[LBFGS] doesn't support per-parameter options (parameter groups): give all parameters in one group, not in ",
                 param_groups_.size());
}

tandem::Tensor LBFGS::step(LossClosure closure) {
  if (!closure)
    tandem::fail("[LBFGS] requires a closure that clears the gradients, computes the loss, calls backward and returns the loss");
  const tandem::Site site = torch::detail::statement();
  if (!ready(site)) return loss_of(closure);
  const bool was_shown = is_shown();
  tandem::Tensor loss = native().step(closure, site);
  if (was_shown) get_states();
  return loss;
}

void LBFGS::set_state(size_t group, size_t parameter, const LBFGSParamState* state) {
  LBFGSParamState copy = state ? *state : LBFGSParamState();
  LBFGSCopier copier(copy, true);
  native().each_state(group, parameter, copier);
}

bool LBFGS::read_state(size_t group, size_t parameter, LBFGSParamState& state) {
  LBFGSCopier copier(state, false);
  native().each_state(group, parameter, copier);
  return copier.is_there() || state.func_evals() > 0;
}

void LBFGS::load_old(serialize::InputArchive& archive) {
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

namespace detail {
template class Named<LBFGSOptions, OptimizerCloneableOptions>;
template class Named<LBFGSParamState, OptimizerCloneableParamState>;
template class FusedOptimizer<tandem::optim::LBFGS, LBFGSOptions, LBFGSParamState>;
}  // namespace detail

}  // namespace torch::optim
