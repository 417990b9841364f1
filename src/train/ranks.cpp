#include "train/ranks.h"

#include <algorithm>
#include <cmath>

#include "base/env.h"
#include "base/error.h"
#include "comm/api/distributed.h"
#include "comm/backend.h"
#include "ops/creation.h"

namespace tandem::train::detail {
namespace {

bool a_launcher_started_this() {
  const auto all = comm::backends();
  return std::any_of(all.begin(), all.end(), [](const auto& backend) { return backend.started_by_it && backend.started_by_it(); });
}

/// Begun for a run, and kept for those that follow: a group cannot be begun twice everywhere. The program's end leaves it.
void join_program(Site site) {
  distributed::init_process_group("", {}, site);
  static const struct AtExit {
    ~AtExit() {
      try {
        if (distributed::is_initialized()) distributed::destroy_process_group();
      } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the program ends anyway
      }
    }
  } at_exit;
}

/// This rank's number on its machine, as launchers tell it.
int local_rank(int otherwise) {
  return environment_number({"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"}).value_or(otherwise);
}

}  // namespace

Ranks::Ranks(int num_nodes, Site site) {
  if (!distributed::is_initialized() && a_launcher_started_this()) join_program(site);
  if (distributed::is_initialized()) {
    rank_ = distributed::get_rank();
    size_ = distributed::get_world_size();
  }
  if (size_ < num_nodes)
    fail("[Trainer.fit] num_nodes is ", num_nodes, ", but this program has ", size_, size_ == 1 ? " rank" : " ranks",
         ": start it on every server, by `tandem launch --hosts FILE` or mpirun");
}

Device Ranks::device(int num_gpus) const {
  const int there = num_gpus > 0 ? tandem::num_gpus() : 0;
  return there > 0 ? gpu(local_rank(rank_) % there) : cpu();
}

void Ranks::divide(data::DataLoader& loader) const {
  if (several()) loader.set_batch_sampler(data::DistributedBatchSampler(loader.batch_sampler(), size_, rank_));
}

std::vector<double> Ranks::weights(const data::DataLoader& loader, uint64_t epoch) const {
  if (!several()) return {};
  return dynamic_cast<const data::DistributedBatchSampler&>(*loader.batch_sampler()).weights(epoch);
}

int64_t Ranks::samples_of_all(int64_t mine, double weight) const {
  return weight > 0 ? std::llround(static_cast<double>(mine) * size_ / weight) : mine;
}

void Ranks::add_up(std::vector<double>& numbers, Site site) const {
  if (!several()) return;
  const Tensor sums = tensor(numbers, kFloat64);
  distributed::all_reduce(sums, distributed::ReduceOp::SUM, {}, site);
  std::copy_n(sums.data_ptr<double>(), numbers.size(), numbers.begin());
}

bool Ranks::any(bool mine, Site site) const {
  std::vector<double> votes{mine ? 1.0 : 0.0};
  add_up(votes, site);
  return votes[0] > 0;
}

void Ranks::wait_for_all(Site site) const {
  if (several()) distributed::barrier({}, site);
}

}  // namespace tandem::train::detail
