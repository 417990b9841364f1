#include "models/rotary.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tandem::models {

double rotary_frequency(const LanguageModelConfig& config, const RotaryScaling& scaling, int64_t pair) {
  const double frequency = std::pow(config.rope_theta, -2.0 * static_cast<double>(pair) / static_cast<double>(config.head_dim));
  if (scaling.kind == RotaryScaling::Kind::None) return frequency;
  if (scaling.kind == RotaryScaling::Kind::Linear) return frequency / scaling.factor;
  // Llama 3: fast turns stay, slow ones are stretched, those between are mixed.
  const double turns = static_cast<double>(scaling.original_positions) * frequency / (2 * std::numbers::pi);
  const double kept = (turns - scaling.low_freq_factor) / (scaling.high_freq_factor - scaling.low_freq_factor);
  const double share = std::min(1.0, std::max(0.0, kept));
  return share * frequency + (1 - share) * frequency / scaling.factor;
}

}  // namespace tandem::models
