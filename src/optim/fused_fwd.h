// Names from fused.h, for headers that users include.
#pragma once

namespace tandem::kernels {
struct SgdParameter;
struct AdamParameter;
struct StepParameter;
enum class OptimizerStep : unsigned char;
}  // namespace tandem::kernels
namespace tandem::optim::detail {
template <class Item>
class FusedStep;
}
