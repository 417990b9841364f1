// Which gradients travel together. For the library.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/dtype.h"
#include "runtime/device.h"

namespace tandem::parallel::detail {

struct BucketItem {
  size_t number = 0;  // of the parameter
  size_t bytes = 0;
  DType dtype = DType::Float32;
  Device device = {};
};

/// The parameters' numbers, a list a bucket, of gradients that become ready in the order of `items`. A bucket has one dtype and
/// device; it is closed by the item with which it reaches its limit, `first_bytes` for the first of its kind and `bytes` for the others.
/// Buckets stand in the order in which they become full.
[[nodiscard]] std::vector<std::vector<size_t>> plan_buckets(std::span<const BucketItem> items, size_t first_bytes, size_t bytes);

}  // namespace tandem::parallel::detail
