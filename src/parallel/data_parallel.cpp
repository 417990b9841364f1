#include "parallel/data_parallel.h"

#include "base/error.h"
#include "base/error_place.h"
#include "nn/batch_norm.h"
#include "nn/walk.h"
#include "parallel/scatter_gather.h"

namespace tandem::parallel {
namespace detail {

void check_statistics(const nn::ModuleBase& module) {
  for (const auto& [name, part] : const_cast<nn::ModuleBase&>(module).named_modules()) {
    const auto* norm = dynamic_cast<const nn::NormBase*>(part);
    if (norm && norm->sync_group && norm->training())
      fail("[DataParallel] '", name, "' is a SyncBatchNorm, whose statistics are those of all ranks, and not of the devices of one: use ",
           "DistributedDataParallel with a rank for each device, or BatchNorm");
  }
}

std::vector<Device> devices_of_data_parallel(std::vector<Device> devices) {
  if (devices.empty()) fail("[DataParallel] no devices were given: name one at least, such as \"cuda:0\"");
  for (Device& device : devices) device = tandem::detail::resolve(device);
  return devices;
}

void check_placement(const nn::ModuleBase& module, const std::vector<Device>& devices) {
  bool elsewhere = false;
  const auto is_elsewhere = [&](const nn::detail::Field& field) {
    return field.tensor && field.tensor->defined() && field.tensor->device() != devices[0];
  };
  nn::detail::walk(module, false, [&](const nn::detail::Field& field) { elsewhere |= is_elsewhere(field); });
  if (!elsewhere) return;
  nn::detail::walk(module, true, [&](const nn::detail::Field& field) {
    if (!is_elsewhere(field)) return;
    fail("[DataParallel] module must have its parameters and buffers on device ", devices[0],
         " (device_ids[0]) but found one of them on device: ", field.tensor->device(), ", '", field.name, "'; call to(\"", devices[0].str(),
         "\") of the module first");
  });
}

std::vector<std::vector<Tensor>> scatter_all(const std::vector<Tensor>& tensors, const std::vector<Device>& devices, int64_t dim,
                                             Site site) {
  std::vector<std::vector<Tensor>> parts;
  const Tensor* first = nullptr;
  for (size_t t = 0; t < tensors.size(); ++t) {
    const Tensor& tensor = tensors[t];
    if (!tensor.defined()) continue;
    const std::vector<Tensor> chunks = scatter(tensor, devices, dim, site);
    if (first && chunks.size() != parts.size())
      fail("[DataParallel] tensors of sizes ", first->sizes(), " and ", tensor.sizes(), " fill ", parts.size(), " and ", chunks.size(),
           " devices, cut along dimension ", dim, ": give them batches of one size");
    first = &tensor;
    parts.resize(chunks.size(), std::vector<Tensor>(tensors.size()));
    for (size_t i = 0; i < chunks.size(); ++i) parts[i][t] = chunks[i];
  }
  if (!first) parts.resize(devices.size(), tensors);
  return parts;
}

std::vector<Tensor> gather_all(const std::vector<std::vector<Tensor>>& parts, Device device, int64_t dim, Site site) {
  std::vector<Tensor> joined;
  for (size_t i = 0; i < parts[0].size(); ++i) {
    std::vector<Tensor> same;
    for (const auto& part : parts) {
      if (part.size() != parts[0].size() || part[i].defined() != parts[0][i].defined())
        fail("[DataParallel] the replicas gave unlike results: one of them has a tensor where another has none");
      if (part[i].defined()) same.push_back(part[i]);
    }
    if (same.empty()) joined.emplace_back();
    else if (parts.size() == 1) joined.push_back(same[0].to(device, {}, site));  // a number stays one
    else joined.push_back(gather(same, device, dim, site));
  }
  return joined;
}

void throw_from_replica(std::span<const nn::ModuleBase* const> replicas, nn::ModuleBase& wrapper) {
  try {
    throw;
  } catch (Error& error) {
    for (const nn::ModuleBase* replica : replicas)
      if (tandem::detail::ErrorPlace::module_of(error) == static_cast<const void*>(replica))
        tandem::detail::ErrorPlace::add_path(error, "module", &wrapper);
    throw;
  }
}

}  // namespace detail

DataParallel<nn::Module>::DataParallel(nn::Module& module, nn::Copier copier, std::vector<Device> devices, DataParallelOptions options,
                                       Site /*site*/)
    : module_(module), copier_(copier), devices_(detail::devices_of_data_parallel(std::move(devices))), options_(options) {}

Tensor DataParallel<nn::Module>::forward(const Tensor& x) {
  const Site site = nn::detail::call_site();
  const Device output = options_.output_device.value_or(devices_[0]);
  nn::Module& own = module();
  // Before the check, as a first forward makes what is to be checked.
  if (own.has_uninitialized_params()) nn::initialize(own, x.to(devices_[0], {}, site), site);
  detail::check_placement(own, devices_);
  const std::vector<Tensor> inputs = scatter(x, devices_, options_.dim, site);
  if (inputs.size() == 1) return own(inputs[0], site).to(output, {}, site);
  detail::check_statistics(own);
  const std::vector<Device> used(devices_.begin(), devices_.begin() + static_cast<std::ptrdiff_t>(inputs.size()));
  std::vector<nn::AnyModule> replicas = replicate(own, copier_, used, site);
  std::vector<Tensor> outputs;
  try {
    outputs = parallel_apply(replicas, inputs, options_.apply, site);
  } catch (const Error&) {
    std::vector<const nn::ModuleBase*> bases;
    for (const nn::AnyModule& replica : replicas) bases.push_back(&replica.base());
    detail::throw_from_replica(bases, *this);
  }
  return gather(outputs, output, options_.dim, site);
}

}  // namespace tandem::parallel
