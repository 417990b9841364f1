#include "parallel/replica.h"

#include <algorithm>
#include <mutex>
#include <unordered_set>

#include "autograd/autograd.h"
#include "base/error.h"
#include "comm/api/world.h"
#include "ops/creation.h"

namespace tandem::parallel::detail {
namespace {

constexpr const char* kName = Reducer::kName;

struct Claimed {
  std::mutex mutex;
  std::unordered_set<const TensorImpl*> parameters;
};
Claimed& claimed() {
  static Claimed all;
  return all;
}

/// The module's parameters; error where it cannot be wrapped, the same on all ranks where they differ.
NamedTensors checked_parameters(const nn::ModuleBase& module, const DistributedDataParallelOptions& options, Site site) {
  (void)comm::require_world(kName);
  if (options.process_group.rank() < 0)
    fail("[", kName, "] this rank is not in the group: make it on the group's ranks only (group.is_member())");
  if (!(options.bucket_cap_mb > 0)) fail("[", kName, "] bucket_cap_mb must be positive, not ", options.bucket_cap_mb);
  if (module.has_uninitialized_params())
    fail("[", kName, "] parameters of ", module.name(), " have no values yet: run a first forward, or call nn::initialize(module, input)");
  NamedTensors all = module.named_parameters();
  for (const auto& [name, tensor] : all)
    if (tensor.device() != all[0].second.device())
      fail("[", kName, "] parameters must be on one device, but '", all[0].first, "' is on ", all[0].second.device(), " and '", name,
           "' on ", tensor.device());
  if (std::none_of(all.begin(), all.end(), [](const auto& named) { return named.second.requires_grad(); }))
    fail("[", kName, "] ", module.name(), " has no parameter that requires a gradient, so there is nothing to average");
  check_alike(kName, "parameter", all, options.process_group, site);
  check_alike(kName, "buffer", module.named_buffers(), options.process_group, site);
  return all;
}

}  // namespace

Claim::Claim(const NamedTensors& parameters) {
  const std::lock_guard lock(claimed().mutex);
  for (const auto& [name, tensor] : parameters)
    if (tensor.requires_grad() && claimed().parameters.contains(&tensor.impl()))
      fail("[", kName, "] the gradients of '", name,
           "' are averaged by another DistributedDataParallel already: wrap a module once, and none of its parts");
  for (const auto& [name, tensor] : parameters)
    if (tensor.requires_grad() && claimed().parameters.insert(&tensor.impl()).second) parameters_.push_back(&tensor.impl());
}
Claim::~Claim() {
  const std::lock_guard lock(claimed().mutex);
  for (const TensorImpl* parameter : parameters_) claimed().parameters.erase(parameter);
}

Replica::Replica(nn::ModuleBase& module, const DistributedDataParallelOptions& options, Site site)
    : module_(module),
      options_(options),
      parameters_(checked_parameters(module, options, site)),
      claim_(parameters_),
      label_(str(kName, ' ', options_.process_group.next_number(), ": ")),
      reducer_(parameters_,
               {.label = label_,
                .process_group = options.process_group,
                .find_unused_parameters = options.find_unused_parameters,
                .first_bucket_mb = std::min(1.0, options.bucket_cap_mb),
                .bucket_cap_mb = options.bucket_cap_mb},
               site) {
  std::vector<Tensor> values;
  for (const auto& [name, tensor] : module.named_buffers()) {
    if (const Device device = parameters_[0].second.device(); tensor.device() != device)
      fail("[", kName, "] buffer '", name, "' is on ", tensor.device(), ", but the parameters are on ", device);
    values.push_back(tensor);
  }
  buffers_ = SharedBuffers(values);
  for (const auto& [name, tensor] : parameters_) values.push_back(tensor);
  broadcast_values(values, 0, options_.process_group, site);
}

void Replica::send_buffers(Site site) {
  if (options_.broadcast_buffers) buffers_.send(module_.training(), source_, options_.process_group, site, label_ + "buffers");
}

void Replica::before_forward(Site site) {
  const bool recording = is_grad_enabled();
  if (recording) {
    reducer_.check();
    if (joining_) (void)exchange(weight_, averages(), site);
  }
  if (!averages()) {
    if (module_.training()) buffers_.changed();
    return;
  }
  if (recording) reducer_.prepare(site);
  if (recording || !joining_) send_buffers(site);
}

void Replica::after_forward(std::span<const Tensor> outputs) { reducer_.after_forward(outputs, !outputs.empty()); }

/// All ranks tell the weight of what they do next, 0 where they are done, and whether they average it.
Replica::Round Replica::exchange(double own, bool averages, Site site) {
  const auto all = distributed::all_gather(tensor({own, averages ? 1.0 : 0.0}, kFloat64), {.group = options_.process_group}, site);
  Round round;
  double sum = 0;
  for (size_t i = all.size(); i-- > 0;) {
    const auto* told = all[i].data_ptr<double>();
    sum += told[0];
    round.averaged |= told[1] > 0;
    if (told[0] > 0) source_ = static_cast<int>(i);
  }
  round.at_work = sum > 0;
  if (round.at_work) reducer_.set_scale(own / sum);
  return round;
}

/// One forward and backward of the others, without gradients of this rank's own. Whether anyone is still at work.
bool Replica::shadow(Site site) {
  const Round round = exchange(0, false, site);
  if (!round.averaged) return round.at_work;
  reducer_.prepare(site);
  send_buffers(site);
  reducer_.take_part(site);
  return true;
}

void Replica::set_weight(double weight) {
  if (!joining_) fail("[", kName, ".set_weight] only ranks that run in join() have weights");
  if (!(weight > 0)) fail("[", kName, ".set_weight] a weight must be positive, not ", weight);
  weight_ = weight;
}

void Replica::join(const std::function<void()>& steps, Site site) {
  if (joining_) fail("[", kName, ".join] is running already");
  joining_ = true;
  weight_ = 1;
  source_ = -1;
  const auto leave = [&] {
    joining_ = false;
    source_ = 0;
    reducer_.set_scale(1.0 / options_.process_group.size());
  };
  try {
    steps();
    reducer_.check();
    while (shadow(site)) {
    }
    if (source_ >= 0) {
      std::vector<Tensor> values = buffers_.all();
      for (const auto& [name, tensor] : parameters_)
        if (tensor.requires_grad()) values.push_back(tensor);
      broadcast_values(values, source_, options_.process_group, site);
    }
  } catch (...) {
    leave();
    throw;
  }
  leave();
}

}  // namespace tandem::parallel::detail
