#include "comm/dense.h"

#include <mutex>

#include "autograd/autograd.h"
#include "autograd/history.h"
#include "ops/creation.h"

namespace tandem::comm {

Call call_of(Collective kind, const Tensor& t, Site site, ReduceOp op, int root) {
  Call call;
  call.kind = kind;
  call.op = op;
  call.dtype = t.dtype();
  call.root = root;
  call.sizes = t.sizes();
  call.site = site;
  return call;
}
namespace {

using Pairs = std::vector<std::pair<Tensor, Tensor>>;

void copy_back(const Pairs& pairs, Site site) {
  const NoGradGuard no_grad;
  for (const auto& [to, from] : pairs) to.copy_(from, false, site);
}

/// Copies once the collective has been waited for.
class CopyingWork final : public Work::State {
 public:
  CopyingWork(Work work, Pairs pairs) : work_(std::move(work)), pairs_(std::move(pairs)) {}
  void wait(bool on_host, Site site) override {
    if (on_host) work_.synchronize(site);
    else work_.wait(site);
    const std::lock_guard lock(mutex_);
    copy_back(pairs_, site);
    pairs_.clear();
  }
  bool is_completed() override { return work_.is_completed(); }

 private:
  Work work_;
  std::mutex mutex_;
  Pairs pairs_;
};

}  // namespace

Tensor CopiesBack::readable(const Tensor& t) const {
  if (t.is_contiguous() && group_.takes(t.device())) [[likely]]
    return t;
  const NoGradGuard no_grad;
  return group_.takes(t.device()) ? t.contiguous(site_) : t.cpu(site_).contiguous(site_);
}

Tensor CopiesBack::writable(const Tensor& t) {
  Tensor stand_in = readable(t);
  if (!stand_in.is_same(t)) add(t, stand_in);
  return stand_in;
}

Work CopiesBack::finish(Work work, bool async_op) && {
  if (pairs_.empty()) return work;
  if (async_op) return Work(std::make_shared<CopyingWork>(std::move(work), std::move(pairs_)));
  copy_back(pairs_, site_);
  return work;
}

}  // namespace tandem::comm
