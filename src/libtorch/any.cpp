#include "libtorch/any.h"

namespace torch::nn {

AnyModule AnyModule::clone(std::optional<tandem::Device> device) const {
  AnyModule copy;
  if (content_) copy.content_ = content_->clone_module(device);
  return copy;
}

std::shared_ptr<Module> AnyModule::ptr() const { return content("ptr").ptr(); }

const std::type_info& AnyModule::type_info() const { return content("type_info").type(); }

bool AnyModule::is_empty() const noexcept { return content_ == nullptr; }

const AnyModulePlaceholder& AnyModule::content(const char* op) const {
  if (!content_) tandem::fail("[AnyModule] Cannot call ", op, "() on an empty AnyModule");
  return *content_;
}

NamedAnyModule::NamedAnyModule(std::string name, AnyModule module) : name_(std::move(name)), module_(std::move(module)) {}

}  // namespace torch::nn
