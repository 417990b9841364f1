// Hooks around each unit's module gather its parameters and give them up; a hook on its outputs gathers them again before its backward; its
// leaves' accumulation reduces their gradients. The order of the first forward says which unit is wanted next, and is gathered ahead.
#include "parallel/fully_sharded.h"

#include <algorithm>
#include <unordered_map>

#include "autograd/autograd.h"
#include "base/error.h"
#include "comm/api/world.h"
#include "nn/attention.h"
#include "nn/transformer.h"
#include "nn/utils.h"
#include "nn/walk.h"
#include "ops/arithmetic.h"
#include "ops/creation.h"
#include "ops/operators.h"
#include "ops/pointwise.h"
#include "ops/reduce.h"
#include "parallel/agreement.h"
#include "parallel/backward_watch.h"
#include "parallel/divided_among.h"
#include "parallel/optimizer_state.h"
#include "parallel/shard_files.h"
#include "parallel/shard_units.h"

namespace tandem::parallel::detail {
namespace {

constexpr const char* kName = "FullyShardedDataParallel";
constexpr int64_t kSmallUnit = 4096;  // elements: fewer are gathered with the root, where one collective does for many

bool is_whole_layer(const nn::ModuleBase& module) {
  return dynamic_cast<const nn::MultiheadAttention*>(&module) || dynamic_cast<const nn::TransformerEncoderLayer*>(&module) ||
         dynamic_cast<const nn::TransformerDecoderLayer*>(&module);
}

}  // namespace

struct Shards::State {
  State(nn::ModuleBase& wrapped, const FullyShardedOptions& options)
      : module(wrapped), group(options.process_group), is_unit(options.is_unit), broadcast_buffers(options.broadcast_buffers) {}
  ~State() {
    for (nn::HookHandle& hook : module_hooks) hook.remove();
    for (const Tensor& leaf : taken) autograd::set_divided_gradient(leaf, nullptr);
  }

  void start(const std::shared_ptr<State>& self, Site site);
  void divide(Site site);
  void hook();
  void send_buffers(bool training, Site site);
  void enter(size_t unit, bool backward);
  void leave(size_t unit, std::span<const Tensor> outputs);
  void watch(size_t unit, std::span<const Tensor> outputs);
  void gather_ahead(size_t unit, bool backward);
  void meet_backward();
  void arrived(size_t unit, size_t member, const Tensor& gradient);
  void reduce(size_t unit);
  void finish_backward();
  [[nodiscard]] StateLayout layout_of(const char* op, optim::Optimizer& optimizer) const;

  nn::ModuleBase& module;
  distributed::ProcessGroup group;
  std::function<bool(const nn::ModuleBase&)> is_unit;
  bool broadcast_buffers;
  std::string label;  // of this wrapper's collectives
  SharedBuffers shared_buffers;
  std::vector<ShardUnit> units;
  size_t roots = 0;  // the first units are the root's: whole from the start of forward to its end, and in backward
  std::vector<nn::HookHandle> module_hooks;
  std::vector<Tensor> taken;  // leaves whose gradients come here
  std::vector<size_t> order;  // of the units in the first forward
  std::vector<size_t> place;  // in `order`, by unit; none: npos
  bool order_known = false;
  BackwardWatch backward;
  std::weak_ptr<State> self;
  Site site = Site::none();
};

namespace {

constexpr size_t kNowhere = static_cast<size_t>(-1);

/// Where the engine brings a member's gradient.
class Taker final : public DividedAmong {
 public:
  using Arrived = std::function<void(const Tensor&)>;
  Taker(const distributed::ProcessGroup& group, Arrived arrived) : DividedAmong(group), arrived_(std::move(arrived)) {}
  bool take(const Tensor& /*leaf*/, const Tensor& gradient) override {
    arrived_(gradient);
    return true;
  }

 private:
  Arrived arrived_;
};

}  // namespace

void Shards::State::start(const std::shared_ptr<State>& own, Site here) {
  site = here;
  self = own;
  (void)comm::require_world(kName);
  if (group.rank() < 0) fail("[", kName, "] this rank is not in the group: make it on the group's ranks only (group.is_member())");
  if (module.has_uninitialized_params())
    fail("[", kName, "] parameters of ", module.name(), " have no values yet: run a first forward, or call nn::initialize(module, input)");
  const NamedTensors all = module.named_parameters(), buffers = module.named_buffers();
  if (all.empty()) fail("[", kName, "] ", module.name(), " has no parameters, so there is nothing to divide");
  std::vector<Tensor> values;
  for (const NamedTensors* list : {&all, &buffers}) {
    for (const auto& [name, tensor] : *list) {
      if (tensor.device() != all[0].second.device())
        fail("[", kName, "] parameters and buffers must be on one device, but '", all[0].first, "' is on ", all[0].second.device(),
             " and '", name, "' on ", tensor.device());
      tensor.impl().check_bytes();  // in shards already
      values.push_back(tensor);
    }
    if (list == &buffers) shared_buffers = SharedBuffers({values.end() - static_cast<std::ptrdiff_t>(buffers.size()), values.end()});
  }
  check_alike(kName, "parameter", all, group, site);
  check_alike(kName, "buffer", buffers, group, site);
  broadcast_values(values, 0, group, site);
  divide(site);
  hook();
}

/// Which parameters belong to which module's unit. Those that several units use, small ones, and the root's own, are the root's.
void Shards::State::divide(Site here) {
  std::unordered_map<const nn::ModuleBase*, nn::ModuleBase*> unit_of;  // by module
  std::vector<nn::ModuleBase*> modules{&module};
  std::unordered_map<const nn::ModuleBase*, std::string> names;
  const auto starts_unit = [&](const nn::ModuleBase& part, bool has_own) {
    return is_unit ? is_unit(part) : has_own || is_whole_layer(part);
  };
  const std::function<void(nn::ModuleBase&, const std::string&, nn::ModuleBase&, bool)> visit =
      [&](nn::ModuleBase& part, const std::string& name, nn::ModuleBase& above, bool whole) {
        bool has_own = false;
        nn::detail::walk(part, false, [&](const nn::detail::Field& field) {
          has_own |= field.module == &part && field.is_parameter() && field.tensor->defined();
        });
        nn::ModuleBase* unit = &above;
        bool keeps_all_below = whole;
        if (!whole && &part != &module && starts_unit(part, has_own)) {
          unit = &part;
          keeps_all_below = is_unit != nullptr || is_whole_layer(part);
          modules.push_back(&part);
          names[&part] = name;
        }
        unit_of[&part] = unit;
        for (const auto& [child, below] : part.named_children())
          visit(*below, name.empty() ? child : name + "." + child, keeps_all_below ? *unit : module, keeps_all_below);
      };
  visit(module, "", module, false);

  struct Found {
    std::string name;
    Tensor tensor;
    nn::ModuleBase* unit;
  };
  std::vector<Found> parameters;
  std::unordered_map<const TensorImpl*, size_t> known;
  nn::detail::walk(module, true, [&](const nn::detail::Field& field) {
    if (!field.is_parameter() || !field.tensor->defined()) return;
    nn::ModuleBase* unit = unit_of.at(field.module);
    const auto [at, fresh] = known.try_emplace(&field.tensor->impl(), parameters.size());
    if (fresh) parameters.push_back({std::string(field.name), *field.tensor, unit});
    else if (parameters[at->second].unit != unit) parameters[at->second].unit = &module;
  });
  std::unordered_map<const nn::ModuleBase*, int64_t> sizes;
  for (const Found& parameter : parameters) sizes[parameter.unit] += parameter.tensor.numel();
  if (!is_unit)
    for (Found& parameter : parameters)
      if (sizes[parameter.unit] < kSmallUnit) parameter.unit = &module;

  label = str(kName, ' ', group.next_number(), ": ");
  for (nn::ModuleBase* owner : modules) {
    // One unit for each dtype, and for those that are trained and those that are not.
    std::vector<NamedTensors> kinds;
    for (const Found& parameter : parameters) {
      if (parameter.unit != owner) continue;
      const auto same = [&](const NamedTensors& kind) {
        return kind[0].second.dtype() == parameter.tensor.dtype() && kind[0].second.requires_grad() == parameter.tensor.requires_grad();
      };
      const auto found = std::find_if(kinds.begin(), kinds.end(), same);
      (found == kinds.end() ? kinds.emplace_back() : *found).emplace_back(parameter.name, parameter.tensor);
    }
    for (size_t i = 0; i < kinds.size(); ++i) {
      const std::string name = (owner == &module ? "" : names[owner] + ".") + (i ? str("flat_param_", i) : "flat_param");
      units.emplace_back(name, label, *owner, std::move(kinds[i]), group, here);
    }
    if (owner == &module) roots = units.size();
  }
  place.assign(units.size(), kNowhere);
}

void Shards::State::hook() {
  for (size_t u = 0; u < units.size(); ++u) {
    if (u >= roots) {
      nn::ModuleBase& part = units[u].module();
      module_hooks.push_back(part.register_forward_pre_hook([this, u](nn::ModuleBase&, std::span<Tensor>) { enter(u, false); }));
      module_hooks.push_back(part.register_forward_hook(
          [this, u](nn::ModuleBase&, std::span<const Tensor>, std::span<Tensor> outputs) { leave(u, outputs); }));
    }
    if (!units[u].requires_grad()) continue;
    for (size_t m = 0; m < units[u].members().size(); ++m) {
      const Tensor& leaf = units[u].members()[m].whole;
      autograd::set_divided_gradient(leaf,
                                     std::make_shared<Taker>(group, [this, u, m](const Tensor& gradient) { arrived(u, m, gradient); }));
      taken.push_back(leaf);
    }
  }
}

void Shards::State::send_buffers(bool training, Site here) {
  if (broadcast_buffers) shared_buffers.send(training, 0, group, here, label + "buffers");
}

/// The unit's parameters are wanted from here on, by the module's forward or backward.
void Shards::State::enter(size_t u, bool backward) {
  units[u].gather(site);
  if (u < roots) return;
  if (!order_known && !backward && place[u] == kNowhere) {
    place[u] = order.size();
    order.push_back(u);
  }
  gather_ahead(u, backward);
}

void Shards::State::gather_ahead(size_t u, bool backward) {
  if (!order_known || place[u] == kNowhere) return;
  const size_t at = place[u];
  if (backward ? at == 0 : at + 1 >= order.size()) return;
  units[order[backward ? at - 1 : at + 1]].begin_gather(site);
}

void Shards::State::leave(size_t u, std::span<const Tensor> outputs) {
  watch(u, outputs);
  units[u].release();
}

/// Before the backward of the module that made these, the unit is gathered again.
void Shards::State::watch(size_t u, std::span<const Tensor> outputs) {
  if (!is_grad_enabled()) return;
  for (const Tensor& output : outputs) {
    if (!output.defined() || !output.requires_grad()) continue;
    output.register_hook([weak = self, u](const Tensor&) {
      if (const auto state = weak.lock()) {
        if (is_grad_enabled())
          fail("[", kName,
               "] create_graph and parameters in shards do not go together: the gradients' graph would use the parameters when they "
               "are given up already. Use DistributedDataParallel for gradients of gradients");
        state->meet_backward();
        state->enter(u, true);
      }
      return Tensor();
    });
  }
}

void Shards::State::meet_backward() {
  if (!backward.meets_new([state = self.lock()] { state->finish_backward(); })) return;
  for (ShardUnit& unit : units) unit.begin_backward(site);
}

void Shards::State::arrived(size_t u, size_t member, const Tensor& gradient) {
  meet_backward();
  if (units[u].add_gradient(member, gradient, site) && u >= roots) reduce(u);
}

/// The unit's part of backward is over: its gradients go to the shards, and one unit's at a time are on their way.
void Shards::State::reduce(size_t u) {
  units[u].release();
  for (ShardUnit& other : units) other.finish_reduce(site);
  units[u].begin_reduce(site);
}

void Shards::State::finish_backward() {
  for (size_t u = units.size(); u-- > 0;) {
    units[u].release();
    if (units[u].has_gradients()) reduce(u);
  }
  for (ShardUnit& unit : units) unit.finish_reduce(site);
}

Shards::Shards(nn::ModuleBase& module, const FullyShardedOptions& options, Site site) : state_(std::make_shared<State>(module, options)) {
  state_->start(state_, site);
}

void Shards::before_forward(Site site) const {
  State& s = *state_;
  s.site = site;
  for (const ShardUnit& unit : s.units)
    if (is_grad_enabled()) unit.check_trained(kName);
  for (size_t u = 0; u < s.units.size(); ++u) {
    s.units[u].release();  // what an error or an earlier forward left
    s.units[u].follow_gradients(site);
    if (u < s.roots) s.enter(u, false);
  }
  s.send_buffers(s.module.training(), site);
  if (s.order_known && !s.order.empty()) s.units[s.order[0]].begin_gather(site);
}

void Shards::after_forward(std::span<const Tensor> outputs, Site) const {
  State& s = *state_;
  s.order_known = true;
  for (size_t u = 0; u < s.units.size(); ++u) {
    if (u < s.roots) s.watch(u, outputs);
    s.units[u].release();
  }
}

std::vector<std::pair<std::string, Tensor>> Shards::named_parameters() const {
  std::vector<std::pair<std::string, Tensor>> result;
  for (const ShardUnit& unit : state_->units) result.emplace_back(unit.name(), unit.shard());
  return result;
}

std::vector<Tensor> Shards::parameters() const {
  std::vector<Tensor> result;
  for (const ShardUnit& unit : state_->units)
    if (unit.requires_grad()) result.push_back(unit.shard());
  return result;
}

int64_t Shards::local_parameter_bytes() const {
  int64_t bytes = 0;
  for (const ShardUnit& unit : state_->units) bytes += static_cast<int64_t>(unit.shard().nbytes());
  return bytes;
}

StateDict Shards::full_state_dict(Site site) const {
  const NoGradGuard no_grad;
  State& s = *state_;
  s.send_buffers(false, site);
  StateDict whole = s.module.state_dict();  // in its order; parameters are filled in
  std::unordered_map<const TensorImpl*, Tensor> values;
  for (ShardUnit& unit : s.units) {
    unit.gather(site);
    for (const auto& member : unit.members()) values[&member.whole.impl()] = member.whole.detach().clone(site);
    unit.release();
  }
  nn::detail::walk(s.module, true, [&](const nn::detail::Field& field) {
    if (field.is_parameter() && field.tensor->defined()) whole[field.name] = values.at(&field.tensor->impl());
  });
  return whole;
}

void Shards::load_full_state_dict(const StateDict& state, Site site) const {
  const NoGradGuard no_grad;
  State& s = *state_;
  const StateDict own = s.module.state_dict();
  for (const auto& [name, tensor] : own) {
    const Tensor* value = state.find(name);
    if (!value) fail("[", kName, ".load_full_state_dict] there is no '", name, "' in the state");
    if (value->sizes() != tensor.sizes())
      fail("[", kName, ".load_full_state_dict] '", name, "' has size ", value->sizes(), ", but here it has ", tensor.sizes());
  }
  for (const auto& [name, tensor] : state)
    if (!own.contains(name)) fail("[", kName, ".load_full_state_dict] the module has no '", name, "'");
  for (const ShardUnit& unit : s.units) {
    unit.each_local_part([&](size_t member, int64_t from, int64_t to, int64_t count) {
      const Tensor value = state.at(unit.members()[member].name).detach().contiguous(site).view({-1}, site);
      unit.shard().detach().narrow(0, to, count, site).copy_(value.narrow(0, from, count, site), false, site);
    });
  }
  for (const auto& [name, buffer] : s.module.named_buffers())
    if (const Tensor* value = state.find(name)) buffer.copy_(*value, false, site);
}

void Shards::save(const std::string& folder, Site site) const {
  State& s = *state_;
  std::vector<ShardPart> parts;
  for (const ShardUnit& unit : s.units) {
    unit.each_local_part([&](size_t member, int64_t from, int64_t to, int64_t count) {
      const ShardUnit::Member& of = unit.members()[member];
      parts.push_back({of.name, of.whole.sizes(), from, unit.shard().detach().narrow(0, to, count)});
    });
  }
  if (s.group.rank() == 0)
    for (const auto& [name, buffer] : s.module.named_buffers())
      parts.push_back({name, buffer.sizes(), 0, buffer.detach().contiguous().view({-1})});
  save_shard_files(folder, parts, s.group, site);
}

void Shards::load(const std::string& folder, Site site) const {
  const NoGradGuard no_grad;
  State& s = *state_;
  const ShardFiles files(folder, site);
  const StateDict own = s.module.state_dict();
  for (const ShardUnit& unit : s.units)  // a tied parameter is there once, under its first name
    for (const ShardUnit::Member& member : unit.members()) files.check(member.name, member.whole.sizes());
  for (const auto& [name, buffer] : s.module.named_buffers())
    if (own.contains(name)) files.check(name, buffer.sizes());
  for (const ShardUnit& unit : s.units) {
    unit.each_local_part([&](size_t member, int64_t from, int64_t to, int64_t count) {
      files.read(unit.members()[member].name, from, unit.shard().detach().narrow(0, to, count, site));
    });
  }
  for (const auto& [name, buffer] : s.module.named_buffers()) {
    if (!own.contains(name)) continue;
    const Tensor values = empty({buffer.numel()}, buffer.dtype(), site);
    files.read(name, 0, values);
    buffer.copy_(values.view(buffer.sizes()), false, site);
  }
  distributed::barrier({.group = s.group}, site);
}

/// The shards of the optimizer's groups, and the module's parameters that lie in them, in the module's order.
StateLayout Shards::State::layout_of(const char* op, optim::Optimizer& optimizer) const {
  std::unordered_map<const TensorImpl*, const ShardUnit*> unit_of;
  for (const ShardUnit& unit : units) unit_of[&unit.shard().impl()] = &unit;
  const NamedTensors all = module.named_parameters();
  StateLayout layout;
  for (const optim::ParamGroupView& group_of : optimizer.param_groups()) {
    std::unordered_map<const TensorImpl*, size_t> numbers;  // of the group's parameters; first of all they are only known
    for (const Tensor& leaf : group_of.params) {
      const auto unit = unit_of.find(&leaf.impl());
      if (unit == unit_of.end())
        fail("[", kName, ".", op, "] the optimizer has a parameter of size ", leaf.sizes(),
             " that is no shard of this module: make it of the wrapper's parameters()");
      for (const ShardUnit::Member& member : unit->second->members()) numbers[&member.whole.impl()] = 0;
    }
    for (const auto& [name, parameter] : all) {
      const auto number = numbers.find(&parameter.impl());
      if (number == numbers.end()) continue;
      number->second = layout.parameters.size();
      layout.parameters.push_back(parameter);
    }
    for (const Tensor& leaf : group_of.params) {
      const ShardUnit& unit = *unit_of.at(&leaf.impl());
      unit.each_local_part([&](size_t member, int64_t from, int64_t to, int64_t count) {
        layout.parts.push_back({layout.leaves.size(), to, numbers.at(&unit.members()[member].whole.impl()), from, count});
      });
      layout.leaves.push_back(leaf.sizes());
    }
    layout.group_sizes.push_back(numbers.size());
    layout.leaves_groups.push_back(group_of.params.size());
  }
  return layout;
}

StateDict Shards::optim_state_dict(optim::Optimizer& optimizer, Site site) const {
  return whole_state(optimizer.state_dict(), state_->layout_of("optim_state_dict", optimizer), state_->group, site);
}

void Shards::load_optim_state_dict(optim::Optimizer& optimizer, const StateDict& state, Site site) const {
  const StateLayout layout = state_->layout_of("load_optim_state_dict", optimizer);
  optimizer.load_state_dict(divided_state("FullyShardedDataParallel.load_optim_state_dict", state, layout), site);
}

Tensor Shards::clip_grad_norm_(double max_norm, double norm_type, Site site) const {
  return nn::utils::clip_grad_norm_(parameters(), max_norm, norm_type, site);
}

}  // namespace tandem::parallel::detail
