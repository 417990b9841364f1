// Gradients as a kernel that changes all of them takes them: by device, and dense. For the library.
#pragma once

#include <utility>
#include <vector>

#include "ops/launch.h"
#include "tensor/tensor.h"

namespace tandem::ops {

/// The gradients of one device: a strided one is copied for the purpose, and written back.
struct DensePart {
  Device device;
  std::vector<kernels::View> views;
  std::vector<Tensor> dense;
  std::vector<std::pair<Tensor, Tensor>> strided;  // gradient, dense copy

  [[nodiscard]] kernels::Span<kernels::View> span() const { return {views.data(), static_cast<int64_t>(views.size())}; }
  /// The kernel has changed them all.
  void changed(Site site) const;
};

/// Adds a gradient to the part of its device. Error where it does not hold floating-point numbers.
void add_gradient(const char* op, std::vector<DensePart>& parts, const Tensor& gradient, Site site);

}  // namespace tandem::ops
