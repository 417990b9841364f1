#include "parallel/data_parallel.h"

#include "base/error.h"
#include "nn/walk.h"
#include "parallel/replicate.h"
#include "parallel/scatter_gather.h"

namespace tandem::parallel {

DataParallel::DataParallel(nn::Module& module, nn::Copier copier, std::vector<Device> devices, DataParallelOptions options)
    : module_(&module), copier_(copier), devices_(std::move(devices)), options_(options) {
  if (devices_.empty()) fail("[DataParallel] no devices were given");
  for (Device& device : devices_) device = tandem::detail::resolve(device);
}

void DataParallel::check_placement() const {
  nn::detail::walk(*module_, false, [&](const nn::detail::Field& field) {
    if (!field.tensor || !field.tensor->defined() || field.tensor->device() == devices_[0]) return;
    fail("module must have its parameters and buffers on device ", devices_[0],
         " (device_ids[0]) but found one of them on device: ", field.tensor->device());
  });
}

Tensor DataParallel::forward(const Tensor& x) {
  const Site site = nn::detail::call_site();
  const Device output = options_.output_device.value_or(devices_[0]);
  // Before the check, as a first forward makes what is to be checked.
  if (module_->has_uninitialized_params()) nn::initialize(*module_, x.to(devices_[0], {}, site), site);
  check_placement();
  const std::vector<Tensor> inputs = scatter(x, devices_, options_.dim, site);
  if (inputs.size() == 1) return (*module_)(inputs[0], site).to(output, {}, site);
  const std::vector<Device> used(devices_.begin(), devices_.begin() + static_cast<std::ptrdiff_t>(inputs.size()));
  std::vector<nn::AnyModule> replicas = replicate(*module_, copier_, used, site);
  return gather(parallel_apply(replicas, inputs, options_.apply, site), output, options_.dim, site);
}

}  // namespace tandem::parallel
