#include "nn/hooks.h"

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

detail::Hooks& ModuleBase::hooks() {
  if (!hooks_) hooks_ = std::make_shared<detail::Hooks>();
  return *hooks_;
}

HookHandle ModuleBase::register_forward_pre_hook(ForwardPreHook hook) {
  detail::Hooks& all = hooks();
  all.before.emplace_back(all.next, std::move(hook));
  return {hooks_, all.next++};
}

HookHandle ModuleBase::register_forward_hook(ForwardHook hook) {
  detail::Hooks& all = hooks();
  all.after.emplace_back(all.next, std::move(hook));
  return {hooks_, all.next++};
}

HookHandle ModuleBase::register_forward_pre_hook(std::function<void(ModuleBase&, Tensor&)> hook) {
  return register_forward_pre_hook([hook = std::move(hook)](ModuleBase& module, std::span<Tensor> inputs) {
    if (!inputs.empty()) hook(module, inputs[0]);
  });
}

HookHandle ModuleBase::register_forward_hook(std::function<void(ModuleBase&, const Tensor&, Tensor&)> hook) {
  return register_forward_hook([hook = std::move(hook)](ModuleBase& module, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
    if (!outputs.empty()) hook(module, inputs.empty() ? Tensor() : inputs[0], outputs[0]);
  });
}

HookHandle Module::register_forward_pre_hook(std::function<void(Module&, std::span<Tensor>)> hook) {
  return ModuleBase::register_forward_pre_hook(
      [hook = std::move(hook)](ModuleBase& module, std::span<Tensor> inputs) { hook(static_cast<Module&>(module), inputs); });
}

HookHandle Module::register_forward_hook(std::function<void(Module&, std::span<const Tensor>, std::span<Tensor>)> hook) {
  return ModuleBase::register_forward_hook(
      [hook = std::move(hook)](ModuleBase& module, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
        hook(static_cast<Module&>(module), inputs, outputs);
      });
}

HookHandle Module::register_forward_pre_hook(std::function<void(Module&, Tensor&)> hook) {
  return ModuleBase::register_forward_pre_hook(
      [hook = std::move(hook)](ModuleBase& module, Tensor& input) { hook(static_cast<Module&>(module), input); });
}

HookHandle Module::register_forward_hook(std::function<void(Module&, const Tensor&, Tensor&)> hook) {
  return ModuleBase::register_forward_hook([hook = std::move(hook)](ModuleBase& module, const Tensor& input, Tensor& output) {
    hook(static_cast<Module&>(module), input, output);
  });
}

bool ModuleBase::has_hooks() const { return hooks_ && (!hooks_->before.empty() || !hooks_->after.empty()); }

void ModuleBase::before_forward(std::span<Tensor> inputs) {
  const auto hooks = hooks_->before;  // a hook may take itself out
  for (const auto& [id, hook] : hooks) hook(*this, inputs);
}

void ModuleBase::after_forward(std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const auto hooks = hooks_->after;
  for (const auto& [id, hook] : hooks) hook(*this, inputs, outputs);
}

}  // namespace tandem::nn
