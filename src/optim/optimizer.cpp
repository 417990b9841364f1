#include "optim/optimizer.h"

#include <unordered_set>

#include "autograd/autograd.h"
#include "base/error.h"
#include "ops/creation.h"
#include "runtime/capture.h"

namespace tandem::optim {
namespace {

std::string state_key(size_t parameter) { return str("state.", parameter, "."); }
std::string group_key(size_t group) { return str("param_groups.", group, "."); }

// Options and counts become tensors, so that whatever can save tensors can save an optimizer.
class Writer final : public detail::Visitor {
 public:
  Writer(StateDict& state, std::string prefix) : state_(state), prefix_(std::move(prefix)) {}
  void operator()(std::string_view name, double& number) override { put(name, tensor(number, kFloat64)); }
  void operator()(std::string_view name, int64_t& number) override { put(name, tensor(number, kInt64)); }
  void operator()(std::string_view name, bool& flag) override { put(name, tensor(flag, kBool)); }
  void operator()(std::string_view name, std::pair<double, double>& numbers) override {
    put(name, tensor({numbers.first, numbers.second}, kFloat64));
  }
  void operator()(std::string_view name, Tensor& tensor) override {
    if (tensor.defined()) put(name, tensor);
  }

 private:
  void put(std::string_view name, const Tensor& value) { state_[prefix_ + std::string(name)] = value; }
  StateDict& state_;
  std::string prefix_;
};

// What the dictionary does not have stays as it is; tensors that it does not have become undefined: no step has made them yet.
class Reader final : public detail::Visitor {
 public:
  /// Tensors are copied to where `parameter` is, or taken as they are where it is undefined.
  Reader(const StateDict& state, std::string prefix, const Tensor& parameter, Site site)
      : state_(state), prefix_(std::move(prefix)), parameter_(parameter), site_(site) {}
  void operator()(std::string_view name, double& number) override {
    if (const Tensor* value = find(name)) number = value->item<double>(site_);
  }
  void operator()(std::string_view name, int64_t& number) override {
    if (const Tensor* value = find(name)) number = value->item<int64_t>(site_);
  }
  void operator()(std::string_view name, bool& flag) override {
    if (const Tensor* value = find(name)) flag = value->item<bool>(site_);
  }
  void operator()(std::string_view name, std::pair<double, double>& numbers) override {
    if (const Tensor* value = find(name)) numbers = {(*value)[0].item<double>(site_), (*value)[1].item<double>(site_)};
  }
  void operator()(std::string_view name, Tensor& tensor) override {
    const Tensor* value = find(name);
    if (!value) tensor = Tensor();
    else if (!parameter_.defined()) tensor = *value;
    else tensor = value->detach().to(parameter_.device(), parameter_.dtype(), {.copy = true}, site_).contiguous(site_);
  }

 private:
  const Tensor* find(std::string_view name) const { return state_.find(prefix_ + std::string(name)); }
  const StateDict& state_;
  std::string prefix_;
  Tensor parameter_;
  Site site_;
};

class SizeChecker final : public detail::Visitor {
 public:
  SizeChecker(const char* optimizer, const StateDict& state, std::string prefix, Shape sizes)
      : optimizer_(optimizer), state_(state), prefix_(std::move(prefix)), sizes_(std::move(sizes)) {}
  void operator()(std::string_view, double&) override {}
  void operator()(std::string_view, int64_t&) override {}
  void operator()(std::string_view, bool&) override {}
  void operator()(std::string_view, std::pair<double, double>&) override {}
  void operator()(std::string_view name, Tensor&) override {
    const std::string key = prefix_ + std::string(name);
    const Tensor* value = state_.find(key);
    if (value && value->sizes() != sizes_)
      fail("[", optimizer_, ".load_state_dict] ", key, " has size ", value->sizes(), ", but its parameter here has ", sizes_);
  }

 private:
  const char* optimizer_;
  const StateDict& state_;
  std::string prefix_;
  Shape sizes_;
};

}  // namespace

void Optimizer::count_in_replays(Device device, std::function<void(int64_t)> count) {
  if (!alive_) alive_ = std::make_shared<char>();
  runtime::capture_of_current_stream(device)->before_replay.emplace_back(
      [alive = std::weak_ptr(alive_), count = std::move(count)](Replay& replay) {
        if (!alive.expired()) count(replay.steps);
      });
}

void Optimizer::check_params(const std::vector<Tensor>& params) {
  if (params.empty())
    fail("[", name(), "] optimizer got an empty parameter list; a module's parameters are those that its fields() names: f(\"fc1\", fc1)");
  std::unordered_set<const TensorImpl*> known;
  for (size_t g = 0; g < group_count(); ++g)
    for (const Tensor& parameter : group(g).params) known.insert(&parameter.impl());
  for (const Tensor& parameter : params) {
    if (!parameter.defined())
      fail("[", name(), "] a parameter is undefined: run a first forward of lazy modules before making the optimizer");
    if (!parameter.is_leaf())
      fail("[", name(), "] can't optimize a non-leaf Tensor (grad_fn=", parameter.grad_fn()->name(),
           "): give it what the result is computed from, or detach() it");
    if (!parameter.is_floating_point())
      fail("[", name(), "] can't optimize a tensor of dtype ", scalar_name(parameter.dtype()), "; convert with to(kFloat32)");
    if (!known.insert(&parameter.impl()).second)
      fail("[", name(), "] some parameters appear in more than one place of the parameter groups: give each once");
  }
}

Shape Optimizer::state_sizes(size_t g, size_t parameter) { return group(g).params[parameter].sizes(); }

void Optimizer::each_option(size_t group, detail::Visitor& visitor) {
  if (group >= group_count()) fail<IndexError>('[', name_, "] there is no group ", group, ": it has ", group_count());
  visit_options(group, visitor);
}

void Optimizer::each_state(size_t group, size_t parameter, detail::Visitor& visitor) {
  if (group >= group_count()) fail<IndexError>('[', name_, "] there is no group ", group, ": it has ", group_count());
  if (const size_t count = this->group(group).params.size(); parameter >= count)
    fail<IndexError>('[', name_, "] there is no parameter ", parameter, " in group ", group, ": it has ", count);
  visit_state(group, parameter, visitor);
}

Tensor Optimizer::step(const Closure& closure, Site site) {
  Tensor loss;
  {
    const EnableGradGuard recorded;
    loss = closure();
  }
  step(site);
  return loss;
}

void Optimizer::zero_grad(Flag set_to_none, Site site) {
  const NoGradGuard no_grad;
  for (size_t g = 0; g < group_count(); ++g) {
    for (const Tensor& parameter : group(g).params) {
      Tensor& grad = parameter.grad();
      if (!grad.defined()) continue;
      if (set_to_none) {
        grad = Tensor();
      } else {
        grad.detach_();
        grad.zero_(site);
      }
    }
  }
}

std::vector<ParamGroupView> Optimizer::param_groups() {
  std::vector<ParamGroupView> groups;
  for (size_t g = 0; g < group_count(); ++g) groups.push_back(group(g));
  return groups;
}

StateDict Optimizer::state_dict() const {
  auto& self = const_cast<Optimizer&>(*this);  // visitors take what they could also set
  StateDict state;
  size_t number = 0;
  for (size_t g = 0; g < group_count(); ++g) {
    const size_t count = self.group(g).params.size();
    std::vector<int64_t> numbers;
    for (size_t i = 0; i < count; ++i, ++number) {
      Writer writer(state, state_key(number));
      self.visit_state(g, i, writer);
      numbers.push_back(static_cast<int64_t>(number));
    }
    Writer writer(state, group_key(g));
    self.visit_options(g, writer);
    state[group_key(g) + "params"] = tensor(numbers, kInt64);
  }
  return state;
}

void Optimizer::check_fits(const StateDict& state) {
  size_t number = 0, g = 0;
  for (; g < group_count(); ++g) {
    const auto& params = group(g).params;
    const Tensor* numbers = state.find(group_key(g) + "params");
    if (!numbers)
      fail("[", name(), ".load_state_dict] loaded state dict has a different number of parameter groups: ", g, ", not ", group_count());
    if (numbers->numel() != static_cast<int64_t>(params.size()))
      fail("[", name(), ".load_state_dict] loaded state dict contains a parameter group that doesn't match the size of optimizer's group: ",
           numbers->numel(), " parameters in group ", g, ", not ", params.size());
    for (size_t i = 0; i < params.size(); ++i, ++number) {
      SizeChecker checker(name(), state, state_key(number), state_sizes(g, i));
      visit_state(g, i, checker);
    }
  }
  if (state.contains(group_key(g) + "params"))
    fail("[", name(), ".load_state_dict] loaded state dict has a different number of parameter groups: more than ", group_count());
}

void Optimizer::load_state_dict(const StateDict& state, Site site) {
  const NoGradGuard no_grad;
  check_fits(state);
  const auto take = [&](const StateDict& from, bool copied) {
    size_t number = 0;
    for (size_t g = 0; g < group_count(); ++g) {
      const auto& params = group(g).params;
      for (size_t i = 0; i < params.size(); ++i, ++number) {
        Reader reader(from, state_key(number), copied ? params[i] : Tensor(), site);
        visit_state(g, i, reader);
      }
      Reader reader(from, group_key(g), Tensor(), site);
      visit_options(g, reader);
    }
  };
  // What cannot be read is found, and memory runs out, in the middle: then all is again as it was, with the very same tensors.
  const StateDict before = state_dict();
  try {
    take(state, true);
  } catch (...) {
    take(before, false);
    throw;
  }
}

}  // namespace tandem::optim
