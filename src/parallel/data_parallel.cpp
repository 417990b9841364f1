#include "parallel/data_parallel.h"

#include "base/error.h"
#include "base/error_place.h"
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
  bool elsewhere = false;
  const auto is_elsewhere = [&](const nn::detail::Field& field) {
    return field.tensor && field.tensor->defined() && field.tensor->device() != devices_[0];
  };
  nn::detail::walk(module(), false, [&](const nn::detail::Field& field) { elsewhere |= is_elsewhere(field); });
  if (!elsewhere) return;
  nn::detail::walk(module(), true, [&](const nn::detail::Field& field) {
    if (!is_elsewhere(field)) return;
    fail("[DataParallel] module must have its parameters and buffers on device ", devices_[0],
         " (device_ids[0]) but found one of them on device: ", field.tensor->device(), ", '", field.name, "'; call to(\"",
         devices_[0].str(), "\") of the module first");
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
  std::vector<Tensor> outputs;
  try {
    outputs = parallel_apply(replicas, inputs, options_.apply, site);
  } catch (Error& error) {
    // The layer's path goes on from the replica's, which nobody else knows.
    for (const nn::AnyModule& replica : replicas)
      if (tandem::detail::ErrorPlace::module_of(error) == static_cast<const void*>(&replica.base()))
        tandem::detail::ErrorPlace::add_path(error, "module", static_cast<nn::ModuleBase*>(this));
    throw;
  }
  return gather(outputs, output, options_.dim, site);
}

}  // namespace tandem::parallel
