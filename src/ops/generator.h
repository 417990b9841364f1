// Taking numbers from a device's generator, for operations whose kernels draw them. For the library.
#pragma once

#include "ops/random.h"

namespace tandem::ops {

/// Takes `count` counters of the device's generator: its state before. kernels::random_counters says how many a call needs.
GeneratorState take_counters(Device device, uint64_t count);

}  // namespace tandem::ops
