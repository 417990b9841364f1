// Why bytes go from one device to another.
#pragma once

#include <cstdint>

namespace tandem::runtime {

enum class CopyReason : uint8_t {
  Asked,      // by to(), cpu(), copy_ and their kin
  Item,       // item()
  Printing,   // a tensor is printed
  Condition,  // a tensor stands as a truth value
  Values,     // an operation needs them to know what to do, or the sizes of its result
};

}  // namespace tandem::runtime
