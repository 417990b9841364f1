// A model that computes in another dtype than its parameters are kept in.
#pragma once

#include "nn/any_module.h"
#include "ops/autocast.h"
#include "train/trainer_precision.h"

namespace tandem::train::detail {

/// A copy of `module` whose floating-point parameters are the module's in another dtype: their gradients come back to the module's own.
/// Batch and instance normalization keep theirs, and their running statistics are the module's. Tied parameters stay tied.
[[nodiscard]] nn::AnyModule in_precision(const nn::Module& module, nn::Copier copier, DType dtype, Site site);

/// Autocast on `device` where the precision is a mixed one, else as it is.
[[nodiscard]] AutocastGuard mixed_precision(const TrainerPrecision& precision, Device device, Site site);

}  // namespace tandem::train::detail
