// Gradients as a kernel that changes all of them takes them: by device, and dense. For the library.
#pragma once

#include <utility>
#include <vector>

#include "autograd/divided.h"
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
  /// The same for a kernel that changes them, after which comes `changed`.
  [[nodiscard]] std::vector<kernels::Change> to_change() const;
  /// The kernel has changed them all.
  void changed(Site site) const;
};

/// Adds a gradient to the part of its device. Error where it does not hold floating-point numbers.
void add_gradient(const char* op, std::vector<DensePart>& parts, const Tensor& gradient, Site site);

/// Gradients that are whole on this rank, or of which the same ranks have a part each.
struct RanksGradients {
  const autograd::DividedGradient* divided = nullptr;  // nullptr: whole
  Device device;                                       // of the first one
  bool any = false;                                    // whether there is a gradient, which may be empty on this rank
  std::vector<DensePart> parts;
};

/// The gradients of all parameters. Those that are divided have an entry on every rank, whatever this one has of them.
[[nodiscard]] std::vector<RanksGradients> gradients_of(const char* op, const std::vector<Tensor>& parameters, Site site);

}  // namespace tandem::ops
