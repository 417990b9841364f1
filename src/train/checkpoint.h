// Models and optimizers in files, written in the safetensors format: a model under its own names; with an optimizer, parameters under
// "model." and the optimizer's state under "optimizer.".
#pragma once

#include <map>
#include <string>

#include "nn/module.h"
#include "optim/optimizer.h"

namespace tandem {

/// Writes the module's parameters and persistent buffers under their own names, as other libraries expect them. Written beside and renamed:
/// `path` is whole at any moment. Error names the file.
void save(const std::string& path, const nn::ModuleBase& module, Site site = Site::here());
/// With all that the optimizer needs to go on: parameters stand under "model.", its state under "optimizer.".
void save(const std::string& path, const nn::ModuleBase& module, const optim::Optimizer& optimizer, Site site = Site::here());

/// Reads what `save` wrote, with an optimizer or without, or weights of another library in any format that io::load_tensors reads:
/// safetensors, in shards too, PyTorch's .pt and .pth, GGUF, .npz. The weights may stand beside other things, as in
/// {"model": net.state_dict(), "epoch": 3}, or be those of a wrapper, as "module.0.weight". Each value goes onto the device where the
/// parameter lives. Error, naming the file, where it is damaged or does not fit; the module has not changed then.
void load(const std::string& path, nn::ModuleBase& module, Site site = Site::here());
/// The same with the optimizer, whose options are taken over, too. Error where the file is of another kind of optimizer or of none.
void load(const std::string& path, nn::ModuleBase& module, optim::Optimizer& optimizer, Site site = Site::here());

namespace train::detail {

/// What a Trainer adds to model and optimizer.
struct Checkpoint {
  std::map<std::string, std::string> notes;
  StateDict schedules;
  StateDict scaler;  // of a GradScaler; empty where there is none
};

/// `save` with that. `optimizer` may be nullptr.
void save_checkpoint(const std::string& path, const nn::ModuleBase& module, const optim::Optimizer* optimizer, const Checkpoint& more,
                     Site site);

/// A checkpoint that has been read, and that nothing has been changed by yet.
struct ReadCheckpoint {
  std::string path;
  StateDict model, optimizer;
  std::string optimizer_name = {};  // empty: the file has none
  bool is_of_others = false;        // another library's file, with a model's weights alone
  Checkpoint more;
};
[[nodiscard]] ReadCheckpoint read_checkpoint(const std::string& path, Site site);
/// Takes it over, all or nothing. `optimizer` may be nullptr.
void take_over(const ReadCheckpoint& read, nn::ModuleBase& module, optim::Optimizer* optimizer, Site site);

}  // namespace train::detail
}  // namespace tandem
