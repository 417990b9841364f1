// Numbers out of JSON that may hold anything.
#pragma once

#include <cstdint>
#include <utility>

#include "base/error.h"

namespace tandem::train::detail {

/// The whole number that a JSON value is. Error for all else, also for what T cannot hold: the library's own conversion makes some other
/// number of it.
template <class T, class Json>
T whole_number(const Json& value) {
  if (value.is_number_unsigned()) {
    if (const auto number = value.template get<uint64_t>(); std::in_range<T>(number)) return static_cast<T>(number);
  } else if (value.is_number_integer()) {
    if (const auto number = value.template get<int64_t>(); std::in_range<T>(number)) return static_cast<T>(number);
  }
  fail("this is no whole number of that kind");
}

}  // namespace tandem::train::detail
