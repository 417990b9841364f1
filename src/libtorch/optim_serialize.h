// How optimizers are written to archives: as libtorch writes them, but parameters are named by their number.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libtorch/optim_optimizer.h"
#include "ops/creation.h"

namespace torch::optim {

namespace detail {
inline int64_t read_count(serialize::InputArchive& archive, const std::string& key) {
  tandem::Tensor count;
  archive.read(key, count, false, torch::detail::statement());
  return count.item<int64_t>(tandem::Site::none());
}
inline void write_count(serialize::OutputArchive& archive, const std::string& key, size_t count) {
  archive.write(key, tandem::tensor(static_cast<int64_t>(count), tandem::kInt64, tandem::Site::none()));
}
}  // namespace detail

/// Writes an optimizer whose states are `ParamState`s and whose options `Options`.
template <class ParamState, class Options>
void serialize(serialize::OutputArchive& archive, const Optimizer& optimizer) {
  archive.write("pytorch_version", IValue("1.5.0"));
  serialize::OutputArchive states, groups;
  detail::write_count(groups, "param_groups/size", optimizer.param_groups().size());
  const auto& known = optimizer.state();
  size_t number = 0, group_number = 0;
  for (const OptimizerParamGroup& group : optimizer.param_groups()) {
    serialize::OutputArchive written, options;
    detail::write_count(written, "params/size", group.params().size());
    for (size_t i = 0; i < group.params().size(); ++i, ++number) {
      const std::string name = std::to_string(number);
      written.write("params/" + std::to_string(i), IValue(name));
      const auto found = known.find(detail::key_of(group.params()[i]));
      if (found == known.end()) continue;
      serialize::OutputArchive state;
      static_cast<const ParamState&>(*found->second).serialize(state);
      states.write(name, state);
    }
    static_cast<const Options&>(group.options()).serialize(options);
    written.write("options", options);
    groups.write("param_groups/" + std::to_string(group_number++), written);
  }
  archive.write("state", states);
  archive.write("param_groups", groups);
}

/// Reads what the other one has written, or libtorch. Error where groups do not fit; nothing has changed then.
template <class ParamState, class Options>
void serialize(serialize::InputArchive& archive, Optimizer& optimizer) {
  serialize::InputArchive states, groups;
  archive.read("state", states);
  archive.read("param_groups", groups);
  auto& own = optimizer.param_groups();
  const int64_t count = detail::read_count(groups, "param_groups/size");
  if (count != static_cast<int64_t>(own.size()))
    tandem::fail("[load] loaded state dict has a different number of parameter groups: ", count, ", not ", own.size());
  std::vector<std::unique_ptr<OptimizerOptions>> new_options;
  std::vector<std::pair<std::string, std::unique_ptr<OptimizerParamState>>> new_states;
  for (size_t g = 0; g < own.size(); ++g) {
    serialize::InputArchive group, options;
    groups.read("param_groups/" + std::to_string(g), group);
    const auto& params = own[g].params();
    const int64_t size = detail::read_count(group, "params/size");
    if (size != static_cast<int64_t>(params.size()))
      tandem::fail("[load] loaded state dict contains a parameter group that has a different size than the optimizer's: ", size,
                   " parameters in group ", g, ", not ", params.size());
    for (size_t i = 0; i < params.size(); ++i) {
      IValue name;
      group.read("params/" + std::to_string(i), name);
      serialize::InputArchive state;
      if (!states.try_read(name.toStringRef(), state)) continue;
      auto read = std::make_unique<ParamState>();
      read->serialize(state);
      new_states.emplace_back(detail::key_of(params[i]), std::move(read));
    }
    group.read("options", options);
    auto read = std::make_unique<Options>(static_cast<const Options&>(own[g].options()));
    read->serialize(options);
    new_options.push_back(std::move(read));
  }
  for (size_t g = 0; g < own.size(); ++g) own[g].set_options(std::move(new_options[g]));
  auto& known = optimizer.state();
  for (auto& [key, state] : new_states) known[key] = std::move(state);
}

/// One number.
inline void serialize(serialize::OutputArchive& archive, const std::string& key, const int64_t& value) {
  archive.write(key, IValue(value));
}
inline void serialize(serialize::InputArchive& archive, const std::string& key, int64_t& value) {
  IValue read;
  archive.read(key, read);
  value = read.toInt();
}
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
