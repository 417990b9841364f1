// The life of parameters in shards, whatever holds them: each rank keeps a range of their elements; they are together for a while. For the
// library.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "comm/api/distributed.h"
#include "comm/work.h"
#include "parallel/flat_layout.h"
#include "tensor/storage.h"

namespace tandem::parallel::detail {

/// How they are together.
struct FlatShardsOptions {
  std::string label = {};  // of the collectives
  distributed::ProcessGroup group = {};
  DType dtype = kFloat32;  // what is computed with
  Device device = {};      // where
};

/// The flat memory of a layout for one rank of each of its ranges, or for one range that every rank has as a whole. It has bytes from
/// `gather` to `release`: tensors over it stay, and find the values again when it is gathered once more, at another address.
class FlatShards {
 public:
  FlatShards(FlatLayout layout, FlatShardsOptions options);

  [[nodiscard]] const FlatLayout& layout() const { return layout_; }
  /// The number of this rank's range.
  [[nodiscard]] int rank() const { return layout_.ranks() == 1 ? 0 : options_.group.rank(); }
  /// All elements.
  [[nodiscard]] const Tensor& whole() const { return whole_; }
  [[nodiscard]] bool has_values() const { return has_values_; }
  /// Whether they are on their way.
  [[nodiscard]] bool is_coming() const { return coming_.together.defined(); }

  /// Begins to bring the ranks' ranges together, beside other work; nothing where they are there or on their way, or where nothing travels.
  /// `local` is this rank's range, of any dtype and on any device; where it was changed since, what is there or on its way is out of date.
  void begin_gather(const Tensor& local, Site site);
  /// From here on `whole` has the values. Whether they are at another address now: those that it has already stay where they are.
  bool gather(const Tensor& local, Site site);
  /// Gives the bytes up.
  void release();
  /// Gives up what is on its way.
  void drop(Site site);

  /// Begins to reduce what is as long as `whole` to this rank's range of it, beside other work; nothing else is being reduced.
  void begin_reduce(Tensor all, distributed::ReduceOp op, Site site);
  [[nodiscard]] bool is_reducing() const { return reducing_.all.defined(); }
  /// The range. Error if nothing is being reduced.
  [[nodiscard]] Tensor finish_reduce(Site site);

 private:
  struct Coming {
    Tensor together;
    comm::Work work;
    uint32_t version = 0;  // of the shard
  };
  struct Reducing {
    Tensor all, range;
    comm::Work work;
  };
  FlatLayout layout_;
  FlatShardsOptions options_;
  Tensor whole_;
  bool has_values_ = false;
  std::optional<uint32_t> version_;  // of the shard, when it was last gathered
  Coming coming_;
  Reducing reducing_;
};

}  // namespace tandem::parallel::detail
