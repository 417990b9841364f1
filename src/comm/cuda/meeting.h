// How the ranks of a communicator find each other: over another back end of theirs, one for host memory.
#pragma once

#include <nccl.h>

#include <span>
#include <vector>

#include "comm/cuda/communicator.h"

namespace tandem::comm::nccl {

/// Ranks as another back end knows them.
struct Meeting {
  Backend* host = nullptr;  // nullptr: there is no way to meet
  std::vector<int> ranks;   // the members' numbers there
  int own = 0;              // this rank's place in `ranks`

  /// A new id from the first member, for all of them. Each calls it.
  [[nodiscard]] ncclUniqueId share_id(const Limit& limit, Site site) const;
  /// The same for two members.
  [[nodiscard]] ncclUniqueId share_id_with(int member, const Limit& limit, Site site) const;
  /// Some of the members. -1 as `own` where this rank is not among them.
  [[nodiscard]] Meeting part(std::span<const int> members) const;
};

/// Every rank of `host` calls it before the first communicator. Error on all of them where one cannot use NCCL, or their NCCLs do not go
/// together, or two are to use one GPU, which NCCL does not do.
void check_all_can(Backend& host, Device device, const Limit& limit, Site site);

}  // namespace tandem::comm::nccl
