// How optimizers are written to archives: as libtorch writes them, but parameters are named by their number.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "libtorch/optim_optimizer.h"

namespace torch::optim {

namespace detail {
int64_t read_count(serialize::InputArchive& archive, const std::string& key);
void write_count(serialize::OutputArchive& archive, const std::string& key, size_t count);
void write_optimizer(serialize::OutputArchive& archive, const Optimizer& optimizer);
void read_optimizer(serialize::InputArchive& archive, Optimizer& optimizer, std::unique_ptr<OptimizerParamState> (*new_state)(),
                    std::unique_ptr<OptimizerOptions> (*copied)(const OptimizerOptions&));
}  // namespace detail

/// Writes an optimizer whose states are `ParamState`s and whose options `Options`.
template <class ParamState, class Options>
void serialize(serialize::OutputArchive& archive, const Optimizer& optimizer) {
  detail::write_optimizer(archive, optimizer);
}

/// Reads what the other one has written, or libtorch. Error where groups do not fit; nothing has changed then.
template <class ParamState, class Options>
void serialize(serialize::InputArchive& archive, Optimizer& optimizer) {
  detail::read_optimizer(
      archive, optimizer, []() -> std::unique_ptr<OptimizerParamState> { return std::make_unique<ParamState>(); },
      [](const OptimizerOptions& options) -> std::unique_ptr<OptimizerOptions> {
        return std::make_unique<Options>(static_cast<const Options&>(options));
      });
}

/// One number.
void serialize(serialize::OutputArchive& archive, const std::string& key, const int64_t& value);
void serialize(serialize::InputArchive& archive, const std::string& key, int64_t& value);
/// A list of tensors.
template <class Tensors>
void serialize(serialize::OutputArchive& archive, const std::string& key, const Tensors& tensors) {
  detail::write_count(archive, key + "/size", tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) archive.write(key + "/" + std::to_string(i), tensors[i], /*is_buffer=*/true);
}
template <class Tensors>
void serialize(serialize::InputArchive& archive, const std::string& key, Tensors& tensors) {
  tensors.clear();
  const int64_t count = detail::read_count(archive, key + "/size");
  for (int64_t i = 0; i < count; ++i) {
    tandem::Tensor tensor;
    archive.read(key + "/" + std::to_string(i), tensor, true, torch::detail::statement());
    tensors.push_back(std::move(tensor));
  }
}

}  // namespace torch::optim
