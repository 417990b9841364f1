// One module trained on several devices at once, each with its share of the batch.
#pragma once

#include <optional>
#include <typeinfo>
#include <vector>

#include "nn/any_module.h"
#include "nn/borrowed.h"
#include "parallel/parallel_apply.h"

namespace tandem::parallel {

struct DataParallelOptions {
  std::optional<Device> output_device = {};  // the first device unless given
  int64_t dim = 0;                           // the batch's dimension
  ApplyOptions apply = {};
};

/// Calls a module on several devices: scatters the input, replicates the module, runs the replicas at the same time, gathers their outputs.
/// Backward adds the replicas' gradients up in the module's own parameters, so with a mean over the gathered output the result is that of a
/// single device, for uneven shares too. Refers to the module, which must live on devices[0] and outlive this. Made anew at no cost: it
/// keeps nothing. As torch.nn.DataParallel.
class DataParallel : public nn::Module {
 public:
  /// On `devices`, or on all there are. With one device (or a batch that fills one only) the module is called directly.
  template <class M>
  requires nn::IsModule<M>
  explicit DataParallel(M& module, std::vector<Device> devices = try_all_gpus(), DataParallelOptions options = {}, Site = Site::here())
      : DataParallel(from_tensor_to_tensor(module), nn::copier_of<M>(), std::move(devices), options, Site::none()) {
    nn::detail::check_exact_type("DataParallel", module, typeid(M));
  }
  /// The same for a module of a type that only `copier` knows.
  DataParallel(nn::Module& module, nn::Copier copier, std::vector<Device> devices, DataParallelOptions options = {}, Site = Site::here());

  /// The module itself, under the name "module".
  void fields(nn::Fields& f) override { f("module", module()); }
  /// The batch in parts, one a GPU; the outputs joined on the first.
  Tensor forward(const Tensor& x) override;
  /// The module that it wraps.
  [[nodiscard]] nn::Module& module() const { return module_.get(*this); }
  /// The GPUs that take part, the first one first.
  [[nodiscard]] const std::vector<Device>& devices() const { return devices_; }

 private:
  template <class M>
  static nn::Module& from_tensor_to_tensor(M& module) {
    if constexpr (nn::IsTensorModule<M>) return module;
    else static_assert(sizeof(M) == 0, "DataParallel takes modules from tensor to tensor: DistributedDataParallel takes a nn::Callable");
  }
  void check_placement() const;
  void check_statistics() const;

  nn::detail::Borrowed<nn::Module> module_;
  nn::Copier copier_;
  std::vector<Device> devices_;
  DataParallelOptions options_;
};

}  // namespace tandem::parallel
