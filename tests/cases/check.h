// What is checked of every operation, on any device. Each check gives what it found wrong, a line each; none where all is well.
#pragma once

#include <string>
#include <vector>

#include "cases/case.h"

namespace tandem::cases {

using Findings = std::vector<std::string>;

/// The results of every input agree with the reference; a pointwise operation's in-place form gives the same.
Findings check_values(const Operation& operation, Device device);
/// Every dtype the operation takes: values and the result's type. All others are refused by an error.
Findings check_dtypes(const Operation& operation, Device device);
/// Inputs transposed, with gaps and an offset, and expanded.
Findings check_layouts(const Operation& operation, Device device);
/// Backward against central differences in float64, along random directions.
Findings check_gradients(const Operation& operation, Device device);
/// The same of the gradient, for the inputs and for the incoming gradient.
Findings check_second_gradients(const Operation& operation, Device device);
/// Nothing is written outside of any buffer, forward and backward, and no result depends on what memory held before.
Findings check_memory(const Operation& operation, Device device);
/// Where thousands of ones meet at one place, forward or backward, the half types give what float64 gives, rounded once. What is rounded
/// more often is listed in ones.cpp, each with its reason.
Findings check_ones(const Operation& operation, Device device);
/// The calls that it makes: those of the struct's `many`, or that of its `bench` with ones; none where it has neither and sums.
std::vector<Sample> samples_of_many(const Operation& operation);
/// There is an empty and a 0-dim input, unless the struct says that the operation takes none.
Findings check_coverage(const Operation& operation);

}  // namespace tandem::cases
