#include "libtorch/module.h"

#include <sstream>

#include "autograd/autograd.h"
#include "base/type_name.h"
#include "base/warning.h"
#include "libtorch/serialize_archive.h"

namespace torch::nn {

Module::Module() = default;

Module::Module(std::string name) : name_(std::move(name)) {}

Module::Module(const Module&) = default;

Module& Module::operator=(const Module&) = default;

Module::~Module() = default;

std::string Module::name() const { return name_ ? *name_ : tandem::type_name(typeid(*this)); }

std::shared_ptr<Module> Module::clone(const std::optional<tandem::Device>&) const {
  tandem::fail("[Module.clone] clone() has not been implemented for ", name(), ": derive from torch::nn::Cloneable<", name(),
               "> instead of torch::nn::Module");
}

std::vector<tandem::Tensor> Module::parameters(bool recurse) const { return named_parameters(recurse).values(); }

OrderedDict<std::string, tandem::Tensor> Module::named_parameters(bool recurse) const {
  OrderedDict<std::string, tandem::Tensor> result;
  const auto add = [&result](const std::string& prefix, const Module& module) {
    for (const auto& parameter : module.parameters_)
      if (parameter->defined()) result.insert(joined(prefix, parameter.key()), parameter.value());
  };
  if (recurse) apply(ConstNamedModuleApplyFunction(add));
  else add("", *this);
  return result;
}

std::vector<tandem::Tensor> Module::buffers(bool recurse) const { return named_buffers(recurse).values(); }

OrderedDict<std::string, tandem::Tensor> Module::named_buffers(bool recurse) const {
  OrderedDict<std::string, tandem::Tensor> result;
  const auto add = [&result](const std::string& prefix, const Module& module) {
    for (const auto& buffer : module.buffers_)
      if (buffer->defined()) result.insert(joined(prefix, buffer.key()), buffer.value());
  };
  if (recurse) apply(ConstNamedModuleApplyFunction(add));
  else add("", *this);
  return result;
}

std::vector<std::shared_ptr<Module>> Module::modules(bool include_self) const { return named_modules("", include_self).values(); }

OrderedDict<std::string, std::shared_ptr<Module>> Module::named_modules(const std::string& name_prefix, bool include_self) const {
  OrderedDict<std::string, std::shared_ptr<Module>> result;
  if (include_self) result.insert(name_prefix, shared_from_this_checked());
  apply_below([&](const std::string& name, const std::shared_ptr<Module>& module) { result.insert(name, module); }, name_prefix);
  return result;
}

std::vector<std::shared_ptr<Module>> Module::children() const { return children_.values(); }

void Module::apply(const ModuleApplyFunction& function) {
  function(*this);
  apply_below([&](const std::string&, const std::shared_ptr<Module>& module) { function(*module); }, "");
}

void Module::apply(const ConstModuleApplyFunction& function) const {
  function(*this);
  apply_below([&](const std::string&, const std::shared_ptr<Module>& module) { function(*module); }, "");
}

void Module::apply(const NamedModuleApplyFunction& function, const std::string& name_prefix) {
  function(name_prefix, *this);
  apply_below([&](const std::string& name, const std::shared_ptr<Module>& module) { function(name, *module); }, name_prefix);
}

void Module::apply(const ConstNamedModuleApplyFunction& function, const std::string& name_prefix) const {
  function(name_prefix, *this);
  apply_below([&](const std::string& name, const std::shared_ptr<Module>& module) { function(name, *module); }, name_prefix);
}

void Module::apply(const ModulePointerApplyFunction& function) const {
  function(shared_from_this_checked());
  apply_below([&](const std::string&, const std::shared_ptr<Module>& module) { function(module); }, "");
}

void Module::apply(const NamedModulePointerApplyFunction& function, const std::string& name_prefix) const {
  function(name_prefix, shared_from_this_checked());
  apply_below(function, name_prefix);
}

void Module::train(bool on) {
  // The base sets the modes of all below, too; a child whose train() is its own has the last word.
  tandem::nn::ModuleBase::train(on);
  for (const auto& child : children_) child.value()->train(on);
}

void Module::eval() { train(false); }

bool Module::is_training() const noexcept { return training(); }

void Module::to(tandem::Device device, tandem::DType dtype, bool non_blocking) { move_parts(device, dtype, non_blocking); }

void Module::to(tandem::DType dtype, bool non_blocking) { move_parts({}, dtype, non_blocking); }

void Module::to(tandem::Device device, bool non_blocking) { move_parts(device, {}, non_blocking); }

void Module::zero_grad(bool set_to_none) {
  for (const auto& child : children_) child.value()->zero_grad(set_to_none);
  const tandem::NoGradGuard no_grad;
  for (const auto& parameter : parameters_) {
    if (!parameter->defined()) continue;
    tandem::Tensor& grad = parameter->grad(tandem::Site::none());
    if (!grad.defined()) continue;
    if (set_to_none) grad = tandem::Tensor();
    else grad = grad.detach(), grad.zero_(tandem::Site::none());
  }
}

void Module::save(serialize::OutputArchive& archive) const {
  for (const auto& parameter : parameters_)
    if (parameter->defined()) archive.write(parameter.key(), parameter.value());
  for (const auto& buffer : buffers_)
    if (buffer->defined()) archive.write(buffer.key(), buffer.value(), /*is_buffer=*/true);
  for (const auto& child : children_) {
    if (!child.value()->is_serializable()) continue;
    serialize::OutputArchive nested(archive.compilation_unit());
    child.value()->save(nested);
    archive.write(child.key(), nested);
  }
}

void Module::load(serialize::InputArchive& archive) {
  for (auto& parameter : parameters_)
    if (parameter->defined()) archive.read(parameter.key(), parameter.value());
  for (auto& buffer : buffers_)
    if (buffer->defined()) archive.read(buffer.key(), buffer.value(), /*is_buffer=*/true);
  for (const auto& child : children_) {
    if (!child.value()->is_serializable()) continue;
    serialize::InputArchive nested;
    archive.read(child.key(), nested);
    child.value()->load(nested);
  }
}

bool Module::is_serializable() const { return true; }

void Module::pretty_print(std::ostream& stream) const { stream << name(); }

tandem::Tensor& Module::register_parameter(std::string name, tandem::Tensor tensor, bool requires_grad, tandem::Site site) {
  check_name("Parameter", name);
  if (tensor.defined()) tensor.requires_grad_(requires_grad, site);
  else if (requires_grad)
    tandem::detail::warn_once("register_parameter(\"" + name +
                              "\"): an undefined tensor cannot require gradients. Ignoring the `requires_grad=true` function parameter.");
  return parameters_.insert(std::move(name), std::move(tensor));
}

tandem::Tensor& Module::register_buffer(std::string name, tandem::Tensor tensor, tandem::Site) {
  check_name("Buffer", name);
  return buffers_.insert(std::move(name), std::move(tensor));
}

void Module::unregister_module(const std::string& name, tandem::Site) {
  if (!children_.contains(name)) tandem::fail("[Module.unregister_module] No Module with name `", name, "` is registered");
  children_.erase(name);
}

void Module::fields(tandem::nn::Fields& f) {
  for (auto& parameter : parameters_) f(parameter.key(), parameter.value());
  for (auto& buffer : buffers_) f.buffer(buffer.key(), buffer.value());
  for (auto& child : children_) f(child.key(), *child.value());
}

std::string Module::extra_repr() const {
  std::ostringstream stream;
  pretty_print(stream);
  const std::string text = stream.str();
  const size_t begin = text.find('('), end = text.rfind(')');
  return begin == std::string::npos || end == std::string::npos ? "" : text.substr(begin + 1, end - begin - 1);
}

bool Module::_forward_has_default_args() { return false; }

unsigned int Module::_forward_num_required_args() { no_default_args(); }

std::vector<AnyValue> Module::_forward_populate_default_args(std::vector<AnyValue>&&) { no_default_args(); }

void Module::clear_parts() {
  parameters_.clear();
  buffers_.clear();
  children_.clear();
}

void Module::copy_parts(Module& copy, const std::optional<tandem::Device>& device) const {
  copy_tensors(copy.parameters_, parameters_, "parameters", device);
  copy_tensors(copy.buffers_, buffers_, "buffers", device);
  check_count(copy.children_.size(), children_.size(), "child modules");
  for (const auto& child : children_) copy.children_[child.key()]->clone_(*child.value(), device);
}

void Module::copy_tensors(OrderedDict<std::string, tandem::Tensor>& copies, const OrderedDict<std::string, tandem::Tensor>& originals,
                          const char* what, const std::optional<tandem::Device>& device) const {
  check_count(copies.size(), originals.size(), what);
  const tandem::Site site = tandem::Site::none();
  for (const auto& original : originals) {
    if (!original->defined()) continue;
    const tandem::Device from = original->device(site);
    copies[original.key()].set_data(original->to(device.value_or(from), {.copy = true}, site), site);
  }
}

void Module::check_count(size_t copies, size_t originals, const char* what) const {
  if (copies != originals)
    tandem::fail("[Module.clone] The cloned module does not have the same number of ", what,
                 " as the original module after calling reset(): ", copies, ", not ", originals, ". ", name(),
                 " must register them inside reset() and not in the constructor");
}

void Module::fail_other_type() const {
  tandem::fail("[Module.clone] a child is of another type in ", name(), " than in the module that reset() made");
}

void Module::clone_(Module&, const std::optional<tandem::Device>&) {}

void Module::apply_below(const NamedModulePointerApplyFunction& function, const std::string& prefix) const {
  for (const auto& child : children_) {
    const std::string name = joined(prefix, child.key());
    function(name, child.value());
    child.value()->apply_below(function, name);
  }
}

void Module::move_parts(std::optional<tandem::Device> device, std::optional<tandem::DType> dtype, bool non_blocking) {
  for (const auto& child : children_) {
    if (device && dtype) child.value()->to(*device, *dtype, non_blocking);
    else if (device) child.value()->to(*device, non_blocking);
    else child.value()->to(*dtype, non_blocking);
  }
  const tandem::NoGradGuard no_grad;
  const tandem::Site site = tandem::Site::none();
  const auto move = [&](const tandem::Tensor& tensor) {
    if (!tensor.defined()) return;
    const tandem::ToOptions options{.non_blocking = non_blocking};
    tensor.set_data(tensor.to(device.value_or(tensor.device(site)), dtype.value_or(tensor.dtype(site)), options, site), site);
  };
  for (const auto& parameter : parameters_) {
    move(parameter.value());
    if (parameter->defined()) move(parameter->grad(site));
  }
  for (const auto& buffer : buffers_) move(buffer.value());
}

void Module::add_child(std::string name, std::shared_ptr<Module> module) {
  check_name("Submodule", name);
  children_.insert(std::move(name), std::move(module));
}

void Module::replace_child(const std::string& name, std::shared_ptr<Module> module) { children_[name] = std::move(module); }

void Module::print(std::ostream& stream, const std::string& indentation) const {
  pretty_print(stream);
  if (children_.is_empty()) return;
  const std::string deeper = indentation + "  ";
  stream << "(\n";
  for (const auto& child : children_) {
    stream << deeper << "(" << child.key() << "): ";
    child.value()->print(stream, deeper);
    stream << '\n';
  }
  stream << indentation << ")";
}

std::shared_ptr<Module> Module::shared_from_this_checked() const {
  if (const std::shared_ptr<const Module> self = weak_from_this().lock()) return std::const_pointer_cast<Module>(self);
  tandem::fail(
      "[Module] It looks like you attempted to retrieve your top-level module as a shared_ptr, but it is not stored in one: make "
      "it by std::make_shared<",
      name(), ">, or pass include_self=false to modules() or named_modules()");
}

void Module::check_name(const char* kind, const std::string& name) {
  if (name.empty()) tandem::fail("[Module] ", kind, " name must not be empty");
  if (name.find('.') != std::string::npos) tandem::fail("[Module] ", kind, " name must not contain a dot (got '", name, "')");
}

std::string Module::joined(const std::string& prefix, const std::string& name) { return prefix.empty() ? name : prefix + "." + name; }

void Module::no_default_args() const {
  tandem::fail("[", name(), "] a forward that has default arguments for AnyModule says them by FORWARD_HAS_DEFAULT_ARGS");
}

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const std::shared_ptr<Module>& module) {
  if (!module) tandem::fail("[save] Cannot serialize empty module");
  module->save(archive);
  return archive;
}

serialize::InputArchive& operator>>(serialize::InputArchive& archive, const std::shared_ptr<Module>& module) {
  if (!module) tandem::fail("[load] Cannot deserialize empty module");
  module->load(archive);
  return archive;
}

}  // namespace torch::nn
