// Which parameters are gathered together, and their life in shards. For the library: see FullyShardedDataParallel.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "comm/api/distributed.h"
#include "nn/module.h"
#include "parallel/flat_shards.h"

namespace tandem::parallel::detail {

/// Parameters of one dtype that are in shards, and together for a while.
class ShardUnit {
 public:
  struct Member {
    std::string name;
    Tensor whole;              // the module's own: without bytes while the unit is in shards
    Tensor own_gradient = {};  // of `sum_`: what lies in this rank's shard
  };

  /// `wrapper`: what begins the labels of its collectives.
  ShardUnit(std::string name, const std::string& wrapper, nn::ModuleBase& module, std::vector<std::pair<std::string, Tensor>> parameters,
            const distributed::ProcessGroup& group, Site site);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] nn::ModuleBase& module() const { return *module_; }
  [[nodiscard]] const std::vector<Member>& members() const { return members_; }
  /// This rank's range of the elements, a leaf: what optimizers step.
  [[nodiscard]] const Tensor& shard() const { return shard_; }
  [[nodiscard]] bool requires_grad() const { return shard_.requires_grad(); }
  /// Error where a member is to be trained now and was not when this was made, or the other way round.
  void check_trained(const char* op) const;
  /// Elements of all members.
  [[nodiscard]] int64_t numel() const;

  /// Begins to bring the members together, beside other work; nothing where that has begun.
  void begin_gather(Site site);
  /// From here on the members have their values.
  void gather(Site site);
  /// The members lose their bytes.
  void release();

  /// What was done to the shard's `.grad` and to the members', which are parts of it, holds for both: those that were forgotten on either
  /// side are forgotten. Before a forward and a backward.
  void follow_gradients(Site site);
  /// A new backward: nothing is left of one that ended by an error.
  void begin_backward(Site site);
  /// Takes a member's gradient, divided by the ranks; whether it was the last one of this backward.
  bool add_gradient(size_t member, const Tensor& gradient, Site site);
  /// Whether gradients have come that are not reduced yet.
  [[nodiscard]] bool has_gradients() const { return gradients_.defined(); }
  /// Begins to sum the ranks' gradients, beside other work; those of members that got none count as zero.
  void begin_reduce(Site site);
  /// The sum is added to the shard's gradient, and each member's `.grad` is its part of that.
  void finish_reduce(Site site);

  /// Calls `f(member's number, first element in the member, first element in the shard, count)` for all that lies in this rank's shard.
  void each_local_part(const std::function<void(size_t, int64_t, int64_t, int64_t)>& f) const;

 private:
  void refresh_members() const;

  std::string name_;
  nn::ModuleBase* module_;
  std::vector<Member> members_;
  FlatShards flat_;
  Tensor shard_;
  Tensor sum_;        // (share), the shard's `.grad` as it was made here
  Tensor gradients_;  // (ranks * share), as they come
  std::vector<bool> arrived_;
  size_t waiting_ = 0;
};

}  // namespace tandem::parallel::detail
