// What ranks do together, and what one of them is about to do: the words that the room and its back ends share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"
#include "base/site.h"
#include "comm/types.h"

namespace tandem::comm {

/// The kinds of collectives, those of collectives.def. Send and Recv are of two ranks; all others of every rank of the group. The sizes of
/// NewGroup are its ranks.
enum class Collective : uint8_t {
#define TD_COLLECTIVE(kind, ...) kind,
#include "comm/collectives.def"
};

/// How many kinds there are.
inline constexpr int kCollectives = 0
#define TD_COLLECTIVE(...) +1
#include "comm/collectives.def"
    ;

/// As "all_reduce".
[[nodiscard]] const char* name(Collective kind);
/// Whether it is a message between two ranks.
[[nodiscard]] constexpr bool point_to_point(Collective kind) { return kind == Collective::Send || kind == Collective::Recv; }

/// One rank's call of a collective, which a back end runs. Its partners compare it with theirs, and the recorder keeps it, all but the
/// number and the buffers.
struct Call {
  uint64_t number = 0;  // counts the collectives of a group from 1; of Send and Recv, those of the rank
  Collective kind = Collective::Barrier;
  ReduceOp op = ReduceOp::SUM;
  DType dtype = DType::UInt8;
  int root = -1;  // the root, or the other rank of Send and Recv; -1: none
  int tag = 0;    // of Send and Recv
  Shape sizes;    // of the rank's tensor; where ranks' tensors differ by design, of one part
  Site site = Site::none();
  std::string label = {};  // which one of many alike it is, where a wrapper makes them
  // The rank's buffers, which collectives.def tells of: what it gives, and what it gets.
  const void* in = nullptr;
  void* out = nullptr;
  std::vector<int64_t> in_counts = {}, out_counts = {};  // of AllToAll: elements for each rank, and from it

  /// How many elements the sizes are of.
  [[nodiscard]] int64_t count() const { return sizes.numel(); }
};

/// As "all_reduce of float32 [3] (SUM) for 'DistributedDataParallel 1: bucket 0' at model.cpp:12".
[[nodiscard]] std::string str(const Call& call);

}  // namespace tandem::comm
