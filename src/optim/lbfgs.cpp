#include "optim/lbfgs.h"

#include <algorithm>
#include <cmath>

#include "autograd/autograd.h"
#include "base/error.h"
#include "ops/creation.h"
#include "ops/join.h"
#include "ops/matmul.h"
#include "ops/operators.h"
#include "ops/reduce.h"
#include "optim/fused.h"
#include "optim/line_search.h"

namespace tandem::optim {
namespace {

constexpr const char* kStrongWolfe = "strong_wolfe";

double product(const Tensor& a, const Tensor& b, Site site) { return dot(a, b, site).item<double>(site); }
double largest(const Tensor& x, Site site) { return abs(x, site).max(site).item<double>(site); }

}  // namespace

void LBFGSOptions::check() const {
  detail::check_not_negative("LBFGS", "learning rate", lr);
  detail::check_not_negative("LBFGS", "tolerance_grad value", tolerance_grad);
  detail::check_not_negative("LBFGS", "tolerance_change value", tolerance_change);
  if (max_iter < 1) fail("[LBFGS] max_iter must be at least 1, got ", max_iter);
  if (history_size < 1) fail("[LBFGS] history_size must be at least 1, got ", history_size);
  if (!line_search_fn.empty() && line_search_fn != kStrongWolfe)
    fail("[LBFGS] only 'strong_wolfe' is supported as line_search_fn, got '", line_search_fn, "'");
}

void LBFGSOptions::each(detail::Visitor& visitor) {
  int64_t evaluations = max_eval.value_or(max_iter * 5 / 4);
  bool searches = !line_search_fn.empty();  // dictionaries hold tensors, no names: whether there is a line search
  detail::each_named(visitor, "lr", lr, "max_iter", max_iter, "max_eval", evaluations, "tolerance_grad", tolerance_grad, "tolerance_change",
                     tolerance_change, "history_size", history_size, "line_search_fn", searches, "maximize", maximize);
  max_eval = evaluations;
  line_search_fn = searches ? kStrongWolfe : "";
}

namespace detail {

void LBFGSState::each(Visitor& visitor) {
  each_named(visitor, "func_evals", func_evals, "n_iter", n_iter, "d", d, "t", t, "H_diag", h_diag, "prev_flat_grad", prev_flat_grad,
             "prev_loss", prev_loss);
  // One past the end is offered too: a reader defines it where its dictionary has more, and undefines what it does not have.
  for (size_t i = 0;; ++i) {
    if (i == old_dirs.size()) {
      old_dirs.emplace_back();
      old_stps.emplace_back();
      ro.push_back(0);
    }
    visitor(str("old_dirs.", i), old_dirs[i]);
    visitor(str("old_stps.", i), old_stps[i]);
    if (!old_dirs[i].defined() || !old_stps[i].defined()) {
      old_dirs.resize(i);
      old_stps.resize(i);
      ro.resize(i);
      return;
    }
    visitor(str("ro.", i), ro[i]);
  }
}

}  // namespace detail

void LBFGS::visit_state(size_t group, size_t parameter, detail::Visitor& visitor) {
  // Before the first step there is nothing to tell.
  if (parameter == 0) OptimizerOf::visit_state(group, parameter, visitor);
}

Shape LBFGS::state_sizes(size_t, size_t) {
  int64_t count = 0;
  for (const Tensor& parameter : groups_[0].params) count += parameter.numel();
  return {count};
}

Tensor LBFGS::flat_gradient(Site site) const {
  std::vector<Tensor> parts;
  const std::vector<Tensor>& params = groups_[0].params;
  for (const Tensor& parameter : params) {
    if (parameter.device() != params[0].device() || parameter.dtype() != params[0].dtype())
      fail("[LBFGS] all parameters have to be on one device and of one dtype, but there are ", params[0].device(), " ", params[0].dtype(),
           " and ", parameter.device(), " ", parameter.dtype());
    const Tensor& gradient = parameter.grad();
    parts.push_back(gradient.defined() ? gradient.detach().to(parameter.dtype(), {}, site).reshape({-1}, site)
                                       : zeros({parameter.numel()}, {.dtype = parameter.dtype(), .device = parameter.device()}, site));
  }
  const Tensor flat = cat(parts, 0, site);
  return groups_[0].maximize ? neg(flat, site) : flat;
}

void LBFGS::add_to_parameters(double t, const Tensor& direction, Site site) const {
  int64_t at = 0;
  for (const Tensor& parameter : groups_[0].params) {
    parameter.add_(direction.narrow(0, at, parameter.numel(), site).view_as(parameter, site), t, site);
    at += parameter.numel();
  }
}

// The two loops of L-BFGS: minus the gradient, multiplied by the approximate inverse Hessian.
Tensor LBFGS::next_direction(State& state, const Tensor& gradient, Site site) const {
  const Tensor change = sub(gradient, state.prev_flat_grad, site), way = mul(state.d, state.t, site);
  const double curvature = product(change, way, site);
  if (curvature > 1e-10) {
    if (static_cast<int64_t>(state.old_dirs.size()) >= groups_[0].history_size) {
      state.old_dirs.erase(state.old_dirs.begin());
      state.old_stps.erase(state.old_stps.begin());
      state.ro.erase(state.ro.begin());
    }
    state.old_dirs.push_back(change);
    state.old_stps.push_back(way);
    state.ro.push_back(1 / curvature);
    state.h_diag = curvature / product(change, change, site);
  }
  // The factors stay on the device.
  const size_t count = state.old_dirs.size();
  std::vector<Tensor> factors(count);
  const Tensor q = neg(gradient, site);
  for (size_t i = count; i-- > 0;) {
    factors[i] = mul(dot(state.old_stps[i], q, site), state.ro[i], site);
    q.sub_(mul(state.old_dirs[i], factors[i], site), 1, site);
  }
  q.mul_(state.h_diag, site);
  for (size_t i = 0; i < count; ++i) {
    const Tensor other = mul(dot(state.old_dirs[i], q, site), state.ro[i], site);
    q.add_(mul(state.old_stps[i], sub(factors[i], other, site), site), 1, site);
  }
  return q;
}

Tensor LBFGS::step(const Closure& closure, Site site) {
  const NoGradGuard no_grad;
  const Group& group = groups_[0];
  State& state = states_[0][0];
  const int64_t max_eval = group.max_eval.value_or(group.max_iter * 5 / 4);
  Tensor first;
  const auto evaluate = [&] {
    const EnableGradGuard with_grad;
    Tensor loss = closure();
    if (!loss.defined()) fail("[LBFGS] the closure must return the loss");
    const double value = loss.item<double>(site);
    if (!first.defined()) first = std::move(loss);
    ++state.func_evals;
    return group.maximize ? -value : value;
  };

  double loss = evaluate();
  Tensor gradient = flat_gradient(site);
  double largest_gradient = largest(gradient, site);
  if (largest_gradient <= group.tolerance_grad) return first;

  int64_t evaluations = 1;
  for (int64_t iteration = 1;; ++iteration) {
    ++state.n_iter;
    const bool fresh = !state.d.defined() || !state.prev_flat_grad.defined();
    if (fresh) {
      state.d = neg(gradient, site);
      state.h_diag = 1;
    } else {
      state.d = next_direction(state, gradient, site);
    }
    state.prev_flat_grad = gradient;
    state.prev_loss = loss;
    state.t = fresh ? std::min(1.0, 1 / abs(gradient, site).sum(site).item<double>(site)) * group.lr : group.lr;
    const double slope = product(gradient, state.d, site);
    if (slope > -group.tolerance_change) break;

    const int64_t before = state.func_evals;
    if (!group.line_search_fn.empty()) {
      std::vector<Tensor> start;
      for (const Tensor& parameter : group.params) start.push_back(parameter.detach().clone(site));
      const auto at = [&](double t) {
        add_to_parameters(t, state.d, site);
        detail::LinePoint point{.t = t, .loss = evaluate(), .gradient = flat_gradient(site)};
        point.slope = product(point.gradient, state.d, site);
        for (size_t i = 0; i < start.size(); ++i) group.params[i].copy_(start[i], false, site);
        return point;
      };
      const auto [best, used] = detail::strong_wolfe(at, {0, loss, gradient, slope}, state.t, largest(state.d, site),
                                                     group.tolerance_change, max_eval - evaluations);
      loss = best.loss;
      gradient = best.gradient;
      state.t = best.t;
      add_to_parameters(state.t, state.d, site);
    } else {
      add_to_parameters(state.t, state.d, site);
      // After the last iteration nobody asks for the loss.
      if (iteration < group.max_iter) {
        loss = evaluate();
        gradient = flat_gradient(site);
      }
    }
    largest_gradient = largest(gradient, site);
    evaluations += state.func_evals - before;
    if (iteration >= group.max_iter || evaluations >= max_eval || largest_gradient <= group.tolerance_grad ||
        largest(state.d, site) * std::abs(state.t) <= group.tolerance_change || std::abs(loss - state.prev_loss) < group.tolerance_change)
      break;
  }
  return first;
}

void LBFGS::step(Site) {
  fail("[LBFGS] step needs a closure that clears the gradients, computes the loss, calls backward and returns the loss");
}

}  // namespace tandem::optim
