// Files of torch.save's (.pt, .pth): archives, as PyTorch writes them since 1.6, and the older ones before. No code of a file's is run.
#pragma once

#include <string>
#include <vector>

#include "io/plain_value.h"
#include "io/safetensors.h"

namespace tandem::io {

/// Reads what torch.save wrote: a state_dict, a checkpoint with numbers and texts beside it, a tensor. Tensors go onto `device`, wherever
/// they were; those that shared memory share it again. Of a TorchScript archive it gives the weights and attributes, by name; its code is
/// not run. Nothing in the file is trusted. Error, naming the file, where it holds an object of a class, such as a whole model: only
/// tensors, numbers, texts and containers of them are read. As torch.load(path, weights_only=True).
[[nodiscard]] PlainValue read_torch(const std::string& path, Device device = cpu(), Site site = Site::here());

/// The tensors of such a file, by the keys that lead to them, with points between: of {"model": net.state_dict(), "epoch": 3} they are
/// "model.0.weight" and so on. Those that are named, or all where `names` is empty; only what is wanted is read.
[[nodiscard]] TensorMap load_torch(const std::string& path, Device device = cpu(), const std::vector<std::string>& names = {},
                                   Site site = Site::here());

/// Writes a value as torch.save does, for torch.load(path, weights_only=True): `save_torch("net.pt", net.state_dict())`. Tensors are
/// copied from wherever they are, and waited for; those that share memory share it in the file, which has all of that memory. Written
/// beside and renamed: `path` is whole at any moment. Error, naming the file, where that does not succeed.
void save_torch(const std::string& path, const PlainValue& value, Site site = Site::here());

}  // namespace tandem::io
