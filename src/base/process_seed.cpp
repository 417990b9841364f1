#include "base/process_seed.h"

#include <sys/random.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "base/env.h"
#include "base/error.h"
#include "base/number_in.h"
#include "base/splitmix.h"

namespace tandem::detail {
namespace {

constexpr const char* kVariable = "TANDEM_SEED";

/// tandem launch and torchrun; mpirun of OpenMPI; its servers and MPICH's; srun. 0 where nothing started ranks.
uint64_t rank_from_environment() {
  return static_cast<uint64_t>(environment_number({"RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}).value_or(0));
}

}  // namespace

std::optional<uint64_t> seed_from_environment() {
  const auto text = environment(kVariable);
  if (!text) return std::nullopt;
  const auto seed = number_in<uint64_t>(*text);
  if (!seed) fail(kVariable, " must be a number from 0 to 18446744073709551615, not '", *text, "'");
  return split_seed(*seed, SeedOf::Rank, rank_from_environment());
}

uint64_t seed_by_chance() {
  uint64_t seed = 0;
  if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == static_cast<ssize_t>(sizeof seed)) return seed;
  // Early in the life of a machine, or where it may not be asked: what differs between processes.
  uint64_t state = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) ^
                   (static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()) << 20) ^
                   (static_cast<uint64_t>(getpid()) << 40);
  return splitmix64(state);
}

uint64_t split_seed(uint64_t seed, SeedOf kind, uint64_t number) {
  if (number == 0) return seed;
  uint64_t state = seed + (static_cast<uint64_t>(kind) + 1) * 0xd1342543de82ef95ULL;
  state = splitmix64(state) + number;
  return splitmix64(state);
}

}  // namespace tandem::detail
