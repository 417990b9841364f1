#include "ops/softmax.h"

#include "autograd/history.h"
#include "base/error.h"
#include "base/work_site.h"
#include "ops/autocasting.h"
#include "ops/creation.h"
#include "ops/indexing.h"
#include "ops/launch.h"
#include "ops/operators.h"
#include "ops/random.h"
#include "ops/reduce.h"
#include "ops/scatter.h"
#include "tensor/dims.h"

namespace tandem {
namespace {

using autograd::needs_grad;
using autograd::record;

using SoftmaxEntry = void (*kernels::Table::*)(const Queue&, kernels::Out, kernels::View);
using SoftmaxBackwardEntry = void (*kernels::Table::*)(const Queue&, kernels::Out, kernels::View, kernels::View);

Tensor softmax_backward(const char* op, SoftmaxBackwardEntry entry, const Tensor& g, const Tensor& y, int64_t at) {
  Tensor x = empty_like(g);
  ops::launch(g, op, Site::here(), entry, ops::last(ops::view(x), at), ops::last(ops::view(g), at), ops::last(ops::view(y), at));
  return x;
}

Tensor softmax_forward(const char* op, SoftmaxEntry entry, const Tensor& x, int64_t at, Site site) {
  Tensor y = empty(x.sizes(), {.dtype = x.dtype(), .device = x.device()}, site);
  ops::launch(x, op, site, entry, ops::last(ops::view(y), at), ops::last(ops::view(x), at));
  return y;
}

}  // namespace

Tensor softmax(const Tensor& x, int64_t dim, Site site) {
  if (const ops::Cast cast("softmax", site, x); cast) return softmax(cast(x), dim, site);
  ops::check_floating("softmax", x);
  const int64_t at = wrap_dim(dim, x.dim());
  Tensor y = softmax_forward("softmax", &kernels::Table::softmax, x, at, site);
  if (!needs_grad(x)) return y;
  return record("SoftmaxBackward0", y, {x}, site,
                [y = autograd::saved_output(y), at](const Tensor& g, autograd::Wanted, const autograd::Node* node) {
                  const Tensor out = y.get(node);
                  if (!needs_grad(g, out)) return softmax_backward("softmax_backward", &kernels::Table::softmax_backward, g, out, at);
                  return out * (g - (g * out).sum(at, true));  // to be differentiated again
                });
}

Tensor log_softmax(const Tensor& x, int64_t dim, Site site) {
  if (const ops::Cast cast("log_softmax", site, x); cast) return log_softmax(cast(x), dim, site);
  ops::check_floating("log_softmax", x);
  const int64_t at = wrap_dim(dim, x.dim());
  Tensor y = softmax_forward("log_softmax", &kernels::Table::log_softmax, x, at, site);
  if (!needs_grad(x)) return y;
  return record("LogSoftmaxBackward0", y, {x}, site,
                [y = autograd::saved_output(y), at](const Tensor& g, autograd::Wanted, const autograd::Node* node) {
                  const Tensor out = y.get(node);
                  if (!needs_grad(g, out))
                    return softmax_backward("log_softmax_backward", &kernels::Table::log_softmax_backward, g, out, at);
                  return g - exp(out) * g.sum(at, true);
                });
}

Tensor softmin(const Tensor& x, int64_t dim, Site site) { return softmax(neg(x, site), dim, site); }

Tensor gumbel_softmax(const Tensor& logits, double tau, Flag hard, int64_t dim, Site site) {
  const detail::ComposedAt line(site);
  ops::check_floating("gumbel_softmax", logits);
  const Tensor noise = -log(empty_like(logits, {}, site).exponential_(1, site), site);
  const Tensor y = softmax(div(add(logits, noise, site), tau, site), dim, site);
  if (!hard) return y;
  const Tensor one = scatter(zeros_like(logits, {}, site), dim, argmax(y, dim, true, site), 1.0, site);
  return one - y.detach() + y;
}

Tensor Tensor::softmax(int64_t dim, Site site) const { return tandem::softmax(*this, dim, site); }
Tensor Tensor::log_softmax(int64_t dim, Site site) const { return tandem::log_softmax(*this, dim, site); }

}  // namespace tandem
