// From a tensor's message to a tensor.
#pragma once

#include <string>

#include "onnx/proto.h"
#include "tensor/tensor.h"

namespace tandem::onnx {

/// The tensor, on the CPU. Bytes that lie in another file are read from the folder `folder`, out of which no path may lead. Sizes are
/// compared with what there is before memory is taken. Error that begins with what is wrong, to which the file's reader puts its name.
[[nodiscard]] Tensor tensor_of(const TensorProto& proto, const std::string& folder, Site site);

/// How many elements the sizes make; nothing where a size is negative, or where that is more than memory could ever have.
[[nodiscard]] std::optional<int64_t> element_count(std::span<const int64_t> sizes);

}  // namespace tandem::onnx
