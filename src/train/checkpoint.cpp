#include "train/checkpoint.h"

#include <algorithm>

#include "base/error.h"
#include "base/wait_scope.h"
#include "io/any_file.h"
#include "io/safetensors.h"

namespace tandem {
namespace train::detail {
namespace {

constexpr const char* kFormatKey = "format";
constexpr const char* kFormat = "tandem.checkpoint.1";
constexpr const char* kOptimizerKey = "optimizer";
constexpr const char* kModelPrefix = "model.";
constexpr const char* kOptimizerPrefix = "optimizer.";
constexpr const char* kSchedulesPrefix = "schedules.";
constexpr const char* kScalerPrefix = "scaler.";

void add(io::TensorMap& tensors, const char* prefix, const StateDict& state) {
  for (const auto& [name, tensor] : state) tensors.emplace(prefix + name, tensor);
}

/// The text of a note; empty where there is none.
std::string note(const io::Metadata& notes, const char* key) {
  const auto found = notes.find(key);
  return found == notes.end() ? std::string() : found->second;
}

}  // namespace

void save_checkpoint(const std::string& path, const nn::ModuleBase& module, const optim::Optimizer* optimizer, const Checkpoint& more,
                     Site site) {
  const tandem::detail::OwnWork own("the writing of a checkpoint", site);
  io::TensorMap tensors;
  io::Metadata metadata = more.notes;
  metadata[kFormatKey] = kFormat;
  add(tensors, kModelPrefix, module.state_dict());
  if (optimizer) {
    metadata[kOptimizerKey] = optimizer->name();
    add(tensors, kOptimizerPrefix, optimizer->state_dict());
  }
  add(tensors, kSchedulesPrefix, more.schedules);
  add(tensors, kScalerPrefix, more.scaler);
  io::save_safetensors(path, tensors, metadata, site);
}

ReadCheckpoint read_checkpoint(const std::string& path, Site site) {
  io::SafetensorsFile file;
  if (io::is_other_than_safetensors("load", path)) file.tensors = io::load_tensors(path, cpu(), {}, io::OtherTypes::AreErrors, site);
  else file = io::read_safetensors(path, cpu(), {}, site);
  StateDict all;
  for (const auto& [name, tensor] : file.tensors) all[name] = tensor;
  ReadCheckpoint read;
  read.path = path;
  if (note(file.metadata, kFormatKey) == kFormat) {
    read.model = all.under(kModelPrefix);
    read.optimizer = all.under(kOptimizerPrefix);
    read.optimizer_name = note(file.metadata, kOptimizerKey);
    read.more.schedules = all.under(kSchedulesPrefix);
    read.more.scaler = all.under(kScalerPrefix);
  } else {
    read.is_of_others = true;
    read.model = std::move(all);  // other libraries' files have the parameters under their bare names
  }
  read.more.notes = std::move(file.metadata);
  return read;
}

void take_over(const ReadCheckpoint& read, nn::ModuleBase& module, optim::Optimizer* optimizer, Site site) {
  const tandem::detail::OwnWork own("the reading of a checkpoint", site);
  if (optimizer && read.optimizer_name.empty()) fail("[load] ", read.path, ": has no state of an optimizer");
  if (optimizer && read.optimizer_name != optimizer->name())
    fail("[load] ", read.path, ": has the state of the optimizer ", read.optimizer_name, ", not of ", optimizer->name());
  try {
    // Each refuses what does not fit before it changes. The module comes after the optimizer, which is easily put back.
    const StateDict before = optimizer ? optimizer->state_dict() : StateDict();
    if (optimizer) optimizer->load_state_dict(read.optimizer, site);
    try {
      module.load_state_dict(read.model, {}, site);
    } catch (...) {
      if (optimizer) optimizer->load_state_dict(before, site);
      throw;
    }
  } catch (const Error& error) {
    fail("[load] ", read.path, ": ", error.message());
  }
}

}  // namespace train::detail

void save(const std::string& path, const nn::ModuleBase& module, Site site) {
  const detail::OwnWork own("the writing of a model", site);
  io::save_safetensors(path, module.state_dict(), {}, site);
}

void save(const std::string& path, const nn::ModuleBase& module, const optim::Optimizer& optimizer, Site site) {
  train::detail::save_checkpoint(path, module, &optimizer, {}, site);
}

namespace {

/// The part of another library's file that is the module's state: it may stand in a dict beside others, as {"model": …, "epoch": …}, or be
/// of a wrapper, as "module.0.weight". All of it where no part, or more than one, has all the names.
StateDict part_for(const nn::ModuleBase& module, const StateDict& all) {
  const std::vector<std::string> names = module.state_dict().keys();
  if (names.empty() || all.contains(names[0])) return all;
  std::vector<std::string> prefixes;
  for (const auto& [name, tensor] : all) {
    if (!name.ends_with('.' + names[0])) continue;
    const std::string prefix = name.substr(0, name.size() - names[0].size());
    if (std::all_of(names.begin(), names.end(), [&](const std::string& wanted) { return all.contains(prefix + wanted); }))
      prefixes.push_back(prefix);
  }
  return prefixes.size() == 1 ? all.under(prefixes[0]) : all;
}

}  // namespace

void load(const std::string& path, nn::ModuleBase& module, Site site) {
  train::detail::ReadCheckpoint read = train::detail::read_checkpoint(path, site);
  if (read.is_of_others) read.model = part_for(module, read.model);
  train::detail::take_over(read, module, nullptr, site);
}

void load(const std::string& path, nn::ModuleBase& module, optim::Optimizer& optimizer, Site site) {
  train::detail::take_over(train::detail::read_checkpoint(path, site), module, &optimizer, site);
}

}  // namespace tandem
