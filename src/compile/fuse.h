// Which calls of a trace can be one: a convolution with the batch normalization, the sum and the ReLU behind it.
#pragma once

#include <vector>

#include "compile/flow.h"
#include "kernels/cpu/blocked.h"

namespace tandem::compiling {

/// A convolution and what follows it, by the places of nodes.
struct FusedConvolution {
  std::vector<int> nodes;  // the convolution first; it is done where the last one stands
  kernels::cpu::BlockedConvolutionSizes sizes{};
  const Use* in = nullptr;
  const Use* added = nullptr;  // nullptr: nothing
  int out = -1;                // a block
  const float *weight = nullptr, *bias = nullptr, *scale = nullptr, *shift = nullptr;
};

/// A pooling that can be done on blocked channels.
struct FusedPool {
  int node;
  kernels::cpu::BlockedPoolSizes sizes{};
  const Use* in = nullptr;
  int out = -1;
};

/// The convolutions, but for those that begin at a node of `not_these`.
[[nodiscard]] std::vector<FusedConvolution> fused_convolutions(const Flow& flow, const std::vector<int>& not_these);
[[nodiscard]] std::vector<FusedPool> fused_pools(const Flow& flow, const std::vector<int>& not_these);

}  // namespace tandem::compiling
