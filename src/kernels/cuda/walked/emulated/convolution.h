// A convolution, forward or one of its gradients, as cuDNN's descriptors say it, computed on the host.
#pragma once

#include <cudnn.h>

#include <cstdint>
#include <vector>

namespace tandem::kernels::cuda::emulated {

/// A tensor (outer, inner, spatial…) by its name in a plan.
struct Tensor {
  int64_t name = 0;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  std::vector<int64_t> sizes, strides;
};

/// How a kernel moves, by spatial dimension.
struct Sliding {
  std::vector<int64_t> padding, stride, dilation;
};

struct Convolution {
  enum class Computed : uint8_t { Result, Data, Weight };
  Computed computed = Computed::Result;
  Tensor data, weight, result;
  Sliding sliding;
  double alpha = 1, beta = 0;
};

/// Whether the result has fewer places than would fit, and in no dimension more.
[[nodiscard]] bool leaves_results_out(const Convolution& convolution);

/// The tensor that is computed = alpha · what the convolution says + beta · what it was; sums in double. Throws Error for a data type
/// that is not floating.
void compute(const Convolution& convolution, void* data, void* weight, void* result);

}  // namespace tandem::kernels::cuda::emulated
