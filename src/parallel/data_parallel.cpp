#include "parallel/data_parallel.h"

#include "base/error.h"
#include "nn/batch_norm.h"
#include "nn/walk.h"
#include "parallel/replicate.h"
#include "parallel/scatter_gather.h"

namespace tandem::parallel {

DataParallel::DataParallel(nn::Module& module, nn::Copier copier, std::vector<Device> devices, DataParallelOptions options, Site /*site*/)
    : module_(module), copier_(copier), devices_(std::move(devices)), options_(options) {
  if (devices_.empty()) fail("[DataParallel] no devices were given: name one at least, such as \"cuda:0\"");
  for (Device& device : devices_) device = tandem::detail::resolve(device);
}

/// Statistics over ranks are no statistics over the devices of one: each replica would take its own.
void DataParallel::check_statistics() const {
  for (const auto& [name, part] : module().named_modules()) {
    const auto* norm = dynamic_cast<const nn::NormBase*>(part);
    if (norm && norm->sync_group && norm->training())
      fail("[DataParallel] '", name, "' is a SyncBatchNorm, whose statistics are those of all ranks, and not of the devices of one: use ",
           "DistributedDataParallel with a rank for each device, or BatchNorm");
  }
}

void DataParallel::check_placement() const {
  nn::detail::walk(module(), false, [&](const nn::detail::Field& field) {
    if (!field.tensor || !field.tensor->defined() || field.tensor->device() == devices_[0]) return;
    fail("module must have its parameters and buffers on device ", devices_[0],
         " (device_ids[0]) but found one of them on device: ", field.tensor->device());
  });
}

Tensor DataParallel::forward(const Tensor& x) {
  const Site site = nn::detail::call_site();
  const Device output = options_.output_device.value_or(devices_[0]);
  nn::Module& own = module();
  // Before the check, as a first forward makes what is to be checked.
  if (own.has_uninitialized_params()) nn::initialize(own, x.to(devices_[0], {}, site), site);
  check_placement();
  const std::vector<Tensor> inputs = scatter(x, devices_, options_.dim, site);
  if (inputs.size() == 1) return own(inputs[0], site).to(output, {}, site);
  check_statistics();
  const std::vector<Device> used(devices_.begin(), devices_.begin() + static_cast<std::ptrdiff_t>(inputs.size()));
  std::vector<nn::AnyModule> replicas = replicate(own, copier_, used, site);
  return gather(parallel_apply(replicas, inputs, options_.apply, site), output, options_.dim, site);
}

}  // namespace tandem::parallel
