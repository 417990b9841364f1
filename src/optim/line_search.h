// How far to go along a direction. For the library.
#pragma once

#include <functional>

#include "tensor/tensor.h"

namespace tandem::optim::detail {

/// A point on a line: how far along, the loss there, its gradient, and the gradient's part along the line.
struct LinePoint {
  double t = 0, loss = 0;
  Tensor gradient;
  double slope = 0;
};
struct LineSearchResult {
  LinePoint best;
  int64_t evaluations = 0;
};

/// The point between two others where the cubic through their losses and slopes is least, kept within [low, high]; their middle where there
/// is none. Nocedal and Wright, "Numerical Optimization", (3.59).
[[nodiscard]] double cubic_minimum(const LinePoint& a, const LinePoint& b, double low, double high);

/// A point that meets the strong Wolfe conditions (loss below the line of slope 1e-4, slope at most 0.9 of the start's), or the best one
/// within `max_evaluations` more. `direction_size`: the direction's largest element; the search ends where steps change nothing by more
/// than `tolerance`. Nocedal and Wright, algorithms 3.5 and 3.6, as in PyTorch's LBFGS.
[[nodiscard]] LineSearchResult strong_wolfe(const std::function<LinePoint(double t)>& evaluate, const LinePoint& start, double first_t,
                                            double direction_size, double tolerance, int64_t max_evaluations);

}  // namespace tandem::optim::detail
