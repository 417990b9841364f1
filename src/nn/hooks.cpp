// Functions called before and after forward.
#include <algorithm>

#include "nn/module.h"

namespace tandem::nn {

struct detail::Hooks {
  std::vector<std::pair<int64_t, ForwardPreHook>> before;
  std::vector<std::pair<int64_t, ForwardHook>> after;
  int64_t next = 0;
};

void HookHandle::remove() {
  const auto hooks = hooks_.lock();
  if (!hooks) return;
  const auto is_mine = [&](const auto& hook) { return hook.first == id_; };
  std::erase_if(hooks->before, is_mine);
  std::erase_if(hooks->after, is_mine);
}

detail::Hooks& Module::hooks() {
  if (!hooks_) hooks_ = std::make_shared<detail::Hooks>();
  return *hooks_;
}

HookHandle Module::register_forward_pre_hook(ForwardPreHook hook) {
  detail::Hooks& all = hooks();
  all.before.emplace_back(all.next, std::move(hook));
  return {hooks_, all.next++};
}

HookHandle Module::register_forward_hook(ForwardHook hook) {
  detail::Hooks& all = hooks();
  all.after.emplace_back(all.next, std::move(hook));
  return {hooks_, all.next++};
}

bool Module::has_hooks() const { return hooks_ && (!hooks_->before.empty() || !hooks_->after.empty()); }

Tensor Module::forward_with_hooks(const Tensor& x) {
  if (!has_hooks()) return forward(x);
  const auto [before, after, next] = *hooks_;  // a hook may take itself out
  Tensor input = x;
  for (const auto& [id, hook] : before) hook(*this, input);
  Tensor output = forward(input);
  for (const auto& [id, hook] : after) hook(*this, input, output);
  return output;
}

}  // namespace tandem::nn
