// Modules' state dictionaries: out, and back in with PyTorch's checks.
#include <unordered_set>

#include "autograd/autograd.h"
#include "base/error.h"
#include "nn/module.h"
#include "nn/walk.h"
#include "ops/creation.h"

namespace tandem::nn {
namespace {

using detail::Field;

std::string quoted(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "\"" : ", \"") + name + "\"";
  return text;
}

bool is_saved(const Field& field) { return field.tensor && field.persistent && (field.tensor->defined() || field.placement); }

// A lazy parameter or buffer that is loaded before its first forward takes its sizes from the state.
void make_pending(const Field& field, const Tensor& value, Site site) {
  Options options = *field.placement;
  if (!options.dtype) options.dtype = value.dtype();
  options.requires_grad = !field.is_buffer;
  *field.tensor = empty(value.sizes(), options, site);
}

void take_over(const Tensor& target, const Tensor& value) {
  target.impl().replace_storage(value.detach().impl());
  target.grad() = Tensor();
}

}  // namespace

StateDict ModuleBase::state_dict() const {
  StateDict state;
  detail::walk(*this, true, [&](const Field& field) {
    if (is_saved(field) && field.tensor->defined()) state[field.name] = field.tensor->detach();
  });
  return state;
}

IncompatibleKeys ModuleBase::load_state_dict(const StateDict& state, LoadOptions options, Site site) {
  IncompatibleKeys keys;
  std::unordered_set<std::string> known;
  std::string trouble;
  // First a walk that only looks, so that a state that does not fit changes nothing.
  detail::walk(*this, true, [&](const Field& field) {
    if (!is_saved(field)) return;
    known.emplace(field.name);
    const Tensor* value = state.find(field.name);
    if (!value || !value->defined()) {
      keys.missing_keys.emplace_back(field.name);
    } else if (field.tensor->defined() && value->sizes() != field.tensor->sizes()) {
      trouble += str(" size mismatch for ", field.name, ": copying a param with shape ", value->sizes(),
                     " from checkpoint, the shape in current model is ", field.tensor->sizes(), ".");
    }
  });
  for (const auto& [name, tensor] : state)
    if (!known.contains(name)) keys.unexpected_keys.push_back(name);
  const bool sizes_fit = trouble.empty();
  if (options.strict) {
    if (!keys.unexpected_keys.empty()) trouble = " Unexpected key(s) in state_dict: " + quoted(keys.unexpected_keys) + "." + trouble;
    if (!keys.missing_keys.empty()) trouble = " Missing key(s) in state_dict: " + quoted(keys.missing_keys) + "." + trouble;
  }
  if (!trouble.empty())
    fail(
        "Error(s) in loading state_dict for ", name(), ":", trouble, " ",
        sizes_fit
            ? Hint("Make the model as the saved one was; load_state_dict(state, {.strict = false}) passes over missing and unexpected keys",
                   "Make the model as the saved one was; load_state_dict(state, strict=False) passes over missing and unexpected keys")
            : Hint("Make the model as the saved one was"));

  const NoGradGuard no_grad;
  detail::walk(*this, true, [&](const Field& field) {
    if (!is_saved(field)) return;
    const Tensor* value = state.find(field.name);
    if (!value || !value->defined()) return;
    if (field.is_pending()) make_pending(field, *value, site);
    if (options.assign) take_over(*field.tensor, *value);
    else field.tensor->copy_(*value, false, site);
  });
  return keys;
}

}  // namespace tandem::nn
