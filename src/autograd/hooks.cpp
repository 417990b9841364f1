#include "autograd/hooks.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "base/error.h"
#include "ops/operators.h"

namespace tandem::autograd {
namespace {

std::atomic<int64_t> next_number{0};

void check_replacement(int64_t number, const Tensor& before, const Tensor& after) {
  const auto kind = [](const Tensor& x) { return str(x.device().is_cuda() ? "cuda " : "cpu ", x.dtype()); };
  if (after.dtype() != before.dtype() || after.device().is_cuda() != before.device().is_cuda())
    fail("hook '", number, "' has changed the type of value (was ", kind(before), " got ", kind(after), ")");
  if (after.device() != before.device())
    fail("hook '", number, "' has changed the device of value (was ", before.device(), " got ", after.device(), ")");
  if (!(after.sizes() == before.sizes()))
    fail("hook '", number, "' has changed the size of value (was ", before.sizes(), " got ", after.sizes(), ")");
}

}  // namespace

int64_t Hooks::add(uint32_t output_nr, Function function) {
  const Hook hook{output_nr, next_number.fetch_add(1, std::memory_order_relaxed), std::make_shared<const Function>(std::move(function))};
  const std::lock_guard lock(mutex_);
  auto hooks = hooks_ ? std::make_shared<List>(*hooks_) : std::make_shared<List>();
  hooks->push_back(hook);
  hooks_ = std::move(hooks);
  return hook.number;
}

void Hooks::remove(int64_t number) {
  std::shared_ptr<const List> before;  // ends after the lock: what a hook holds is the user's
  const std::lock_guard lock(mutex_);
  if (!hooks_) return;
  auto hooks = std::make_shared<List>(*hooks_);
  std::erase_if(*hooks, [number](const Hook& hook) { return hook.number == number; });
  before = std::exchange(hooks_, std::move(hooks));
}

bool Hooks::empty() const {
  const std::lock_guard lock(mutex_);
  return !hooks_ || hooks_->empty();
}

Tensor Hooks::run(uint32_t output_nr, Tensor gradient) const {
  std::shared_ptr<const List> hooks;
  {
    const std::lock_guard lock(mutex_);
    hooks = hooks_;
  }
  if (!hooks) return gradient;
  for (const Hook& hook : *hooks) {
    if (hook.output_nr != output_nr) continue;
    Tensor replaced = (*hook.function)(gradient);
    if (!replaced.defined()) continue;
    check_replacement(hook.number, gradient, replaced);
    gradient = std::move(replaced);
  }
  return gradient;
}

Tensor RetainedGrad::add(const Tensor& gradient) {
  // Nothing is computed or let go of under the lock: whoever destroys the tensor waits for it.
  for (;;) {
    Tensor so_far;
    {
      const std::lock_guard lock(mutex_);
      if (!tensor_) return Tensor();
      so_far = tensor_->grad;
    }
    const Tensor sum = so_far.defined() ? so_far + gradient : gradient.clone();
    Tensor mine = sum;
    const std::lock_guard lock(mutex_);
    if (!tensor_) return Tensor();
    if (!tensor_->grad.is_same(so_far)) continue;  // another thread's walk was faster
    std::swap(tensor_->grad, mine);
    return sum;
  }
}

void RetainedGrad::forget() {
  const std::lock_guard lock(mutex_);
  tensor_ = nullptr;
}

void NodeHooks::retain(uint32_t output_nr, Ref<RetainedGrad> retained) {
  const std::lock_guard lock(mutex_);
  retained_.emplace_back(output_nr, std::move(retained));
}

std::vector<Ref<RetainedGrad>> NodeHooks::retained(uint32_t output_nr) const {
  const std::lock_guard lock(mutex_);
  std::vector<Ref<RetainedGrad>> found;
  for (const auto& [output, retained] : retained_)
    if (output == output_nr) found.push_back(retained);
  return found;
}

}  // namespace tandem::autograd
