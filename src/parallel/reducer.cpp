// A hook on the outputs of a forward says whether the backward that comes through them is to be averaged. In one that is, a leaf's
// accumulation puts its gradient into its bucket. Buckets are reduced strictly in the order of their numbers, as the order in which
// gradients become ready may differ between ranks; the end of backward waits for them all.
#include "parallel/reducer.h"

#include <algorithm>

#include "autograd/autograd.h"
#include "autograd/divided.h"
#include "autograd/history.h"
#include "base/error.h"
#include "base/wait_scope.h"
#include "ops/creation.h"
#include "parallel/backward_watch.h"
#include "parallel/buckets.h"
#include "parallel/gradient_buckets.h"
#include "parallel/used_leaves.h"

namespace tandem::parallel::detail {
namespace {

constexpr const char* kName = Reducer::kName;

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
  explicit State(ReducerOptions given) : options(std::move(given)) {}
  ~State() {
    for (size_t i = 0; i < hooks.size(); ++i) parameters[i].tensor.remove_hook(hooks[i]);
  }

  void start(const NamedTensors& all, Site site);
  void check_unchanged() const;
  void check_finished();
  void plan(const std::vector<size_t>& order, Site site);
  void rebuild(Site site);
  void watch(const std::vector<Tensor>& outputs, const std::shared_ptr<const Pass>& pass);
  void meet_backward();
  void begin_average();
  void arrived(size_t number);
  void mark(size_t number);
  void mark_unused();
  void reduce_full_buckets();
  void reduce(Bucket& bucket);
  void begin_reduce(Bucket& bucket, bool beside, Site site);
  void wait_for(Bucket& bucket, Site site);
  void end_backward();
  void finish();
  void give_up();
  void take_back(Bucket& bucket);
  void take_where_others_have(Bucket& bucket);
  void give_gradient(Parameter& parameter);

  ReducerOptions options;
  distributed::ProcessGroup& group = options.process_group;
  const std::string& label = options.label;
  std::vector<Parameter> parameters;
  NamedTensors frozen;  // parameters that required no gradient
  std::vector<int64_t> hooks;
  std::vector<Bucket> buckets;
  CommHook comm_hook;
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
};

void Reducer::State::start(const NamedTensors& all, Site here) {
  site = here;
  for (const auto& [name, tensor] : all) {
    if (tensor.requires_grad()) parameters.push_back({.name = name, .tensor = tensor, .view = {}});
    else frozen.emplace_back(name, tensor);
  }
  std::vector<size_t> reversed(parameters.size());
  for (size_t i = 0; i < reversed.size(); ++i) reversed[i] = reversed.size() - 1 - i;
  plan(reversed, site);
  scale = 1.0 / group.size();
  for (size_t i = 0; i < parameters.size(); ++i)
    hooks.push_back(parameters[i].tensor.register_post_accumulate_grad_hook([this, i](const Tensor&) { arrived(i); }));
}

void Reducer::State::plan(const std::vector<size_t>& in_order, Site here) {
  std::vector<BucketItem> items, delayed;
  for (const size_t i : in_order) {
    const Parameter& parameter = parameters[i];
    const bool comes_last = std::find(options.delayed.begin(), options.delayed.end(), parameter.name) != options.delayed.end();
    (comes_last ? delayed : items).push_back({i, parameter.tensor.nbytes(), parameter.tensor.dtype(), parameter.tensor.device()});
  }
  const auto bytes = [](double mb) { return static_cast<size_t>(mb * 1024 * 1024); };
  auto planned = plan_buckets(items, bytes(options.first_bucket_mb), bytes(options.bucket_cap_mb));
  for (auto& last : plan_buckets(delayed, bytes(options.bucket_cap_mb), bytes(options.bucket_cap_mb))) planned.push_back(std::move(last));
  buckets = make_buckets(parameters, planned, options.find_unused_parameters, group, here);
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
  distributed::broadcast(agreed, group.ranks().front(), {group, options.last_beside, label + "order"}, here).wait(here);
  const auto* first = agreed.data_ptr<int64_t>();
  plan(std::vector<size_t>(first, first + agreed.numel()), here);
}

void Reducer::State::check_unchanged() const {
  for (const Parameter& parameter : parameters) {
    if (!parameter.tensor.requires_grad() && !options.find_unused_parameters)
      fail("[", kName, "] '", parameter.name, "' requires no gradient any more: make the DistributedDataParallel anew after such a change");
    if (autograd::divided_gradient(parameter.tensor))
      fail("[", kName, "] the gradient of '", parameter.name,
           "' is averaged by a ZeroRedundancyOptimizer with shard_gradients: leave the DistributedDataParallel out, or shard_gradients");
    if (parameter.tensor.device() != parameter.view.device() || parameter.tensor.dtype() != parameter.view.dtype())
      fail("[", kName, "] '", parameter.name, "' is now ", parameter.tensor.dtype(), " on ", parameter.tensor.device(), ", but was ",
           parameter.view.dtype(), " on ", parameter.view.device(), ": move a module before it is wrapped");
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
  fail("[", kName, "] Expected to have finished reduction in the prior iteration before starting a new one: on rank ", group.rank(),
       " no gradient came for ", listed(missing), ". Hint: ",
       options.find_unused_parameters ? Hint("all outputs of forward must take part in the loss")
                                      : Hint(advice + "{.find_unused_parameters = true}", advice + "find_unused_parameters=True"));
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
    fail("[", kName, "] Expected to mark a variable ready only once, but '", parameter.name,
         "' got a gradient twice in one step: call backward once for each forward, on a sum where there are several losses");
  put_into_bucket(parameter, comm_hook ? 1 : scale, options.gradient_as_bucket_view, site);
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
  const bool beside = options.last_beside || bucket.flat.is_cuda() || &bucket != &buckets.back();
  begin_reduce(bucket, beside, site);
}

void Reducer::State::begin_reduce(Bucket& bucket, bool beside, Site here) {
  const auto index = static_cast<size_t>(&bucket - buckets.data());
  const Tensor& summed = comm_hook ? bucket.flags : bucket.flat;
  if (summed.defined())
    bucket.work = distributed::all_reduce(summed, distributed::ReduceOp::SUM, {group, beside, str(label, "bucket ", index)}, here);
  if (!comm_hook) return;
  FullBucket full;
  full.index = index;
  full.is_last = index + 1 == buckets.size();
  full.flat = bucket.gradients;
  for (const size_t i : bucket.members) {
    full.gradients.push_back(parameters[i].view);
    full.parameters.push_back(parameters[i].tensor);
  }
  const NoGradGuard no_grad;
  bucket.averaged = comm_hook(full);
}

/// Until the bucket's average is in it.
void Reducer::State::wait_for(Bucket& bucket, Site here) {
  std::exchange(bucket.work, {}).wait(here);
  const auto averaged = std::exchange(bucket.averaged, nullptr);
  if (!averaged) return;
  const NoGradGuard no_grad;
  if (const Tensor average = averaged(); !average.is_same(bucket.gradients)) bucket.gradients.copy_(average, false, here);
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
  for (Bucket& bucket : buckets) {
    wait_for(bucket, site);
    if (!options.gradient_as_bucket_view) take_back(bucket);
  }
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
  for (Bucket& bucket : buckets) wait_for(bucket, site);
}

/// Averages where gradients have memory of their own.
void Reducer::State::take_back(Bucket& bucket) {
  for (const size_t i : bucket.members)
    if (!parameters[i].without_grad) give_gradient(parameters[i]);
}

void Reducer::State::give_gradient(Parameter& parameter) {
  const NoGradGuard no_grad;
  Tensor& grad = parameter.tensor.grad();
  if (options.gradient_as_bucket_view) grad = parameter.view;
  else if (!grad.defined()) grad = parameter.view.clone(site);
  else grad.detach().copy_(parameter.view, false, site);
}

/// A parameter without a gradient here gets the others', unless nobody has one: then it stays without.
void Reducer::State::take_where_others_have(Bucket& bucket) {
  const NoGradGuard no_grad;
  if (std::none_of(bucket.members.begin(), bucket.members.end(), [&](size_t i) { return parameters[i].without_grad; })) return;
  const tandem::detail::OwnWork own("DistributedDataParallel's search for unused parameters", site);
  const Tensor flags = bucket.flags.cpu(site).to(kFloat64);
  for (const size_t i : bucket.members)
    if (parameters[i].without_grad && flags.data_ptr<double>()[parameters[i].slot] > 0) give_gradient(parameters[i]);
}

Reducer::Reducer(const NamedTensors& parameters, const ReducerOptions& options, Site site) : state_(std::make_shared<State>(options)) {
  state_->self = state_;
  state_->start(parameters, site);
}
Reducer::~Reducer() = default;

void Reducer::check() {
  state_->check_unchanged();
  state_->check_finished();
}
void Reducer::prepare(Site site) { state_->rebuild(site); }

void Reducer::after_forward(std::span<const Tensor> outputs, bool all) {
  State& s = *state_;
  if (!is_grad_enabled()) return;  // nothing can come back through it, whatever is still to come through others
  std::vector<Tensor> seen;
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

void Reducer::take_part(Site site) {
  State& s = *state_;
  for (Bucket& bucket : s.buckets) {
    bucket.flat.zero_(site);
    s.begin_reduce(bucket, true, site);
  }
  for (Bucket& bucket : s.buckets) {
    s.wait_for(bucket, site);
    if (s.order_is == Order::Unknown) s.order.insert(s.order.end(), bucket.members.begin(), bucket.members.end());
  }
  if (s.order_is == Order::Unknown) s.order_is = Order::Known;
}

bool Reducer::averages() const { return state_->averaging; }
void Reducer::set_averages(bool averages) { state_->averaging = averages; }
void Reducer::set_scale(double scale) { state_->scale = scale; }
void Reducer::set_comm_hook(CommHook hook) { state_->comm_hook = std::move(hook); }
void Reducer::look_for_unused(Site site) {
  State& s = *state_;
  if (std::exchange(s.options.find_unused_parameters, true)) return;
  std::vector<size_t> numbers;
  for (const Bucket& bucket : s.buckets) numbers.insert(numbers.end(), bucket.members.begin(), bucket.members.end());
  s.plan(numbers, site);
}

std::vector<std::vector<std::string>> Reducer::buckets() const {
  std::vector<std::vector<std::string>> all;
  for (const Bucket& bucket : state_->buckets) {
    std::vector<std::string>& names = all.emplace_back();
    for (const size_t i : bucket.members) names.push_back(state_->parameters[i].name);
  }
  return all;
}

}  // namespace tandem::parallel::detail
