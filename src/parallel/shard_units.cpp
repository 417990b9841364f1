#include "parallel/shard_units.h"

#include <algorithm>
#include <utility>

#include "autograd/autograd.h"
#include "base/error.h"
#include "ops/creation.h"
#include "parallel/divided_among.h"
#include "parallel/scaled_copy.h"
#include "tensor/part.h"
#include "tensor/tensor_impl.h"

namespace tandem::parallel::detail {
namespace {

constexpr int64_t kAlignment = 16;  // elements

FlatShards shards_of(const std::vector<std::pair<std::string, Tensor>>& parameters, std::string label,
                     const distributed::ProcessGroup& group) {
  std::vector<int64_t> numels;
  for (const auto& [name, whole] : parameters) numels.push_back(whole.numel());
  const Tensor& first = parameters[0].second;
  return {{numels, kAlignment, kAlignment, group.size()}, {std::move(label), group, first.dtype(), first.device()}};
}

}  // namespace

ShardUnit::ShardUnit(std::string name, const std::string& wrapper, nn::ModuleBase& module,
                     std::vector<std::pair<std::string, Tensor>> parameters, const distributed::ProcessGroup& group, Site site)
    : name_(std::move(name)), module_(&module), flat_(shards_of(parameters, wrapper + name_, group)) {
  const NoGradGuard no_grad;
  for (auto& [parameter, whole] : parameters) members_.push_back({parameter, whole});
  const Tensor& first = members_[0].whole;
  shard_ = zeros({flat_.layout().share()}, {.dtype = first.dtype(), .device = first.device()}, site);
  each_local_part([&](size_t member, int64_t from, int64_t to, int64_t count) {
    shard_.narrow(0, to, count, site)
        .copy_(members_[member].whole.detach().contiguous(site).view({-1}, site).narrow(0, from, count, site), false, site);
  });
  for (size_t i = 0; i < members_.size(); ++i) {
    const Tensor& whole = members_[i].whole;
    const Shape sizes = whole.sizes();
    whole.impl().replace_storage(
        *TensorImpl::view(flat_.whole().impl().storage, sizes, contiguous_strides(sizes), flat_.layout().offset(i), whole.dtype()));
    whole.grad() = Tensor();
  }
  shard_.requires_grad_(first.requires_grad());
  autograd::set_divided_gradient(shard_, std::make_shared<DividedAmong>(group));
}

void ShardUnit::check_trained(const char* op) const {
  for (const Member& member : members_) {
    if (member.whole.requires_grad() == requires_grad()) continue;
    fail("[", op, "] '", member.name,
         requires_grad() ? "' requires no gradient any more, but its unit is trained as a whole"
                         : "' requires a gradient now, but its shards belong to no optimizer",
         ": make the ", op, " anew after such a change");
  }
}

int64_t ShardUnit::numel() const {
  int64_t sum = 0;
  for (const Member& member : members_) sum += member.whole.numel();
  return sum;
}

void ShardUnit::each_local_part(const std::function<void(size_t, int64_t, int64_t, int64_t)>& f) const {
  for (size_t i = 0; i < members_.size(); ++i) {
    const FlatLayout::Part part = flat_.layout().part(i, flat_.rank());
    if (part.count > 0) f(i, part.begin, part.place, part.count);
  }
}

void ShardUnit::begin_gather(Site site) { flat_.begin_gather(shard_, site); }

void ShardUnit::gather(Site site) {
  if (flat_.gather(shard_, site)) refresh_members();
}

void ShardUnit::release() {
  flat_.drop(Site::here());
  if (!flat_.has_values()) return;
  flat_.release();
  refresh_members();
}

void ShardUnit::refresh_members() const {
  for (const Member& member : members_) member.whole.impl().refresh();
}

void ShardUnit::follow_gradients(Site site) {
  if (!sum_.defined()) return;
  const NoGradGuard no_grad;
  Tensor& grad = shard_.grad();
  const auto has = [](const Member& member) { return member.whole.grad().defined(); };
  if (grad.defined() && std::none_of(members_.begin(), members_.end(), has)) grad = Tensor();
  if (!grad.defined() || !grad.is_same(sum_)) {
    for (Member& member : members_) member.whole.grad() = member.own_gradient = Tensor();
    sum_ = Tensor();
    return;
  }
  for (const Member& member : members_) {
    const Tensor& now = member.whole.grad();
    if (!now.defined()) member.own_gradient.zero_(site);
    else if (!now.is_same(member.own_gradient)) member.own_gradient.copy_(now, false, site);  // put there by the user
  }
}

void ShardUnit::begin_backward(Site site) {
  if (flat_.is_reducing()) (void)flat_.finish_reduce(site);
  gradients_ = Tensor();
  follow_gradients(site);
}

bool ShardUnit::add_gradient(size_t number, const Tensor& gradient, Site site) {
  const NoGradGuard no_grad;
  if (!gradients_.defined()) {
    gradients_ = zeros({flat_.layout().length()}, {.dtype = shard_.dtype(), .device = shard_.device()}, site);
    arrived_.assign(members_.size(), false);
    waiting_ = members_.size();
  }
  const double average = 1.0 / flat_.layout().ranks();
  const Tensor place = gradients_.narrow(0, flat_.layout().offset(number), gradient.numel(), site).view(gradient.sizes(), site);
  if (arrived_[number]) place.add_(gradient.detach(), average, site);
  else copy_scaled(place, gradient.detach(), average, site);
  waiting_ -= !arrived_[number];
  arrived_[number] = true;
  return waiting_ == 0;
}

void ShardUnit::begin_reduce(Site site) {
  finish_reduce(site);
  flat_.begin_reduce(std::exchange(gradients_, Tensor()), distributed::ReduceOp::SUM, site);
}

void ShardUnit::finish_reduce(Site site) {
  if (!flat_.is_reducing()) return;
  const NoGradGuard no_grad;
  const Tensor reduced = flat_.finish_reduce(site);
  Tensor& grad = shard_.grad();
  if (grad.defined()) grad.add_(reduced, 1, site);
  else grad = reduced;
  sum_ = grad;
  for (size_t i = 0; i < members_.size(); ++i) {
    Member& member = members_[i];
    const FlatLayout::Part part = flat_.layout().part(i, flat_.rank());
    if (!member.own_gradient.defined()) member.own_gradient = tandem::detail::part_of(sum_, part.count > 0 ? part.place : 0, {part.count});
    member.whole.grad() = member.own_gradient;
  }
}

}  // namespace tandem::parallel::detail
