// Pooling over one, two or three spatial dimensions: the largest or the mean of windows, and the way back.
#pragma once

#include "ops/window.h"
#include "tensor/tensor.h"

namespace tandem {

struct MaxPoolOptions {
  PerDim stride = {};  // the kernel's size where not given
  PerDim padding = 0;
  PerDim dilation = 1;
  bool ceil_mode = false;
};

struct AvgPoolOptions {
  PerDim stride = {};
  PerDim padding = 0;
  bool ceil_mode = false;
  bool count_include_pad = true;
  std::optional<int64_t> divisor_override = {};  // avg_pool1d has none
};

/// Options of lp_pool1d(), lp_pool2d(), lp_pool3d(), in this order.
struct LpPoolOptions {
  PerDim stride = {};
  bool ceil_mode = false;
};

struct MaxUnpoolOptions {
  PerDim stride = {};
  PerDim padding = 0;
  Shape output_size = {};  // with or without the leading dimensions; empty: as the windows say
};

/// input (n, c, spatial…) or (c, spatial…). Errors where a window is empty or a padding more than half of it. As
/// torch.nn.functional.max_pool2d; the `_with_indices` forms are those with return_indices=True: indices count within (spatial…).
[[nodiscard]] Tensor max_pool1d(const Tensor& input, const PerDim& kernel_size, const MaxPoolOptions& options = {},
                                Site site = Site::here());
[[nodiscard]] Tensor max_pool2d(const Tensor& input, const PerDim& kernel_size, const MaxPoolOptions& options = {},
                                Site site = Site::here());
[[nodiscard]] Tensor max_pool3d(const Tensor& input, const PerDim& kernel_size, const MaxPoolOptions& options = {},
                                Site site = Site::here());
[[nodiscard]] ValuesIndices max_pool1d_with_indices(const Tensor& input, const PerDim& kernel_size, const MaxPoolOptions& options = {},
                                                    Site site = Site::here());
[[nodiscard]] ValuesIndices max_pool2d_with_indices(const Tensor& input, const PerDim& kernel_size, const MaxPoolOptions& options = {},
                                                    Site site = Site::here());
[[nodiscard]] ValuesIndices max_pool3d_with_indices(const Tensor& input, const PerDim& kernel_size, const MaxPoolOptions& options = {},
                                                    Site site = Site::here());

/// Means of windows of floating types or int64. As torch.nn.functional.avg_pool2d.
[[nodiscard]] Tensor avg_pool1d(const Tensor& input, const PerDim& kernel_size, const AvgPoolOptions& options = {},
                                Site site = Site::here());
[[nodiscard]] Tensor avg_pool2d(const Tensor& input, const PerDim& kernel_size, const AvgPoolOptions& options = {},
                                Site site = Site::here());
[[nodiscard]] Tensor avg_pool3d(const Tensor& input, const PerDim& kernel_size, const AvgPoolOptions& options = {},
                                Site site = Site::here());

/// Windows that divide the input into output_size parts, which may overlap. Floating types. As torch.nn.functional.adaptive_avg_pool2d.
[[nodiscard]] Tensor adaptive_avg_pool1d(const Tensor& input, const OutputSize& output_size, Site site = Site::here());
[[nodiscard]] Tensor adaptive_avg_pool2d(const Tensor& input, const OutputSize& output_size, Site site = Site::here());
[[nodiscard]] Tensor adaptive_avg_pool3d(const Tensor& input, const OutputSize& output_size, Site site = Site::here());
/// The largest elements of such windows. As torch.nn.functional.adaptive_max_pool2d.
[[nodiscard]] Tensor adaptive_max_pool1d(const Tensor& input, const OutputSize& output_size, Site site = Site::here());
[[nodiscard]] Tensor adaptive_max_pool2d(const Tensor& input, const OutputSize& output_size, Site site = Site::here());
[[nodiscard]] Tensor adaptive_max_pool3d(const Tensor& input, const OutputSize& output_size, Site site = Site::here());
[[nodiscard]] ValuesIndices adaptive_max_pool1d_with_indices(const Tensor& input, const OutputSize& output_size, Site site = Site::here());
[[nodiscard]] ValuesIndices adaptive_max_pool2d_with_indices(const Tensor& input, const OutputSize& output_size, Site site = Site::here());
[[nodiscard]] ValuesIndices adaptive_max_pool3d_with_indices(const Tensor& input, const OutputSize& output_size, Site site = Site::here());

/// The norm_type-norms of windows: (sum of x^p)^(1/p). As torch.nn.functional.lp_pool2d.
[[nodiscard]] Tensor lp_pool1d(const Tensor& input, double norm_type, const PerDim& kernel_size, const LpPoolOptions& options = {},
                               Site site = Site::here());
[[nodiscard]] Tensor lp_pool2d(const Tensor& input, double norm_type, const PerDim& kernel_size, const LpPoolOptions& options = {},
                               Site site = Site::here());
[[nodiscard]] Tensor lp_pool3d(const Tensor& input, double norm_type, const PerDim& kernel_size, const LpPoolOptions& options = {},
                               Site site = Site::here());

/// The elements, of floating types, at their indices in a tensor that is zero elsewhere. As torch.nn.functional.max_unpool2d.
[[nodiscard]] Tensor max_unpool1d(const Tensor& input, const Tensor& indices, const PerDim& kernel_size,
                                  const MaxUnpoolOptions& options = {}, Site site = Site::here());
[[nodiscard]] Tensor max_unpool2d(const Tensor& input, const Tensor& indices, const PerDim& kernel_size,
                                  const MaxUnpoolOptions& options = {}, Site site = Site::here());
[[nodiscard]] Tensor max_unpool3d(const Tensor& input, const Tensor& indices, const PerDim& kernel_size,
                                  const MaxUnpoolOptions& options = {}, Site site = Site::here());

}  // namespace tandem
