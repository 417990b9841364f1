#include "wrapped.h"

namespace fuzz {
namespace {

namespace dist = td::distributed;

constexpr td::optim::SGDOptions kSgd{.lr = 0.02, .momentum = 0.9, .weight_decay = 0.01};
constexpr td::optim::AdamWOptions kAdam{.lr = 0.01, .eps = 1e-3, .weight_decay = 0.1};

/// The parameters that the optimizer is given: all, or those that are trained.
std::vector<Tensor> listed(const Cell& cell, const Net& net) {
  std::vector<Tensor> all = net.parameters();
  if (cell.kind == Kind::Fsdp || cell.seed % 2 == 0) std::erase_if(all, [](const Tensor& t) { return !t.requires_grad(); });
  return all;
}

std::unique_ptr<td::optim::Optimizer> optimizer_of(const Cell& cell, const std::vector<Tensor>& parameters) {
  // A step that a gradient of zero does not change: in a unit of FullyShardedDataParallel one parameter's makes the others' zeros.
  if (cell.kind == Kind::Fsdp && (cell.has(Option::Unused) || cell.has(Option::PartlyUsed)))
    return std::make_unique<td::optim::SGD>(parameters, td::optim::SGDOptions{.lr = 0.05});
  if (cell.adam) return std::make_unique<td::optim::AdamW>(parameters, kAdam);
  return std::make_unique<td::optim::SGD>(parameters, kSgd);
}

std::unique_ptr<td::optim::Optimizer> zero_of(const Cell& cell, const std::vector<Tensor>& parameters, bool gradients) {
  const td::optim::ZeroRedundancyOptions sharding{.process_group = {}, .shard_gradients = gradients};
  if (cell.adam) return std::make_unique<td::optim::ZeroRedundancyOptimizer<td::optim::AdamW>>(parameters, kAdam, sharding);
  return std::make_unique<td::optim::ZeroRedundancyOptimizer<td::optim::SGD>>(parameters, kSgd, sharding);
}

class Alone final : public Wrapped {
 public:
  explicit Alone(const Cell& cell) : Wrapped(std::make_shared<Net>(cell)) { optimizer_ = optimizer_of(cell, listed(cell, net())); }
  Tensor forward(const Tensor& x) override { return net()(x); }
};

class OnDevices final : public Wrapped {
 public:
  OnDevices(const Cell& cell, int count) : Wrapped(std::make_shared<Net>(cell)) {
    if (cell.has(Option::SyncBatchNorm)) td::nn::convert_sync_batchnorm(net());
    net().to(td::gpu(0));
    std::vector<td::Device> devices;
    for (int i = 0; i < count; ++i) devices.push_back(td::gpu(i));
    parallel_ = std::make_unique<td::parallel::DataParallel<>>(net(), devices);
    optimizer_ = optimizer_of(cell, listed(cell, net()));
  }
  Tensor forward(const Tensor& x) override { return (*parallel_)(x); }

 private:
  std::unique_ptr<td::parallel::DataParallel<>> parallel_;
};

/// A module of a rank, with values of the rank's own.
std::shared_ptr<Net> net_of_rank(const Cell& cell, int rank) {
  auto net = std::make_shared<Net>(cell);
  // An optimizer makes alike what it is given: that may leave out what is not trained.
  if (rank != 0) net->fill(cell.seed + static_cast<uint64_t>(rank), cell.kind != Kind::Zero2);
  if (cell.has(Option::SyncBatchNorm)) td::nn::convert_sync_batchnorm(*net);
  if (cell.gpus) net->to(td::gpu(rank));
  return net;
}

class InDdp final : public Wrapped {
 public:
  InDdp(const Cell& cell, int rank) : Wrapped(net_of_rank(cell, rank)) {
    Draws draws(cell.seed + 13);
    const bool find = cell.has(Option::Unused) || cell.has(Option::PartlyUsed) || draws.one_in(4);
    const double cap = draws.one_in(2) ? 25 : 16e-6;  // many buckets
    ddp_ = std::make_unique<Ddp>(net(), td::parallel::DistributedDataParallelOptions{.find_unused_parameters = find, .bucket_cap_mb = cap});
    optimizer_ = cell.kind == Kind::Ddp ? optimizer_of(cell, listed(cell, net())) : zero_of(cell, listed(cell, net()), false);
  }
  Tensor forward(const Tensor& x) override { return (*ddp_)(x); }
  std::shared_ptr<void> no_sync() override {
    return std::shared_ptr<void>(new td::parallel::NoSync(ddp_->no_sync()), [](void* p) { delete static_cast<td::parallel::NoSync*>(p); });
  }
  void join(const std::function<void()>& steps) override { ddp_->join(steps); }
  void set_weight(double weight) override { ddp_->set_weight(weight); }

 private:
  using Ddp = td::parallel::DistributedDataParallel<Net>;
  std::unique_ptr<Ddp> ddp_;
};

class InZero2 final : public Wrapped {
 public:
  InZero2(const Cell& cell, int rank) : Wrapped(net_of_rank(cell, rank)) { optimizer_ = zero_of(cell, listed(cell, net()), true); }
  Tensor forward(const Tensor& x) override { return net()(x); }
  td::StateDict gradients() override { return {}; }
};

class InShards final : public Wrapped {
 public:
  InShards(const Cell& cell, int rank) : Wrapped(net_of_rank(cell, rank)), by_method_(cell.seed % 3 == 0) {
    td::parallel::FullyShardedOptions options;
    if (Draws(cell.seed + 17).one_in(2)) {
      options.is_unit = [](const td::nn::ModuleBase& part) { return dynamic_cast<const td::nn::Linear*>(&part) != nullptr; };
    }
    fsdp_ = std::make_unique<Fsdp>(net(), options);
    optimizer_ = optimizer_of(cell, fsdp_->parameters());
  }
  Tensor forward(const Tensor& x) override { return (*fsdp_)(x); }
  void zero_grad(bool by_module, bool set_to_none) override {
    if (by_module) fsdp_->zero_grad(set_to_none);
    else optimizer().zero_grad(set_to_none);
  }
  Tensor clip(double max_norm) override {
    return by_method_ ? fsdp_->clip_grad_norm_(max_norm) : td::nn::utils::clip_grad_norm_(fsdp_->parameters(), max_norm);
  }
  td::StateDict state() override { return fsdp_->full_state_dict(); }
  td::StateDict gradients() override {
    std::vector<Tensor> values;
    for (const Tensor& shard : fsdp_->parameters()) values.push_back(shard.grad().defined() ? shard.grad() : td::zeros_like(shard));
    return by_name(values);
  }
  void load(const td::StateDict& state, const td::StateDict& optimizer_state) override {
    fsdp_->load_full_state_dict(state);
    fsdp_->load_optim_state_dict(optimizer(), optimizer_state);
  }
  td::StateDict optimizer_state() override { return fsdp_->optim_state_dict(optimizer()); }
  void save_shards(const std::string& folder) override { fsdp_->save_shards(folder); }
  void load_shards(const std::string& folder) override { fsdp_->load_shards(folder); }
  std::vector<Tensor> averaged() override { return fsdp_->parameters(); }
  std::vector<Tensor> from_names(const td::StateDict& values) override {
    const td::StateDict before = fsdp_->full_state_dict();
    td::StateDict state = before;
    for (const auto& [name, value] : values) state[name] = value;
    fsdp_->load_full_state_dict(state);
    std::vector<Tensor> list;
    for (const Tensor& shard : fsdp_->parameters()) list.push_back(shard.detach().clone());
    fsdp_->load_full_state_dict(before);
    return list;
  }
  /// The values change places with the shards for so long.
  td::StateDict by_name(const std::vector<Tensor>& values) override {
    const td::NoGradGuard no_grad;
    const std::vector<Tensor> shards = fsdp_->parameters();
    std::vector<Tensor> before;
    for (size_t i = 0; i < shards.size(); ++i) {
      before.push_back(shards[i].detach().clone());
      shards[i].copy_(values[i]);
    }
    const td::StateDict state = fsdp_->full_state_dict();
    for (size_t i = 0; i < shards.size(); ++i) shards[i].copy_(before[i]);
    td::StateDict parameters;
    for (const auto& [name, parameter] : net().named_parameters())
      if (parameter.requires_grad()) parameters[name] = state.at(name).cpu();
    return parameters;
  }

 private:
  using Fsdp = td::parallel::FullyShardedDataParallel<Net>;
  std::unique_ptr<Fsdp> fsdp_;
  bool by_method_;
};

}  // namespace

td::StateDict Wrapped::gradients() {
  td::StateDict gradients;
  for (const auto& [name, parameter] : net().named_parameters())
    if (parameter.grad().defined()) gradients[name] = parameter.grad().detach().cpu().clone();
  return gradients;
}

void Wrapped::load(const td::StateDict& state, const td::StateDict& optimizer_state) {
  (void)net().load_state_dict(state);
  optimizer().load_state_dict(optimizer_state);
}

td::StateDict Wrapped::by_name(const std::vector<Tensor>& values) {
  td::StateDict named;
  const auto parameters = net().named_parameters();
  for (size_t i = 0; i < values.size(); ++i)
    if (parameters[i].second.requires_grad()) named[parameters[i].first] = values[i].cpu();
  return named;
}

std::vector<Tensor> Wrapped::from_names(const td::StateDict& values) {
  std::vector<Tensor> list;
  for (const auto& [name, parameter] : net().named_parameters()) {
    const Tensor* value = values.find(name);
    list.push_back(value ? value->to(parameter.device(), {.copy = true}) : parameter.detach().clone());
  }
  return list;
}

std::unique_ptr<Wrapped> alone(const Cell& cell) { return std::make_unique<Alone>(cell); }

std::unique_ptr<Wrapped> wrapped(const Cell& cell, int ranks, int rank) {
  switch (cell.kind) {
    case Kind::DataParallel: return std::make_unique<OnDevices>(cell, ranks);
    case Kind::Ddp:
    case Kind::Zero1: return std::make_unique<InDdp>(cell, rank);
    case Kind::Zero2: return std::make_unique<InZero2>(cell, rank);
    default: return std::make_unique<InShards>(cell, rank);
  }
}

}  // namespace fuzz
