// torch::nn::parallel: one module on several devices, each with its share of the batch.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "autograd/autograd.h"
#include "base/error.h"
#include "libtorch/module.h"
#include "parallel/scatter_gather.h"
#include "runtime/device.h"
#include "tensor/tensor.h"

namespace torch::autograd {

/// A tensor in chunks along `dim`, the i-th on device i; gradients flow back.
struct Scatter {
  explicit Scatter(std::vector<tandem::Device> devices, int64_t dim = 0);
  std::vector<tandem::Tensor> apply(const std::vector<tandem::Tensor>& inputs, tandem::Site site = tandem::Site::here()) const;

 private:
  std::vector<tandem::Device> devices_;
  int64_t dim_;
};

/// Tensors joined along `dim` on one device; gradients flow back.
struct Gather {
  explicit Gather(tandem::Device destination, int64_t dim = 0) : destination_(destination), dim_(dim) {}
  std::vector<tandem::Tensor> apply(const std::vector<tandem::Tensor>& inputs, tandem::Site site = tandem::Site::here()) const;

 private:
  tandem::Device destination_;
  int64_t dim_;
};

}  // namespace torch::autograd

namespace torch::nn::parallel {

namespace detail {
/// The parameters of `replica`, a clone of `original`, are copies that are steps of the graph from now on: their gradients are added to the
/// original's.
void connect(const Module& original, const Module& replica, tandem::Site site);
template <class M>
const std::shared_ptr<M>& pointer_to(const std::shared_ptr<M>& module) {
  return module;
}
template <class M>
const std::shared_ptr<M>& pointer_to(const ModuleHolder<M>& module) {
  return module.ptr();
}
}  // namespace detail

/// One clone of the module a device. What backward finds for a clone's parameter is added to the original's `.grad`. The module is
/// Cloneable, or defines clone() itself.
template <class M>
std::vector<std::shared_ptr<M>> replicate(const std::shared_ptr<M>& module, const std::vector<tandem::Device>& devices,
                                          tandem::Site site = tandem::Site::here()) {
  std::vector<std::shared_ptr<M>> replicas;
  replicas.reserve(devices.size());
  for (const tandem::Device& device : devices) {
    replicas.push_back(std::dynamic_pointer_cast<M>(module->clone(device)));
    detail::connect(*module, *replicas.back(), site);
  }
  return replicas;
}
template <class M>
std::vector<ModuleHolder<M>> replicate(const ModuleHolder<M>& module, const std::vector<tandem::Device>& devices,
                                       tandem::Site site = tandem::Site::here()) {
  const auto replicas = replicate(module.ptr(), devices, site);
  return {replicas.begin(), replicas.end()};
}

/// modules[i]->forward(inputs[i]), each result on devices[i] where devices are given, else on its input's device. Devices are asynchronous:
/// they all compute at the same time.
template <class M>
std::vector<tandem::Tensor> parallel_apply(std::vector<M>& modules, const std::vector<tandem::Tensor>& inputs,
                                           const std::optional<std::vector<tandem::Device>>& devices = std::nullopt,
                                           tandem::Site site = tandem::Site::here()) {
  if (modules.size() != inputs.size())
    tandem::fail<tandem::ValueError>("[parallel_apply] Must have as many inputs as modules: ", inputs.size(), " and ", modules.size());
  if (devices && devices->size() != modules.size())
    tandem::fail<tandem::ValueError>("[parallel_apply] Must have as many devices as modules: ", devices->size(), " and ", modules.size());
  std::vector<tandem::Tensor> outputs;
  outputs.reserve(modules.size());
  for (size_t i = 0; i < modules.size(); ++i) {
    const tandem::Device device = devices ? (*devices)[i] : inputs[i].device(site);
    const tandem::cuda::DeviceGuard guard(device);
    outputs.push_back(nn::detail::call_module(*detail::pointer_to(modules[i]), site, tandem::Tensor(inputs[i])).to(device, {}, site));
  }
  return outputs;
}

/// The module's output for a batch of which each device computes its share: on all GPUs, or on `devices`; the result is on `output_device`,
/// or on the first one. Error where there is no GPU and no devices are given.
template <class ModuleType>
tandem::Tensor data_parallel(ModuleType module, tandem::Tensor input, std::optional<std::vector<tandem::Device>> devices = std::nullopt,
                             std::optional<tandem::Device> output_device = std::nullopt, int64_t dim = 0,
                             tandem::Site site = tandem::Site::here()) {
  if (!devices) {
    devices.emplace();
    for (int i = 0; i < tandem::num_gpus(); ++i) devices->push_back(tandem::gpu(i));
  }
  if (devices->empty()) tandem::fail("[data_parallel] Expected at least one CUDA device to be available, or `devices` that name some");
  const tandem::Device target = output_device.value_or(devices->front());
  const auto& original = detail::pointer_to(module);
  if (devices->size() == 1) {
    original->to(devices->front());
    return nn::detail::call_module(*original, site, input.to(devices->front(), {}, site)).to(target, {}, site);
  }
  const std::vector<tandem::Tensor> inputs = tandem::parallel::scatter(input, *devices, dim, site);
  devices->resize(inputs.size());  // a small batch does not fill all of them
  auto replicas = replicate(original, *devices, site);
  return tandem::parallel::gather(parallel_apply(replicas, inputs, devices, site), target, dim, site);
}

}  // namespace torch::nn::parallel
