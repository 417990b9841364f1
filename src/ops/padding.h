// Elements around a tensor.
#pragma once

#include "tensor/tensor.h"

namespace tandem {

/// `pad` counts elements before and behind the last dimension, then the one before it, and so on; negative ones cut. mode: "constant" (any
/// number of dimensions, `value` in the new places, 0 where not given), or "reflect", "replicate", "circular", which pad the last one to
/// three dimensions of a tensor that has one or two more. Errors where the sizes don't allow it. As torch.nn.functional.pad.
[[nodiscard]] Tensor pad(const Tensor& input, const Shape& pad, const char* mode = "constant", std::optional<Scalar> value = {},
                         Site site = Site::here());
/// As torch.constant_pad_nd.
[[nodiscard]] Tensor constant_pad_nd(const Tensor& input, const Shape& pad, const Scalar& value = 0, Site site = Site::here());

}  // namespace tandem
