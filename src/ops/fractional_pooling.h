// Max pooling with windows of one size whose places are drawn.
#pragma once

#include <optional>
#include <vector>

#include "ops/window.h"
#include "tensor/tensor.h"

namespace tandem {

struct FractionalMaxPoolOptions {
  PerDim output_size = {};                               // how many windows there are; or
  std::optional<std::vector<double>> output_ratio = {};  // how many times the input's size; one number stands for all
  Tensor random_samples = {};                            // (n, c, spatial dimensions) in [0, 1); drawn where not given
};

/// The largest element of each window of (n, c, spatial…) or (c, spatial…), which are spread as evenly as whole numbers allow and moved by
/// a random number for each sample, channel and dimension. Floating types. Error without a size or a ratio, and where the windows do not
/// fit. As torch.nn.functional.fractional_max_pool2d; the `_with_indices` forms are those with return_indices=True: indices count within
/// (spatial…). B. Graham, "Fractional max-pooling" (2014).
[[nodiscard]] Tensor fractional_max_pool2d(const Tensor& input, const PerDim& kernel_size, const FractionalMaxPoolOptions& options,
                                           Site site = Site::here());
[[nodiscard]] Tensor fractional_max_pool3d(const Tensor& input, const PerDim& kernel_size, const FractionalMaxPoolOptions& options,
                                           Site site = Site::here());
[[nodiscard]] ValuesIndices fractional_max_pool2d_with_indices(const Tensor& input, const PerDim& kernel_size,
                                                               const FractionalMaxPoolOptions& options, Site site = Site::here());
[[nodiscard]] ValuesIndices fractional_max_pool3d_with_indices(const Tensor& input, const PerDim& kernel_size,
                                                               const FractionalMaxPoolOptions& options, Site site = Site::here());

}  // namespace tandem
