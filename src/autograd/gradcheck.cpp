// Gradients against central differences, one input element at a time.
#include <cmath>

#include "autograd/autograd.h"
#include "base/error.h"
#include "ops/creation.h"
#include "ops/operators.h"
#include "ops/random.h"
#include "ops/reduce.h"
#include "ops/view.h"

namespace tandem::autograd {
namespace {

std::vector<Tensor> fresh_leaves(const std::vector<Tensor>& inputs) {
  std::vector<Tensor> leaves;
  for (const Tensor& input : inputs) {
    Tensor leaf = input.detach().clone();
    if (input.requires_grad()) leaf.requires_grad_();
    leaves.push_back(leaf);
  }
  return leaves;
}

}  // namespace

bool gradcheck(const std::function<Tensor(const std::vector<Tensor>&)>& f, const std::vector<Tensor>& inputs, GradcheckOptions options,
               Site /*site*/) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].requires_grad() && inputs[i].dtype() != kFloat64)
      fail("[gradcheck] input ", i, " is ", inputs[i].dtype(), "; finite differences need float64");
  const auto leaves = fresh_leaves(inputs);
  const Tensor output = f(leaves);
  const Tensor weights = rand_like(output.detach()) + 0.5;  // a random projection: one backward checks the whole Jacobian
  std::vector<Tensor> wanted;
  for (const Tensor& leaf : leaves)
    if (leaf.requires_grad()) wanted.push_back(leaf);
  const auto gradients = grad({output}, wanted, {.grad_outputs = {weights}, .allow_unused = true});
  const NoGradGuard no_grad;
  size_t at = 0;
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!leaves[i].requires_grad()) continue;
    const Tensor analytic = gradients[at].defined() ? gradients[at].cpu().reshape({-1}) : zeros({leaves[i].numel()}, kFloat64);
    ++at;
    for (int64_t e = 0; e < leaves[i].numel(); ++e) {
      const auto value = [&](double shift) {
        auto moved = fresh_leaves(leaves);
        const Tensor flat = moved[i].view({-1});
        flat.select(0, e).add_(shift);
        return (f(moved) * weights).sum().item<double>();
      };
      const double numeric = (value(options.eps) - value(-options.eps)) / (2 * options.eps);
      const double ours = analytic.select(0, e).item<double>();
      if (!(std::abs(numeric - ours) <= options.atol + options.rtol * std::abs(numeric)))  // true of nan, too
        fail("[gradcheck] input ", i, ", element ", e, ": backward gives ", ours, ", finite differences ", numeric);
    }
  }
  return true;
}

bool gradgradcheck(const std::function<Tensor(const std::vector<Tensor>&)>& f, const std::vector<Tensor>& inputs, GradcheckOptions options,
                   Site /*site*/) {
  const auto first = [&](const std::vector<Tensor>& in) {
    std::vector<Tensor> wanted;
    std::vector<Tensor> leaves;
    for (const Tensor& tensor : in) leaves.push_back(tensor.requires_grad() ? tensor : tensor.detach());
    for (const Tensor& leaf : leaves)
      if (leaf.requires_grad()) wanted.push_back(leaf);
    const EnableGradGuard with_grad;
    const auto gradients = grad({f(leaves).sum()}, wanted, {.create_graph = true, .allow_unused = true});
    Tensor sum = zeros({}, Options{.dtype = kFloat64, .device = in[0].device()});
    for (const Tensor& gradient : gradients)
      if (gradient.defined()) sum = sum + (gradient * gradient).sum();
    for (const Tensor& leaf : wanted) sum = sum + (leaf * 0).sum();  // a constant gradient has the derivative zero, not none
    return sum;
  };
  return gradcheck(first, inputs, options);
}

}  // namespace tandem::autograd
