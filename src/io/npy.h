// NumPy's files: one array (.npy), and several by name in an archive (.npz).
#pragma once

#include <string>
#include <vector>

#include "io/safetensors.h"
#include "tensor/tensor.h"

namespace tandem::io {

/// Writes a tensor as numpy.save does, row-major; waits for its device. Written beside and renamed, so `path` is whole at any moment.
/// Error, naming the file, where that does not succeed, and for bfloat16, which NumPy does not have.
void save_npy(const std::string& path, const Tensor& tensor, Site site = Site::here());
/// Reads what numpy.save wrote, row- or column-major, numbers of either byte order and bool. Nothing in the file is trusted; an error names
/// the file, and what its elements are where these are no numbers that a tensor can have.
[[nodiscard]] Tensor load_npy(const std::string& path, Device device = cpu(), Site site = Site::here());

/// Writes tensors by name as numpy.savez does.
void save_npz(const std::string& path, const TensorMap& tensors, Site site = Site::here());
/// Reads what numpy.savez or numpy.savez_compressed wrote: the arrays that are named, or all where `names` is empty. What is no array of
/// numbers (text, objects, records) is left out with a warning; it is an error where it is named, or where there is nothing else.
[[nodiscard]] TensorMap load_npz(const std::string& path, Device device = cpu(), const std::vector<std::string>& names = {},
                                 Site site = Site::here());

}  // namespace tandem::io
