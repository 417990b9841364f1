#include "nn/module.h"

#include <cstdlib>
#include <memory>
#include <typeinfo>

#include "autograd/autograd.h"
#include "base/error.h"
#include "base/error_place.h"
#include "base/type_name.h"
#include "nn/flat_parameters.h"
#include "nn/repr.h"
#include "nn/settings.h"
#include "nn/walk.h"

namespace tandem::nn {
namespace {

using detail::Field;

thread_local constinit Site running_site = Site::none();

class CallScope {
 public:
  explicit CallScope(Site site) : before_(running_site) { running_site = site; }
  ~CallScope() { running_site = before_; }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  Site before_;
};

[[noreturn]] void fail_pending(const Field& field) {
  fail("[parameters] ",
       field.name.empty() ? str("a parameter of ", field.module->name()) : str("'", field.name, "' (of ", field.module->name(), ")"),
       " has no values yet: its sizes are known after a first forward; run one, or call nn::initialize(module, input), before making an "
       "optimizer");
}

// "tandem::nn::(anonymous namespace)::Net<int>" -> "Net<int>"
std::string last_part(std::string_view name) {
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i + 1 < name.size(); ++i) {
    if (name[i] == '<' || name[i] == '(') ++depth;
    if (name[i] == '>' || name[i] == ')') --depth;
    if (depth == 0 && name[i] == ':' && name[i + 1] == ':') begin = i + 2;
  }
  return std::string(name.substr(begin));
}

}  // namespace

Site detail::call_site() { return running_site; }

void detail::check_exact_type(const char* op, const ModuleBase& module, const std::type_info& type) {
  if (typeid(module) != type)
    fail("[", op, "] ", module.name(), " was given as one of its bases, and a copy would be cut down to that: pass it as its own type");
}

void ModuleBase::fields(Fields&) {}

void ModuleBase::settings(Settings& s) { s.undescribed(); }

Tensor Module::forward(const Tensor&) {
  fail("[", name(), "] has no forward(const Tensor&): override it, or derive from nn::Callable for another signature");
}

Tensor Module::operator()(const Tensor& x, Site site) {
  const CallScope scope(site);
  const detail::CallFrame frame(*this, site);
  return hooked([this](const Tensor& input) { return forward(input); }, x);
}

void ModuleBase::throw_in_layer() {
  using tandem::detail::ErrorPlace;
  try {
    throw;
  } catch (Error& error) {
    const void* inner = ErrorPlace::module_of(error);
    if (!inner) ErrorPlace::set_layer(error, detail::repr(*this), this);
    else if (inner != this)  // a module that `fields` does not name, or a replica, has no path from here
      for (const auto& [path, module] : named_modules())
        if (module == inner) ErrorPlace::add_path(error, path, this);
    throw;
  }
}

int64_t ModuleBase::multiply_adds(std::span<const Tensor>, std::span<const Tensor>) const { return 0; }

std::string ModuleBase::name() const { return last_part(type_name(typeid(*this))); }

std::string ModuleBase::extra_repr() const { return ""; }

std::vector<Tensor> ModuleBase::parameters(Site) const {
  std::vector<Tensor> result;
  detail::Met met;
  detail::walk(*this, false, [&](const Field& field) {
    if (!field.is_parameter()) return;
    if (field.is_pending()) fail_pending(field);
    if (field.tensor->defined() && met.add(*field.tensor)) result.push_back(*field.tensor);
  });
  return result;
}

std::vector<std::pair<std::string, Tensor>> ModuleBase::named_parameters(Site) const {
  std::vector<std::pair<std::string, Tensor>> result;
  detail::Met met;
  detail::walk(*this, true, [&](const Field& field) {
    if (!field.is_parameter()) return;
    if (field.is_pending()) fail_pending(field);
    if (field.tensor->defined() && met.add(*field.tensor)) result.emplace_back(field.name, *field.tensor);
  });
  return result;
}

std::vector<std::pair<std::string, Tensor>> ModuleBase::named_buffers() const {
  std::vector<std::pair<std::string, Tensor>> result;
  detail::Met met;
  detail::walk(*this, true, [&](const Field& field) {
    if (field.is_buffer && field.tensor->defined() && met.add(*field.tensor)) result.emplace_back(field.name, *field.tensor);
  });
  return result;
}

std::vector<Tensor> ModuleBase::buffers() const {
  std::vector<Tensor> result;
  for (auto& [name, tensor] : named_buffers()) result.push_back(std::move(tensor));
  return result;
}

int64_t ModuleBase::num_parameters(Site) const {
  int64_t count = 0;
  for (const Tensor& parameter : parameters()) count += parameter.numel();
  return count;
}

std::vector<std::pair<std::string, ModuleBase*>> ModuleBase::named_modules() {
  std::vector<std::pair<std::string, ModuleBase*>> result;
  detail::walk(*this, true, [&](const Field& field) {
    if (field.is_module()) result.emplace_back(field.name, field.module);
  });
  return result;
}

std::vector<std::pair<std::string, ModuleBase*>> ModuleBase::named_children() {
  struct Children final : Fields {
    std::vector<std::pair<std::string, ModuleBase*>> found;
    void visit(std::string_view name, ModuleBase& module) override { found.emplace_back(name, &module); }
    void visit(std::string_view, Tensor&, Kind) override {}
  } children;
  fields(children);
  return std::move(children.found);
}

bool ModuleBase::has_uninitialized_params() const {
  bool pending = false;
  detail::walk(*this, false, [&](const Field& field) { pending |= field.is_pending(); });
  return pending;
}

void ModuleBase::train(Flag mode) {
  detail::walk(*this, false, [&](const Field& field) {
    if (field.is_module()) field.module->training_ = mode;
  });
}

void ModuleBase::apply_to_all(const std::function<void(ModuleBase&)>& f) {
  for (const auto& [name, child] : named_children()) child->apply_to_all(f);
  f(*this);
}

void ModuleBase::requires_grad_(Flag required) {
  detail::walk(*this, false, [&](const Field& field) {
    if (field.is_parameter() && field.tensor->defined()) field.tensor->requires_grad_(required);
  });
}

void ModuleBase::zero_grad(Flag set_to_none, Site site) {
  const NoGradGuard no_grad;
  detail::walk(*this, false, [&](const Field& field) {
    if (!field.is_parameter() || !field.tensor->defined()) return;
    if (set_to_none) {
      field.tensor->grad() = Tensor();
    } else if (const Tensor grad = field.tensor->grad(); grad.defined()) {
      grad.detach_();
      grad.zero_(site);
    }
  });
}

void ModuleBase::move(std::optional<Device> device, std::optional<DType> dtype, Site site) {
  const NoGradGuard no_grad;
  const Device target = device ? tandem::detail::resolve(*device) : Device();
  if (dtype && !is_floating(*dtype))
    fail("[Module.to] a module's parameters are floating-point numbers: ", scalar_name(*dtype), " is no such dtype");
  const auto moved = [&](const Tensor& tensor) {
    const DType wanted = dtype && tensor.is_floating_point() ? *dtype : tensor.dtype();
    return tensor.to(device ? target : tensor.device(), wanted, {}, site);
  };
  detail::Met met;
  detail::MovedNetworks networks;
  detail::walk(*this, false, [&](const Field& field) {
    if (field.is_module()) return;
    if (field.placement) {
      if (device) field.placement->device = target;
      if (dtype) field.placement->dtype = *dtype;
    }
    if (!field.tensor->defined() || !met.add(*field.tensor)) return;
    // The handle given out stays the tensor it was, so that optimizers and tied modules follow; only the memory behind it is another one.
    const auto replace = [&](const Tensor& tensor) {
      const Tensor other = moved(tensor);
      if (other.is_same(tensor)) return false;
      tensor.impl().replace_storage(other.impl());
      return true;
    };
    if (const Tensor grad = field.tensor->grad(); grad.defined()) replace(grad);
    if (replace(*field.tensor)) networks.add(field);
  });
  networks.flatten(site);
}

detail::Evaluation::Evaluation(ModuleBase& module) {
  for (const auto& [name, part] : module.named_modules()) modes_.emplace_back(part, part->training());
  module.eval();
}

detail::Evaluation::~Evaluation() {
  // Setting a module's mode sets those below it too; they come later in the list and get their own again.
  for (const auto& [module, mode] : modes_) module->train(mode);
}

void initialize(Module& module, const Tensor& input, Site site) {
  if (!module.has_uninitialized_params()) return;
  if (input.dim() == 0 || input.size(0) == 0)
    fail("[initialize] ", module.name(), " needs an input with at least one sample, not one of size ", input.sizes());
  const detail::Evaluation evaluation(module);
  const NoGradGuard no_grad;
  (void)module(input.narrow(0, 0, 1, site), site);
}

}  // namespace tandem::nn
