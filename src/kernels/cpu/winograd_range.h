// Which numbers Winograd's algorithm is for. A tile's results are differences of sums in which all of its places take part, so they have
// the rounding error of its largest place, whether they see it or not; an infinity leaves nothing of them.
#pragma once

namespace tandem::kernels::cpu {

/// Places and weights below this, in magnitude, are not looked after.
inline constexpr float kWinogradLarge = 0x1p12F;

}  // namespace tandem::kernels::cpu
