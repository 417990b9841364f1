#include "comm/api/functional.h"

#include "autograd/autograd.h"
#include "autograd/history.h"
#include "base/error.h"
#include "ops/creation.h"
#include "ops/join.h"
#include "ops/operators.h"
#include "ops/view.h"
#include "tensor/tensor_impl.h"

namespace tandem::distributed::nn {
namespace {

using autograd::record;

/// x's values without history, for a collective to work on.
Tensor plain_copy(const Tensor& x, Site site) {
  const NoGradGuard no_grad;
  return x.clone(site);
}

void check_differentiable(const char* op, const Tensor& x, ReduceOp reduction) {
  if (autograd::needs_grad(x) && reduction != ReduceOp::SUM && reduction != ReduceOp::AVG)
    fail('[', op, "] only SUM and AVG have a gradient, not ", comm::name(reduction));
}

void check_defined(const char* op, const Tensor& x) {
  if (!x.defined()) fail('[', op, "] expected a tensor, but got an undefined one");
}

}  // namespace

Tensor all_reduce(const Tensor& x, ReduceOp op, const ProcessGroup& group, Site site) {
  check_defined("all_reduce", x);
  check_differentiable("all_reduce", x, op);
  const Tensor y = plain_copy(x, site);
  distributed::all_reduce(y, op, {.group = group}, site);
  return record("AllReduceBackward", y, {x}, site, [op, group, site](const Tensor& g) { return all_reduce(g, op, group, site); });
}

std::vector<Tensor> all_gather(const Tensor& x, const ProcessGroup& group, Site site) {
  check_defined("all_gather", x);
  Shape sizes = x.sizes();
  sizes.insert(0, get_world_size(group));
  const Tensor all(TensorImpl::make(sizes, x.dtype(), x.device(), false, site));
  distributed::all_gather_into_tensor(all, x, {.group = group}, site);
  return record("AllGatherBackward", all, {x}, site,
                [sizes = x.sizes(), group, site](const Tensor& g) {
                  return reduce_scatter(g, ReduceOp::SUM, group, site).reshape(sizes, site);
                })
      .unbind(0, site);
}

Tensor reduce_scatter(const Tensor& x, ReduceOp op, const ProcessGroup& group, Site site) {
  check_defined("reduce_scatter", x);
  check_differentiable("reduce_scatter", x, op);
  const Tensor y = distributed::reduce_scatter(x, op, {.group = group}, site);
  return record("ReduceScatterBackward", y, {x}, site, [op, group, site, sizes = x.sizes()](const Tensor& g) {
    const Tensor all = cat(all_gather(g, group, site), 0, site);
    return op == ReduceOp::AVG ? all / static_cast<double>(get_world_size(group)) : all;
  });
}

Tensor broadcast(const Tensor& x, int src, const ProcessGroup& group, Site site) {
  check_defined("broadcast", x);
  const Tensor y = plain_copy(x, site);
  distributed::broadcast(y, src, {.group = group}, site);
  return record("BroadcastBackward", y, {x}, site, [src, group, site](const Tensor& g) {
    // An all_reduce rather than a reduce, so that it has a gradient of its own on every rank.
    const Tensor sum = all_reduce(g, ReduceOp::SUM, group, site);
    const bool here = group.group() ? group.ranks()[static_cast<size_t>(get_rank(group))] == src : get_rank() == src;
    return here ? sum : zeros_like(sum);
  });
}

std::vector<Tensor> all_to_all(const std::vector<Tensor>& inputs, const ProcessGroup& group, Site site) {
  bool any = false;
  for (const Tensor& x : inputs) {
    check_defined("all_to_all", x);
    any |= autograd::needs_grad(x);
  }
  std::vector<Tensor> outputs = distributed::all_to_all(inputs, {.group = group}, site);
  if (!any) return outputs;
  // As one vector each way, since a recorded operation has one output.
  std::vector<Tensor> flat;
  Shape in_counts, out_counts;
  std::vector<Shape> sizes;
  for (const Tensor& x : inputs) {
    flat.push_back(x.reshape({-1}, site));
    in_counts.push_back(x.numel());
  }
  std::vector<Tensor> given;
  {
    const NoGradGuard no_grad;
    for (const Tensor& y : outputs) {
      given.push_back(y.reshape({-1}, site));
      out_counts.push_back(y.numel());
      sizes.push_back(y.sizes());
    }
  }
  const Tensor whole = cat(flat, 0, site);
  const Tensor joined = [&] {
    const NoGradGuard no_grad;
    return cat(given, 0, site);
  }();
  const Tensor y = record("AllToAllBackward", joined, {whole}, site, [in_counts, out_counts, group, site](const Tensor& g) {
    return cat(all_to_all(g.split(out_counts, 0, site), group, site), 0, site);
  });
  const std::vector<Tensor> parts = y.split(out_counts, 0, site);
  for (size_t i = 0; i < parts.size(); ++i) outputs[i] = parts[i].reshape(sizes[i], site);
  return outputs;
}

}  // namespace tandem::distributed::nn
