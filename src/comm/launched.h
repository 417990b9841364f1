// What a rank owes to having been started by `tandem launch` or mpirun.
#pragma once

namespace tandem::comm {

/// Makes the GPU of this rank's number on its machine the calling thread's current one, in turn where there are fewer GPUs than ranks.
/// Nothing where whoever started the process did not tell that number.
void choose_device();
/// Listens to `tandem launch` from now on, where that started this process: when a rank or host is lost, all groups of the process are
/// aborted with an error that names it. Once for a process.
void listen_to_launcher(int rank, int size);
/// Tells the launcher, where there is one, that a rank of the program is gone, for which this one waits: before this one fails by it.
void tell_launcher_missing(int rank) noexcept;

}  // namespace tandem::comm
