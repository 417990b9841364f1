#include "parallel/shard_units.h"

#include <algorithm>
#include <array>

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

int64_t aligned(int64_t count) { return (count + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

ShardUnit::ShardUnit(std::string name, const std::string& wrapper, nn::ModuleBase& module,
                     std::vector<std::pair<std::string, Tensor>> parameters, const distributed::ProcessGroup& group, Site site)
    : name_(std::move(name)), label_(wrapper + name_), module_(&module), group_(group) {
  const NoGradGuard no_grad;
  int64_t length = 0;
  for (auto& [parameter, whole] : parameters) {
    members_.push_back({parameter, whole, length});
    length += aligned(whole.numel());
  }
  const int64_t ranks = group_.size();
  share_ = aligned((length + ranks - 1) / ranks);
  const Tensor& first = members_[0].whole;
  shard_ = zeros({share_}, {.dtype = first.dtype(), .device = first.device()}, site);
  each_local_part([&](size_t member, int64_t from, int64_t to, int64_t count) {
    shard_.narrow(0, to, count, site)
        .copy_(members_[member].whole.detach().contiguous(site).view({-1}, site).narrow(0, from, count, site), false, site);
  });
  const auto bytes = static_cast<size_t>(share_ * ranks) * first.element_size();
  storage_ = Ref<Storage>(new Storage(first.device(), nullptr, bytes, nullptr, nullptr));
  for (const Member& member : members_) {
    const Shape sizes = member.whole.sizes();
    member.whole.impl().replace_storage(
        *TensorImpl::view(storage_.get(), sizes, contiguous_strides(sizes), member.offset, member.whole.dtype()));
    member.whole.grad() = Tensor();
  }
  shard_.requires_grad_(first.requires_grad());
  autograd::set_divided_gradient(shard_, std::make_shared<DividedAmong>(group_));
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
  const int64_t first = share_ * group_.rank();
  for (size_t i = 0; i < members_.size(); ++i) {
    const int64_t numel = members_[i].whole.numel(), offset = members_[i].offset;
    const int64_t begin = std::clamp<int64_t>(first - offset, 0, numel), end = std::clamp<int64_t>(first + share_ - offset, 0, numel);
    if (end > begin) f(i, begin, offset + begin - first, end - begin);
  }
}

void ShardUnit::begin_gather(Site site) {
  if (together_.defined()) return;
  const NoGradGuard no_grad;
  together_ = empty({share_ * group_.size()}, {.dtype = shard_.dtype(), .device = shard_.device()}, site);
  gathering_ = distributed::all_gather_into_tensor(together_, shard_.detach(), {group_, true, label_}, site);
}

void ShardUnit::gather(Site site) {
  if (has_values_) return;
  begin_gather(site);
  std::exchange(gathering_, {}).wait(site);
  storage_->refill(*together_.impl().storage);
  // A backward that needs the values of before an optimizer's step is to find that out.
  const uint32_t changes = shard_.impl().storage->changes();
  if (changes != version_) storage_->bump_version();
  version_ = changes;
  for (const Member& member : members_) member.whole.impl().refresh();
  has_values_ = true;
}

void ShardUnit::release() {
  if (!together_.defined()) return;
  std::exchange(gathering_, {}).wait(Site::here());
  storage_->clear();
  for (const Member& member : members_) member.whole.impl().refresh();
  together_ = Tensor();
  has_values_ = false;
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
  std::exchange(reducing_, {}).wait(site);
  in_flight_ = reduced_ = gradients_ = Tensor();
  follow_gradients(site);
}

bool ShardUnit::add_gradient(size_t number, const Tensor& gradient, Site site) {
  const NoGradGuard no_grad;
  const Member& member = members_[number];
  if (!gradients_.defined()) {
    gradients_ = zeros({share_ * group_.size()}, {.dtype = shard_.dtype(), .device = shard_.device()}, site);
    arrived_.assign(members_.size(), false);
    waiting_ = members_.size();
  }
  const Tensor place = gradients_.narrow(0, member.offset, gradient.numel(), site).view(gradient.sizes(), site);
  if (arrived_[number]) place.add_(gradient.detach(), 1.0 / group_.size(), site);
  else copy_scaled(place, gradient.detach(), 1.0 / group_.size(), site);
  waiting_ -= !arrived_[number];
  arrived_[number] = true;
  return waiting_ == 0;
}

void ShardUnit::begin_reduce(Site site) {
  const NoGradGuard no_grad;
  finish_reduce(site);
  in_flight_ = std::exchange(gradients_, Tensor());
  reduced_ = empty({share_}, {.dtype = shard_.dtype(), .device = shard_.device()}, site);
  reducing_ = distributed::reduce_scatter_tensor(reduced_, in_flight_, distributed::ReduceOp::SUM, {group_, true, label_}, site);
}

void ShardUnit::finish_reduce(Site site) {
  if (!in_flight_.defined()) return;
  const NoGradGuard no_grad;
  std::exchange(reducing_, {}).wait(site);
  in_flight_ = Tensor();
  Tensor& grad = shard_.grad();
  if (grad.defined()) grad.add_(std::exchange(reduced_, Tensor()), 1, site);
  else grad = std::exchange(reduced_, Tensor());
  sum_ = grad;
  for (Member& member : members_) {
    const int64_t first = std::clamp<int64_t>(member.offset - share_ * group_.rank(), 0, share_);
    const int64_t end = std::clamp<int64_t>(member.offset + member.whole.numel() - share_ * group_.rank(), 0, share_);
    if (!member.own_gradient.defined()) member.own_gradient = tandem::detail::part_of(sum_, end > first ? first : 0, {end - first});
    member.whole.grad() = member.own_gradient;
  }
}

}  // namespace tandem::parallel::detail
