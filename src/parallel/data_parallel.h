// One module trained on several devices at once, each with its share of the batch.
#pragma once

#include <optional>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "nn/any_module.h"
#include "nn/borrowed.h"
#include "parallel/parallel_apply.h"
#include "parallel/replicate.h"

namespace tandem::parallel {

struct DataParallelOptions {
  std::optional<Device> output_device = {};  // the first device unless given
  int64_t dim = 0;                           // the batch's dimension
  ApplyOptions apply = {};
};

namespace detail {
/// The devices with their numbers. Error where there are none.
[[nodiscard]] std::vector<Device> devices_of_data_parallel(std::vector<Device> devices);
/// Error unless all parameters and buffers are on the first device.
void check_placement(const nn::ModuleBase& module, const std::vector<Device>& devices);
/// Error for statistics over ranks, which are none over the devices of one: each replica would take its own.
void check_statistics(const nn::ModuleBase& module);
/// Each tensor in chunks: for each device that gets some, one of each tensor, undefined where that is. Error where one has fewer chunks
/// than another. Without tensors each device gets none.
[[nodiscard]] std::vector<std::vector<Tensor>> scatter_all(const std::vector<Tensor>& tensors, const std::vector<Device>& devices,
                                                           int64_t dim, Site site);
/// The i-th tensors of all parts joined, for each i. Error where one part has more of them than another.
[[nodiscard]] std::vector<Tensor> gather_all(const std::vector<std::vector<Tensor>>& parts, Device device, int64_t dim, Site site);
/// In a handler, for an error out of one of the replicas: the layer's path goes on from the replica's, which nobody else knows. Throws on.
[[noreturn]] void throw_from_replica(std::span<const nn::ModuleBase* const> replicas, nn::ModuleBase& wrapper);
}  // namespace detail

/// Calls a module on several devices: scatters the input, replicates the module, runs the replicas at the same time, gathers their outputs.
/// Backward adds the replicas' gradients up in the module's own parameters, so with a mean over the gathered output the result is that of a
/// single device, for uneven shares too. Refers to the module, which must live on devices[0] and outlive this. Made anew at no cost: it
/// keeps nothing. As torch.nn.DataParallel.
///
/// `DataParallel net(module)` is a Module around a module from tensor to tensor. Around a Callable, or as `DataParallel<Net>`, it takes the
/// module's own arguments: tensors among them, also in vectors, pairs, tuples, optionals and structs that name theirs (nn::ForwardHook),
/// are scattered, other arguments are the same for all; the tensors of the results are gathered, the rest of them is the first replica's.
template <class M = nn::Module>
class DataParallel : public nn::Callable<DataParallel<M>> {
 public:
  /// On `devices`, or on all there are. With one device (or a batch that fills one only) the module is called directly.
  explicit DataParallel(M& module, std::vector<Device> devices = try_all_gpus(), DataParallelOptions options = {}, Site site = Site::here())
      : module_(module), devices_(detail::devices_of_data_parallel(std::move(devices))), options_(options), site_(site) {
    nn::detail::check_exact_type("DataParallel", module, typeid(M));
  }

  /// The module itself, under the name "module".
  void fields(nn::Fields& f) override { f("module", module()); }
  [[nodiscard]] std::string name() const override { return "DataParallel"; }
  /// The arguments in parts, one a GPU; the outputs joined on the first. The forward may not write to its arguments.
  template <class... Args>
  auto forward(const Args&... args) {
    using Result = std::decay_t<std::invoke_result_t<M&, const std::decay_t<const Args&>&...>>;
    static_assert(nn::detail::holds_tensors<Result>,
                  "DataParallel joins what the replicas give, and there is no tensor in this module's result");
    std::tuple<std::decay_t<const Args&>...> given(args...);
    M& own = module();
    const Device output = options_.output_device.value_or(devices_[0]);
    detail::check_placement(own, devices_);
    const auto parts = detail::scatter_all(nn::detail::tensors_of(given), devices_, options_.dim, site_);
    const auto call = [&given](M& called, const std::vector<Tensor>& tensors) -> Result {
      auto arguments = given;
      nn::detail::put_tensors(arguments, tensors);
      return std::apply([&](const auto&... each) { return called(each...); }, arguments);
    };
    if (parts.size() == 1) {
      Result result = call(own, parts[0]);
      nn::detail::put_tensors(result, detail::gather_all({nn::detail::tensors_of(result)}, output, options_.dim, site_));
      return result;
    }
    detail::check_statistics(own);
    const std::vector<Device> used(devices_.begin(), devices_.begin() + static_cast<std::ptrdiff_t>(parts.size()));
    std::vector<M> replicas = replicate(own, used, site_);
    std::vector<std::optional<Result>> results(parts.size());
    try {
      detail::apply(used, options_.apply, site_, [&](size_t i) { results[i].emplace(call(replicas[i], parts[i])); });
    } catch (const Error&) {
      std::vector<const nn::ModuleBase*> bases;
      for (const M& replica : replicas) bases.push_back(&replica);
      detail::throw_from_replica(bases, *this);
    }
    std::vector<std::vector<Tensor>> outputs;
    for (auto& result : results) outputs.push_back(nn::detail::tensors_of(*result));
    nn::detail::put_tensors(*results[0], detail::gather_all(outputs, output, options_.dim, site_));
    return std::move(*results[0]);
  }
  /// The module that it wraps.
  [[nodiscard]] M& module() const { return module_.get(*this); }
  /// The GPUs that take part, the first one first.
  [[nodiscard]] const std::vector<Device>& devices() const { return devices_; }

 private:
  nn::detail::Borrowed<M> module_;
  std::vector<Device> devices_;
  DataParallelOptions options_;
  Site site_;  // where it was made: a Callable's arguments are a pack, behind which no line can stand
};

/// Around a module from tensor to tensor.
template <>
class DataParallel<nn::Module> : public nn::Module {
 public:
  template <class M>
  requires nn::IsTensorModule<M>
  explicit DataParallel(M& module, std::vector<Device> devices = try_all_gpus(), DataParallelOptions options = {}, Site = Site::here())
      : DataParallel(module, nn::copier_of<M>(), std::move(devices), options, Site::none()) {
    nn::detail::check_exact_type("DataParallel", module, typeid(M));
  }
  /// The same for a module of a type that only `copier` knows.
  DataParallel(nn::Module& module, nn::Copier copier, std::vector<Device> devices, DataParallelOptions options = {}, Site = Site::here());

  void fields(nn::Fields& f) override { f("module", module()); }
  [[nodiscard]] std::string name() const override { return "DataParallel"; }
  /// The batch in parts, one a GPU; the outputs joined on the first.
  Tensor forward(const Tensor& x) override;
  /// The module that it wraps.
  [[nodiscard]] nn::Module& module() const { return module_.get(*this); }
  /// The GPUs that take part, the first one first.
  [[nodiscard]] const std::vector<Device>& devices() const { return devices_; }

 private:
  nn::detail::Borrowed<nn::Module> module_;
  nn::Copier copier_;
  std::vector<Device> devices_;
  DataParallelOptions options_;
};

/// `DataParallel net(module)` of a module from tensor to tensor is a Module itself.
template <nn::IsTensorModule M>
DataParallel(M&, std::vector<Device> = {}, DataParallelOptions = {}, Site = Site::none()) -> DataParallel<nn::Module>;
/// The same for a module of a type that only the copier knows.
DataParallel(nn::Module&, nn::Copier, std::vector<Device>, DataParallelOptions = {}, Site = Site::none())->DataParallel<nn::Module>;

}  // namespace tandem::parallel
