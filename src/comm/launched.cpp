#include "comm/launched.h"

#include <atomic>
#include <memory>
#include <mutex>

#include "base/env.h"
#include "comm/api/world.h"
#include "comm/control/rank_channel.h"
#include "runtime/device.h"

namespace tandem::comm {
namespace {

constexpr size_t kMostRecorded = size_t{48} << 10;  // bytes of the recorder that are sent

/// tandem launch and torchrun; mpirun of OpenMPI; srun; mpirun of MPICH.
int local_rank() {
  return environment_number({"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID", "MPI_LOCALRANKID"}).value_or(-1);
}

/// The last calls of this rank, the latest last, then where it is.
std::string recorder() {
  const std::shared_ptr<World> here = process_world();
  if (!here) return "in no process group";
  const Group& all = *here->everyone;
  const void* memory = all.recorder_of(all.rank());
  std::string text = recorded_text(tandem::str("rank ", all.rank()), memory);
  if (text.size() > kMostRecorded) text.erase(0, text.find('\n', text.size() - kMostRecorded) + 1);
  return text + last_seen(memory);
}

void lost(const std::string& why) {
  const std::shared_ptr<World> here = process_world();
  if (!here) return;
  std::vector<std::weak_ptr<Group>> others;
  {
    const std::lock_guard lock(here->mutex);
    others = here->others;
  }
  here->everyone->abort(why);
  for (const auto& other : others)
    if (const auto group = other.lock()) group->abort(why);
}

/// Not destroyed: it listens until the process is gone. nullptr without a launcher.
std::atomic<control::RankChannel*> the_channel{nullptr};

}  // namespace

void choose_device() {
  const int rank = local_rank();
  if (rank < 0) return;
  if (const int count = cuda::device_count(); count > 0) cuda::set_device(rank % count);
}

void listen_to_launcher(int rank, int size) {
  static const bool listening = [&] {
    the_channel.store(control::RankChannel::from_environment(rank, size, {recorder, lost}).release());
    return true;
  }();
  (void)listening;
}

void tell_launcher_missing(int rank) noexcept {
  if (control::RankChannel* const channel = the_channel.load()) channel->tell_missing(rank);
}

}  // namespace tandem::comm
