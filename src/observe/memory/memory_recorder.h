// What writers of the memory's history ask besides the public functions. For the library.
#pragma once

namespace tandem::cuda::memory::detail {

/// Notes that a snapshot is taken, where a history is recorded.
void note_snapshot(int device);

}  // namespace tandem::cuda::memory::detail
