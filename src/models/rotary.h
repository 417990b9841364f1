// How fast the angles of rotary embedding turn with the position.
#pragma once

#include "models/language_config.h"

namespace tandem::models {

/// The frequency of the pair of numbers `pair` of a head in radians a position, scaled. As transformers' ROPE_INIT_FUNCTIONS has it.
[[nodiscard]] double rotary_frequency(const LanguageModelConfig& config, const RotaryScaling& scaling, int64_t pair);

}  // namespace tandem::models
