#include "parallel/flat_shards.h"

#include <utility>

#include "autograd/autograd.h"
#include "base/error.h"
#include "ops/creation.h"
#include "tensor/tensor_impl.h"

namespace tandem::parallel::detail {

FlatShards::FlatShards(FlatLayout layout, FlatShardsOptions options) : layout_(std::move(layout)), options_(std::move(options)) {
  const auto bytes = static_cast<size_t>(layout_.length()) * size_of(options_.dtype);
  const Ref<Storage> storage(new Storage(options_.device, nullptr, bytes, nullptr, nullptr));
  const Shape sizes{layout_.length()};
  whole_ = Tensor(TensorImpl::view(storage.get(), sizes, contiguous_strides(sizes), 0, options_.dtype));
}

void FlatShards::begin_gather(const Tensor& local, Site site) {
  const uint32_t version = local.impl().storage->changes();
  if (layout_.ranks() == 1 || (has_values_ && version_ == version) || (is_coming() && coming_.version == version)) return;
  drop(site);
  const NoGradGuard no_grad;
  const Tensor range = local.detach().to(options_.device, options_.dtype, {}, site);
  Tensor together = empty({layout_.length()}, {.dtype = options_.dtype, .device = options_.device}, site);
  comm::Work work = distributed::all_gather_into_tensor(together, range, {options_.group, true, options_.label}, site);
  coming_ = {std::move(together), std::move(work), version};
}

bool FlatShards::gather(const Tensor& local, Site site) {
  const uint32_t version = local.impl().storage->changes();
  if (has_values_ && version_ == version) return false;
  release();
  begin_gather(local, site);
  const NoGradGuard no_grad;
  Coming come = std::exchange(coming_, {});
  if (layout_.ranks() == 1) come.together = local.detach().to(options_.device, options_.dtype, {.copy = true}, site);
  else come.work.wait(site);
  Storage& storage = *whole_.impl().storage;
  storage.refill(*come.together.impl().storage);
  // A backward that needs the values of before an optimizer's step is to find that out.
  if (version_ && *version_ != version) storage.bump_version();
  version_ = version;
  whole_.impl().refresh();
  has_values_ = true;
  return true;
}

void FlatShards::release() {
  if (!has_values_) return;
  whole_.impl().storage->clear();
  whole_.impl().refresh();
  has_values_ = false;
}

void FlatShards::drop(Site site) {
  const Coming given_up = std::exchange(coming_, {});
  given_up.work.wait(site);
}

void FlatShards::begin_reduce(Tensor all, distributed::ReduceOp op, Site site) {
  const NoGradGuard no_grad;
  const distributed::CollectiveOptions options{options_.group, true, options_.label};
  if (layout_.ranks() == 1) {
    comm::Work work = distributed::all_reduce(all, op, options, site);
    reducing_ = {all, all, std::move(work)};
    return;
  }
  Tensor range = empty({layout_.share()}, {.dtype = all.dtype(), .device = all.device()}, site);
  comm::Work work = distributed::reduce_scatter_tensor(range, all, op, options, site);
  reducing_ = {std::move(all), std::move(range), std::move(work)};
}

Tensor FlatShards::finish_reduce(Site site) {
  if (!is_reducing()) fail("[", options_.label, "] nothing is being reduced");
  const Reducing done = std::exchange(reducing_, {});
  done.work.wait(site);
  return done.range;
}

}  // namespace tandem::parallel::detail
