#include "nn/call_log.h"

#include <algorithm>
#include <typeinfo>
#include <utility>

#include "autograd/autograd.h"
#include "base/error.h"
#include "base/warning.h"
#include "nn/module.h"
#include "nn/repr.h"
#include "nn/walk.h"

namespace tandem::nn::detail {
namespace {

struct OwnParameters final : Fields {
  std::vector<Tensor> found;
  bool pending = false;  // some wait for a first forward
  explicit OwnParameters(ModuleBase& module) { module.fields(*this); }
  void visit(std::string_view, ModuleBase&) override {}
  void visit(std::string_view, Tensor& tensor, Kind kind) override {
    pending |= kind.placement && !tensor.defined();
    if (!kind.is_buffer && tensor.defined()) found.push_back(tensor);
  }
};

thread_local constinit const CallFrame* running_frame = nullptr;

}  // namespace

Named::Named(const ModuleBase& model) {
  walk(model, false, [&](const Field& field) {
    if (field.is_module()) modules.insert(field.module);
    else if (field.tensor->defined()) tensors.insert(&field.tensor->impl());
  });
}

CallLog::CallLog(const ModuleBase& model) : model_(model), named_(model), before_(std::exchange(running_log, this)) {}
CallLog::~CallLog() { running_log = before_; }

void CallLog::note(const CallFrame& frame) {
  if (!met_.insert(&frame.module_).second) return;
  OwnParameters own(frame.module_);
  if (own.found.empty()) return;
  // A replica of the model names its own parts.
  const ModuleBase& outermost = frame.outermost().module_;
  const bool is_replica = &outermost != &model_ && typeid(outermost) == typeid(model_);
  const CallFrame& missing = frame.outermost_not_in(is_replica ? Named(outermost) : named_);
  calls_.push_back({missing.outer_ ? missing.outer_->module_.name() : "", repr(missing.module_), missing.site_, std::move(own.found)});
}

std::string unnamed_part(const std::string& model, const std::string& part, const std::string& use, Site site) {
  return str(model, ".fields() does not name ", part, site.line > 0 ? str(", ", use, " at ", site.file, ":", site.line) : "");
}

CallFrame::CallFrame(ModuleBase& module, Site site) : outer_(running_frame), module_(module), site_(site) {
  if (running_log) {
    running_log->note(*this);
    module.life_.looked_at.store(true, std::memory_order_relaxed);  // who keeps the log tells of it
  } else if (outer_ && !module.life_.looked_at.load(std::memory_order_relaxed) && is_grad_enabled()) {
    look();
  }
  running_frame = this;
}

CallFrame::~CallFrame() { running_frame = outer_; }

OwnModel::OwnModel() : before_(std::exchange(running_frame, nullptr)) {}
OwnModel::~OwnModel() { running_frame = before_; }

const CallFrame& CallFrame::outermost() const {
  const CallFrame* frame = this;
  while (frame->outer_) frame = frame->outer_;
  return *frame;
}

const CallFrame& CallFrame::outermost_not_in(const Named& named) const {
  const CallFrame* found = this;
  for (const CallFrame* frame = this; frame; frame = frame->outer_)
    if (!named.modules.contains(&frame->module_)) found = frame;
  return *found;
}

void CallFrame::look() const {
  const OwnParameters own(module_);
  if (own.pending) return;
  module_.life_.looked_at.store(true, std::memory_order_relaxed);
  const auto is_trained = [](const Tensor& parameter) {
    return parameter.requires_grad() && parameter.is_leaf();
  };  // replicas' are no leaves
  if (std::none_of(own.found.begin(), own.found.end(), is_trained)) return;
  const Named named(outermost().module_);
  const auto is_missing = [&](const Tensor& parameter) { return is_trained(parameter) && !named.tensors.contains(&parameter.impl()); };
  if (std::none_of(own.found.begin(), own.found.end(), is_missing)) return;
  const CallFrame& missing = outermost_not_in(named);
  tandem::detail::warn_once(unnamed_part(missing.outer_->module_.name(), repr(missing.module_), "called", missing.site_) + kUnnamedAdvice);
}

}  // namespace tandem::nn::detail
