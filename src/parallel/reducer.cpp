// A hook on the outputs of a forward says whether the backward that comes through them is to be averaged. In one that is, a leaf's
// accumulation puts its gradient into its bucket. Buckets are reduced strictly in the order of their numbers, as the order in which
// gradients become ready may differ between ranks; the end of backward waits for them all.
#include "parallel/reducer.h"

#include <algorithm>
#include <mutex>
#include <unordered_set>

#include "autograd/autograd.h"
#include "autograd/divided.h"
#include "autograd/history.h"
#include "base/error.h"
#include "base/wait_scope.h"
#include "comm/api/world.h"
#include "ops/creation.h"
#include "parallel/agreement.h"
#include "parallel/backward_watch.h"
#include "parallel/buckets.h"
#include "parallel/gradient_buckets.h"
#include "parallel/used_leaves.h"

namespace tandem::parallel::detail {
namespace {

constexpr const char* kName = "DistributedDataParallel";

/// Parameters whose gradients some reducer averages: a second one would average them again.
class Claims {
 public:
  /// Error where the parameter has one already.
  void add(const Parameter& parameter) {
    const std::lock_guard lock(mutex_);
    if (!claimed_.insert(&parameter.tensor.impl()).second)
      fail("[", kName, "] the gradients of '", parameter.name,
           "' are averaged by another DistributedDataParallel already: wrap a module once, and none of its parts");
  }
  void remove(const Parameter& parameter) {
    const std::lock_guard lock(mutex_);
    claimed_.erase(&parameter.tensor.impl());
  }

 private:
  std::mutex mutex_;
  std::unordered_set<const TensorImpl*> claimed_;
};
Claims& claims() {
  static Claims all;
  return all;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < 10; ++i) text += (i ? ", '" : "'") + names[i] + "'";
  return names.size() > 10 ? str(text, " and ", names.size() - 10, " more") : text;
}

/// The last forward whose backward is to be averaged and has not been yet.
enum class Forward : uint8_t {
  None,
  Unseen,  // some of its outputs could have no hook, so any backward may be its
  Seen,
};
/// Whether the backward under way is to be averaged, by the forward that it came through.
enum class Origin : uint8_t {
  Unknown,
  Quiet,  // one within no_sync
  Averaged,
};
/// How far the average of a step is.
enum class Average : uint8_t {
  None,
  Begun,
  Waiting,  // the backward has ended before all gradients were there: another one is to bring the others
};
/// The order in which gradients came in the first average.
enum class Order : uint8_t {
  Unknown,
  Known,
  Used,  // the buckets stand in it
};

/// A forward whose backward is averaged; it lives as long as its graph.
struct Pass {
  std::vector<size_t> unused;  // parameters that the outputs do not depend on, where they are looked for
};

}  // namespace

struct Reducer::State {
  State(nn::ModuleBase& wrapped, DistributedDataParallelOptions given) : module(wrapped), options(std::move(given)) {}
  ~State() {
    for (size_t i = 0; i < hooks.size(); ++i) parameters[i].tensor.remove_hook(hooks[i]);
    for (size_t i = 0; i < claimed; ++i) claims().remove(parameters[i]);
  }

  void start(Site site);
  void check_unchanged() const;
  void check_finished();
  void plan(const std::vector<size_t>& order, Site site);
  void rebuild(Site site);
  void send_buffers(Site site);
  void watch(const std::vector<Tensor>& outputs, const std::shared_ptr<const Pass>& pass);
  void meet_backward();
  void begin_average();
  void arrived(size_t number);
  void mark(size_t number);
  void mark_unused();
  void reduce_full_buckets();
  void reduce(Bucket& bucket);
  void begin_reduce(Bucket& bucket, bool beside, Site site);
  void end_backward();
  void finish();
  void give_up();
  void take_where_others_have(Bucket& bucket);
  /// What all ranks do next in a join: whether any is still at work, and whether gradients are averaged.
  struct Round {
    bool at_work = false, averaged = false;
  };
  Round exchange(double own, bool averages, Site site);
  bool shadow(Site site);

  nn::ModuleBase& module;
  DistributedDataParallelOptions options;
  distributed::ProcessGroup& group = options.process_group;
  Device device;
  std::string label;  // of this wrapper's collectives
  std::vector<Parameter> parameters;
  std::vector<std::pair<std::string, Tensor>> frozen;  // parameters that required no gradient
  SharedBuffers buffers;
  std::vector<int64_t> hooks;
  size_t claimed = 0;
  std::vector<Bucket> buckets;
  Site site = Site::none();

  bool averaging = true;  // as no_sync leaves it
  double scale = 1;
  std::weak_ptr<State> self;

  Forward forward = Forward::None;
  std::vector<std::weak_ptr<const Pass>> passes;

  BackwardWatch backward;
  Origin origin = Origin::Unknown;
  std::vector<size_t> early;  // gradients that came before it was known to be averaged
  Average average = Average::None;
  size_t next = 0;  // the bucket to be reduced next
  Order order_is = Order::Unknown;
  std::vector<size_t> order;

  bool joining = false;
  double weight = 1;
  int source = 0;  // whose buffers count; in a join, the first rank that is still at work
};

void Reducer::State::start(Site here) {
  site = here;
  (void)comm::require_world(kName);
  if (group.rank() < 0) fail("[", kName, "] this rank is not in the group: make it on the group's ranks only (group.is_member())");
  if (!(options.bucket_cap_mb > 0)) fail("[", kName, "] bucket_cap_mb must be positive, not ", options.bucket_cap_mb);
  if (module.has_uninitialized_params())
    fail("[", kName, "] parameters of ", module.name(), " have no values yet: run a first forward, or call nn::initialize(module, input)");
  NamedTensors all = module.named_parameters();
  for (const auto& [name, tensor] : all) {
    if (tensor.device() != all[0].second.device())
      fail("[", kName, "] parameters must be on one device, but '", all[0].first, "' is on ", all[0].second.device(), " and '", name,
           "' on ", tensor.device());
    if (tensor.requires_grad()) parameters.push_back({.name = name, .tensor = tensor, .view = {}});
    else frozen.emplace_back(name, tensor);
  }
  if (parameters.empty())
    fail("[", kName, "] ", module.name(), " has no parameter that requires a gradient, so there is nothing to average");
  device = parameters[0].tensor.device();
  const NamedTensors named_buffers = module.named_buffers();
  check_alike(kName, "parameter", all, group, site);
  check_alike(kName, "buffer", named_buffers, group, site);
  for (const Parameter& parameter : parameters) {
    claims().add(parameter);
    ++claimed;
  }
  std::vector<Tensor> values;
  for (const auto& [name, tensor] : named_buffers) {
    if (tensor.device() != device)
      fail("[", kName, "] buffer '", name, "' is on ", tensor.device(), ", but the parameters are on ", device);
    values.push_back(tensor);
  }
  buffers = SharedBuffers(values);
  label = str(kName, ' ', group.next_number(), ": ");
  for (const auto& [name, tensor] : all) values.push_back(tensor);
  broadcast_values(values, 0, group, site);

  std::vector<size_t> reversed(parameters.size());
  for (size_t i = 0; i < reversed.size(); ++i) reversed[i] = reversed.size() - 1 - i;
  plan(reversed, site);
  scale = 1.0 / group.size();
  for (size_t i = 0; i < parameters.size(); ++i)
    hooks.push_back(parameters[i].tensor.register_post_accumulate_grad_hook([this, i](const Tensor&) { arrived(i); }));
}

void Reducer::State::plan(const std::vector<size_t>& in_order, Site here) {
  std::vector<BucketItem> items;
  for (const size_t i : in_order) items.push_back({i, parameters[i].tensor.nbytes(), parameters[i].tensor.dtype()});
  const auto bytes = static_cast<size_t>(options.bucket_cap_mb * 1024 * 1024);
  buckets =
      make_buckets(parameters, plan_buckets(items, std::min(kFirstBucketBytes, bytes), bytes), options.find_unused_parameters, group, here);
}

/// Buckets in the order of rank 0's first backward.
void Reducer::State::rebuild(Site here) {
  if (order_is != Order::Known) return;
  order_is = Order::Used;
  std::vector<bool> known(parameters.size(), false);
  for (const size_t i : order) known[i] = true;
  for (size_t i = parameters.size(); i-- > 0;)
    if (!known[i]) order.push_back(i);
  const Tensor agreed = tensor(std::vector<int64_t>(order.begin(), order.end()), kInt64);
  broadcast_values({agreed}, 0, group, here, label + "order");
  const auto* first = agreed.data_ptr<int64_t>();
  plan(std::vector<size_t>(first, first + agreed.numel()), here);
}

void Reducer::State::check_unchanged() const {
  for (const Parameter& parameter : parameters) {
    if (!parameter.tensor.requires_grad())
      fail("[", kName, "] '", parameter.name, "' requires no gradient any more: make the DistributedDataParallel anew after such a change");
    if (autograd::divided_gradient(parameter.tensor))
      fail("[", kName, "] the gradient of '", parameter.name,
           "' is averaged by a ZeroRedundancyOptimizer with shard_gradients: leave the DistributedDataParallel out, or shard_gradients");
    if (parameter.tensor.device() != device || parameter.tensor.dtype() != parameter.view.dtype())
      fail("[", kName, "] '", parameter.name, "' is now ", parameter.tensor.dtype(), " on ", parameter.tensor.device(), ", but was ",
           parameter.view.dtype(), " on ", device, ": move a module before it is wrapped");
  }
  for (const auto& [name, tensor] : frozen)
    if (tensor.requires_grad())
      fail("[", kName, "] '", name, "' requires a gradient now, which nobody averages: make the DistributedDataParallel anew");
}

void Reducer::State::check_finished() {
  if (average == Average::None) return;
  std::vector<std::string> missing;
  for (const Parameter& parameter : parameters)
    if (!parameter.ready) missing.push_back(parameter.name);
  const bool by_error = average == Average::Begun;
  forward = Forward::None;
  give_up();
  if (by_error) return;  // whoever caught it knows
  const std::string advice = "let all outputs of forward take part in the loss; where parameters are not used in every step, say ";
  fail("[", kName, "] the step before has not been averaged: on rank ", group.rank(), " no gradient came for ", listed(missing), ". Hint: ",
       options.find_unused_parameters ? Hint("all outputs of forward must take part in the loss")
                                      : Hint(advice + "{.find_unused_parameters = true}", advice + "find_unused_parameters=True"));
}

void Reducer::State::send_buffers(Site here) {
  if (options.broadcast_buffers) buffers.send(module.training(), source, group, here, label + "buffers");
}

/// Backwards that come through these outputs are averaged, or, without a pass, stay on their rank.
void Reducer::State::watch(const std::vector<Tensor>& outputs, const std::shared_ptr<const Pass>& pass) {
  for (const Tensor& output : outputs) {
    output.register_hook([weak = self, pass](const Tensor&) {
      if (const auto state = weak.lock()) {
        state->meet_backward();
        state->origin = std::max(state->origin, pass ? Origin::Averaged : Origin::Quiet);
      }
      return Tensor();
    });
  }
}

void Reducer::State::meet_backward() {
  if (!backward.meets_new([this] { end_backward(); })) return;
  origin = Origin::Unknown;
  early.clear();
  if (average == Average::Begun) give_up();  // of one that ended by an error
}

void Reducer::State::begin_average() {
  origin = Origin::Averaged;
  if (average == Average::None) {
    next = 0;
    for (Parameter& parameter : parameters) parameter.ready = false;
    for (Bucket& bucket : buckets) bucket.waiting = bucket.members.size();
    mark_unused();
  }
  average = Average::Begun;
  for (const size_t i : std::exchange(early, {})) mark(i);
}

void Reducer::State::arrived(size_t number) {
  meet_backward();
  // Where a forward's outputs could not be seen, its backward is the next one.
  const bool unseen = forward == Forward::Unseen && origin != Origin::Quiet;
  early.push_back(number);
  if (origin != Origin::Averaged && !unseen) return;
  begin_average();
  reduce_full_buckets();
}

/// What no graph that is alive depends on gets no gradient in this backward.
void Reducer::State::mark_unused() {
  if (!options.find_unused_parameters) return;
  std::vector<size_t> count(parameters.size(), 0);
  size_t alive = 0;
  for (const auto& weak : passes) {
    const auto pass = weak.lock();
    if (!pass) continue;
    ++alive;
    for (const size_t i : pass->unused) ++count[i];
  }
  const auto came = [&](size_t i) { return std::find(early.begin(), early.end(), i) != early.end(); };
  for (size_t i = 0; i < count.size() && alive > 0; ++i)
    if (count[i] == alive && !came(i)) mark(i);
}

void Reducer::State::mark(size_t number) {
  Parameter& parameter = parameters[number];
  if (parameter.ready)
    fail("[", kName, "] '", parameter.name,
         "' got a gradient twice in one step: call backward once for each forward, on a sum where there are several losses");
  put_into_bucket(parameter, scale, site);
  parameter.ready = true;
  if (order_is == Order::Unknown && !parameter.without_grad) order.push_back(number);
  --buckets[parameter.bucket].waiting;
}

void Reducer::State::reduce_full_buckets() {
  while (next < buckets.size() && buckets[next].waiting == 0) reduce(buckets[next++]);
}

void Reducer::State::reduce(Bucket& bucket) {
  if (bucket.flags.defined()) {
    std::vector<double> flags;
    for (const size_t i : bucket.members) flags.push_back(parameters[i].without_grad ? 0 : 1);
    bucket.flags.copy_(tensor(flags, bucket.flags.dtype()), false, site);
  }
  // What comes last has nothing beside it: on the CPU the calling thread does it itself.
  const bool beside = device.is_cuda() || &bucket != &buckets.back();
  begin_reduce(bucket, beside, site);
}

void Reducer::State::begin_reduce(Bucket& bucket, bool beside, Site here) {
  const std::string which = str(label, "bucket ", &bucket - buckets.data());
  bucket.work = distributed::all_reduce(bucket.flat, distributed::ReduceOp::SUM, {group, beside, which}, here);
}

void Reducer::State::end_backward() {
  // One that met no output at all can still be a forward's: of a gradient's norm, say.
  if (!early.empty() && origin == Origin::Unknown && forward != Forward::None) begin_average();
  early.clear();
  if (std::exchange(origin, Origin::Unknown) != Origin::Averaged || average == Average::None) return;
  if (options.find_unused_parameters) {
    for (size_t i = 0; i < parameters.size(); ++i)
      if (!parameters[i].ready) mark(i);
  }
  reduce_full_buckets();
  if (next < buckets.size()) average = Average::Waiting;
  else finish();
}

void Reducer::State::finish() {
  for (Bucket& bucket : buckets) std::exchange(bucket.work, {}).wait(site);
  if (options.find_unused_parameters)
    for (Bucket& bucket : buckets) take_where_others_have(bucket);
  forward = Forward::None;
  average = Average::None;
  if (order_is == Order::Unknown && !order.empty()) order_is = Order::Known;
}

/// An average that will not come to its end: what is on its way is waited for, as its memory is used again.
void Reducer::State::give_up() {
  average = Average::None;
  if (order_is == Order::Unknown) order.clear();
  for (Bucket& bucket : buckets) std::exchange(bucket.work, {}).wait(site);
}

/// A parameter without a gradient here gets the others', unless nobody has one: then it stays without.
void Reducer::State::take_where_others_have(Bucket& bucket) {
  const NoGradGuard no_grad;
  if (std::none_of(bucket.members.begin(), bucket.members.end(), [&](size_t i) { return parameters[i].without_grad; })) return;
  const tandem::detail::OwnWork own("DistributedDataParallel's search for unused parameters", site);
  const Tensor flags = bucket.flags.cpu(site).to(kFloat64);
  for (const size_t i : bucket.members)
    if (parameters[i].without_grad && flags.data_ptr<double>()[parameters[i].slot] > 0) parameters[i].tensor.grad() = parameters[i].view;
}

/// All ranks tell the weight of what they do next, 0 where they are done, and whether they average it.
Reducer::State::Round Reducer::State::exchange(double own, bool averages, Site here) {
  const auto all = distributed::all_gather(tensor({own, averages ? 1.0 : 0.0}, kFloat64), {.group = group}, here);
  Round round;
  double sum = 0;
  for (size_t i = all.size(); i-- > 0;) {
    const auto* told = all[i].data_ptr<double>();
    sum += told[0];
    round.averaged |= told[1] > 0;
    if (told[0] > 0) source = static_cast<int>(i);
  }
  round.at_work = sum > 0;
  if (round.at_work) scale = own / sum;
  return round;
}

/// One forward and backward of the others, without gradients of this rank's own. Whether anyone is still at work.
bool Reducer::State::shadow(Site here) {
  const Round round = exchange(0, false, here);
  if (!round.averaged) return round.at_work;
  rebuild(here);
  send_buffers(here);
  for (Bucket& bucket : buckets) {
    bucket.flat.zero_(here);
    begin_reduce(bucket, true, here);
  }
  for (Bucket& bucket : buckets) {
    std::exchange(bucket.work, {}).wait(here);
    if (order_is == Order::Unknown) order.insert(order.end(), bucket.members.begin(), bucket.members.end());
  }
  if (order_is == Order::Unknown) order_is = Order::Known;
  return true;
}

Reducer::Reducer(nn::ModuleBase& module, const DistributedDataParallelOptions& options, Site site)
    : state_(std::make_shared<State>(module, options)) {
  state_->self = state_;
  state_->start(site);
}
Reducer::~Reducer() = default;

void Reducer::before_forward(Site site) {
  State& s = *state_;
  const bool recording = is_grad_enabled();
  if (recording) {
    s.check_unchanged();
    s.check_finished();
    if (s.joining) (void)s.exchange(s.weight, s.averaging, site);
  }
  if (!s.averaging) {
    if (s.module.training()) s.buffers.changed();
    return;
  }
  if (recording) s.rebuild(site);
  if (recording || !s.joining) s.send_buffers(site);
}

void Reducer::after_forward(std::span<const Tensor> outputs) {
  State& s = *state_;
  if (!is_grad_enabled()) return;  // nothing can come back through it, whatever is still to come through others
  std::vector<Tensor> seen;
  bool all = !outputs.empty();
  for (const Tensor& output : outputs) {
    if (!output.defined() || !output.requires_grad()) continue;
    if (output.is_leaf()) all = false;  // a parameter, or an input as it came: a hook there would meet other backwards
    else seen.push_back(output);
  }
  if (!s.averaging) {
    if (!all) s.forward = Forward::None;
    return s.watch(seen, nullptr);
  }
  const auto pass = std::make_shared<Pass>();
  s.forward = all ? Forward::Seen : Forward::Unseen;
  if (s.options.find_unused_parameters) {
    const auto used = leaves_behind(outputs);
    for (size_t i = 0; i < s.parameters.size(); ++i)
      if (!used.contains(&s.parameters[i].tensor.impl())) pass->unused.push_back(i);
    std::erase_if(s.passes, [](const auto& weak) { return weak.expired(); });
    s.passes.push_back(pass);
  }
  s.watch(seen, pass);
}

bool Reducer::averages() const { return state_->averaging; }
void Reducer::set_averages(bool averages) { state_->averaging = averages; }
size_t Reducer::bucket_count() const { return state_->buckets.size(); }

void Reducer::set_weight(double weight) {
  if (!state_->joining) fail("[", kName, ".set_weight] only ranks that run in join() have weights");
  if (!(weight > 0)) fail("[", kName, ".set_weight] a weight must be positive, not ", weight);
  state_->weight = weight;
}

void Reducer::join(const std::function<void()>& steps, Site site) {
  State& s = *state_;
  if (s.joining) fail("[", kName, ".join] is running already");
  s.joining = true;
  s.weight = 1;
  s.source = -1;
  const auto leave = [&] {
    s.joining = false;
    s.source = 0;
    s.scale = 1.0 / s.group.size();
  };
  try {
    steps();
    s.check_finished();
    while (s.shadow(site)) {
    }
    if (s.source >= 0) {
      std::vector<Tensor> values = s.buffers.all();
      for (const Parameter& parameter : s.parameters) values.push_back(parameter.tensor);
      broadcast_values(values, s.source, s.group, site);
    }
  } catch (...) {
    leave();
    throw;
  }
  leave();
}

}  // namespace tandem::parallel::detail
