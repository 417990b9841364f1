#include "train/checkpoint.h"

#include "base/error.h"
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
  io::TensorMap tensors;
  io::Metadata metadata = more.notes;
  metadata[kFormatKey] = kFormat;
  add(tensors, kModelPrefix, module.state_dict());
  if (optimizer) {
    metadata[kOptimizerKey] = optimizer->name();
    add(tensors, kOptimizerPrefix, optimizer->state_dict());
  }
  add(tensors, kSchedulesPrefix, more.schedules);
  io::save_safetensors(path, tensors, metadata, site);
}

Checkpoint load_checkpoint(const std::string& path, nn::ModuleBase& module, optim::Optimizer* optimizer, Site site) {
  io::SafetensorsFile file = io::read_safetensors(path, cpu(), site);
  const std::string format = note(file.metadata, kFormatKey), kind = note(file.metadata, kOptimizerKey);
  StateDict all;
  for (const auto& [name, tensor] : file.tensors) all[name] = tensor;
  // Other libraries' files have the parameters under their bare names.
  const bool ours = format == kFormat;
  if (optimizer && (!ours || kind.empty())) fail("[load] ", path, ": has no state of an optimizer");
  if (optimizer && kind != optimizer->name())
    fail("[load] ", path, ": has the state of the optimizer ", kind, ", not of ", optimizer->name());
  try {
    // What the optimizer refuses, it refuses before it changes; the module comes after it, so that neither has changed where one does not
    // fit.
    const StateDict state = ours ? all.under(kModelPrefix) : all;
    const StateDict before = optimizer ? optimizer->state_dict() : StateDict();
    if (optimizer) optimizer->load_state_dict(all.under(kOptimizerPrefix), site);
    try {
      module.load_state_dict(state, {}, site);
    } catch (const Error&) {
      if (optimizer) optimizer->load_state_dict(before, site);
      throw;
    }
  } catch (const Error& error) {
    fail("[load] ", path, ": ", error.what());
  }
  return {.notes = std::move(file.metadata), .schedules = all.under(kSchedulesPrefix)};
}

}  // namespace train::detail

void save(const std::string& path, const nn::ModuleBase& module, Site site) {
  train::detail::save_checkpoint(path, module, nullptr, {}, site);
}

void save(const std::string& path, const nn::ModuleBase& module, const optim::Optimizer& optimizer, Site site) {
  train::detail::save_checkpoint(path, module, &optimizer, {}, site);
}

void load(const std::string& path, nn::ModuleBase& module, Site site) { train::detail::load_checkpoint(path, module, nullptr, site); }

void load(const std::string& path, nn::ModuleBase& module, optim::Optimizer& optimizer, Site site) {
  train::detail::load_checkpoint(path, module, &optimizer, site);
}

}  // namespace tandem
