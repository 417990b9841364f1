// One's own picture of a digit, brought to the form of the digits that a network has learned from.
#pragma once

#include "tensor/tensor.h"

namespace tandem::tools {

/// From a grey picture, (1, h, w) uint8, dark on light or light on dark, to (1, 1, size, size) float32 from 0 (paper) to 1 (ink): what is
/// drawn is cut out, kept in its proportions, and centred with `margin` rows and columns around. Error where nothing is drawn.
[[nodiscard]] Tensor digit_picture(const Tensor& grey, int64_t size, int64_t margin);

}  // namespace tandem::tools
