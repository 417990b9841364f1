// The one thread that waits for the ends of other processes. For the library.
#pragma once

#include <functional>

namespace tandem::multiprocessing::detail {

/// Calls `ready` once, on the library's thread for this, when `file` can be read or its other end is gone; `ready` must keep it open until
/// then, and throws nothing. Error where the thread or its descriptors are refused.
void watch(int file, std::function<void()> ready);

}  // namespace tandem::multiprocessing::detail
