// Which back ends there are. A plug-in's stands here with the function that opens it.
#include <mutex>

#include "comm/backend.h"
#include "comm/local/processes.h"
#include "comm/mpi_plugin.h"

namespace tandem::comm {
namespace {

struct Registered {
  std::mutex mutex;
  std::vector<BackendFactory> factories;
};
Registered& registered() {
  static auto* all = new Registered;  // not destroyed: a program's end may still ask
  return *all;
}

const BackendFactory kBackends[] = {
    mpi_backend(),
    {.name = "local", .started_by_it = started_locally, .ranks = local_ranks, .make = make_local_backend},
};

}  // namespace

std::vector<BackendFactory> backends() {
  Registered& own = registered();
  const std::lock_guard lock(own.mutex);
  std::vector<BackendFactory> all(own.factories.rbegin(), own.factories.rend());
  all.insert(all.end(), std::begin(kBackends), std::end(kBackends));
  return all;
}

void register_backend(BackendFactory factory) {
  Registered& own = registered();
  const std::lock_guard lock(own.mutex);
  own.factories.push_back(std::move(factory));
}

}  // namespace tandem::comm
