// The ranks that a Trainer's run is divided among. For the library.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "data/loader.h"
#include "parallel/replica.h"
#include "train/losses.h"
#include "train/module.h"

namespace tandem::train::detail {

/// This rank's part of a run: one rank alone where no process group is there and no launcher started this process.
class Ranks {
 public:
  /// Joins the ranks that a launcher started. Error where they are fewer than `num_nodes`.
  Ranks(int num_nodes, Site site);
  /// One rank, whatever there is.
  [[nodiscard]] static Ranks alone() { return {}; }

  [[nodiscard]] bool several() const { return size_ > 1; }
  [[nodiscard]] bool is_first() const { return rank_ == 0; }
  /// The one device of this rank: a GPU where `num_gpus` are wanted and there is one.
  [[nodiscard]] Device device(int num_gpus) const;

  /// From now on the loader gives this rank's part of each batch.
  void divide(data::DataLoader& loader) const;
  /// For each batch of an epoch, what this rank's mean counts in the average of all; empty for one rank.
  [[nodiscard]] std::vector<double> weights(const data::DataLoader& loader, uint64_t epoch) const;
  /// The samples of all ranks in a batch of which this one has `mine`, which count `weight`.
  [[nodiscard]] int64_t samples_of_all(int64_t mine, double weight) const;

  /// Sums over the ranks, in place.
  void add_up(std::vector<double>& numbers, Site site) const;
  /// Whether any rank says yes.
  [[nodiscard]] bool any(bool mine, Site site) const;
  void wait_for_all(Site site) const;

 private:
  Ranks() = default;

  int rank_ = 0, size_ = 1;
};

}  // namespace tandem::train::detail
