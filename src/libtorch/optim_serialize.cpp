#include "libtorch/optim_serialize.h"

#include <vector>

#include "ops/creation.h"

namespace torch::optim {

int64_t detail::read_count(serialize::InputArchive& archive, const std::string& key) {
  tandem::Tensor count;
  archive.read(key, count, false, torch::detail::statement());
  return count.item<int64_t>(tandem::Site::none());
}

void detail::write_count(serialize::OutputArchive& archive, const std::string& key, size_t count) {
  archive.write(key, tandem::tensor(static_cast<int64_t>(count), tandem::kInt64, tandem::Site::none()));
}

void detail::write_optimizer(serialize::OutputArchive& archive, const Optimizer& optimizer) {
  archive.write("pytorch_version", IValue("1.5.0"));
  serialize::OutputArchive states, groups;
  write_count(groups, "param_groups/size", optimizer.param_groups().size());
  const auto& known = optimizer.state();
  size_t number = 0, group_number = 0;
  for (const OptimizerParamGroup& group : optimizer.param_groups()) {
    serialize::OutputArchive written, options;
    write_count(written, "params/size", group.params().size());
    for (size_t i = 0; i < group.params().size(); ++i, ++number) {
      const std::string name = std::to_string(number);
      written.write("params/" + std::to_string(i), IValue(name));
      const auto found = known.find(key_of(group.params()[i]));
      if (found == known.end()) continue;
      serialize::OutputArchive state;
      found->second->serialize(state);
      states.write(name, state);
    }
    group.options().serialize(options);
    written.write("options", options);
    groups.write("param_groups/" + std::to_string(group_number++), written);
  }
  archive.write("state", states);
  archive.write("param_groups", groups);
}

void detail::read_optimizer(serialize::InputArchive& archive, Optimizer& optimizer, std::unique_ptr<OptimizerParamState> (*new_state)(),
                            std::unique_ptr<OptimizerOptions> (*copied)(const OptimizerOptions&)) {
  serialize::InputArchive states, groups;
  archive.read("state", states);
  archive.read("param_groups", groups);
  auto& own = optimizer.param_groups();
  const int64_t count = read_count(groups, "param_groups/size");
  if (count != static_cast<int64_t>(own.size()))
    tandem::fail("[load] loaded state dict has a different number of parameter groups: ", count, ", not ", own.size());
  std::vector<std::unique_ptr<OptimizerOptions>> new_options;
  std::vector<std::pair<std::string, std::unique_ptr<OptimizerParamState>>> new_states;
  for (size_t g = 0; g < own.size(); ++g) {
    serialize::InputArchive group, options;
    groups.read("param_groups/" + std::to_string(g), group);
    const auto& params = own[g].params();
    const int64_t size = read_count(group, "params/size");
    if (size != static_cast<int64_t>(params.size()))
      tandem::fail("[load] loaded state dict contains a parameter group that has a different size than the optimizer's: ", size,
                   " parameters in group ", g, ", not ", params.size());
    for (size_t i = 0; i < params.size(); ++i) {
      IValue name;
      group.read("params/" + std::to_string(i), name);
      serialize::InputArchive state;
      if (!states.try_read(name.toStringRef(), state)) continue;
      auto read = new_state();
      read->serialize(state);
      new_states.emplace_back(key_of(params[i]), std::move(read));
    }
    group.read("options", options);
    auto read = copied(own[g].options());
    read->serialize(options);
    new_options.push_back(std::move(read));
  }
  for (size_t g = 0; g < own.size(); ++g) own[g].set_options(std::move(new_options[g]));
  auto& known = optimizer.state();
  for (auto& [key, state] : new_states) known[key] = std::move(state);
}

void serialize(serialize::OutputArchive& archive, const std::string& key, const int64_t& value) { archive.write(key, IValue(value)); }

void serialize(serialize::InputArchive& archive, const std::string& key, int64_t& value) {
  IValue read;
  archive.read(key, read);
  value = read.toInt();
}

}  // namespace torch::optim
