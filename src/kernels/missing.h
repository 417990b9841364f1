// A table in which every entry reports that the back end has no such kernel: what a back end starts from.
#pragma once

#include "kernels/table.h"

namespace tandem::kernels {

/// The entry of a kernel that a back end does not have.
inline constexpr auto kMissing = [](const Queue& queue, auto...) { queue.status->report(Trouble::Unsupported, -1); };

/// Calls f.operator()<&Table::entry>("entry") for every entry that does work; the workspace queries are not among them.
template <class F>
void for_each_entry(F&& f) {
#define TD_ENTRY(name, ...) f.template operator()<&Table::name>(#name);
#define TD_QUERY(...)
#include "kernels/entries.def"
}

/// Without a kernel; the workspace queries ask for nothing.
inline Table missing_table() {
  return {
#define TD_ENTRY(name, ...) .name = kMissing,
#define TD_QUERY(result, name, ...) .name = [](auto...) { return result{}; },
#include "kernels/entries.def"
  };
}

}  // namespace tandem::kernels
