// A leaf whose gradient is divided among the ranks of a group. For the library.
#pragma once

#include <string>
#include <utility>

#include "autograd/autograd.h"
#include "autograd/divided.h"
#include "comm/api/distributed.h"
#include "ops/creation.h"

namespace tandem::parallel::detail {

/// One that takes nothing: `.grad` is a part already.
class DividedAmong : public autograd::DividedGradient {
 public:
  explicit DividedAmong(distributed::ProcessGroup group) : group_(std::move(group)) {}

  bool take(const Tensor& /*leaf*/, const Tensor& /*gradient*/) override { return false; }
  [[nodiscard]] Tensor gather(const Tensor& t, Site site) const override {
    const NoGradGuard no_grad;
    Shape sizes = t.sizes();
    sizes.insert(0, group_.size());
    Tensor all = empty(sizes, {.dtype = t.dtype(), .device = t.device()}, site);
    distributed::all_gather_into_tensor(all, t, {.group = group_, .label = "gradients in shards"}, site);
    return all;
  }
  [[nodiscard]] const void* ranks() const override { return group_.group().get(); }

 private:
  distributed::ProcessGroup group_;
};

}  // namespace tandem::parallel::detail
