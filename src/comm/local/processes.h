// How processes of one machine become ranks that share a segment.
#pragma once

#include <memory>

#include "comm/backend.h"

namespace tandem::comm {

/// Whether the environment says that this process is one of several ranks of this machine (RANK and WORLD_SIZE).
[[nodiscard]] bool started_locally();
/// From the environment; one rank alone where it says nothing.
void local_ranks(int& rank, int& size);
/// Meets the other ranks at `start.init_method`, or where the environment says (MASTER_ADDR and MASTER_PORT, or the launcher's name).
[[nodiscard]] std::unique_ptr<Backend> make_local_backend(const Start& start);

}  // namespace tandem::comm
