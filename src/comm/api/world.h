// The groups that the calling thread is a member of: its process's, or, in a thread of run_ranks, its own.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

#include "comm/group.h"

namespace tandem::comm {

/// A rank's groups, all of them ended by destroy_process_group.
struct World {
  std::shared_ptr<Group> everyone;
  std::mutex mutex;                          // guards `others`
  std::vector<std::weak_ptr<Group>> others;  // by new_group
};

/// The calling thread's; nullptr where there is none.
[[nodiscard]] std::shared_ptr<World> world();
/// The process's own, whatever thread asks.
[[nodiscard]] std::shared_ptr<World> process_world();
/// That of the calling thread; error that names `call` where there is none.
[[nodiscard]] std::shared_ptr<World> require_world(const char* call);

}  // namespace tandem::comm
