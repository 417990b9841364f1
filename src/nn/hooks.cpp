#include "nn/hooks.h"

#include "nn/module.h"

namespace tandem::nn {
namespace {

/// A hook that takes a Module, as one that takes any module: only a Module registers it.
template <class... Args>
std::function<void(ModuleBase&, Args...)> of_any(std::function<void(Module&, Args...)> hook) {
  return [hook = std::move(hook)](ModuleBase& module, Args... args) { hook(static_cast<Module&>(module), args...); };
}

}  // namespace

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
  return ModuleBase::register_forward_pre_hook(of_any(std::move(hook)));
}

HookHandle Module::register_forward_hook(std::function<void(Module&, std::span<const Tensor>, std::span<Tensor>)> hook) {
  return ModuleBase::register_forward_hook(of_any(std::move(hook)));
}

HookHandle Module::register_forward_pre_hook(std::function<void(Module&, Tensor&)> hook) {
  return ModuleBase::register_forward_pre_hook(of_any(std::move(hook)));
}

HookHandle Module::register_forward_hook(std::function<void(Module&, const Tensor&, Tensor&)> hook) {
  return ModuleBase::register_forward_hook(of_any(std::move(hook)));
}

void ModuleBase::before_forward(std::span<Tensor> inputs) {
  const auto hooks = hooks_->before;  // a hook may take itself out
  for (const auto& [id, hook] : hooks) hook(*this, inputs);
}

void ModuleBase::after_forward(std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const auto hooks = hooks_->after;
  for (const auto& [id, hook] : hooks) hook(*this, inputs, outputs);
}

}  // namespace tandem::nn
